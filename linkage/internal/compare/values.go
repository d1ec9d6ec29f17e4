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

// Products come in sizes and colours, the numbers of a street in houses. Such texts have nearly all words in common, and one of
// them stands in another one's place. In two copies of one text a word is missing, or has an error that no other record has. So
// texts in which words stand in each other's place have levels of their own.

// commonWord is the least number of records that have a word which may stand in place of another one, and severalWords the mean
// number of words from which the values of a column are texts of several words.
const commonWord, severalWords = 5, 1.5

// useWords finds the common words of a column of texts, unless most have one word. df is the number of records with each token.
// O(tokens).
func (c *column) useWords(n *record.Numbering, df []uint32) {
	_, tokens := c.Sizes()
	words, common := 0, bitset.New[uint32](len(df))
	for _, token := range c.TokensAt(0, tokens) {
		if n.IsGram(token) {
			continue
		}
		if words++; df[token] >= commonWord {
			common.Add(token)
		}
	}
	if float64(words) >= severalWords*float64(c.Len()) {
		c.words = common
	}
}

// Worded tells whether the values of the column are texts of several words, as a rule.
func (c *column) Worded() bool { return c.words != nil }

// OwnWords appends the common words of text a that b has not, and sharedWords those that both have.
func (c *column) OwnWords(dst []uint32, a, b uint32) []uint32    { return c.wordsOf(dst, a, b, false) }
func (c *column) sharedWords(dst []uint32, a, b uint32) []uint32 { return c.wordsOf(dst, a, b, true) }

func (c *column) wordsOf(dst []uint32, a, b uint32, shared bool) []uint32 {
	if c.words == nil {
		return dst
	}
	y := c.Tokens(b)
	for _, token := range c.Tokens(a) {
		if _, both := slices.BinarySearch(y, token); both == shared && c.words.Has(token) {
			dst = append(dst, token)
		}
	}
	return dst
}

// exchanged tells whether either of two texts has a common word that the other has not.
func (c *column) exchanged(a, b uint32) bool {
	if c.words == nil {
		return false
	}
	x, y := c.Tokens(a), c.Tokens(b)
	inX, inY := false, false
	for !inX || !inY {
		switch {
		case len(x) == 0 && len(y) == 0, len(x) == 0 && !inX, len(y) == 0 && !inY:
			return false
		case len(y) == 0 || len(x) > 0 && x[0] < y[0]:
			inX = inX || c.words.Has(x[0])
			x = x[1:]
		case len(x) == 0 || y[0] < x[0]:
			inY = inY || c.words.Has(y[0])
			y = y[1:]
		default:
			x, y = x[1:], y[1:]
		}
	}
	return true
}

// Scale returns the scale by whose distances values are compared; nil: by tokens only.
func (c *column) Scale() *closeness.Scale { return c.near }

// UseScales compares the values of columns by their distances on scales too, where similarity tells little; nil for a column
// that has none. shifts are between the tables; nil: there are none. With two scales or more, texts are compared by how they
// begin. No pairs may be compared meanwhile. O(values).
func (c *Comparer) UseScales(scales []*closeness.Scale, shifts []closeness.Shift) {
	several := -1
	for f, scale := range scales {
		if scale != nil {
			several++
		}
		c.Columns[f].place(scale)
		if shifts != nil {
			c.Columns[f].shift = shifts[f].By
		}
	}
	for f := range c.Columns {
		c.Columns[f].begins = several > 0 && scales[f] == nil
	}
}

// place sets the coordinates of values on a scale.
func (c *column) place(scale *closeness.Scale) {
	if c.near, c.at = scale, nil; scale == nil {
		return
	}
	c.at = make([]float64, c.Len())
	for v, point := range c.Points() {
		c.at[v] = scale.Coordinate(point)
	}
}

// closer returns the level of two values that are near each other, or begin alike, and have at most a similarity of this
// level; else the level.
func (c *column) closer(a, b uint32, l Level) Level {
	if l >= Near {
		return l
	}
	step, less := 0, false
	switch {
	case c.near != nil:
		x, y := c.at[a], c.at[b]-c.shift
		step, less = c.near.Step(x, y), c.sided && y < x
	case c.begins:
		step = c.openingStep(a, b)
	}
	switch {
	case step == 0:
		return l
	case less:
		return firstClose + closeness.Steps + Level(step) - 1
	}
	return firstClose + Level(step) - 1
}

// openingStep returns a step for two texts that begin alike: 1 if their first two words have the same initials, 2 if their
// first three do, more if these words are the same; 0 for others.
func (c *column) openingStep(a, b uint32) (step int) {
	x, y := c.Openings(a), c.Openings(b)
	for k, place := range [...]int{3, 4, 1, 2} {
		if x[place] != 0 && x[place] == y[place] {
			step = k + 1
		}
	}
	return step
}

// agreeingStep is the step of closeness from which two values count as the same for Shares: ½^4 of random pairs are as near.
const agreeingStep = 3

// agreeing tells whether two values are that near each other.
func (c *column) agreeing(a, b uint32) bool {
	return c.near != nil && c.near.Step(c.at[a], c.at[b]-c.shift) >= agreeingStep
}

// HasClose tells whether the evidence of the levels of a column has any of closeness.
func HasClose(evidence []float64) bool {
	return slices.ContainsFunc(evidence[firstClose:firstExchanged], func(x float64) bool { return x != 0 })
}
