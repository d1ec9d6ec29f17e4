package simjoin

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/testsize"
	"github.com/alike-dev/alike/measure"
)

// joinInParts finds the pairs of a collection by indexing it part by part and
// searching each part with all sets of the later ones.
func joinInParts(sets [][]uint64, t measure.Threshold, cuts []int) []measure.Match {
	var pairs []measure.Match
	emit := func(a, b int, inter uint64) {
		m, turned := matchOf(sets, a, b, inter), matchOf(sets, b, a, inter)
		if t.Reached(inter, m.SizeA, m.SizeB) {
			pairs = append(pairs, m)
		}
		if !t.Measure().Symmetric() && t.Reached(inter, turned.SizeA, turned.SizeB) {
			pairs = append(pairs, turned)
		}
	}
	var p Prober
	begin := 0
	for _, end := range append(slices.Clone(cuts), len(sets)) {
		x := NewSearchIndex(sets[begin:end], t)
		x.eachPair(func(m measure.Match) {
			pairs = append(pairs, matchOf(sets, int(m.A)+begin, int(m.B)+begin, m.Intersection))
		})
		for b, set := range sets[end:] {
			for _, m := range x.Search(&p, set) {
				for _, a := range x.Members(m.Group) {
					emit(int(a)+begin, end+b, uint64(m.Intersection))
				}
			}
		}
		begin = end
	}
	slices.SortFunc(pairs, byPosition)
	return pairs
}

func TestJoiningPartByPartEqualsBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sets := anyCollection(t)
		th := anyThreshold(t)
		cuts := rapid.SliceOfN(rapid.IntRange(0, len(sets)), 1, 4).Draw(t, "cuts")
		slices.Sort(cuts)
		got, want := joinInParts(sets, th, cuts), bruteForce(sets, th)
		if !slices.Equal(got, want) {
			t.Errorf("at %v, cut at %v, of %v:\n got %v\nwant %v", th, cuts, sets, got, want)
		}
	})
}

func TestSearchFindsEveryMatchWithAnyTokens(t *testing.T) {
	for name, kind := range tokenKinds {
		t.Run(name, func(t *testing.T) {
			sets := manyParts(kind, 120)
			slices.SortFunc(sets, func(a, b []uint64) int { return slices.Compare(a, b) })
			th := threshold(t, 0.6)
			if got, want := joinInParts(sets, th, []int{40, 80}), selfJoin(sets, th); !slices.Equal(got, want) || len(want) < 10 {
				t.Errorf("%d pairs, want %d", len(got), len(want))
			}
		})
	}
}

func TestASearchIndexHasThePairsOfAnIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sets := anyCollection(t)
		th := anyThreshold(t)
		if got, want := joinInParts(sets, th, nil), selfJoin(sets, th); !slices.Equal(got, want) {
			t.Errorf("got %v\nwant %v", got, want)
		}
	})
}

func TestSearchKnowsFewSets(t *testing.T) {
	top := ^uint64(0)
	x := NewSearchIndex([][]uint64{{}, {1, 2, 3, 4}, {0, 1, 2, 3, top}, {1, 2, 3, 4}, {top}}, threshold(t, 0.8))
	var p Prober
	for name, c := range map[string]struct {
		set  []uint64
		want []string
	}{
		"the empty set":                    {nil, nil},
		"an equal set":                     {[]uint64{1, 2, 3, 4}, []string{"[1 3] 4/4"}},
		"one token more, unknown":          {[]uint64{1, 2, 3, 4, 5}, []string{"[1 3] 4/5"}},
		"one token more, known":            {[]uint64{0, 1, 2, 3, 4}, []string{"[1 3] 4/5"}},
		"one token fewer":                  {[]uint64{0, 1, 2, 3}, []string{"[2] 4/5"}},
		"two tokens fewer":                 {[]uint64{1, 2, 3}, nil},
		"the largest token":                {[]uint64{top}, []string{"[4] 1/1"}},
		"a token that one group has alone": {[]uint64{0}, nil},
		"no token known":                   {[]uint64{7, 8, 9, 10}, nil},
		"a larger set than any":            {[]uint64{0, 1, 2, 3, 4, 5, 6, 7, 8, top}, nil},
	} {
		var got []string
		for _, m := range x.Search(&p, c.set) {
			got = append(got, fmt.Sprintf("%v %d/%d", x.Members(m.Group), m.Intersection, int(m.Size)+len(c.set)-int(m.Intersection)))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
	none := NewSearchIndex(nil, threshold(t, 0.8))
	if got := none.Search(&p, []uint64{1}); len(got) > 0 {
		t.Errorf("an empty index has %v", got)
	}
}

func TestJoiningRealStoriesPartByPartFindsTheSamePairs(t *testing.T) {
	if testsize.Small() {
		t.Skip("one goroutine does it all")
	}
	sets := reuters(t)
	th := threshold(t, 0.5)
	if got, want := joinInParts(sets, th, []int{9000}), selfJoin(sets, th); !slices.Equal(got, want) {
		t.Errorf("%d pairs, want %d", len(got), len(want))
	}
}

func TestSearchesDoNotAllocateWhenWarm(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var in, out [][]uint64
	for range 300 {
		a, b := randomSets(r, 50, 50, 0.9)
		c, _ := randomSets(r, 50, 50, 0)
		in, out = append(in, a), append(out, a, b, c)
	}
	x := NewSearchIndex(in, threshold(t, 0.7))
	var p Prober
	matches := 0
	all := func() {
		for _, set := range out {
			matches += len(x.Search(&p, set))
		}
	}
	all()
	if matches != 2*300 {
		t.Errorf("%d matches", matches)
	}
	if n := testing.AllocsPerRun(5, all); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// What is garbage before the end counts here as well, which the bounds leave out.
func TestBuildingAllocatesLessThanTwiceTheBoundOfItsMemory(t *testing.T) {
	pairs := func() [][]uint64 { // no token is alone, and none is in three sets
		sets := mostlyUnique(100_000)
		for _, set := range slices.Clone(sets) {
			other := slices.Clone(set)
			other[0] ^= 1
			sets = append(sets, other)
		}
		return sets
	}
	few := func() [][]uint64 { // as many sets as possible
		var sets [][]uint64
		for i := range uint64(50_000) {
			sets = append(sets, []uint64{hashing.Mix(i)})
		}
		return sets
	}
	for name, sets := range map[string][][]uint64{
		"mostly unique tokens": mostlyUnique(300_000), "tokens in pairs": pairs(), "sets of one token": few(),
	} {
		tokens := 0
		for _, set := range sets {
			tokens += len(set)
		}
		for _, f := range []float64{0.1, 0.8} {
			th := threshold(t, f)
			if got, bound := allocated(func() { NewSearchIndex(sets, th) }), SearchIndexBytes(len(sets), tokens); got > 2*bound {
				t.Errorf("%s at %v: NewSearchIndex allocates %d bytes, bound %d", name, f, got, bound)
			}
		}
	}
}

// allocated returns the bytes that do allocates.
func allocated(do func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

func BenchmarkNewSearchIndexMostlyUnique(b *testing.B) {
	sets := mostlyUnique(10_000_000)
	th := threshold(b, 0.8)
	b.ReportAllocs()
	for b.Loop() {
		NewSearchIndex(sets, th)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/10_000_000, "ns/feature")
}

// BenchmarkSearch searches an index of half of the sets with the other half.
func BenchmarkSearch(b *testing.B) {
	for name, sets := range map[string][][]uint64{
		"Reuters": reuters(b), "Retail": retail(b), "MostlyUnique": mostlyUnique(10_000_000),
	} {
		for _, f := range []float64{0.5, 0.8} {
			b.Run(fmt.Sprintf("%s/%v", name, f), func(b *testing.B) {
				half := len(sets) / 2
				x := NewSearchIndex(sets[:half], threshold(b, f))
				features := 0
				for _, set := range sets[half:] {
					features += len(set)
				}
				var p Prober
				b.ReportAllocs()
				for b.Loop() {
					for _, set := range sets[half:] {
						x.Search(&p, set)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(features), "ns/feature")
			})
		}
	}
}
