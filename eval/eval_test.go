package eval

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-12 }

func TestPairsByHand(t *testing.T) {
	for name, c := range map[string]struct {
		found, truth []Pair
		want         PairScores
	}{
		"two right, one wrong, one missed": {
			[]Pair{{"a", "b"}, {"c", "d"}, {"a", "d"}},
			[]Pair{{"a", "b"}, {"c", "d"}, {"e", "f"}},
			PairScores{2. / 3, 2. / 3, 2. / 3, 2, 1, 1, 0, 0},
		},
		"one right of two, three missed": {
			[]Pair{{"a", "b"}, {"x", "y"}},
			[]Pair{{"a", "b"}, {"a", "c"}, {"b", "c"}, {"b", "d"}},
			PairScores{1. / 2, 1. / 4, 1. / 3, 1, 1, 3, 0, 0},
		},
		"order, repeats and self pairs do not matter": {
			[]Pair{{"b", "a"}, {"a", "b"}, {"a", "b"}, {"c", "c"}},
			[]Pair{{"a", "b"}, {"b", "a"}, {"d", "d"}},
			PairScores{1, 1, 1, 1, 0, 0, 1, 1},
		},
		"nothing right": {
			[]Pair{{"a", "b"}}, []Pair{{"a", "c"}},
			PairScores{0, 0, 0, 0, 1, 1, 0, 0},
		},
		"nothing found":   {nil, []Pair{{"a", "b"}}, PairScores{1, 0, 0, 0, 0, 1, 0, 0}},
		"nothing to find": {[]Pair{{"a", "b"}}, nil, PairScores{0, 1, 0, 0, 1, 0, 0, 0}},
		"neither":         {nil, []Pair{{"a", "a"}}, PairScores{1, 1, 1, 0, 0, 0, 0, 1}},
	} {
		if got := Pairs(c.found, c.truth); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// labels names the ids a, b, c, … and gives each the cluster of its letter; a dot
// leaves the id out.
func labels(s string) map[string]string {
	m := map[string]string{}
	for i, c := range s {
		if c != '.' {
			m[string(rune('a'+i))] = string(c)
		}
	}
	return m
}

func TestClustersByHand(t *testing.T) {
	for name, c := range map[string]struct {
		found, truth string
		ids          uint64
		ari          float64
		tp, fp, fn   uint64
	}{
		"equal partitions, other names": {"0011", "1100", 4, 1, 2, 0, 0},
		// 1 common pair; 2 and 1 pairs of 6: (1 − 1/3) / (3/2 − 1/3)
		"one cluster split": {"0011", "0012", 4, 4. / 7, 1, 1, 0},
		// 0 common; 2 and 2 of 6: (0 − 2/3) / (2 − 2/3)
		"crossed": {"0011", "0101", 4, -0.5, 0, 2, 2},
		// 2 common; 6 and 3 of 15: (2 − 6/5) / (9/2 − 6/5)
		"three against two":       {"000111", "001122", 6, 8. / 33, 2, 4, 1},
		"all alone and together":  {"0123", "0000", 4, 0, 0, 0, 6},
		"together and all alone":  {"0000", "0123", 4, 0, 0, 6, 0},
		"all alone on both sides": {"0123", "3210", 4, 1, 0, 0, 0},
		"all together on both":    {"0000", "1111", 4, 1, 6, 0, 0},
		"nothing":                 {"", "", 0, 1, 0, 0, 0},
		"a single id":             {"0", "1", 1, 1, 0, 0, 0},
		"missing ids are alone":   {"00..", "0011", 4, 4. / 7, 1, 0, 1},
		"ids of different sides":  {"00..", "..00", 4, -0.2, 0, 1, 1},
	} {
		got := Clusters(labels(c.found), labels(c.truth))
		tp, fp, fn := got.Pairs.TruePositives, got.Pairs.FalsePositives, got.Pairs.FalseNegatives
		if got.Documents != c.ids || !near(got.AdjustedRand, c.ari) || tp != c.tp || fp != c.fp || fn != c.fn {
			t.Errorf("%s: %+v, want %+v", name, got, c)
		}
	}
}

func anyLabels(t *rapid.T, name string) map[string]string {
	return rapid.MapOf(
		rapid.StringMatching("[a-j]"), rapid.StringMatching("[0-4]"),
	).Draw(t, name)
}

// pairsTogether spells out the pairs that a clustering puts together.
func pairsTogether(clusters map[string]string) (pairs []Pair) {
	for a, x := range clusters {
		for b, y := range clusters {
			if a < b && x == y {
				pairs = append(pairs, Pair{b, a})
			}
		}
	}
	return pairs
}

func TestClustersScorePairsAsPairsDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		found, truth := anyLabels(t, "found"), anyLabels(t, "truth")
		got, want := Clusters(found, truth), Pairs(pairsTogether(found), pairsTogether(truth))
		if got.Pairs != want {
			t.Errorf("%+v, want %+v", got.Pairs, want)
		}
		if turned := Clusters(truth, found); turned.AdjustedRand != got.AdjustedRand || turned.Documents != got.Documents {
			t.Errorf("%+v turned is %+v", got, turned)
		}
		if got.AdjustedRand > 1 || got.AdjustedRand < -1 {
			t.Errorf("adjusted Rand index %v", got.AdjustedRand)
		}
	})
}

// The index by the counts of pairs: N11 together in both, N00 in neither, N10 and
// N01 in one: 2(N00·N11 − N01·N10) / ((N00+N01)(N01+N11) + (N00+N10)(N10+N11)).
func TestAdjustedRandEqualsTheFormOfPairCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		found, truth := anyLabels(t, "found"), anyLabels(t, "truth")
		got := Clusters(found, truth)
		n11, n10, n01 := float64(got.Pairs.TruePositives), float64(got.Pairs.FalsePositives), float64(got.Pairs.FalseNegatives)
		n00 := float64(got.Documents)*(float64(got.Documents)-1)/2 - n11 - n10 - n01
		if n10 == 0 && n01 == 0 {
			if got.AdjustedRand != 1 {
				t.Errorf("equal partitions score %v", got.AdjustedRand)
			}
			return
		}
		want := 2 * (n00*n11 - n01*n10) / ((n00+n01)*(n01+n11) + (n00+n10)*(n10+n11))
		if !near(got.AdjustedRand, want) {
			t.Errorf("%v, want %v", got.AdjustedRand, want)
		}
	})
}

func TestCountsBeyondTheIntegersOfFloatsAreExact(t *testing.T) {
	for n, want := range map[uint64]string{
		0: "0", 1: "0", 2: "1", 5: "10", 1 << 32: "9223372034707292160", 1<<32 + 1: "9223372039002259456",
	} {
		if got := pairsOf(n); whole(got).String() != want {
			t.Errorf("pairsOf(%d) = %d, want %s", n, got, want)
		}
	}
	// Two clusterings of 2³² ids that differ in a single pair of 2⁶³.
	all := pairsOf(1 << 32)
	got := adjustedRand(all/2, all/2, all/2+1, all)
	exact := new(big.Rat).SetFrac(
		new(big.Int).Sub(product(2, all/2, all), product(2, all/2, all/2+1)),
		new(big.Int).Sub(product(all+1, all), product(2, all/2, all/2+1)))
	want, _ := exact.Float64()
	if got != want || got > 1 {
		t.Errorf("%v, want %v", got, want)
	}
	s := PairScores{TruePositives: 1 << 63, FalsePositives: 1 << 63, FalseNegatives: 1 << 63}
	s.score()
	if s.Precision != 0.5 || s.Recall != 0.5 || s.F1 != 0.5 {
		t.Errorf("%+v", s)
	}
}
