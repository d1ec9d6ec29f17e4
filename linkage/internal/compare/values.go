package compare

import (
	"math"
	"slices"

	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/weighing"
	"github.com/alike-dev/alike/linkage/internal/closeness"
	"github.com/alike-dev/alike/record"
)

// column has the data about the values of a column. Mass returns the mass of a value's tokens.
type column struct {
	*record.Column
	weights []uint16 // of each token of each value, at the token's index in the column
	rarity  []Level  // of each value: the rarity of two equal values
	values  int      // number of rows that have a value
	scale   weighing.Scale
	near    *closeness.Scale   // nil: values have no distances
	at      []float64          // coordinate of each value
	shift   float64            // by which coordinates of right values exceed those of the left ones that belong to them
	sided   bool               // it matters whether the right value is the larger one, since there are two tables
	begins  bool               // it matters how texts begin
	words   bitset.Set[uint32] // the common words of texts, see useWords; nil: the column has none
}

// weigh sets the data about a value from the weights of all tokens in the column.
func (c *column) weigh(value uint32, idf record.Weights) {
	start, end := c.Bounds(value)
	mass := uint64(0)
	for i, token := range c.TokensAt(start, end) {
		c.weights[start+i] = idf[token]
		mass += c.scale.Mass(idf[token])
	}
	c.SetMass(value, mass)
	c.rarity[value] = c.rarityOf(value, value)
}

// Similarity returns the similarity of two values by the weights of their tokens.
func (c *column) Similarity(a, b uint32) float64 {
	if a == b {
		return 1
	}
	return c.shared(a, b, c.Common(a, b))
}

// shared returns the similarity of two values with so much in common.
func (c *column) shared(a, b uint32, common uint64) float64 {
	return c.scale.Similarity(common, c.Mass(a), c.Mass(b))
}

// Common returns the mass of the tokens that two values have in common.
func (c *column) Common(a, b uint32) (sum uint64) {
	i, endA := c.Bounds(a)
	x := c.Tokens(a)
	y := c.Tokens(b)
	weights := c.weights[i:endA]
	for i, j := 0, 0; i < len(x) && j < len(y); {
		switch s, t := x[i], y[j]; {
		case s < t:
			i++
		case s > t:
			j++
		default:
			sum += c.scale.Mass(weights[i])
			i, j = i+1, j+1
		}
	}
	return sum
}

// MassOf returns the mass of a token of a value, 0 if the value does not have it.
func (c *column) MassOf(value, token uint32) uint64 {
	at, ok := slices.BinarySearch(c.Tokens(value), token)
	if !ok {
		return 0
	}
	start, _ := c.Bounds(value)
	return c.scale.Mass(c.weights[start+at])
}

// level returns the level of two values whose common tokens have this mass. Values with the same words in the same
// order are equal, even if signs join some words in one value only, which then has more tokens.
func (c *column) level(a, b uint32, common uint64) Level {
	switch {
	case a == b:
		return Equal + c.rarity[a]
	case common == 0:
		return c.closer(a, b, LevelOf(0))
	}
	l := LevelOf(c.shared(a, b, common))
	if l == Equal || c.Same(a, b) {
		return Equal + c.rarityOf(a, b)
	}
	if l >= leastExchanged && c.exchanged(a, b) {
		return exchanged(l)
	}
	return c.closer(a, b, l)
}

// rarityOf returns the rarity of two values with the same tokens, in steps of a factor of e.
func (c *column) rarityOf(a, b uint32) Level {
	share := math.Sqrt(float64(c.Count(a))*float64(c.Count(b))) / float64(c.values)
	return Level(min(mostRarity, -math.Log(share)))
}
