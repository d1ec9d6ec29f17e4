// Package weighing says how alike records are by the integer weights of their tokens.
package weighing

import (
	"math"

	"github.com/alike-dev/alike/measure"
)

// Scale is how similarity follows from weights: a token adds its mass to the size of what has
// it, and to what two have in common. All are integers. Measure is Cosine or WeightedJaccard.
type Scale struct{ Measure measure.Measure }

// Mass of Cosine is the square of the weight.
func (s Scale) Mass(weight uint16) uint64 {
	if s.Measure == measure.Cosine {
		return uint64(weight) * uint64(weight)
	}
	return uint64(weight)
}

// Similarity returns that of two sizes with so much in common, at most 1.
func (s Scale) Similarity(common, sizeA, sizeB uint64) float64 {
	if common == 0 {
		return 0
	}
	if s.Measure == measure.Cosine {
		return min(1, float64(common)/math.Sqrt(float64(sizeA)*float64(sizeB)))
	}
	return float64(common) / float64(sizeA+sizeB-common)
}

// OfColumn returns the weight of a token that stands in a column which counts for a share of the
// heaviest one; at least 1.
func OfColumn(weight uint16, share float64) uint16 {
	return uint16(max(1, math.Round(float64(weight)*share)))
}
