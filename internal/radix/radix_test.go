package radix

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// grouped collects the parts and checks that no key is in two of them.
func grouped(t interface{ Fatalf(string, ...any) }, entries []Entry, threads int) []Entry {
	var mu sync.Mutex
	var parts [][]Entry
	var g Grouper
	err := g.EachPart(context.Background(), slices.Clone(entries), threads, func(_ int, part []Entry) error {
		mu.Lock()
		defer mu.Unlock()
		parts = append(parts, slices.Clone(part))
		return nil
	})
	if err != nil {
		t.Fatalf("EachPart: %v", err)
	}
	slices.SortFunc(parts, func(a, b []Entry) int {
		switch {
		case len(a) == 0:
			return -1
		case len(b) == 0:
			return 1
		}
		return compare(a[0], b[0])
	})
	return slices.Concat(parts...)
}

func TestPartsTogetherAreTheSortedEntries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		n := rapid.SampledFrom([]int{0, 1, 2, 23, 24, 25, 1000, 40_000, 140_000}).Draw(t, "n")
		distinct := rapid.SampledFrom([]uint64{1, 3, 1000, 1 << 62}).Draw(t, "distinct")
		spread := rapid.SampledFrom([]uint64{1, 0x9e3779b97f4a7c15}).Draw(t, "spread")
		entries := make([]Entry, n)
		for i := range entries {
			entries[i] = Entry{Key: rng.Uint64N(distinct) * spread, Doc: uint32(i)}
		}
		threads := rapid.IntRange(1, 8).Draw(t, "threads")
		got := grouped(t, entries, threads)
		want := slices.SortedFunc(slices.Values(entries), compare)
		if !slices.Equal(got, want) {
			t.Fatalf("n=%d distinct=%d threads=%d: parts are not the sorted entries", n, distinct, threads)
		}
	})
}

func TestRunsAreTheRepeatedKeys(t *testing.T) {
	part := []Entry{{1, 0}, {2, 1}, {2, 5}, {3, 2}, {4, 0}, {4, 3}, {4, 9}}
	var lengths []int
	Runs(part, func(run []Entry) { lengths = append(lengths, len(run)) })
	if !slices.Equal(lengths, []int{2, 3}) {
		t.Errorf("run lengths %v, want [2 3]", lengths)
	}
}

func TestCancelledContextStopsGrouping(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var g Grouper
	err := g.EachPart(ctx, make([]Entry, 100_000), 2, func(int, []Entry) error { return nil })
	if err != context.Canceled {
		t.Errorf("err = %v, want context.Canceled", err)
	}
}

func BenchmarkEachPart(b *testing.B) {
	const n = 1 << 20
	rng := rand.New(rand.NewPCG(1, 2))
	keys := make([]Entry, n)
	for i := range keys {
		keys[i] = Entry{Key: rng.Uint64(), Doc: uint32(i)}
	}
	var g Grouper
	entries := make([]Entry, n)
	for b.Loop() {
		copy(entries, keys)
		_ = g.EachPart(context.Background(), entries, 1, func(int, []Entry) error { return nil })
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/entry")
}
