package topk

import (
	"cmp"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/simjoin"
	"pgregory.net/rapid"
)

// naive is the definition: all vectors, sorted by similarity in exact arithmetic.
func naive(t testing.TB, vectors *simjoin.Vectors, o Options, query simjoin.Vector, self int) []Match {
	m := o.Measure
	var all []Match
	for i := range vectors.Len() {
		v := vectors.At(i)
		c := Match{Index: uint32(i), Overlap: simjoin.Overlap(v, query, m), Size: v.Size(m)}
		c.Score = m.Score(c.Overlap, c.Size, query.Size(m))
		if i == self || c.Overlap == 0 {
			continue
		}
		if o.MinSimilarity > 0 {
			th, err := measure.NewThreshold(m, o.MinSimilarity)
			if err != nil {
				t.Fatal(err)
			}
			if !th.Reached(c.Overlap, query.Size(m), c.Size) {
				continue
			}
		}
		all = append(all, c)
	}
	slices.SortStableFunc(all, func(a, b Match) int { return cmp.Compare(b.Score, a.Score) })
	if o.K > 0 {
		all = all[:min(o.K, len(all))]
	}
	return all
}

// anyVectors draws a collection: few features and many ties, or many; weights of
// features, or any.
func anyVectors(t *rapid.T, name string, features, most int) *simjoin.Vectors {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, name), 1))
	n := rapid.IntRange(0, most).Draw(t, name+" vectors")
	length := rapid.SampledFrom([]int{1, 3, 12, 200}).Draw(t, name+" length")
	skew := rapid.SampledFrom([]float64{1, 3, 8}).Draw(t, name+" skew")
	ofFeature := rapid.Bool().Draw(t, name+" weights of features")
	largest := rapid.SampledFrom([]uint32{1, 3, 1000, 1 << 24}).Draw(t, name+" weights up to")
	v := new(simjoin.Vectors)
	for range n {
		set := map[uint32]uint32{}
		for range r.IntN(length + 1) {
			f := uint32(pow(r.Float64(), skew) * float64(features))
			w := 1 + r.Uint32N(largest)
			if ofFeature {
				w = 1 + (f*0x9e3779b1>>8)%largest
			}
			set[f] = w
		}
		if v.Len() > 0 && r.IntN(4) == 0 { // a near copy of one before
			old := v.At(r.IntN(v.Len()))
			clear(set)
			for i, f := range old.Features {
				if r.IntN(5) > 0 {
					set[f] = old.Weights[i]
				}
			}
		}
		appendMap(t, v, set)
	}
	return v
}

func pow(x, y float64) float64 {
	p := 1.0
	for ; y > 0; y-- {
		p *= x
	}
	return p
}

func appendMap(t interface{ Fatal(...any) }, v *simjoin.Vectors, set map[uint32]uint32) {
	var features, weights []uint32
	for f := range set {
		features = append(features, f)
	}
	slices.Sort(features)
	for _, f := range features {
		weights = append(weights, set[f])
	}
	if err := v.Append(features, weights); err != nil {
		t.Fatal(err)
	}
}

func anyOptions(t *rapid.T) Options {
	o := Options{
		Measure:       rapid.SampledFrom([]measure.Measure{measure.Cosine, measure.WeightedJaccard}).Draw(t, "measure"),
		K:             rapid.SampledFrom([]int{0, 1, 2, 10, 1000}).Draw(t, "k"),
		MinSimilarity: rapid.SampledFrom([]float64{0, 0.000001, 0.1, 0.333333333, 0.5, 0.8, 1}).Draw(t, "least"),
	}
	if o.K == 0 && o.MinSimilarity == 0 {
		o.K = 3
	}
	return o
}

func TestSearchFindsWhatBruteForceFinds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		features := rapid.SampledFrom([]int{3, 30, 1000}).Draw(rt, "features")
		vectors := anyVectors(rt, "index", features, 60)
		queries := anyVectors(rt, "queries", features+5, 20)
		o := anyOptions(rt)
		x, err := NewIndex(vectors, o)
		if err != nil {
			rt.Fatal(err)
		}
		s := x.NewSearcher()
		for i := range queries.Len() {
			got, want := s.Search(nil, queries.At(i)), naive(t, vectors, o, queries.At(i), -1)
			if !slices.Equal(got, want) {
				rt.Fatalf("%+v: query %d:\n got %v\nwant %v", o, i, got, want)
			}
		}
		for i := range vectors.Len() {
			got, want := s.Others(nil, i), naive(t, vectors, o, vectors.At(i), i)
			if !slices.Equal(got, want) {
				rt.Fatalf("%+v: others of %d:\n got %v\nwant %v", o, i, got, want)
			}
		}
	})
}

// What is known of a query's best from elsewhere ends a search sooner, and loses nothing
// that reaches it.
func TestASearchWithALeastScoreFindsAllThatReachIt(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		vectors := anyVectors(rt, "index", 30, 60)
		queries := anyVectors(rt, "queries", 30, 10)
		o := anyOptions(rt)
		x, err := NewIndex(vectors, o)
		if err != nil {
			rt.Fatal(err)
		}
		s := x.NewSearcher()
		for i := range queries.Len() {
			want := naive(t, vectors, o, queries.At(i), -1)
			if len(want) == 0 {
				continue
			}
			last := rapid.IntRange(0, len(want)-1).Draw(rt, "last")
			s.AtLeast = want[last].Score
			for last+1 < len(want) && want[last+1].Score == s.AtLeast {
				last++
			}
			if got := s.Search(nil, queries.At(i)); !slices.Equal(got, want[:last+1]) {
				rt.Fatalf("%+v: at least %d:\n got %v\nwant %v", o, s.AtLeast, got, want[:last+1])
			}
		}
	})
}

// Tables in which every record has the same features, or one that all have: a search looks
// at a few blocks of lists of thousands. Lists of a Zipf distribution are looked at in part.
func TestHotFeaturesMakeNoQuadraticStep(t *testing.T) {
	const n = 5000
	make := func(set func(i int) map[uint32]uint32) *simjoin.Vectors {
		v := new(simjoin.Vectors)
		for i := range n {
			appendMap(t, v, set(i))
		}
		return v
	}
	all := map[uint32]uint32{1: 10, 2: 20, 3: 30}
	for _, c := range []struct {
		name    string
		vectors *simjoin.Vectors
		least   float64
		most    int // entries a search
		found   int
	}{
		{"equal records", make(func(int) map[uint32]uint32 { return all }), 0, blockLength, 10},
		{"one feature that all have", make(func(i int) map[uint32]uint32 { return map[uint32]uint32{0: 10, uint32(i + 1): 10} }), 0, 2 * blockLength, 10},
		{"one feature that all have, beside others of any weight", make(func(i int) map[uint32]uint32 {
			return map[uint32]uint32{0: 10, uint32(i + 1): 1 + uint32(i*7919%1000)}
		}), 0, 2 * blockLength, 10},
		{"a frequent feature below a least similarity", make(func(i int) map[uint32]uint32 {
			return map[uint32]uint32{0: 10, uint32(i%1000 + 1): 90}
		}), 0.3, 8, 4},
		{"Zipf", zipf(t, n, 12, 5000), 0, n / 20, 10},
	} {
		for _, m := range []measure.Measure{measure.Cosine, measure.WeightedJaccard} {
			x, err := NewIndex(c.vectors, Options{Measure: m, K: 10, MinSimilarity: c.least})
			if err != nil {
				t.Fatal(err)
			}
			s := x.NewSearcher()
			for i := range 500 {
				if got := s.Others(nil, i*(n/500)); len(got) != c.found {
					t.Fatalf("%s, %v: %d found, want %d", c.name, m, len(got), c.found)
				}
			}
			if each := s.Work().Entries / 500; each > c.most {
				t.Errorf("%s, %v: %d entries a search, want at most %d", c.name, m, each, c.most)
			}
		}
	}
}

func TestSearchersOfOneIndexWorkAtOnce(t *testing.T) {
	vectors := zipf(t, 2000, 12, 5000)
	x, err := NewIndex(vectors, Options{Measure: measure.Cosine, K: 5})
	if err != nil {
		t.Fatal(err)
	}
	results := make([][][]Match, 4)
	var wg sync.WaitGroup
	for w := range results {
		wg.Go(func() {
			s := x.NewSearcher()
			for i := range x.Len() {
				results[w] = append(results[w], s.Others(nil, i))
			}
		})
	}
	wg.Wait()
	for _, r := range results[1:] {
		if !reflect.DeepEqual(r, results[0]) {
			t.Error("searchers disagree")
		}
	}
}

func TestSearchDoesNotAllocate(t *testing.T) {
	vectors := zipf(t, 2000, 40, 5000)
	x, err := NewIndex(vectors, Options{Measure: measure.Cosine, K: 5})
	if err != nil {
		t.Fatal(err)
	}
	s := x.NewSearcher()
	var dst []Match
	all := func() {
		for i := range x.Len() {
			dst = s.Others(dst[:0], i)
		}
	}
	all()
	if n := testing.AllocsPerRun(1, all); n != 0 {
		t.Errorf("%v allocations for %d searches", n, x.Len())
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for _, o := range []Options{
		{}, {K: -1}, {Measure: measure.Dice, K: 1}, {MinSimilarity: 1.5}, {MinSimilarity: -0.5, K: 1},
	} {
		if _, err := NewIndex(new(simjoin.Vectors), o); err == nil || o.Validate() == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}

// zipf makes vectors of features of which a few are in many of them.
func zipf(t testing.TB, n, length, features int) *simjoin.Vectors {
	r := rand.New(rand.NewPCG(1, 2))
	z := rand.NewZipf(r, 1.1, 2, uint64(features-1))
	v := new(simjoin.Vectors)
	for range n {
		set := map[uint32]uint32{}
		for range length {
			f := uint32(z.Uint64())
			set[f] = 1 + 1000*f/uint32(features)
		}
		appendMap(t, v, set)
	}
	return v
}

// A search adds up what vectors have in common with the query where that is cheaper, if features have one weight.
func TestSumsFindWhatBruteForceFinds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		features := rapid.SampledFrom([]int{3, 30, 300}).Draw(rt, "features")
		weights := rapid.SliceOfN(rapid.Uint32Range(1, 1<<16), features, features).Draw(rt, "weights")
		even := func(of *simjoin.Vectors, own bool) *simjoin.Vectors {
			v := new(simjoin.Vectors)
			for i := range of.Len() {
				set := map[uint32]uint32{}
				for k, f := range of.At(i).Features {
					if set[f] = of.At(i).Weights[k]; own {
						set[f] = weights[f]
					}
				}
				appendMap(t, v, set)
			}
			return v
		}
		vectors := even(anyVectors(rt, "index", features, 60), true)
		queries := even(anyVectors(rt, "queries", features, 20), rapid.Bool().Draw(rt, "even queries"))
		o := anyOptions(rt)
		o.MinSimilarity, o.K = 0, max(o.K, 1)
		x, err := NewIndex(vectors, o)
		if err != nil {
			rt.Fatal(err)
		}
		if !x.addsUp() {
			rt.Fatal("weights are even, and sums are not used")
		}
		s := x.NewSearcher()
		for i := range queries.Len() {
			s.dense = rapid.IntRange(0, 1).Draw(rt, "by sums")
			got, want := s.Search(nil, queries.At(i)), naive(t, vectors, o, queries.At(i), -1)
			if !slices.Equal(got, want) {
				rt.Fatalf("%+v: query %d:\n got %v\nwant %v", o, i, got, want)
			}
		}
		for i := range vectors.Len() {
			s.dense = rapid.IntRange(0, 1).Draw(rt, "by sums")
			got, want := s.Others(nil, i), naive(t, vectors, o, vectors.At(i), i)
			if !slices.Equal(got, want) {
				rt.Fatalf("%+v: others of %d:\n got %v\nwant %v", o, i, got, want)
			}
		}
	})
}
