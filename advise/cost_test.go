package advise

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Of a corpus of which strangers are a part, votes are counted one by one, with samples of the smallest features.
func TestVotesOfTheWholeAreThoseOfItsStrangers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 8))
	const documents, features, size = 6000, 100, 10
	sets := make([][]uint64, documents)
	held, sampled := map[uint64]float64{}, map[uint64]float64{}
	for i := range sets {
		for range features {
			f := uint64(math.Exp(rng.Float64()*10)) * 0x9e3779b97f4a7c15 // frequent ones may have any hash
			sets[i] = append(sets[i], f)
		}
		slices.Sort(sets[i])
		sets[i] = slices.Compact(sets[i])
		for k, f := range sets[i] {
			held[f]++
			if k < size {
				sampled[f]++
			}
		}
	}
	want, wantHot := 0.0, false
	for f, n := range sampled {
		if 2*n*held[f] > bucketCap*bucketCap {
			wantHot = true
		} else if held[f] > documents/strangers { // of others strangers tell nothing
			want += n * held[f]
		}
	}
	var pairs []pair
	for a := range uint32(strangers) {
		pairs = append(pairs, pair{a: a * (documents / strangers), b: 0})
	}
	mean := 0.0
	for _, set := range sets {
		mean += float64(len(set)) / documents
	}
	got, share, hot := holdingsOf(sets, pairs).votes(size, mean, documents)
	if got < want/1.5 || got > want*1.5 || hot != wantHot || share <= 0 || share >= 1 {
		t.Errorf("%.0f votes, of which %.2f are of keys below the cap (over it: %v), want %.0f (%v)", got, share, hot, want, wantHot)
	}
}
