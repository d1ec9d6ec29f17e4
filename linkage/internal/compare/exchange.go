package compare

import (
	"slices"

	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/record"
)

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

// OwnWords appends the common words of text a that b has not.
func (c *column) OwnWords(dst []uint32, a, b uint32) []uint32 {
	if c.words == nil {
		return dst
	}
	y := c.Tokens(b)
	for _, token := range c.Tokens(a) {
		if _, both := slices.BinarySearch(y, token); !both && c.words.Has(token) {
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
