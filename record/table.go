package record

import (
	"math"
	"slices"
	"sort"
)

// A Dictionary numbers hashes from 0 on, in the order in which they come. The zero value is
// empty. 12 to 24 bytes a hash.
type Dictionary struct {
	slots  []uint32 // number + 1 of a hash; open addressing
	hashes []uint64
}

// Len returns how many hashes have numbers.
func (d *Dictionary) Len() int { return len(d.hashes) }

// Number returns the number of a hash, a new one where it has none.
func (d *Dictionary) Number(hash uint64) uint32 {
	if 2*len(d.hashes) >= len(d.slots) {
		d.grow()
	}
	mask := uint64(len(d.slots) - 1)
	for i := (hash ^ hash>>32) & mask; ; i = (i + 1) & mask {
		switch n := d.slots[i]; {
		case n == 0:
			d.hashes = append(d.hashes, hash)
			d.slots[i] = uint32(len(d.hashes))
			return uint32(len(d.hashes) - 1)
		case d.hashes[n-1] == hash:
			return n - 1
		}
	}
}

func (d *Dictionary) grow() {
	d.slots = make([]uint32, max(64, 2*len(d.slots)))
	mask := uint64(len(d.slots) - 1)
	for n, hash := range d.hashes {
		i := (hash ^ hash>>32) & mask
		for d.slots[i] != 0 {
			i = (i + 1) & mask
		}
		d.slots[i] = uint32(n + 1)
	}
}

// A Chunk is some rows of a table, in the order of the table. Before it is added to one, its
// tokens have numbers of its own.
type Chunk struct {
	kinds  []Kind
	tokens Dictionary
	values Dictionary // hashes of whole values, mixed with their columns

	ids      []byte
	idEnds   []int
	ends     []int    // of each row's tokens
	lengths  []uint16 // tokens of each value, row by row
	numbers  []uint32 // the tokens of each value, ascending without repeats
	wholes   []uint32 // of each value 1 + its number among the values; 0: missing
	kept     []byte   // values to be handed on
	keptEnds []int

	scratch []uint64
}

// NewChunk returns an empty chunk of a table whose columns are cut as kinds say.
func NewChunk(kinds []Kind) *Chunk { return &Chunk{kinds: kinds} }

// Rows returns how many rows the chunk has.
func (c *Chunk) Rows() int { return len(c.ends) }

// Append adds a row: its id, the value of each column, and values to be handed on as they
// are. All is copied.
func (c *Chunk) Append(cutter *Cutter, id []byte, values [][]byte, keep ...[]byte) {
	for f, value := range values {
		start := len(c.numbers)
		tokens, whole := cutter.Cut(c.scratch[:0], value, c.kinds[f])
		c.scratch = tokens
		for _, hash := range tokens {
			c.numbers = append(c.numbers, c.tokens.Number(hash))
		}
		c.numbers = c.numbers[:start+len(ascending(c.numbers[start:]))]
		c.lengths = append(c.lengths, uint16(len(c.numbers)-start))
		number := uint32(0)
		if whole != 0 {
			number = 1 + c.values.Number(whole+uint64(f)*valueSalt)
		}
		c.wholes = append(c.wholes, number)
	}
	c.ends = append(c.ends, len(c.numbers))
	c.ids = append(c.ids, id...)
	c.idEnds = append(c.idEnds, len(c.ids))
	for _, value := range keep {
		c.kept = append(c.kept, value...)
		c.keptEnds = append(c.keptEnds, len(c.kept))
	}
}

// NameRows gives rows without an id the name that name returns for their place in the chunk.
func (c *Chunk) NameRows(name func(row int) string) {
	start := 0
	var ids []byte
	for i, end := range c.idEnds {
		id := c.ids[start:end]
		start = end
		if len(id) > 0 {
			ids = append(ids, id...)
		} else {
			ids = append(ids, name(i)...)
		}
		c.idEnds[i] = len(ids)
	}
	c.ids = ids
}

// ascending sorts numbers and removes repeats.
func ascending(numbers []uint32) []uint32 {
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

// Numbering gives the tokens and values of all chunks of the joined tables their numbers. The
// zero value is empty.
type Numbering struct {
	Tokens Dictionary
	Values Dictionary
}

// IsGram tells whether a token is a 3-gram of a word, and not a word or a value.
func (n *Numbering) IsGram(token uint32) bool { return n.Tokens.hashes[token]&gramBit != 0 }

// A Table is the records of a table. It is read-only once all chunks are added, and then safe
// for concurrent use.
type Table struct {
	Columns   int
	numbering *Numbering
	chunks    []*Chunk
	first     []int // row of each chunk, and the number of all
}

// NewTable returns an empty table whose rows have so many values.
func NewTable(columns int, n *Numbering) *Table {
	return &Table{Columns: columns, numbering: n, first: []int{0}}
}

// Add appends the rows of a chunk, which belongs to the table from then on. O(tokens).
func (t *Table) Add(c *Chunk) {
	tokens := make([]uint32, c.tokens.Len())
	for n, hash := range c.tokens.hashes {
		tokens[n] = t.numbering.Tokens.Number(hash)
	}
	start := 0
	for i, n := range c.lengths {
		part := c.numbers[start : start+int(n)]
		for j := range part {
			part[j] = tokens[part[j]]
		}
		slices.Sort(part)
		start += int(n)
		if w := c.wholes[i]; w > 0 {
			c.wholes[i] = 1 + t.numbering.Values.Number(c.values.hashes[w-1])
		}
	}
	c.tokens, c.values, c.scratch = Dictionary{}, Dictionary{}, nil
	c.numbers = slices.Clip(c.numbers)
	t.chunks = append(t.chunks, c)
	t.first = append(t.first, t.Rows()+c.Rows())
}

// Rows returns how many rows the table has.
func (t *Table) Rows() int { return t.first[len(t.first)-1] }

// A Row is a view of a record.
type Row struct {
	chunk *Chunk
	row   int
	width int
}

// Row returns row i.
func (t *Table) Row(i int) Row {
	c := sort.SearchInts(t.first, i+1) - 1
	return Row{t.chunks[c], i - t.first[c], t.Columns}
}

// ID returns the id of the record.
func (r Row) ID() []byte { return between(r.chunk.ids, r.chunk.idEnds, r.row) }

// Kept returns value i of those that are handed on, of so many a row.
func (r Row) Kept(i, of int) []byte { return between(r.chunk.kept, r.chunk.keptEnds, r.row*of+i) }

func between(all []byte, ends []int, i int) []byte {
	start := 0
	if i > 0 {
		start = ends[i-1]
	}
	return all[start:ends[i]]
}

// Tokens returns the tokens of all columns, those of column f being the next Length(f).
func (r Row) Tokens() []uint32 {
	start := 0
	if r.row > 0 {
		start = r.chunk.ends[r.row-1]
	}
	return r.chunk.numbers[start:r.chunk.ends[r.row]]
}

// Length returns how many tokens column f has.
func (r Row) Length(f int) int { return int(r.chunk.lengths[r.row*r.width+f]) }

// Whole returns 1 + the number of the value of column f, 0 if it is missing.
func (r Row) Whole(f int) uint32 { return r.chunk.wholes[r.row*r.width+f] }

// Weights are inverse document frequencies, log(N/df) in units of 1/WeightUnit, rounded, by
// token; at least 1, so that what is everywhere still counts for something where nothing
// else does.
type Weights []uint16

// WeightUnit is the weight of a token that 1 in e values has.
const WeightUnit = 1 << 10

// Frequencies counts how many of the values of column f have each token, and how many values
// there are.
func Frequencies(tables []*Table, tokens, f int) (df []uint32, n int) {
	df = make([]uint32, tokens)
	for _, t := range tables {
		for i := range t.Rows() {
			row := t.Row(i)
			part := row.Tokens()
			for g := range f {
				part = part[row.Length(g):]
			}
			part = part[:row.Length(f)]
			if len(part) > 0 {
				n++
			}
			for _, token := range part {
				df[token]++
			}
		}
	}
	return df, n
}

// IDF returns the weights for document frequencies among n values.
func IDF(df []uint32, n int) Weights {
	w := make(Weights, len(df))
	for i, count := range df {
		w[i] = 1
		if count > 0 {
			w[i] = uint16(max(1, math.Round(math.Log(float64(n)/float64(count))*WeightUnit)))
		}
	}
	return w
}
