package distinct

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestCompareCountsWhatTwoSortedSetsHave(t *testing.T) {
	c := NewComparer(rand.Uint64()) // one for all, as in use
	feature := rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(0, 20), rapid.SampledFrom([]uint64{0, 1 << 63, 1<<64 - 1}))
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SliceOfN(feature, 0, 200).Draw(t, "a")
		b := rapid.SliceOfN(feature, 0, 50).Draw(t, "b")
		if from := rapid.IntRange(0, len(a)).Draw(t, "from"); rapid.Bool().Draw(t, "a run of a") {
			b = slices.Concat(b, a[from:], b)
		}
		setA, setB := twinSet(a), twinSet(b)
		both := 0
		for _, v := range setA {
			if slices.Contains(setB, v) {
				both++
			}
		}
		before := slices.Concat(a, b)
		if sizeA, sizeB, common := c.Compare(a, b); sizeA != len(setA) || sizeB != len(setB) || common != both {
			t.Fatalf("%d and %d features, %d in common; want %d, %d, %d", sizeA, sizeB, common, len(setA), len(setB), both)
		}
		if !slices.Equal(slices.Concat(a, b), before) {
			t.Fatal("the features were changed")
		}
	})
}

func TestCompareTakesAsManyFeaturesAsItSays(t *testing.T) {
	a := make([]uint64, ComparedMost-1)
	for i := range a {
		a[i] = uint64(i) << 40
	}
	c := NewComparer(rand.Uint64())
	if sizeA, sizeB, common := c.Compare(a, []uint64{1}); sizeA != len(a) || sizeB != 1 || common != 0 {
		t.Errorf("%d and %d features, %d in common", sizeA, sizeB, common)
	}
}

// BenchmarkPairs compares texts of 300 to 1000 features of which a twentieth differ: in one pass, and by
// sorting both, to which merging them would have to be added.
func BenchmarkPairs(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	var texts [][]uint64
	features := 0
	for range 64 {
		text := make([]uint64, 300+r.IntN(700))
		for i := range text {
			text[i] = r.Uint64()
		}
		edited := slices.Clone(text)
		for range len(text) / 20 {
			edited[r.IntN(len(text))] = r.Uint64()
		}
		texts = append(texts, text, edited)
		features += 2 * len(text)
	}
	run := func(name string, compare func(a, b []uint64)) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				for i := 0; i < len(texts); i += 2 {
					compare(texts[i], texts[i+1])
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(features), "ns/feature")
		})
	}
	c := NewComparer(rand.Uint64())
	var scratch []uint64
	run("compare", func(a, b []uint64) { c.Compare(a, b) })
	run("sort", func(a, b []uint64) {
		scratch = append(scratch[:0], a...)
		Sort(scratch)
		scratch = append(scratch[:0], b...)
		Sort(scratch)
	})
}
