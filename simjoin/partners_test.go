package simjoin

import (
	"slices"
	"testing"

	"github.com/alike-dev/alike/measure"
	"pgregory.net/rapid"
)

func TestSetsOfAPairHavePartners(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sets := make([][]uint64, rapid.IntRange(0, 40).Draw(t, "sets"))
		of := rapid.Uint64Range(1, 5000).Draw(t, "of")
		shift := rapid.SampledFrom([]uint{0, 40}).Draw(t, "shift")
		for i := range sets {
			if i > 0 && rapid.Bool().Draw(t, "copy") {
				sets[i] = slices.Clone(sets[rapid.IntRange(0, i-1).Draw(t, "from")])
			}
			for range rapid.IntRange(0, 30).Draw(t, "own") {
				sets[i] = append(sets[i], rapid.Uint64Range(0, of).Draw(t, "token")<<shift)
			}
			slices.Sort(sets[i])
			sets[i] = slices.Compact(sets[i])
		}
		th, err := measure.NewThreshold(measure.Jaccard, rapid.SampledFrom([]float64{0.1, 0.5, 0.8, 1}).Draw(t, "threshold"))
		if err != nil {
			t.Fatal(err)
		}
		left := withPartners(sets, th)
		for a := range sets {
			for b := range a {
				if _, ok := Verify(sets[a], sets[b], th); ok && (!slices.Contains(left, uint32(a)) || !slices.Contains(left, uint32(b))) {
					t.Fatalf("%v and %v are a pair; only %v are left", sets[a], sets[b], left)
				}
			}
		}
	})
}

func TestSetsWithoutAnythingInCommonAreLeftOut(t *testing.T) {
	sets := make([][]uint64, 300)
	for i := range sets {
		for k := range uint64(100) {
			sets[i] = append(sets[i], uint64(i)*100+k)
		}
	}
	sets = append(sets, sets[7])
	if left := withPartners(sets, threshold(t, 0.5)); len(left) > 20 || !slices.Contains(left, 7) || !slices.Contains(left, 300) {
		t.Errorf("%d of %d sets are left, of which two are alike", len(left), len(sets))
	}
}

func TestSetsOfFewItemsAreNotLookedAtForPartners(t *testing.T) {
	sets := make([][]uint64, 10_000)
	for i := range sets {
		for k := range uint64(10) {
			sets[i] = append(sets[i], 20*k+uint64(i)%20)
		}
	}
	sets = append(sets, nil, []uint64{1 << 40})
	if left := withPartners(sets, threshold(t, 0.8)); len(left) != len(sets) {
		t.Errorf("%d of %d sets are left", len(left), len(sets))
	}
	if got := selfJoin(sets[9_000:], threshold(t, 0.8)); len(got) != 20*50*49/2 {
		t.Errorf("%d pairs", len(got))
	}
}
