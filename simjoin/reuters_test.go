package simjoin

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/alike-dev/alike/internal/shareddata"
	"github.com/alike-dev/alike/internal/testsize"
	"github.com/alike-dev/alike/shingle"
)

// reuters returns the sets of 5-word shingles of the newswire's stories.
func reuters(t testing.TB) [][]uint64 {
	t.Helper()
	shingler, err := shingle.New(shingle.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var sets [][]uint64
	for _, story := range shareddata.Texts(t, 0, "reuters21578", "docs.jsonl.zst") {
		set := shingle.Set(shingler.AppendFeatures(nil, story))
		sets = append(sets, slices.Clip(set))
	}
	return sets
}

func TestSelfJoinFindsTheKnownPairsOfRealStories(t *testing.T) {
	if testsize.Small() {
		t.Skip("one goroutine does it all")
	}
	sets := reuters(t)
	want := knownPairs(t, sets, 1, "reuters21578", "exact_jaccard_5gram_0.5.csv")
	if len(want) != 839 {
		t.Errorf("%d pairs are known", len(want))
	}
	if got := selfJoin(sets, threshold(t, 0.5)); !slices.Equal(got, want) {
		t.Errorf("%d pairs at threshold 0.5 that are not the known ones", len(got))
	}
}

// mostlyUnique returns sets of 100 hashes that share 5 in 100 with others.
func mostlyUnique(features int) [][]uint64 {
	r := rand.New(rand.NewPCG(5, 6))
	sets := make([][]uint64, features/100)
	for i := range sets {
		set := make([]uint64, 100)
		for j := range set {
			set[j] = r.Uint64()
			if other := sets[r.IntN(i+1)]; j < 5 && other != nil {
				set[j] = other[r.IntN(len(other))]
			}
		}
		slices.Sort(set)
		sets[i] = slices.Compact(set)
	}
	return sets
}

func benchmarkNewIndex(b *testing.B, sets [][]uint64) {
	th := threshold(b, 0.8)
	features := 0
	for _, set := range sets {
		features += len(set)
	}
	b.ReportAllocs()
	for b.Loop() {
		NewIndex(sets, th)
	}
	perFeature := float64(b.Elapsed().Nanoseconds()) / float64(b.N) / float64(features)
	b.ReportMetric(perFeature, "ns/feature")
}

func BenchmarkNewIndexRetail(b *testing.B) { benchmarkNewIndex(b, retail(b)) }

func BenchmarkNewIndexReuters(b *testing.B) { benchmarkNewIndex(b, reuters(b)) }

func BenchmarkNewIndexMostlyUnique(b *testing.B) { benchmarkNewIndex(b, mostlyUnique(10_000_000)) }

func BenchmarkSelfJoinReuters(b *testing.B) {
	sets := reuters(b)
	for _, f := range []float64{0.5, 0.8} {
		b.Run(fmt.Sprint(f), func(b *testing.B) {
			th := threshold(b, f)
			b.ReportAllocs()
			for b.Loop() {
				SelfJoin(sets, th)
			}
		})
	}
}
