package columns

import (
	"cmp"
	"math"
	"slices"

	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/linkage/internal/compare"
)

// surest returns n pairs of the sample that agree in most, the surest first. A column counts by how rarely the records of
// other pairs agree in it, and by the share of this that no other column says too: the columns of a home, which agree
// together, count as one, so that a person comes before a household. O(columns² · ties).
func (s *sampledColumns) surest(columns []wordColumn, n int) []compare.Pair {
	ties := tiesOf(columns)
	if len(ties) == 0 {
		return nil
	}
	strangers := s.apart(ties, len(ties)/2)
	agree := make([][]bool, len(columns)) // of each column and tie
	weight := make([]float64, len(columns))
	for f := range columns {
		agree[f] = make([]bool, len(ties))
		columns[f].agree(ties, func(i int) { agree[f][i] = true })
		chance := 1.0
		columns[f].agree(strangers, func(int) { chance++ })
		weight[f] = math.Log(float64(len(strangers)+2) / chance)
	}
	for f, own := range ownShares(agree) {
		weight[f] *= own
	}
	score := make([]float64, len(ties))
	order := make([]int, len(ties))
	for i := range ties {
		order[i] = i
		for f := range columns {
			if agree[f][i] {
				score[i] += weight[f]
			}
		}
	}
	place := func(i int) uint64 { return hashing.Mix(uint64(ties[i].A)<<32 | uint64(ties[i].B)) }
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(cmp.Compare(score[j], score[i]), cmp.Compare(place(i), place(j))) })
	var pairs []compare.Pair
	for _, i := range order[:min(n, len(order))] {
		pairs = append(pairs, ties[i])
	}
	return pairs
}

// tiesOf returns the ties of all columns, each once, ascending.
func tiesOf(columns []wordColumn) (ties []compare.Pair) {
	for f := range columns {
		ties = append(ties, columns[f].ties...)
	}
	slices.SortFunc(ties, compare.Order)
	return slices.Compact(ties)
}

// ownShares returns, of each column, 1 / (1 + Σ correlations with others) of its agreement in pairs.
func ownShares(agree [][]bool) []float64 {
	n := float64(len(agree[0]))
	mean := make([]float64, len(agree))
	for f, of := range agree {
		for _, a := range of {
			if a {
				mean[f]++
			}
		}
		mean[f] /= n
	}
	own := make([]float64, len(agree))
	for f := range agree {
		sum := 1.0
		for g := range agree {
			if f == g {
				continue
			}
			both := 0.0
			for i, a := range agree[f] {
				if a && agree[g][i] {
					both++
				}
			}
			sum += max(0, (both/n-mean[f]*mean[g])/math.Sqrt(max(1e-9, mean[f]*(1-mean[f])*mean[g]*(1-mean[g]))))
		}
		own[f] = 1 / sum
	}
	return own
}
