// Package eval scores results against the truth: pairs by precision, recall and F1,
// clusterings by the adjusted Rand index and by the pairs that they put together.
//
// Counts are exact integers, of any size; only the scores are rounded, once. The
// conventions for empty inputs are part of the contract:
//
//   - precision is 1 if nothing was found, since nothing found is wrong
//   - recall is 1 if there is nothing to find
//   - F1 is 2·TP / (2·TP + FP + FN), and 1 if both are empty; it is thus 0, not
//     undefined, if nothing that was found is true
//   - the adjusted Rand index of two equal partitions is 1, also for trivial ones
//     (all singletons, or one cluster), where its formula is 0/0
//
// The adjusted Rand index is that of L. Hubert and P. Arabie, "Comparing
// partitions", Journal of Classification 2, 1985.
package eval

import "math/big"

// Pair is an unordered pair of ids.
type Pair struct{ A, B string }

// normal puts the smaller id first.
func (p Pair) normal() Pair {
	if p.B < p.A {
		p.A, p.B = p.B, p.A
	}
	return p
}

// PairScores says how well found pairs agree with true ones.
type PairScores struct {
	Precision      float64 `json:"precision"`
	Recall         float64 `json:"recall"`
	F1             float64 `json:"f1"`
	TruePositives  uint64  `json:"true_positives"`  // found and true
	FalsePositives uint64  `json:"false_positives"` // found only
	FalseNegatives uint64  `json:"false_negatives"` // true only
	// Pairs of an id with itself, repeats included, which do not count.
	FoundSelfPairs uint64 `json:"found_self_pairs,omitempty"`
	TrueSelfPairs  uint64 `json:"true_self_pairs,omitempty"`
}

// Pairs scores found pairs against the truth. The order within a pair and repeats do not
// matter; pairs of an id with itself are ignored. Expected cost O(pairs); memory for all
// distinct pairs.
func Pairs(found, truth []Pair) PairScores {
	const inFound, inTruth = 1, 2
	seen := make(map[Pair]uint8, len(truth))
	mark := func(pairs []Pair, bit uint8) (self uint64) {
		for _, p := range pairs {
			if p.A != p.B {
				seen[p.normal()] |= bit
			} else {
				self++
			}
		}
		return self
	}
	s := PairScores{FoundSelfPairs: mark(found, inFound), TrueSelfPairs: mark(truth, inTruth)}
	for _, bits := range seen {
		switch bits {
		case inFound:
			s.FalsePositives++
		case inTruth:
			s.FalseNegatives++
		default:
			s.TruePositives++
		}
	}
	s.score()
	return s
}

// score computes the scores from the counts.
func (s *PairScores) score() {
	tp, fp, fn := whole(s.TruePositives), whole(s.FalsePositives), whole(s.FalseNegatives)
	s.Precision = ratio(tp, sum(tp, fp))
	s.Recall = ratio(tp, sum(tp, fn))
	s.F1 = ratio(sum(tp, tp), sum(tp, tp, fp, fn))
}

// ClusterScores says how well two clusterings of the same ids agree. The pairs of
// ids that a clustering puts together are scored as by Pairs.
type ClusterScores struct {
	Documents    uint64     `json:"documents"`     // ids in either clustering
	AdjustedRand float64    `json:"adjusted_rand"` // 1 for equal partitions, about 0 for independent ones, down to −1
	Pairs        PairScores `json:"pairs"`         // that are in one cluster
}

// Clusters scores a found clustering against the true one. Both map ids to the names of
// clusters, and may use different names; an id that one of them lacks is a cluster of its
// own there. Expected cost O(ids). Up to 2³² ids.
func Clusters(found, truth map[string]string) ClusterScores {
	type cell struct{ found, truth string }
	inFound, inTruth := map[string]uint64{}, map[string]uint64{}
	inBoth := map[cell]uint64{}
	ids := uint64(len(truth))
	for id, f := range found {
		inFound[f]++
		if t, ok := truth[id]; ok {
			inBoth[cell{f, t}]++
		} else {
			ids++
		}
	}
	for _, t := range truth {
		inTruth[t]++
	}
	// An id that one side lacks is a singleton there, and so in no common pair.
	var both, foundPairs, truePairs uint64
	for _, n := range inBoth {
		both += pairsOf(n)
	}
	for _, n := range inFound {
		foundPairs += pairsOf(n)
	}
	for _, n := range inTruth {
		truePairs += pairsOf(n)
	}
	s := ClusterScores{
		Documents:    ids,
		AdjustedRand: adjustedRand(both, foundPairs, truePairs, pairsOf(ids)),
		Pairs: PairScores{
			TruePositives:  both,
			FalsePositives: foundPairs - both,
			FalseNegatives: truePairs - both,
		},
	}
	s.Pairs.score()
	return s
}

// pairsOf returns n(n−1)/2, without overflow up to 2³² + 1.
func pairsOf(n uint64) uint64 {
	if n%2 == 0 {
		return n / 2 * (n - 1)
	}
	return n * ((n - 1) / 2)
}

// adjustedRand computes (both − e) / (mean − e), where e = a·b/all is the expected
// number of common pairs and mean = (a+b)/2 the largest, as one fraction:
//
//	(2·both·all − 2·a·b) / ((a+b)·all − 2·a·b)
func adjustedRand(both, a, b, all uint64) float64 {
	expected := product(2, a, b)
	above := new(big.Int).Sub(product(2, both, all), expected)
	most := new(big.Int).Sub(new(big.Int).Mul(sum(whole(a), whole(b)), whole(all)), expected)
	// most is 0 only for a = b = 0 and a = b = all.
	return ratio(above, most)
}

// ratio returns a/b as the nearest float64, and 1 for b = 0.
func ratio(a, b *big.Int) float64 {
	if b.Sign() == 0 {
		return 1
	}
	f, _ := new(big.Rat).SetFrac(a, b).Float64()
	return f
}

func whole(n uint64) *big.Int { return new(big.Int).SetUint64(n) }

func sum(terms ...*big.Int) *big.Int {
	total := new(big.Int)
	for _, t := range terms {
		total.Add(total, t)
	}
	return total
}

func product(factors ...uint64) *big.Int {
	total := big.NewInt(1)
	for _, f := range factors {
		total.Mul(total, whole(f))
	}
	return total
}
