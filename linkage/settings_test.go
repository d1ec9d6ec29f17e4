package linkage

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/alike-dev/alike/candidates"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/record"
)

func TestWithoutWeightsSimilarityCountsTokens(t *testing.T) {
	left := write(t, "l.csv", "id,name\n1,red green blue\n2,one two\n")
	right := write(t, "r.csv", "id,name\na,red green black white\nb,two two one\n")
	c := Config{Left: left, Right: right, Fields: []Field{{Left: "name", Tokens: record.Words}}, Match: All, Threshold: 0.01}
	c.IDF = IDFNone
	for m, want := range map[measure.Measure]float64{measure.Cosine: 2 / math.Sqrt(12), measure.WeightedJaccard: 2. / 5} {
		c.Measure = m
		r := join(t, c)
		if r.Links.Len() != 2 || math.Abs(r.Links.At(0).Similarity-want) > 1e-12 || r.Links.At(0).Fields[0] != r.Links.At(0).Similarity || r.Links.At(1).Similarity != 1 {
			t.Errorf("%v: links %+v, the first of similarity %v", m, r.Links, want)
		}
	}
	c.Measure, c.Repetitions = measure.WeightedJaccard, true
	if r := join(t, c); math.Abs(r.Links.At(1).Similarity-2./3) > 1e-12 {
		t.Errorf("with repetitions similarity is %v, want 2/3", r.Links.At(1).Similarity)
	}
}

func TestASketchOfFrequenciesIsAsGoodAsItsError(t *testing.T) {
	l, x := people(300, 0.8)
	c := Config{Left: write(t, "l.csv", l), Right: write(t, "r.csv", x)}
	exact := join(t, c)
	c.IDF, c.Epsilon = IDFSketch, 1e-5
	if r := join(t, c); !slices.Equal(knownOf(r), knownOf(exact)) || r.Links.At(0).Similarity != exact.Links.At(0).Similarity {
		t.Errorf("%d links by a sketch without collisions, %d by counts", r.Links.Len(), exact.Links.Len())
	}
	c.Epsilon, c.Delta = 0.01, 0.3
	if r := join(t, c); r.Links.At(0).Similarity == exact.Links.At(0).Similarity {
		t.Errorf("a sketch of some hundred counters has no error")
	}
}

// TestExactCandidatesAreAllPairsFromTheThresholdOn holds them, and bands, against all pairs.
func TestExactCandidatesAreAllPairsFromTheThresholdOn(t *testing.T) {
	l, x := people(120, 0.7)
	c := Config{Left: write(t, "l.csv", l), Right: write(t, "r.csv", x), Match: All, Threads: 2}
	for _, m := range []measure.Measure{measure.Cosine, measure.WeightedJaccard} {
		c.Measure = m
		all := map[Known]float64{}
		c.Candidates, c.Threshold = TopK, 1e-6
		for k := range join(t, c).Links.All() {
			all[Known{string(k.A), string(k.B)}] = k.Similarity
		}
		c.Threshold = 0.3
		want := 0
		for _, s := range all {
			if s >= c.Threshold {
				want++
			}
		}
		c.Candidates = Exact
		exact := join(t, c)
		for k := range exact.Links.All() {
			if s := all[Known{string(k.A), string(k.B)}]; s != 0 && s != k.Similarity || k.Similarity < c.Threshold {
				t.Errorf("%v: %s and %s have similarity %v, and %v otherwise", m, k.A, k.B, k.Similarity, s)
			}
		}
		if exact.Links.Len() < want || exact.Search.Method != candidates.Exact {
			t.Errorf("%v: %d pairs by %s, and %d otherwise", m, exact.Links.Len(), exact.Search.Method, want)
		}
		c.Candidates, c.Recall = LSH, 0.9
		bands := join(t, c)
		if n := bands.Links.Len(); n < exact.Links.Len()*85/100 || n > exact.Links.Len() || bands.Search.Method != candidates.Bands {
			t.Errorf("%v: %d of %d pairs by %s", m, n, exact.Links.Len(), bands.Search.Method)
		}
		c.Candidates, c.Recall = Auto, 0
		if auto := join(t, c); auto.Search.TopKSeconds <= 0 || auto.Search.BandsSeconds <= 0 {
			t.Errorf("%v: auto has estimated nothing: %+v", m, auto.Search)
		}
	}
}

// TestABloomFilterChangesNoLink joins a small table with a larger one, most of whose records have
// nothing in common with it.
func TestABloomFilterChangesNoLink(t *testing.T) {
	l, _ := people(40, 1)
	_, x := people(400, 0.05)
	c := Config{Left: write(t, "l.csv", l), Right: write(t, "r.csv", x+strings.Repeat("z,q w,e r,t,1700-01-01\n", 400)), Threshold: 0.6, Match: All}
	c.Candidates = LSH
	for range 2 {
		filtered := join(t, c)
		c.limits.unfiltered = true
		whole := join(t, c)
		c.limits.unfiltered = false
		if !slices.Equal(knownOf(filtered), knownOf(whole)) || filtered.Candidates != whole.Candidates {
			t.Errorf("%d links of %d candidates with the filter, %d of %d without", filtered.Links.Len(), filtered.Candidates, whole.Links.Len(), whole.Candidates)
		}
		if filtered.Search.Dropped < 400 || whole.Search.Dropped >= filtered.Search.Dropped {
			t.Errorf("dropped %d of %d records with the filter, %d without", filtered.Search.Dropped, filtered.Search.Searched, whole.Search.Dropped)
		}
		c.Left, c.Right = c.Right, c.Left
	}
}

func TestBandsThatCannotFindWhatIsAskedForAreRefused(t *testing.T) {
	l, x := people(20, 1)
	c := Config{Left: write(t, "l.csv", l), Right: write(t, "r.csv", x), Threshold: 0.05}
	c.Candidates = LSH
	if _, err := Join(t.Context(), c); err == nil || !strings.Contains(err.Error(), "(Threshold 0.05) with this recall") {
		t.Errorf("error %v", err)
	}
}

func TestSettingsThatCannotBeAreRefused(t *testing.T) {
	for want, change := range map[string]func(*Config){
		`IDF is "some"`: func(c *Config) { c.IDF = "some" },
		"IDF sketch":    func(c *Config) { c.Epsilon = 0.1 },
		"epsilon 2":     func(c *Config) { c.IDF, c.Epsilon = IDFSketch, 2 },
		"Measure is containment: records are compared by cosine or weighted-jaccard": func(c *Config) { c.Measure = measure.Containment },
		"Candidates lsh finds pairs from a similarity on: give one (Threshold)":      func(c *Config) { c.Candidates = LSH },
		"Candidates exact finds": func(c *Config) { c.Candidates = Exact },
		`Candidates is "guess"`:  func(c *Config) { c.Candidates = "guess" },
		"Recall is 1":            func(c *Config) { c.Recall = 1 },
	} {
		c := Config{Left: "l.csv"}
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
