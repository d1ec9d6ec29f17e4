package model

import (
	"math"
	"slices"

	"github.com/alike-dev/alike/linkage/internal/kinds"
)

// A stratum is a part of the random pairs: its share of them and, of each column, how often pairs have values and these agree.
type stratum struct {
	share         float64
	filled, alike []float64
	grades        []uint8
}

const (
	// leastStratum is the least share of the random pairs that a stratum has.
	leastStratum = 0.02
	// asInAll is how much it counts, in agreeing pairs, how often all random pairs agree in a column: a stratum may have none.
	asInAll = 0.1
	// moreTogether is how many more pairs, in standard deviations and one pair, may agree in two columns than if these were independent.
	moreTogether = 4
	// mostPaired is the largest number of columns of which each two are looked at.
	mostPaired = 32
)

// independent tells whether pairs agree in any two columns about as often as if these were independent, by their grades. O(pairs ·
// columns²).
func independent(grades []uint8, columns int) bool {
	there, agree, both := make([]float64, columns*columns), make([]float64, columns*columns), make([]float64, columns*columns)
	for ; len(grades) > 0; grades = grades[columns:] {
		for f := range columns {
			for g := range columns {
				if f == g || grades[f] == kinds.Missing || grades[g] == kinds.Missing {
					continue
				}
				there[f*columns+g]++
				if grades[f] < kinds.Near {
					continue
				}
				agree[f*columns+g]++ // in f, where g has values too
				if grades[g] >= kinds.Near {
					both[f*columns+g]++
				}
			}
		}
	}
	for f := range columns {
		for g := range f {
			expected := agree[f*columns+g] * agree[g*columns+f] / max(1, there[f*columns+g])
			if both[f*columns+g] > expected+moreTogether*(math.Sqrt(expected)+1) {
				return false
			}
		}
	}
	return true
}

// explained returns strata of the random pairs in each of which no column says what another one does: all of them, or those that agree in
// one column and the others. nil: there are none, columns are more than mostPaired, or they are texts of several words, which are alike
// by degrees. O(pairs · columns³).
func (s *Surroundings) explained() []stratum {
	if s.Among == 0 || len(s.Alike) > mostPaired || slices.Contains(s.Worded, true) {
		return nil
	}
	for by := -1; by < len(s.Alike); by++ {
		if strata := s.strata(by); strata != nil && !slices.ContainsFunc(strata, func(of stratum) bool { return !independent(of.grades, len(s.Alike)) }) {
			return strata
		}
	}
	return nil
}

// parted returns the places of the random pairs as one part or, by a column, of those that agree in it and of the others; nil: either are too
// few.
func (s *Surroundings) parted(by int) [][]int {
	columns := len(s.Alike)
	pairs := len(s.Random) / columns
	parts := make([][]int, 2)
	for i := range pairs {
		part := 0
		if by >= 0 && s.Random[i*columns+by] < kinds.Near {
			part = 1
		}
		parts[part] = append(parts[part], i)
	}
	if by < 0 {
		return parts[:1]
	}
	if float64(min(len(parts[0]), len(parts[1])))/float64(max(1, pairs)) < leastStratum {
		return nil
	}
	return parts
}

// strata returns the random pairs as parted does.
func (s *Surroundings) strata(by int) (strata []stratum) {
	if by < 0 {
		return []stratum{{1, s.Filled, s.Alike, s.Random}}
	}
	columns := len(s.Alike)
	for _, part := range s.parted(by) {
		grades := make([]uint8, 0, len(part)*columns)
		for _, i := range part {
			grades = append(grades, s.Random[i*columns:][:columns]...)
		}
		of := s.stratumOf(grades)
		of.share = float64(len(grades)) / float64(max(1, len(s.Random)))
		strata = append(strata, of)
	}
	return strata
}

// Agreeing returns, of each column, in how many pairs both records have values, and in how many these are near or equal, by the grades
// of the pairs.
func Agreeing(grades []uint8, columns int) (there, agree []float64) {
	there, agree = make([]float64, columns), make([]float64, columns)
	for i, g := range grades {
		if g != kinds.Missing {
			there[i%columns]++
		}
		if g >= kinds.Near {
			agree[i%columns]++
		}
	}
	return there, agree
}

// stratumOf counts the agreement of some of the random pairs.
func (s *Surroundings) stratumOf(grades []uint8) (of stratum) {
	columns := len(s.Alike)
	of.grades = grades
	of.filled, of.alike = Agreeing(grades, columns)
	for f, n := range of.filled {
		of.alike[f] = min(1-1e-9, s.Alike[f]*(of.alike[f]+asInAll)/(s.Alike[f]*n+asInAll))
		of.filled[f] /= max(1, float64(len(grades)/columns))
	}
	return of
}
