package candidates

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/internal/testsize"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/simjoin"
	"github.com/alike-dev/alike/vfs/vfstest"
)

// find returns what Find does.
func find(t testing.TB, c Config, left, right *Store) ([]Pair, Summary) {
	t.Helper()
	sorted, summary, err := Find(context.Background(), c, left, right)
	if err != nil {
		t.Fatalf("%+v: %v", c, err)
	}
	pairs, err := readAll(sorted)
	if err != nil {
		t.Fatal(err)
	}
	return pairs, summary
}

func readAll(sorted *Pairs) (pairs []Pair, err error) {
	for p, e := range sorted.All() {
		if err = e; err == nil {
			pairs = append(pairs, p)
		}
	}
	return pairs, errors.Join(err, sorted.Close())
}

// naive is the definition of TopK and Exact, over all pairs. Of two tables the one with
// fewer features, or the right one, is indexed.
func naive(t testing.TB, c Config, left, right table) []Pair {
	pairs := map[[2]int]Pair{}
	search := func(searched, indexed table, swapped bool) {
		for q, v := range searched {
			for _, i := range naiveBest(t, c, v, q, indexed, right == nil) {
				a, b := q, i
				if swapped || right == nil && b < a {
					a, b = b, a
				}
				_, again := pairs[[2]int{a, b}]
				score := c.Measure.Score(simjoin.Overlap(v, indexed[i], c.Measure), v.Size(c.Measure), indexed[i].Size(c.Measure))
				pairs[[2]int{a, b}] = Pair{uint32(a), uint32(b), score, again}
			}
		}
	}
	switch {
	case right == nil:
		search(left, left, false)
	case features(left) < features(right):
		search(right, left, true)
	default:
		search(left, right, false)
	}
	if right != nil && c.Both && c.Method == TopK {
		if features(left) < features(right) {
			search(left, right, false)
		} else {
			search(right, left, true)
		}
	}
	return slices.SortedFunc(maps.Values(pairs), func(x, y Pair) int { return cmp.Or(cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B)) })
}

func features(t table) (n int) {
	for _, v := range t {
		n += len(v.Features)
	}
	return n
}

// naiveBest returns the records of a table that a search for v finds.
func naiveBest(t testing.TB, c Config, v simjoin.Vector, q int, indexed table, self bool) []int {
	var all []int
	scores := make([]uint64, len(indexed))
	for i, w := range indexed {
		overlap, a, b := simjoin.Overlap(v, w, c.Measure), v.Size(c.Measure), w.Size(c.Measure)
		if overlap == 0 || self && i == q {
			continue
		}
		if c.MinSimilarity > 0 {
			th, err := measure.NewThreshold(c.Measure, c.MinSimilarity)
			if err != nil {
				t.Fatal(err)
			}
			if !th.Reached(overlap, a, b) {
				continue
			}
		}
		scores[i] = c.Measure.Score(overlap, a, b)
		all = append(all, i)
	}
	if c.Method == Exact {
		return all
	}
	slices.SortStableFunc(all, func(x, y int) int { return cmp.Compare(scores[y], scores[x]) })
	return all[:min(len(all), c.K)]
}

func TestFindReturnsWhatBruteForceDoes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		c := Config{
			Method:        rapid.SampledFrom([]Method{TopK, Exact}).Draw(rt, "method"),
			Measure:       rapid.SampledFrom([]measure.Measure{measure.Cosine, measure.WeightedJaccard}).Draw(rt, "measure"),
			K:             rapid.IntRange(1, 5).Draw(rt, "k"),
			MinSimilarity: rapid.SampledFrom([]float64{0, 0.2, 0.6, 0.9}).Draw(rt, "least"),
			Threads:       rapid.IntRange(0, 3).Draw(rt, "threads"),
			Both:          rapid.Bool().Draw(rt, "both"),
		}
		if c.Method == Exact && c.MinSimilarity == 0 {
			c.MinSimilarity = 0.01
		}
		left := records(r, rapid.IntRange(0, 40).Draw(rt, "left"), 100, nil)
		left = slices.Concat(left, records(r, rapid.IntRange(0, 40).Draw(rt, "copies"), 100, left))
		right := records(r, rapid.IntRange(0, 80).Draw(rt, "right"), 100, left)
		for _, other := range []table{nil, right} {
			var otherStore *Store
			if other != nil {
				otherStore = other.store(t, nil, "right", 0)
			}
			got, _ := find(t, c, left.store(t, nil, "left", 0), otherStore)
			if want := naive(t, c, left, other); !slices.Equal(got, want) {
				rt.Fatalf("%+v, two tables %v:\n got %v\nwant %v", c, other != nil, got, want)
			}
		}
	})
}

// Parts of the index, spilled vectors, spilled candidates and threads change nothing.
func TestMemoryAndThreadsChangeNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	left := records(r, 2*chunkVectors, 20000, nil)
	left = slices.Concat(left, records(r, chunkVectors+100, 20000, left))
	right := records(r, 2*chunkVectors+5, 20000, left)
	for _, c := range []Config{
		{Method: TopK, Measure: measure.Cosine, K: 3, Both: true},
		{Method: TopK, Measure: measure.WeightedJaccard, K: 40, MinSimilarity: 0.3},
		{Method: Exact, Measure: measure.Cosine, MinSimilarity: 0.7},
		{Method: Bands, Measure: measure.WeightedJaccard, MinSimilarity: 0.8},
		{Method: Auto, Measure: measure.Cosine, MinSimilarity: 0.8},
	} {
		for _, two := range []bool{false, true} {
			if testsize.Small() && two != (c.Method == TopK) {
				continue
			}
			t.Run(fmt.Sprint(c.Method, c.Measure, two), func(t *testing.T) {
				dir := &folder{fs: vfstest.NewMem()}
				left, right := left, right
				if c.Method == Bands { // sketches take time
					left, right = left[:chunkVectors+100], right[:chunkVectors+1]
				}
				stores := func(memory int64) (l, r *Store) {
					if l = left.store(t, dir, fmt.Sprint("left", memory), memory); two {
						r = right.store(t, dir, fmt.Sprint("right", memory), memory)
					}
					return l, r
				}
				l, r := stores(0)
				want, summary := find(t, c, l, r)
				if two {
					r = StoreOf(right.vectors(t))
				}
				if again, _ := find(t, c, StoreOf(left.vectors(t)), r); !slices.Equal(again, want) {
					t.Errorf("stores of vectors: %d pairs, want %d, or others", len(again), len(want))
				}
				if len(want) < 100 || summary.Parts > 1 {
					t.Fatalf("%d pairs in %d parts: no test", len(want), summary.Parts)
				}
				little := c
				little.Memory, little.Dir = 1, dir
				for _, little.Threads = range []int{1, 3} {
					l, r := stores(int64(little.Threads))
					got, summary := find(t, little, l, r)
					if !slices.Equal(got, want) {
						t.Errorf("%d threads, little memory: %d pairs, want %d, or others", little.Threads, len(got), len(want))
					}
					if l.Spilled() == 0 || summary.Method != Bands && summary.Parts < 2 {
						t.Errorf("%d bytes spilled, %d parts: memory was enough", l.Spilled(), summary.Parts)
					}
				}
			})
		}
	}
}

// The filter of the smaller table's band keys drops more of the larger one than its features
// rule out, and no pair.
func TestTheFilterDropsRecordsAndNoPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	small := records(r, 500, 100000, nil)
	large := slices.Concat(records(r, 2500, 100000, nil), records(r, 500, 100000, small))
	for _, c := range []Config{
		{Method: Bands, Measure: measure.WeightedJaccard, MinSimilarity: 0.7, Threads: 2},
		{Method: Bands, Measure: measure.Cosine, MinSimilarity: 0.8, Threads: 2},
	} {
		for _, turned := range []bool{false, true} {
			left, right := small.store(t, nil, "", 0), table(large).store(t, nil, "", 0)
			if turned {
				left, right = right, left
			}
			with, summary := find(t, c, left, right)
			c.Unfiltered = true
			without, plain := find(t, c, left, right)
			c.Unfiltered = false
			if !slices.Equal(with, without) || len(with) < 50 {
				t.Errorf("%v: %d pairs with the filter, %d without", c.Measure, len(with), len(without))
			}
			if summary.Searched != int64(len(large)) || summary.Dropped < summary.Searched/2 || plain.Dropped >= summary.Dropped {
				t.Errorf("%v: dropped %d of %d records, without the filter %d", c.Measure, summary.Dropped, summary.Searched, plain.Dropped)
			}
		}
	}
}

// With a least similarity a record of the larger table that shares frequent features only is
// dropped without a look at any list.
func TestASearchDropsRecordsThatShareFrequentFeaturesOnly(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	small := records(r, 500, 100000, nil)
	large := slices.Concat(records(r, 5000, 100000, nil), records(r, 500, 100000, small))
	for _, memory := range []int64{0, 1} {
		c := Config{Method: TopK, Measure: measure.Cosine, MinSimilarity: 0.7, K: 5, Memory: memory, Dir: &folder{fs: vfstest.NewMem()}}
		got, summary := find(t, c, small.store(t, nil, "", 0), table(large).store(t, nil, "", 0))
		if summary.Dropped < 3000 || len(got) < 50 || int(summary.Dropped) > len(large)-len(got)/c.K {
			t.Errorf("%d of %d records dropped, %d pairs", summary.Dropped, summary.Searched, len(got))
		}
	}
}

// Pairs at the threshold are found with the recall asked for: of Cosine too, as features
// have one weight everywhere.
func TestBandsFindWhatTheyPromise(t *testing.T) {
	if testsize.Small() {
		t.Skip("statistics of one thread")
	}
	r := rand.New(rand.NewPCG(3, 4))
	var tables table
	weight := func(f uint32) uint32 { return 5 + f*0x9e3779b1>>28 }
	const families, length = 1200, 40
	for range families {
		base := map[uint32]bool{}
		for len(base) < length {
			base[r.Uint32N(1<<20)] = true
		}
		for range 2 {
			var v simjoin.Vector
			for f := range base {
				if r.IntN(12) > 0 {
					v.Features = append(v.Features, f)
				}
			}
			for range r.IntN(4) {
				v.Features = append(v.Features, 1<<20+r.Uint32N(1<<20))
			}
			slices.Sort(v.Features)
			v.Features = slices.Compact(v.Features)
			for _, f := range v.Features {
				v.Weights = append(v.Weights, weight(f))
			}
			tables = append(tables, v)
		}
	}
	store := tables.store(t, nil, "", 0)
	for _, c := range []Config{
		{Measure: measure.WeightedJaccard, MinSimilarity: 0.75, Recall: 0.9},
		{Measure: measure.WeightedJaccard, MinSimilarity: 0.8, Recall: 0.99},
		{Measure: measure.Cosine, MinSimilarity: 0.85, Recall: 0.95},
	} {
		c.Method = Exact
		want, _ := find(t, c, store, nil)
		c.Method = Bands
		got, summary := find(t, c, store, nil)
		found := map[[2]uint32]bool{}
		for _, p := range got {
			found[[2]uint32{p.A, p.B}] = true
		}
		hit := 0
		for _, p := range want {
			if found[[2]uint32{p.A, p.B}] {
				hit++
			}
		}
		if share := float64(hit) / float64(len(want)); len(want) < 200 || share < c.Recall {
			t.Errorf("%v from %v on, %+v: recall %.4f of %d pairs, asked for %v", c.Measure, c.MinSimilarity, summary.Params, share, len(want), c.Recall)
		}
		if len(got) > 2*families {
			t.Errorf("%v from %v on: %d candidates for %d pairs", c.Measure, c.MinSimilarity, len(got), len(want))
		}
	}
}

// Buckets of equal records beyond the cap do not make all pairs.
func TestEqualRecordsMakeFewPairs(t *testing.T) {
	same := make(table, 10000)
	for i := range same {
		same[i] = simjoin.Vector{Features: []uint32{1, 2, 3}, Weights: []uint32{5, 6, 7}}
	}
	store := same.store(t, nil, "", 0)
	for _, c := range []Config{
		{Method: Bands, Measure: measure.WeightedJaccard, MinSimilarity: 0.9},
		{Method: TopK, Measure: measure.Cosine, K: 5},
	} {
		for _, other := range []*Store{nil, store} {
			got, summary := find(t, c, store, other)
			if len(got) > 20*len(same) || len(got) < len(same) {
				t.Errorf("%v: %d pairs", c.Method, len(got))
			}
			if c.Method == Bands && summary.Capped == 0 {
				t.Error("no bucket was capped")
			}
		}
	}
}

// Lists of features that few records have are short; where all have some of a few dozen, at a
// high similarity, bands cost less.
func TestAutoTakesWhatCostsLess(t *testing.T) {
	if testsize.Small() {
		t.Skip("one thread")
	}
	r := rand.New(rand.NewPCG(1, 2))
	rare := records(r, 6000, 5000, nil)
	dense := make(table, 6000)
	for i := range dense {
		for f := range uint32(120) {
			if r.IntN(2) == 0 {
				dense[i].Features = append(dense[i].Features, f)
				dense[i].Weights = append(dense[i].Weights, 10)
			}
		}
	}
	for _, c := range []struct {
		table table
		least float64
		want  Method
	}{
		{rare, 0.8, TopK}, {rare, 0, TopK}, {dense, 0, TopK}, {dense, 0.8, Bands}, {dense, 0.2, TopK}, {nil, 0.8, TopK},
	} {
		config := Config{Measure: measure.WeightedJaccard, MinSimilarity: c.least}
		f := &finder{summary: new(Summary), config: config, left: c.table.store(t, nil, "", 0)}
		if got, err := f.choose(); got != c.want || err != nil {
			t.Errorf("%d records from %v on: %q, %v; want %q", len(c.table), c.least, got, err, c.want)
		}
	}
}

func TestConfigsAreChecked(t *testing.T) {
	store := table{}.store(t, nil, "", 0)
	for _, c := range []Config{
		{Method: "all"}, {Method: Exact}, {Method: Bands}, {K: -1}, {Threads: -1}, {Memory: 5}, {Recall: 1}, {MinSimilarity: 2}, {Measure: measure.Dice},
	} {
		if _, _, err := Find(context.Background(), c, store, nil); err == nil || c.Validate() == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
}

func TestACancelledFindEnds(t *testing.T) {
	store := records(rand.New(rand.NewPCG(1, 2)), 100, 50, nil).store(t, nil, "", 0)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, m := range []Method{TopK, Exact, Bands} {
		if _, _, err := Find(ctx, Config{Method: m, MinSimilarity: 0.5}, store, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", m, err)
		}
	}
}

// Every operation on files that fails is an error of Find, and nothing is left open.
func TestErrorsOfFilesAreReported(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	left := records(r, chunkVectors+5, 20000, nil)
	boom := errors.New("disk on fire")
	failed, whole := 0, false
	for n := 0; !whole; n += 1 + n/4 {
		left1 := n
		inject := func(vfstest.Op) error {
			if left1--; left1 == -1 {
				return boom
			}
			return nil
		}
		dir := &folder{fs: vfstest.Inject(vfstest.NewMem(), inject)}
		err := func() (err error) {
			s := NewStore(dir, "vectors", 1)
			defer func() { err = errors.Join(err, s.Close()) }()
			for _, v := range left {
				if err := s.Append(v.Features, v.Weights); err != nil {
					return err
				}
			}
			if err := s.Finish(); err != nil {
				return err
			}
			sorted, _, err := Find(context.Background(), Config{K: 2, Memory: 1, Dir: dir}, s, nil)
			if err != nil {
				return err
			}
			_, err = readAll(sorted)
			return err
		}()
		if err != nil && !errors.Is(err, boom) {
			t.Fatalf("operation %d: %v", n, err)
		}
		if whole = left1 >= 0; whole && err != nil {
			t.Fatalf("without a fault: %v", err)
		} else if err != nil {
			failed++
		}
	}
	if failed < 5 {
		t.Errorf("%d faults were reported", failed)
	}
}
