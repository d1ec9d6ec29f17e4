package advise

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/text"
)

// TestWhatMoreThanACapHasIsCounted: features are in a known share of the texts.
func TestWhatMoreThanACapHasIsCounted(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	sets := make([][]uint64, 800)
	for i := range sets {
		for f := range uint64(2000) { // of each text 30 such features
			if rng.Float64() < 0.015 {
				sets[i] = append(sets[i], f)
			}
		}
		for range 90 { // and 90 that no other one has
			sets[i] = append(sets[i], rng.Uint64())
		}
	}
	for _, c := range []struct{ documents, many, pairs float64 }{
		{1000, 0, 0},
		{20_000, 0, 0},        // 300 have one
		{1_000_000, 0.25, 0},  // 15,000 one, 225 two
		{1e8, 0.25, 0.25 / 4}, // 22,500 two
	} {
		if r := rarityIn(sets, c.documents); math.Abs(r.many-c.many) > 0.01 || math.Abs(r.manyPairs-c.pairs) > 0.01 {
			t.Errorf("of %g: %+v, want %g and %g", c.documents, r, c.many, c.pairs)
		}
	}
}

// TestPairsAreFoundByWhatFewTextsHave draws the features that pairs have in common.
func TestPairsAreFoundByWhatFewTextsHave(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	const few, trials = 0.4, 20_000
	v := &view{rarity: rarity{many: 1 - few, manyPairs: 1 - few*few}, features: 1e9, distinct: 1e6}
	v.chance.shared = 1
	share := func(found func() bool) float64 {
		n := 0
		for range trials {
			if found() {
				n++
			}
		}
		return float64(n) / trials
	}
	by := func(m measure.Measure, threshold float64) []float64 {
		return v.reach(Recipe{Tokens: text.Chars, N: 5, Measure: m, Threshold: threshold})
	}
	const threshold = 0.3
	at := measure.MaxContainment
	limit, err := measure.NewThreshold(at, threshold)
	if err != nil {
		t.Fatal(err)
	}
	sample, err := lsh.TuneSample(limit, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []float64{0.3, 0.5, 0.9} {
		votes := func(share float64) func() bool {
			return func() bool {
				n := 0
				for range sample.Size {
					if rng.Float64() < s*share {
						n++
					}
				}
				return n >= sample.Agree
			}
		}
		want := share(votes(few)) / share(votes(1))
		if got := by(at, threshold)[int(s*steps+0.5)]; math.Abs(got-want) > 0.02 {
			t.Errorf("by samples, %g: %g, want %g", s, got, want)
		}
	}
	if reach := by(measure.Jaccard, 0.8); reach != nil {
		t.Errorf("hardly a key of several features is over the cap: %v", reach)
	}
	if v.features = 1e6; by(at, threshold) != nil {
		t.Error("documents of so few features are joined")
	}
}
