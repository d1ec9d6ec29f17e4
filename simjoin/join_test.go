package simjoin

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/testsize"
	"github.com/alike-dev/alike/measure"
)

func threshold(t testing.TB, f float64) measure.Threshold {
	t.Helper()
	return thresholdOf(t, measure.Jaccard, f)
}

func thresholdOf(t testing.TB, m measure.Measure, f float64) measure.Threshold {
	t.Helper()
	th, err := measure.NewThreshold(m, f)
	if err != nil {
		t.Fatal(err)
	}
	return th
}

// anyThreshold draws a measure, and round thresholds as well as odd and tiny ones.
func anyThreshold(t *rapid.T) measure.Threshold {
	m := rapid.SampledFrom(measure.All()).Draw(t, "measure")
	value := float64(rapid.IntRange(1, 20).Draw(t, "twentieths")) / 20
	switch {
	case m == measure.Overlap:
		value = float64(rapid.OneOf(rapid.IntRange(1, 5), rapid.IntRange(1, 400)).Draw(t, "overlap"))
	case rapid.IntRange(0, 3).Draw(t, "odd threshold") == 0:
		value = float64(rapid.OneOf(rapid.IntRange(1, 1000), rapid.IntRange(1, 1e9)).Draw(t, "billionths")) / 1e9
	}
	th, err := measure.NewThreshold(m, value)
	if err != nil {
		t.Fatal(err)
	}
	return th
}

// reached is the definition for two sets.
func reached(t measure.Threshold, a, b []uint64) bool {
	return t.Reached(uint64(naive(a, b)), uint64(len(a)), uint64(len(b)))
}

func matchOf(sets [][]uint64, a, b int, inter uint64) measure.Match {
	return measure.Match{A: uint64(a), B: uint64(b), Intersection: inter, SizeA: uint64(len(sets[a])), SizeB: uint64(len(sets[b]))}
}

func selfJoin(sets [][]uint64, t measure.Threshold) []measure.Match {
	return slices.Collect(SelfJoin(sets, t))
}

// byPosition orders matches by A, then B.
func byPosition(p, q measure.Match) int {
	return cmp.Or(cmp.Compare(p.A, q.A), cmp.Compare(p.B, q.B))
}

// bruteForce is the definition of the self-join.
func bruteForce(sets [][]uint64, t measure.Threshold) []measure.Match {
	var pairs []measure.Match
	for a := range sets {
		for b := range sets {
			if a != b && (a < b || !t.Measure().Symmetric()) && reached(t, sets[a], sets[b]) {
				pairs = append(pairs, matchOf(sets, a, b, uint64(naive(sets[a], sets[b]))))
			}
		}
	}
	return pairs
}

// anyCollection draws sets of uniform or skewed tokens, with near copies, equal
// sets and empty ones among them.
func anyCollection(t *rapid.T) [][]uint64 {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	tokens := rapid.SampledFrom([]int{5, 30, 100, 500}).Draw(t, "tokens")
	longest := rapid.SampledFrom([]int{3, 12, 60}).Draw(t, "longest")
	sets := make([][]uint64, rapid.SampledFrom([]int{0, 2, 3, 10, 60}).Draw(t, "sets"))
	draw := func() uint64 { return r.Uint64N(uint64(tokens)) }
	if rapid.Bool().Draw(t, "skewed") {
		zipf := rand.NewZipf(r, 1.2, 1, uint64(tokens))
		draw = zipf.Uint64
	}
	if rapid.Bool().Draw(t, "hashed") {
		plain := draw
		draw = func() uint64 { return hashing.Mix(plain()) }
	}
	for i := range sets {
		n := r.IntN(longest + 1)
		if i > 0 && r.IntN(2) == 0 {
			sets[i] = slices.Clone(sets[r.IntN(i)])
			n = r.IntN(4) // edits
		}
		for range n {
			if len(sets[i]) > 0 && r.IntN(4) == 0 {
				at := r.IntN(len(sets[i]))
				sets[i] = slices.Delete(sets[i], at, at+1)
			}
			sets[i] = append(sets[i], draw())
		}
		slices.Sort(sets[i])
		sets[i] = slices.Compact(sets[i])
	}
	return sets
}

func TestSelfJoinEqualsBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sets := anyCollection(t)
		th := anyThreshold(t)
		got, want := selfJoin(sets, th), bruteForce(sets, th)
		if !slices.Equal(got, want) {
			t.Errorf("at %v of %v:\n got %v\nwant %v", th, sets, got, want)
		}
	})
}

func TestPiecesInAnyOrderWithAnyProberFindTheSamePairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sets := anyCollection(t)
		th := anyThreshold(t)
		x := NewIndex(sets, th)
		want := pairsOf(x, func(a, b int) bool {
			return reached(th, sets[x.Members(a)[0]], sets[x.Members(b)[0]]) ||
				reached(th, sets[x.Members(b)[0]], sets[x.Members(a)[0]])
		})
		r := rand.New(rand.NewPCG(uint64(len(sets)), 1))
		var probers [2]Prober
		// A prober may come from another index and another threshold, or from pairs that
		// nobody wanted to the end.
		other := NewIndex([][]uint64{{1, 2, 3}, {1, 2, 3, 4}}, threshold(&testing.T{}, 0.5))
		for range other.Pairs(&probers[0], 0) {
		}
		var got []GroupPair
		for _, piece := range r.Perm(x.Pieces()) {
			p := &probers[r.IntN(2)]
			for range x.Pairs(p, r.IntN(x.Pieces())) {
				break
			}
			got = slices.AppendSeq(got, x.Pairs(p, piece))
		}
		slices.SortFunc(got, func(a, b GroupPair) int { return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B)) })
		for i, g := range got {
			got[i].Intersection = 0
			if n := naive(sets[x.Members(g.A)[0]], sets[x.Members(g.B)[0]]); uint32(n) != g.Intersection {
				t.Errorf("%v share %d", g, n)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v: got %v\nwant %v", th, got, want)
		}
	})
}

// Lists are longer than tiles and pieces, and of sets of many sizes.
func TestPairsOfLongListsEqualBruteForce(t *testing.T) {
	if testsize.Small() {
		t.Skip("one goroutine does it all")
	}
	r := rand.New(rand.NewPCG(8, 9))
	sets := make([][]uint64, 1000)
	for i := range sets {
		for range 1 + r.IntN(20)*r.IntN(3) {
			n := r.Uint64N(40)
			sets[i] = append(sets[i], n*n/40)
		}
		slices.Sort(sets[i])
		sets[i] = slices.Compact(sets[i])
	}
	for _, line := range []string{"jaccard>=0.3", "jaccard>=0.6", "cosine>=0.7", "dice>=0.5", "overlap>=4", "max-containment>=0.9", "containment>=0.9"} {
		th, err := measure.ParseThreshold(line)
		if err != nil {
			t.Fatal(err)
		}
		x := NewIndex(sets, th)
		got, want := selfJoin(sets, th), bruteForce(sets, th)
		if !slices.Equal(got, want) || len(want) < 1000 {
			t.Errorf("%v: %d pairs, want %d", th, len(got), len(want))
		}
		longest := 0
		for token := range len(x.postingStart) - 1 {
			longest = max(longest, x.postingStart[token+1]-x.postingStart[token])
		}
		if th.Measure() == measure.Jaccard && (x.listed < x.Len()/2 || longest < 2*tileLength || x.Pieces() < 3) {
			t.Errorf("%v: %d of %d groups in lists of up to %d, %d pieces", th, x.listed, x.Len(), longest, x.Pieces())
		}
	}
}

// pairsOf returns the pairs of groups, in order, for which like holds.
func pairsOf(x *Index, like func(a, b int) bool) (pairs []GroupPair) {
	for a := range x.Len() {
		for b := a + 1; b < x.Len(); b++ {
			if like(a, b) {
				pairs = append(pairs, GroupPair{A: a, B: b})
			}
		}
	}
	return pairs
}

func TestMembersAreTheSetsOfAGroup(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sets := anyCollection(t)
		x := NewIndex(sets, anyThreshold(t))
		seen := make([]bool, len(sets))
		for g := range x.Len() {
			if g > 0 && x.Size(g) < x.Size(g-1) {
				t.Errorf("group %d is smaller than the one before", g)
			}
			for i, d := range x.Members(g) {
				if seen[d] || (i > 0 && d <= x.Members(g)[i-1]) || !slices.Equal(sets[d], sets[x.Members(g)[0]]) || len(sets[d]) != x.Size(g) {
					t.Errorf("members of group %d: %v", g, x.Members(g))
				}
				seen[d] = true
			}
		}
		for d, set := range sets {
			if seen[d] == (len(set) == 0) {
				t.Errorf("set %d of %d elements: in a group: %v", d, len(set), seen[d])
			}
		}
	})
}

func TestSelfJoinOfFewSets(t *testing.T) {
	top := ^uint64(0)
	for name, c := range map[string]struct {
		sets [][]uint64
		want [][4]int // A, B, intersection, union
	}{
		"no sets":                     {nil, nil},
		"empty sets match nothing":    {[][]uint64{{}, nil, {}}, nil},
		"one set":                     {[][]uint64{{1}}, nil},
		"equal sets":                  {[][]uint64{{1, 2}, {}, {1, 2}}, [][4]int{{0, 2, 2, 2}}},
		"a pair on the threshold":     {[][]uint64{{1, 2, 3, 4, 5}, {1, 2, 3, 4}}, [][4]int{{0, 1, 4, 5}}},
		"a pair below the threshold":  {[][]uint64{{1, 2, 3, 4}, {1, 2, 3}}, nil},
		"the least and largest token": {[][]uint64{{0, 1, 2, 3, top}, {0, 1, 2, 3}, {top}}, [][4]int{{0, 1, 4, 5}}},
		"equal sets on both sides": {
			[][]uint64{{1, 2, 3, 4}, {1, 2, 3, 4, 5}, {1, 2, 3, 4}, {1, 2, 3, 4, 5}},
			[][4]int{{0, 1, 4, 5}, {0, 2, 4, 4}, {0, 3, 4, 5}, {1, 2, 4, 5}, {1, 3, 5, 5}, {2, 3, 4, 5}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got [][4]int
			for m := range SelfJoin(c.sets, threshold(t, 0.8)) {
				got = append(got, [4]int{int(m.A), int(m.B), int(m.Intersection), int(m.SizeA + m.SizeB - m.Intersection)})
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestDictionaryNumbersManyTokens(t *testing.T) {
	var d dictionary
	const tokens = 10 * firstSlots
	for range 2 { // the second time in the same memory
		d.reset()
		for range 2 {
			for i := range uint64(tokens) {
				if n := d.add(i << 30); uint64(n) != i {
					t.Fatalf("token %d has number %d", i, n)
				}
			}
		}
	}
	for n, c := range d.count {
		if c != 2 {
			t.Fatalf("token %d counted %d times", n, c)
		}
	}
	if len(d.count) != tokens {
		t.Errorf("%d tokens", len(d.count))
	}
}

func TestPairsDoNotAllocateWhenWarm(t *testing.T) {
	if testsize.Small() {
		t.Skip("one goroutine does it all")
	}
	r := rand.New(rand.NewPCG(3, 4))
	var sets [][]uint64
	for _, size := range []int{50, 5000} { // found in lists, and by groups
		for range 300 {
			a, b := randomSets(r, size, size, 0.9)
			sets = append(sets, a, b, a)
		}
	}
	x := NewIndex(sets, threshold(t, 0.7))
	if x.listed == 0 || x.listed == x.Len() {
		t.Fatalf("%d of %d groups are found in lists", x.listed, x.Len())
	}
	var p Prober
	pairs := 0
	all := func() {
		for piece := range x.Pieces() {
			for range x.Pairs(&p, piece) {
				pairs++
			}
		}
	}
	all()
	if pairs != 2*300 {
		t.Errorf("%d pairs", pairs)
	}
	if n := testing.AllocsPerRun(2, all); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestBitmapsDifferInNoMoreBitsThanSetsInElements(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sets := anyCollection(t)
		for b := range sets {
			for a := range b {
				differ := len(sets[a]) + len(sets[b]) - 2*naive(sets[a], sets[b])
				of, with := bitmapOf(sets[a]), bitmapOf(sets[b])
				if bits := int(of.differ(&with)); bits > differ || bits%2 != differ%2 {
					t.Fatalf("%v and %v: %d bits, %d elements", sets[a], sets[b], bits, differ)
				}
			}
		}
	})
}
