package serve

import (
	"encoding/json"
	"errors"

	"github.com/valyala/fastjson"

	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/passage"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/text"
)

// foundDocument is a match as a search answers it.
type foundDocument struct {
	ID         string          `json:"id"`
	Similarity float64         `json:"similarity"`
	Metadata   json.RawMessage `json:"metadata,omitempty"`
	Passages   []shared        `json:"passages,omitempty"`
}

// shared is a passage of two texts, with its places in bytes: a is the text of the request.
type shared struct {
	Tokens int   `json:"tokens"`
	A      place `json:"a"`
	B      place `json:"b"`
}

type place struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

func sharedOf(spans []passage.Span) (passages []shared) {
	for _, s := range spans {
		passages = append(passages, shared{s.Tokens, place{s.StartA, s.EndA}, place{s.StartB, s.EndB}})
	}
	return passages
}

type searching struct {
	text     []byte
	o        index.SearchOptions
	evidence bool
}

// defaultTop is how many documents a search returns if it does not say, mostTop how many at most.
const (
	defaultTop = 10
	mostTop    = 1000
)

func (c *collection) parseSearch(p *parser, body []byte) (s searching, err error) {
	o, err := p.object(body)
	if err != nil {
		return s, err
	}
	m, least := c.index.Options().Recipe.Threshold().Measure(), -1.0
	asked := false
	s.o.Top = defaultTop
	o.Visit(func(key []byte, v *fastjson.Value) {
		if err != nil {
			return
		}
		var bad error
		switch name := string(key); name {
		case textField:
			s.text, bad = v.StringBytes()
		case "threshold":
			asked = true
			if least, bad = v.Float64(); bad == nil && !(least >= 0) {
				err = unprocessable(name, "is out of the range of the measure")
			}
		case "measure":
			asked = true
			var word []byte
			if word, bad = v.StringBytes(); bad == nil {
				m, bad = measure.Parse(string(word))
			}
		case "top":
			if s.o.Top, bad = v.Int(); bad == nil && (s.o.Top < 1 || s.o.Top > mostTop) {
				err = unprocessable(name, "takes 1 to %d", mostTop)
			}
		case "passages":
			s.o.Passages, bad = v.Bool()
		case evidenceField:
			s.evidence, bad = v.Bool()
		case filterField:
			s.o.Accepts, err = p.filter(v)
		default:
			err = unprocessable(name, "is no field of a search")
		}
		if bad != nil {
			err = unprocessable(string(key), "has a value that it does not take")
		}
	})
	switch {
	case err != nil:
		return s, err
	case s.text == nil:
		return s, unprocessable(textField, "is missing")
	case s.o.Passages && !c.hasPassages():
		return s, unprocessable("passages", "are those of texts that are kept and cut into shingles; this collection has none")
	case asked:
		s.o.Threshold, err = c.threshold(m, least)
	}
	return s, err
}

// threshold returns the threshold that a search asks for; least is negative if it names only a measure.
func (c *collection) threshold(m measure.Measure, least float64) (t measure.Threshold, err error) {
	r := c.index.Options().Recipe
	if !r.BySets() {
		return t, unprocessable("threshold", "is for collections that compare sets; this one has a distance of its own")
	}
	if least < 0 {
		if m == measure.Overlap {
			return t, unprocessable("threshold", "is needed: by overlap a number of shingles")
		}
		least = r.Threshold().Float()
	}
	if t, err = measure.NewThreshold(m, least); err != nil {
		return t, unprocessable("threshold", "is out of the range of the measure")
	}
	return t, nil
}

func (c *collection) find(s *searching) ([]index.Match, error) {
	searcher := c.searchers.Get().(*index.Searcher)
	defer c.searchers.Put(searcher)
	matches, err := searcher.Search(s.text, s.o)
	if errors.Is(err, index.ErrRecall) {
		return nil, unprocessable("threshold", "is lower than the collection's keys find all of: take a higher one, or a collection of a lower threshold or with containment")
	}
	return matches, err
}

// hasPassages tells whether shared passages can be shown.
func (c *collection) hasPassages() bool {
	o := c.index.Options()
	features, ok := o.Recipe.Features()
	return ok && features.Hash == "" && o.Keep == index.KeepText
}

// passages returns what two texts share.
func (c *collection) passages(a, b []byte) ([]passage.Span, error) {
	features, _ := c.index.Options().Recipe.Features()
	tokenizer, err := text.New(features.Text)
	if err != nil {
		return nil, err
	}
	least := features.N
	if least == 0 {
		least = shingle.DefaultN
	}
	return passage.InTexts(tokenizer, a, b, least), nil
}
