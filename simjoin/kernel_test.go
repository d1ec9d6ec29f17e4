package simjoin

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/alike-dev/alike/measure"
	"pgregory.net/rapid"
)

// naive is the definition of the intersection's size.
func naive(a, b []uint64) int {
	n := 0
	for _, x := range a {
		for _, y := range b {
			if x == y {
				n++
			}
		}
	}
	return n
}

// anySet draws a set of numbers below limit, or shifted to the top of the range.
func anySet(t *rapid.T, most int, name string) []uint64 {
	limit := rapid.Uint64Range(1, 2*uint64(most)).Draw(t, name+" limit")
	high := rapid.Bool().Draw(t, name+" high")
	var set []uint64
	for _, x := range rapid.SliceOfN(rapid.Uint64Range(0, limit-1), 0, most).Draw(t, name) {
		if high {
			x = -x - 1
		}
		set = append(set, x)
	}
	slices.Sort(set)
	return slices.Compact(set)
}

// narrow returns a set of anySet in 32 bits.
func narrow(set []uint64) []uint32 {
	var short []uint32
	for _, x := range set {
		short = append(short, uint32(x))
	}
	return short
}

func TestIntersectionEqualsTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anySet(t, 300, "a"), anySet(t, 300, "b")
		want := naive(a, b)
		if got := Intersection(a, b); got != want {
			t.Errorf("Intersection(a, b) = %d, want %d", got, want)
		}
		if got := Intersection(b, a); got != want {
			t.Errorf("Intersection(b, a) = %d, want %d", got, want)
		}
		if got := Intersection(narrow(a), narrow(b)); got != want {
			t.Errorf("Intersection of 32 bits = %d, want %d", got, want)
		}
	})
}

func TestIntersectionOfVeryUnequalSizesEqualsTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := anySet(t, 8, "a")
		var b []uint64
		step := rapid.Uint64Range(1, 5).Draw(t, "step")
		for i := range rapid.Uint64Range(0, 2000).Draw(t, "b") {
			b = append(b, i*step)
		}
		if got, want := Intersection(a, b), naive(a, b); got != want {
			t.Errorf("Intersection = %d, want %d", got, want)
		}
	})
}

func TestVerifyDecidesAsTheDefinitionDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := anySet(t, 200, "a")
		// b is a with edits, so that the threshold is often near.
		b := slices.Clone(a)
		for range rapid.IntRange(0, 60).Draw(t, "edits") {
			if x := rapid.Uint64Range(0, 400).Draw(t, "x"); len(b) > 0 && x%2 == 0 {
				b = slices.Delete(b, int(x)%len(b), int(x)%len(b)+1)
			} else {
				b = append(b, x)
			}
		}
		slices.Sort(b)
		b = slices.Compact(b)
		th := anyThreshold(t)
		inter := naive(a, b)
		for range 2 {
			want := reached(th, a, b)
			got, ok := Verify(a, b, th)
			if ok != want || (ok && got != inter) || got > inter {
				t.Errorf("Verify at %v = %d, %v; want %d, %v", th, got, ok, inter, want)
			}
			got, ok = Verify(narrow(a), narrow(b), th)
			if ok != want || (ok && got != inter) || got > inter {
				t.Errorf("Verify of 32 bits at %v = %d, %v; want %d, %v", th, got, ok, inter, want)
			}
			a, b = b, a
		}
	})
}

// The lengths reach both loops of the merge, and the thresholds lie so close to
// the similarity that one element more or less decides.
func TestVerifyIsExactNextToTheThreshold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		la := 1 + r.IntN(rapid.SampledFrom([]int{10, 100, 500}).Draw(t, "longest"))
		lb := 1 + r.IntN(la)
		a, b := randomSets(r, la, lb, r.Float64())
		// A run in common leaves all misses to the other end.
		run := min(len(a), len(b)) * 2 / 3
		switch rapid.IntRange(0, 2).Draw(t, "run in common") {
		case 1:
			copy(b, a[:run])
		case 2:
			copy(b[len(b)-run:], a[len(a)-run:])
		}
		slices.Sort(b)
		b = slices.Compact(b)
		inter := naive(a, b)
		permille := 1000 * inter / (len(a) + len(b) - inter)
		for f := max(1, permille-1); f <= min(1000, permille+2); f++ {
			th, _ := measure.NewThreshold(measure.Jaccard, float64(f)/1000)
			want := th.Reached(uint64(inter), uint64(len(a)), uint64(len(b)))
			if got, ok := Verify(a, b, th); ok != want || (ok && got != inter) {
				t.Errorf("Verify of %d and %d elements at %v = %d, %v; want %d, %v", len(a), len(b), th, got, ok, inter, want)
			}
		}
	})
}

func TestKernelsDoNotAllocate(t *testing.T) {
	a, b := randomSets(rand.New(rand.NewPCG(1, 2)), 1000, 1000, 0.5)
	th := threshold(t, 0.8)
	if n := testing.AllocsPerRun(10, func() {
		Intersection(a, b)
		Intersection(a[:3], b)
		Verify(a, b, th)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// randomSets returns sets of la and lb hashes that share that part of the smaller.
func randomSets(r *rand.Rand, la, lb int, shared float64) (a, b []uint64) {
	common := int(shared * float64(min(la, lb)))
	for i := range max(la, lb) {
		x, y := r.Uint64(), r.Uint64()
		if i < common {
			y = x
		}
		if i < la {
			a = append(a, x)
		}
		if i < lb {
			b = append(b, y)
		}
	}
	slices.Sort(a)
	slices.Sort(b)
	return a, b
}

// benchmarkPairs runs do over so many pairs that branch predictors cannot learn
// them by heart, which they do with a single one of a thousand elements.
func benchmarkPairs(b *testing.B, la, lb int, shared float64, do func(x, y []uint64)) {
	r := rand.New(rand.NewPCG(1, 2))
	var pairs [128][2][]uint64
	for i := range pairs {
		pairs[i][0], pairs[i][1] = randomSets(r, la, lb, shared)
	}
	b.SetBytes(int64(8 * (la + lb)))
	i := 0
	for b.Loop() {
		p := &pairs[i%len(pairs)]
		do(p[0], p[1])
		i++
	}
}

// The last three sizes lie around gallopRatio.
var benchmarkSizes = []struct{ la, lb int }{
	{10, 10}, {100, 100}, {1000, 1000}, {10000, 10000}, {300, 3000}, {300, 9000}, {300, 10000},
}

func BenchmarkIntersection(b *testing.B) {
	for _, c := range benchmarkSizes {
		b.Run(fmt.Sprintf("%dx%d", c.la, c.lb), func(b *testing.B) {
			benchmarkPairs(b, c.la, c.lb, 0.5, func(x, y []uint64) { Intersection(x, y) })
		})
	}
}

// BenchmarkTextbookMerge is what Intersection is measured against.
func BenchmarkTextbookMerge(b *testing.B) {
	for _, c := range benchmarkSizes {
		b.Run(fmt.Sprintf("%dx%d", c.la, c.lb), func(b *testing.B) {
			benchmarkPairs(b, c.la, c.lb, 0.5, func(x, y []uint64) { textbookMerge(x, y) })
		})
	}
}

func textbookMerge(a, b []uint64) int {
	i, j, n := 0, 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			i, j, n = i+1, j+1, n+1
		}
	}
	return n
}

func BenchmarkVerify(b *testing.B) {
	th := threshold(b, 0.8)
	for _, shared := range []float64{0, 0.5, 0.95} {
		b.Run(fmt.Sprintf("1000x1000 sharing %v", shared), func(b *testing.B) {
			benchmarkPairs(b, 1000, 1000, shared, func(x, y []uint64) { Verify(x, y, th) })
		})
	}
}
