package forecast

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/sides"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/simjoin"
)

// documents are sets by their numbers.
type documents [][]uint64

func (d documents) Each(visit func(d Document)) error {
	for i, set := range d {
		visit(Document{Number: uint32(i), Features: uint32(len(set)), Digest: hashing.Mix(uint64(i) + 1)})
	}
	return nil
}

// Sets gives of every other set no more than is wanted.
func (d documents) Sets(of []uint32, keep func(uint64) bool, visit func(number uint32, set []uint64)) error {
	for at, i := range of {
		set := slices.Clone(d[i])
		if at%2 == 0 {
			set = slices.DeleteFunc(set, func(token uint64) bool { return !keep(token) })
		}
		visit(i, set)
	}
	return nil
}

func testOptions(t *testing.T) Options {
	t.Helper()
	r, err := recipe.Parse("text/v2 nfkc fold words n=1 unicode=15.0.0 | minhash/oph/v1 k=128 bits=32 seed=1 | bands=32 rows=3 | jaccard>=0.3 exact")
	if err != nil {
		t.Fatal(err)
	}
	policy := sides.Self()
	return Options{Recipe: r, Sides: &policy, Threshold: r.Threshold(), Cap: 1000}
}

func TestForecastIsNearTheTruth(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 11))
	var docs documents
	for i := range 1500 {
		set := map[uint64]bool{}
		for range 60 {
			set[1+uint64(rng.IntN(120))] = true
		}
		d := slices.Sorted(maps.Keys(set))
		if i%20 > 16 { // families
			d = append(slices.Clone(docs[i-1]), 1000+uint64(i))
		}
		docs = append(docs, d)
	}
	by := testOptions(t)
	f, err := Of(by, docs)
	if err != nil {
		t.Fatal(err)
	}
	edges, met := 0.0, 0.0
	for i, a := range docs {
		for _, b := range docs[i+1:] {
			inter := simjoin.Intersection(a, b)
			union := len(a) + len(b) - inter
			if by.Threshold.Reached(uint64(inter), uint64(len(a)), uint64(len(b))) {
				edges++
			}
			met += by.Recipe.Banding().Probability(float64(inter) / float64(union))
		}
	}
	if f.docs != float64(len(docs)) || f.Edges < edges/2 || f.Edges > edges*2 || f.met < met/2 || f.met > met*2 || f.metAlike > f.Edges {
		t.Errorf("forecast %+v; in truth %d documents, %.0f edges, %.0f pairs met", f, len(docs), edges, met)
	}
}

func TestHotDocumentsAreJoinedAsFarAsThatIsWorthIt(t *testing.T) {
	const many = HotFeatures + 1
	for what, c := range map[string]struct {
		features map[int]int64 // by level
		most     int           // the highest end whose join stays below its limit
		want     int
	}{
		"none":                        {nil, HotLevels, 0},
		"all":                         {map[int]int64{0: 100, 3: 100}, HotLevels, 4},
		"too many features":           {map[int]int64{0: 100, 1: 100, 3: many}, HotLevels, 2},
		"too many edges":              {map[int]int64{0: 100, 1: 100, 3: 100}, 2, 2},
		"too many edges of the first": {map[int]int64{2: 100}, 0, 0},
		"too many features of all":    {map[int]int64{2: many}, HotLevels, 0},
	} {
		var features [HotLevels]sides.Features
		for level, n := range c.features {
			features[level] = sides.Features{Left: n, Right: n}
		}
		end, err := JoinHot(&features, 1000,
			func(int) (Forecast, error) { return Of(testOptions(t), documents{{1, 2}, {1, 3}}) },
			func(end int, limit int64) (bool, error) { return end <= c.most, nil })
		if err != nil || end != c.want {
			t.Errorf("%s: end %d, want %d (%v)", what, end, c.want, err)
		}
	}
}

func TestLevelsOfBucketsAreHowOftenTheCapIsDoubled(t *testing.T) {
	for size, want := range map[int64]int{11: 1, 20: 1, 21: 2, 40: 2, 41: 3, 1<<32 - 1: 29} {
		if got := HotLevel(size, 10); got != want {
			t.Errorf("a bucket of %d: level %d, want %d", size, got, want)
		}
	}
	if HotLevel(1<<32, 1) >= HotLevels {
		t.Error("a bucket has a level that is none")
	}
}
