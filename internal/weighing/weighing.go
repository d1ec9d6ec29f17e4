// Package weighing computes the similarity of records from the integer weights of their tokens.
package weighing

import (
	"math"

	"github.com/alike-dev/alike/measure"
)

// Scale turns weights into a similarity: a token adds its mass to the size of every record that has
// it, and to the overlap of two records that both have it. All are integers. Measure is Cosine or
// WeightedJaccard.
type Scale struct{ Measure measure.Measure }

// Mass returns the mass of a token: under Cosine the square of its weight.
func (s Scale) Mass(weight uint16) uint64 {
	if s.Measure == measure.Cosine {
		return uint64(weight) * uint64(weight)
	}
	return uint64(weight)
}

// Similarity returns the similarity of two records of these sizes and overlap, at most 1.
func (s Scale) Similarity(common, sizeA, sizeB uint64) float64 {
	if common == 0 {
		return 0
	}
	if s.Measure == measure.Cosine {
		return min(1, float64(common)/math.Sqrt(float64(sizeA)*float64(sizeB)))
	}
	return float64(common) / float64(sizeA+sizeB-common)
}

// OfColumn returns the weight of a token in a column whose weight is a share of the heaviest
// column's; at least 1.
func OfColumn(weight uint16, share float64) uint16 {
	return uint16(max(1, math.Round(float64(weight)*share)))
}
