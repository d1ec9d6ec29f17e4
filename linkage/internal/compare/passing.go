package compare

import "slices"

// Shops say of a thing what they like, but its size and colour stand in all that they say. So words tell nothing by standing in each
// other's place if they come and go: if of two texts of one thing mostly one has them.

// fewChanged is the largest share of the pairs with words in each other's place that may be without them by leaving some out, if all are
// to stay.
const fewChanged = 0.05

// LeavePassing leaves out of the words of some columns that may stand in each other's place those that come and go in likely matches
// without such words, until there are none, if by that many are without. It tells whether it did. O(words of the matches) for each time.
func (c *Comparer) LeavePassing(columns []int, matches []Pair) (left bool) {
	for _, f := range columns {
		of := &c.Columns[f]
		words, exchanged := slices.Clone(of.words), c.exchanged(f, matches)
		var all []uint64
		for passing := c.passing(f, matches); len(passing) > 0; passing = c.passing(f, matches) {
			for _, word := range passing {
				of.words.Remove(word)
				all = append(all, c.numbering.Hashes()[word])
			}
		}
		if exchanged-c.exchanged(f, matches) <= fewChanged*exchanged {
			of.words = words
			continue
		}
		c.note(f, all)
		left = true
	}
	return left
}

// exchanged returns how many pairs have words in each other's place in a column.
func (c *Comparer) exchanged(f int, pairs []Pair) (n float64) {
	for _, p := range pairs {
		if a, b := c.Left.Cells(int(p.A))[f], c.Right.Cells(int(p.B))[f]; a > 0 && b > 0 && c.Columns[f].exchanged(a-1, b-1) {
			n++
		}
	}
	return n
}

// passing returns the words of a column that come and go.
func (c *Comparer) passing(f int, matches []Pair) (words []uint32) {
	of := &c.Columns[f]
	more := map[uint32]int{} // in how many pairs one text has the word, less those in which both have it
	var some []uint32
	for _, p := range matches {
		a, b := c.Left.Cells(int(p.A))[f], c.Right.Cells(int(p.B))[f]
		if a == 0 || b == 0 || a == b || of.exchanged(a-1, b-1) {
			continue
		}
		for _, word := range of.sharedWords(some[:0], a-1, b-1) {
			more[word]--
		}
		for _, word := range of.OwnWords(of.OwnWords(some[:0], a-1, b-1), b-1, a-1) {
			more[word]++
		}
	}
	for word, n := range more {
		if n > 0 {
			words = append(words, word)
		}
	}
	return words
}

// note notes words that were left out of a column by their hashes.
func (c *Comparer) note(f int, hashes []uint64) {
	if c.Passing == nil {
		c.Passing = make([][]uint64, len(c.Columns))
	}
	c.Passing[f] = slices.Sorted(slices.Values(append(c.Passing[f], hashes...)))
}

// Leave leaves words out of those that may stand in each other's place: of each column those with some hashes, ascending. O(words).
func (c *Comparer) Leave(passing [][]uint64) {
	for f, hashes := range passing {
		if len(hashes) == 0 {
			continue
		}
		c.note(f, hashes)
		words := c.Columns[f].words
		for word := range words.All() {
			if _, passes := slices.BinarySearch(hashes, c.numbering.Hashes()[word]); passes {
				words.Remove(word)
			}
		}
	}
}
