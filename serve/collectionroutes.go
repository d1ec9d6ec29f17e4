package serve

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strconv"

	"github.com/alike-dev/alike/advise"
)

// collectionCall is for collections as a whole.
type collectionCall struct{ *call }

func (c collectionCall) list() error {
	if err := c.machine.catchUp(); err != nil {
		return err
	}
	names := make([]string, 0)
	for _, name := range c.store.names() {
		if c.config.Tokens.allow(c.r, Read, name) == nil {
			names = append(names, name)
		}
	}
	return c.sendJSON(http.StatusOK, map[string][]string{"collections": names})
}

func (c collectionCall) create() error {
	return c.body(func(body []byte) error {
		settings, err := parseSettings(body)
		if err == nil {
			err = settings.choose(c.r.Context())
		}
		if err != nil {
			return err
		}
		made, err := c.makeCollection(c.r.PathValue("collection"), settings)
		if err != nil {
			return err
		}
		status := http.StatusOK
		if made {
			status = http.StatusCreated
		}
		return c.within(func(of *collection) error { return c.sendJSON(status, of.settings) })
	})
}

func (c collectionCall) get() error {
	if err := c.machine.catchUp(); err != nil {
		return err
	}
	return c.within(func(of *collection) error { return c.sendJSON(http.StatusOK, of.settings) })
}

func (c collectionCall) delete() error {
	if err := c.removeCollection(c.r.PathValue("collection")); err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

func (c collectionCall) stats() error {
	return c.within(func(of *collection) error { return c.sendJSON(http.StatusOK, of.stats(c.config.Durability)) })
}

// documentCall is for documents of a collection.
type documentCall struct{ *call }

func (c documentCall) check() error {
	add, err := truth(c.r.URL.Query(), "add")
	if err != nil {
		return err
	}
	if add {
		if err := c.need(Write); err != nil {
			return err
		}
	}
	return c.within(func(of *collection) error {
		settle := of.changes.settle
		if !add {
			settle = nil
		}
		return c.answerBody(func(body []byte) ([]byte, error) { return of.check(nil, body, add) }, settle)
	})
}

// truth returns a truth of the query, true if it is not there.
func truth(query url.Values, name string) (bool, error) {
	if !query.Has(name) {
		return true, nil
	}
	b, err := strconv.ParseBool(query.Get(name))
	if err != nil || len(query[name]) > 1 {
		return false, unprocessable(name, "takes true or false, once")
	}
	return b, nil
}

func (c documentCall) add() error {
	kind, err := bodyType(c.r)
	if err != nil {
		return err
	}
	return c.within(func(of *collection) error {
		if kind == ndjson {
			return streamLines(c.w, c.r, c.lines(), of.newCheckWork, of.changes.settle)
		}
		return c.answerBody(func(body []byte) ([]byte, error) { return of.check(nil, body, true) }, of.changes.settle)
	})
}

func (c documentCall) put() error {
	return c.within(func(of *collection) error {
		return c.answerBody(func(body []byte) ([]byte, error) { return of.replace(c.r.PathValue("id"), body) }, of.changes.settle)
	})
}

func (c documentCall) get() error {
	return c.within(func(of *collection) error {
		answer, err := of.get(c.r.PathValue("id"))
		if err != nil {
			return err
		}
		return c.send(http.StatusOK, answer)
	})
}

func (c documentCall) delete() error {
	return c.within(func(of *collection) error {
		err := of.remove(c.r.PathValue("id"))
		if err == nil {
			err = of.changes.settle()
		}
		if err != nil {
			return err
		}
		c.w.WriteHeader(http.StatusNoContent)
		return nil
	})
}

func (c documentCall) search() error {
	return c.within(func(of *collection) error {
		return c.answerBody(func(body []byte) ([]byte, error) { return of.search(nil, body) }, nil)
	})
}

// mostSample is how many texts a collection's recipe is chosen by. As many pages of text take seconds.
const mostSample = 2000

// besideSample are settings of the recipe that may be given beside a sample; the sample says the others.
var besideSample = []string{"normalize", "fold", "strip_diacritics", "recall", "bucket_cap", "seed"}

// choose replaces "recipe": "auto" and its sample by what the sample says, so that the collection's settings are what was
// chosen, and the same sample makes the same settings.
func (s *settings) choose(ctx context.Context) error {
	word, wanted := s.recipe["recipe"]
	sample, sampled := s.recipe["sample"]
	switch {
	case wanted && string(word) != `"auto"`:
		return unprocessable("recipe", `takes "auto", with a sample`)
	case wanted != sampled:
		return unprocessable("sample", `goes with "recipe": "auto": texts like those to come`)
	case !wanted:
		return nil
	}
	delete(s.recipe, "recipe")
	delete(s.recipe, "sample")
	for name := range s.recipe {
		if !slices.Contains(besideSample, name) {
			return unprocessable(name, "is what a sample is to say; leave one of them out")
		}
	}
	var texts []string
	if json.Unmarshal(sample, &texts) != nil || len(texts) == 0 || len(texts) > mostSample {
		return unprocessable("sample", "takes 1 to %d texts", mostSample)
	}
	c := advise.NewCollector(0)
	for n, text := range texts {
		c.Add([]byte(strconv.Itoa(n)), []byte(text), uint64(n))
	}
	a, err := advise.Of(ctx, c.Sample(1), advise.Options{Wrong: advise.DefaultWrong, Threads: runtime.GOMAXPROCS(0), Banded: true, Brief: true})
	if err != nil {
		return err
	}
	if a.Chosen.StripDiacritics {
		s.recipe["strip_diacritics"] = json.RawMessage("true")
	}
	for name, value := range map[string]any{"tokens": a.Chosen.Tokens, "ngram": a.Chosen.N, "measure": a.Chosen.Measure.String(), "threshold": a.Chosen.Threshold} {
		if s.recipe[name], err = json.Marshal(value); err != nil {
			return err
		}
	}
	return nil
}
