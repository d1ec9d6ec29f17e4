package serve

import (
	"context"
	"encoding/json"
	"runtime"
	"slices"
	"strconv"

	"github.com/alike-dev/alike/advise"
)

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
