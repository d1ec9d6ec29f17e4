package record

import (
	"math"
	"slices"

	"github.com/alike-dev/alike/internal/bitset"
)

// Numbering gives numbers to the tokens and values of all chunks of the joined tables. The zero value is
// empty.
type Numbering struct {
	Lookup bool // Token can be called after Finish, which keeps 4 to 16 bytes a token for that
	// Openings keeps the openings of texts, 24 bytes a distinct value: see Column.Opening.
	Openings bool
	tokens   Dictionary
	columns  []*Column
	grams    bitset.Set[uint32] // tokens that are grams; once Finish is called
	count    int
}

// Tokens returns how many tokens have numbers.
func (n *Numbering) Tokens() int {
	if n.grams != nil {
		return n.count
	}
	return n.tokens.Len()
}

// Bytes returns the memory of the numbers: of tokens, and of values with their tokens.
func (n *Numbering) Bytes() int64 {
	b := n.tokens.bytes() + int64(8*cap(n.grams))
	for _, c := range n.columns {
		b += c.numbers.bytes() + int64(16*cap(c.places)+8*cap(c.words)+4*cap(c.tokens)+4*cap(c.counts)) + c.extents.bytes()
	}
	return b
}

// Column returns the values of column f, of both tables if there are two.
func (n *Numbering) Column(f int) *Column { return n.columns[f] }

// Finish frees the memory that only adding chunks needs. No chunk may be added afterwards.
func (n *Numbering) Finish() {
	n.count = n.tokens.Len()
	n.grams = bitset.New[uint32](n.count)
	for token, hash := range n.tokens.hashes {
		if IsGram(hash) {
			n.grams.Add(uint32(token))
		}
	}
	if !n.Lookup {
		n.tokens = Dictionary{hashes: n.tokens.hashes}
	}
	for _, c := range n.columns {
		c.numbers = Dictionary{}
	}
}

// Snapshot returns what a Lookup needs of the numbers that there are now, while others are added.
// O(tokens and values).
func (n *Numbering) Snapshot() *Numbering {
	s := &Numbering{tokens: n.tokens.clone()}
	for _, c := range n.columns {
		s.columns = append(s.columns, &Column{numbers: c.numbers.clone()})
	}
	return s
}

// Token returns the number of a token by its hash, see Cutter.Words; ok is false where no record
// has it, and after Finish without Lookup. O(1).
func (n *Numbering) Token(hash uint64) (number uint32, ok bool) { return n.tokens.find(hash) }

// Hashes returns the hashes of the tokens by number.
func (n *Numbering) Hashes() []uint64 { return n.tokens.hashes }

// IsGram reports whether a token is a 3-gram of a word, and not a word or a value.
func (n *Numbering) IsGram(token uint32) bool {
	if n.grams == nil {
		return IsGram(n.tokens.hashes[token])
	}
	return n.grams.Has(token)
}

// Recount counts anew how many rows have each value: those of some tables, all of whose values have
// numbers. O(distinct values and cells).
func (n *Numbering) Recount(tables ...*Table) {
	for _, c := range n.columns {
		clear(c.counts)
	}
	for _, t := range tables {
		for row := range t.Rows() {
			for f, cell := range t.Cells(row) {
				if cell > 0 {
					n.columns[f].counts[cell-1]++
				}
			}
		}
	}
}

// A Column is the distinct values of a column of the joined tables, numbered in the order in
// which they come. Values that differ in case, diacritics and separators only have the same number, unless
// they have other tokens: see Same.
type Column struct {
	numbers Dictionary // by Whole.hash
	words   []uint64   // Whole.Words of each value; nil: no value has words that are tied, all have numbers of their own
	places  []place
	tokens  []uint32
	counts  []uint32
	extents
}

// place is what is looked up first of a value; together it costs one access to memory.
type place struct {
	end  int // of its tokens
	mass uint64
}

// Mass returns what SetMass has set for a value, 0 before.
func (c *Column) Mass(value uint32) uint64 { return c.places[value].mass }

// SetMass sets what the tokens of a value weigh together. Reading the value's tokens or Touch brings it into
// the processor's caches too. It may be called for several values at once.
func (c *Column) SetMass(value uint32, mass uint64) { c.places[value].mass = mass }

// Len returns the number of distinct values.
func (c *Column) Len() int { return len(c.places) }

// Sizes returns how many distinct values there are, and how many tokens they have together.
func (c *Column) Sizes() (values, tokens int) { return len(c.places), len(c.tokens) }

// Same tells whether two values have the same words in the same order. They may have different tokens: de-smith
// counts as one word too, and de smith does not.
func (c *Column) Same(a, b uint32) bool {
	return a == b || c.words != nil && c.words[a] == c.words[b]
}

// Tokens returns the tokens of a value, ascending without repeats.
func (c *Column) Tokens(value uint32) []uint32 {
	start, end := c.Bounds(value)
	return c.tokens[start:end]
}

// TokensAt returns the tokens from start to end−1 of those of all values, see Bounds.
func (c *Column) TokensAt(start, end int) []uint32 { return c.tokens[start:end] }

// Bounds returns where the tokens of a value stand among those of all values of the column,
// which lie one after the other in the order of the values' numbers.
func (c *Column) Bounds(value uint32) (start, end int) {
	if value > 0 {
		start = c.places[value-1].end
	}
	return start, c.places[value].end
}

// Touch reads both ends of the data of some values, and returns a sum without meaning. Values of different
// rows are scattered over memory: in a loop that only reads them the processor waits for many of them
// together, and the caller then finds them in the caches.
func (n *Numbering) Touch(rows [][]uint32) (sum uint32) {
	for _, cells := range rows {
		for f, cell := range cells {
			if cell > 0 {
				sum += uint32(n.columns[f].places[cell-1].end)
			}
		}
	}
	for _, cells := range rows {
		for f, cell := range cells {
			if cell == 0 {
				continue
			}
			c := n.columns[f]
			if start, end := c.Bounds(cell - 1); start < end {
				sum += c.tokens[start] + c.tokens[end-1]
			}
		}
	}
	return sum
}

// Count returns the number of rows that have a value.
func (c *Column) Count(value uint32) int { return int(c.counts[value]) }

// Counts returns the number of rows that have each value. A caller that counts more rows adds them here.
func (c *Column) Counts() []uint32 { return c.counts }

// Frequencies adds to df the number of the rows' values that have each token, and returns the number of
// values. O(distinct values and their tokens).
func (c *Column) Frequencies(df []uint32) (n int) {
	for v := range c.places {
		n += int(c.counts[v])
		for _, token := range c.Tokens(uint32(v)) {
			df[token] += c.counts[v]
		}
	}
	return n
}

// value returns the number of a value, with its tokens if it is new.
func (n *Numbering) value(v chunkValue, tokens []uint64, kind Kind, of extent) uint32 {
	c := n.columns[v.column]
	number := c.numbers.Number(v.whole.hash())
	if int(number) == len(c.places) {
		if v.whole.Ties != 0 && c.words == nil { // the values before have no ties: their words are all that is hashed
			c.words = slices.Clone(c.numbers.hashes[:number])
		}
		if c.words != nil {
			c.words = append(c.words, v.whole.Words)
		}
		start := len(c.tokens)
		for _, hash := range tokens {
			c.tokens = append(c.tokens, n.tokens.Number(hash))
		}
		slices.Sort(c.tokens[start:])
		c.places, c.counts = append(c.places, place{end: len(c.tokens)}), append(c.counts, 0)
		c.extents.add(kind, of, n.Openings)
	}
	return number
}

// touched is how many values of a chunk are touched together.
const touched = 64

// touchValues reads the memory that value will read first for the values of a chunk, see Touch.
func (n *Numbering) touchValues(values []chunkValue) (sum uint64) {
	for _, v := range values {
		sum += uint64(n.columns[v.column].numbers.first(v.whole.hash()))
	}
	for _, v := range values {
		d := &n.columns[v.column].numbers
		if at := d.first(v.whole.hash()); at > 0 {
			sum += d.hashes[at-1]
		}
	}
	return sum
}

// Point returns the place of a value on a line: a number, the days of a date since 1970-01-01, the seconds of a time, or
// degrees. NaN: the value has no place, as a text among numbers, or no value of the column has one: see Kind.Measured.
func (c *Column) Point(value uint32) float64 {
	if c.points == nil {
		return math.NaN()
	}
	return c.points[value]
}

// Points returns Point of each value; nil: no value has one. The caller must not change it.
func (c *Column) Points() []float64 { return c.points }

// Openings returns hashes of the first word of a text, its first two and its first three, and of the initials of its first
// two and its first three words; 0 where it has fewer. Texts that begin with the same words, or words of the same initials,
// have the same. Only with Numbering.Openings; else all are 0.
func (c *Column) Openings(value uint32) (hashes [openings]uint64) {
	if c.openings == nil {
		return hashes
	}
	return c.openings[value]
}
