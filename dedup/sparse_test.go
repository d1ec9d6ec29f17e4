package dedup

import (
	"slices"
	"testing"

	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/lsh"
)

// Spokes and what crosses must connect what all candidates connect, also where a
// bucket is over the cap, so that only the pairs of its hubs are candidates.
func TestSparseSearchConnectsTheSameDocumentsThroughHotBuckets(t *testing.T) {
	for seed := range uint64(6) {
		inputs, references := troubleCorpus(t, 20+seed)
		for _, limit := range []int{2, lsh.Hubs - 1, smallCap} {
			for _, threads := range []int{1, 3} {
				c := Config{
					Inputs:    []string{inputs},
					BucketCap: limit,
					Threads:   threads,
					Beside:    Against{references},
					Decide:    Similarity{Threshold: 0.6, Candidates: LSH{}},
				}
				want, s := connected(t, c, false)
				got, _ := connected(t, c, true)
				if !slices.Equal(got, want) {
					t.Errorf("seed %d, cap %d: clusters differ", seed, limit)
				}
				if s.BucketsCapped == 0 {
					t.Errorf("seed %d, cap %d: no bucket over it", seed, limit)
				}
			}
		}
	}
}

// connected returns the labels of the documents that edges join, and the account of the run.
func connected(t *testing.T, c Config, sparse bool) (labels []extsort.Entry, s *Summary) {
	t.Helper()
	f := searched(t, c, sparse)
	defer func() {
		if err := f.close(true); err != nil {
			t.Error(err)
		}
	}()
	sorted, err := f.graph().Components(t.Context(), f.edges)
	if err != nil {
		t.Fatal(err)
	}
	return entries(t, sorted), f.account.Summary
}
