package distinct

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func twinSet(features []uint64) []uint64 {
	s := slices.Clone(features)
	slices.Sort(s)
	return slices.Compact(s)
}

func checkSet(t interface {
	Helper()
	Fatalf(string, ...any)
}, features []uint64) {
	t.Helper()
	want := twinSet(features)
	in := slices.Clone(features)
	got := Sort(in)
	if !slices.Equal(got, want) {
		t.Fatalf("set of %d features has %d, want %d; or they differ: %x", len(features), len(got), len(want), features[:min(20, len(features))])
	}
	if len(got) > 0 && &got[0] != &in[0] {
		t.Fatalf("Sort did not sort in place")
	}
}

func TestSetIsSortedWithoutRepetitions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(0, 50), rapid.SampledFrom([]uint64{0, 1, 1 << 63, 1<<64 - 1}))
		checkSet(t, rapid.SliceOfN(word, 0, 3000).Draw(t, "features"))
	})
}

// distributions are uniform ones, and those that would fill few buckets.
var distributions = []struct {
	name string
	at   func(r *rand.Rand, i, n int) uint64
}{
	{"hashes", func(r *rand.Rand, _, _ int) uint64 { return r.Uint64() }},
	{"hashes, each many times", func(r *rand.Rand, _, n int) uint64 { return uint64(r.IntN(n/10+1)) * 0x9e3779b97f4a7c15 }},
	{"small integers", func(_ *rand.Rand, i, _ int) uint64 { return uint64(i) }},
	{"descending", func(_ *rand.Rand, i, n int) uint64 { return uint64(n - i) }},
	{"all the same", func(*rand.Rand, int, int) uint64 { return 7 }},
	{"all the same but one", func(_ *rand.Rand, i, _ int) uint64 { return 1 << 63 * uint64(min(i, 1)) }},
	{"low bits under one high bit", func(r *rand.Rand, i, _ int) uint64 { return uint64(i&1)<<63 | uint64(r.IntN(1<<20)) }},
	{"geometric", func(r *rand.Rand, _, _ int) uint64 { return r.Uint64() >> r.IntN(64) }},
	{"few bits set", func(r *rand.Rand, _, _ int) uint64 { return 1<<r.IntN(64) | 1<<r.IntN(63) | 1<<r.IntN(62) }},
}

func makeFeatures(i, n int) []uint64 {
	r := rand.New(rand.NewPCG(uint64(i), uint64(n)))
	features := make([]uint64, n)
	for j := range features {
		features[j] = distributions[i].at(r, j, n)
	}
	return features
}

func TestSetOfAnyDistribution(t *testing.T) {
	for i, d := range distributions {
		t.Run(d.name, func(t *testing.T) {
			for _, n := range []int{0, 1, 2, insertionMax, insertionMax + 1, 100, 1000, leafMax, leafMax + 1, 10_000, 100_000, otherMax + 1, 3 * otherMax} {
				checkSet(t, makeFeatures(i, n))
			}
		})
	}
}

func TestSetAllocatesNothingWhenWarm(t *testing.T) {
	for _, n := range []int{10, 1000, 10_000} {
		features := makeFeatures(0, n)
		in := slices.Clone(features)
		if allocs := testing.AllocsPerRun(20, func() { copy(in, features); Sort(in) }); allocs >= 1 {
			t.Errorf("set of %d features allocates %v times", n, allocs)
		}
	}
}

func BenchmarkSet(b *testing.B) {
	for i, d := range distributions {
		for _, n := range []int{10, 30, 100, 1000, 10_000, 100_000, 1_000_000} {
			if i > 0 && n != 10_000 {
				continue
			}
			b.Run(fmt.Sprintf("%s/%d", d.name, n), func(b *testing.B) {
				const variety = 1 << 17 // features in rotation, so that no branch learns them
				var sets [][]uint64
				for j := 0; j < max(variety, n); j += n {
					sets = append(sets, makeFeatures(i, n+j%7))
				}
				in := make([]uint64, n+7)
				b.ResetTimer()
				for j := range b.N {
					s := sets[j%len(sets)]
					Sort(in[:copy(in, s)])
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/feature")
			})
		}
	}
}
