package dedup

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
)

func TestAnExpectedShareIsANumberOrARange(t *testing.T) {
	for text, want := range map[string]Expected{
		"0.99": Promised(0.99), "1": Promised(1), "[0.5,0.5]": {0.5, 0.5, true}, "[0,1]": {0, 1, true},
	} {
		got, err := json.Marshal(want)
		if err != nil || string(got) != text {
			t.Errorf("%+v is written as %s, want %s (%v)", want, got, text, err)
		}
		var read Expected
		if err := json.Unmarshal([]byte(text), &read); err != nil || read != want {
			t.Errorf("%s is read as %+v, want %+v (%v)", text, read, want, err)
		}
	}
	for _, text := range []string{`"1"`, "[1]", "[0,0.5,1]", "{}"} {
		if err := json.Unmarshal([]byte(text), &Expected{}); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}

// The promise holds for documents that lost no key; those without any key left find nothing.
func TestTheExpectedRecallIsARangeWhereKeysAreLost(t *testing.T) {
	for name, similarity := range map[string]Similarity{
		"bands":   {Candidates: Bands{Bands: 20, Rows: 5}},
		"samples": {Measure: measure.MaxContainment},
	} {
		s, err := settle(Config{Inputs: []string{"in"}, Decide: similarity})
		if err != nil {
			t.Fatal(err)
		}
		account := func(lost ...int64) Expected {
			a := newAccount(s)
			a.method(&s.recipe, false)
			a.lost(lost, 100, &s.recipe)
			return a.ExpectedRecall
		}
		promise, keys := account().Low, s.recipe.Keys()
		all := make([]int64, keys+1)
		all[keys] = 25
		some, every := account(0, 40), account(all...)
		if e := account(); e.Range || promise < 0.9 {
			t.Errorf("%s: %v without lost keys", name, e)
		}
		if !some.Range || some.High != promise || some.Low >= promise || some.Low < promise-0.4*(promise-recipe.Recall(s.recipe, s.threshold, 1))-1e-9 {
			t.Errorf("%s: %v, the promise is %v", name, some, promise)
		}
		if math.Abs(every.Low-0.75*promise) > 1e-9 {
			t.Errorf("%s: %v where a quarter find nothing", name, every)
		}
	}
}
