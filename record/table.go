package record

import (
	"math"
	"math/bits"
	"slices"
	"sort"

	"github.com/alike-dev/alike/internal/bitset"
)

// A Dictionary numbers hashes from 0 on, in the order of their first use. The zero value is empty. 12 to 24
// bytes a hash.
type Dictionary struct {
	slots  []uint32 // number + 1 of a hash; open addressing
	hashes []uint64
}

// Len returns how many hashes have numbers.
func (d *Dictionary) Len() int { return len(d.hashes) }

// Number returns the number of a hash; a new hash gets the next number.
func (d *Dictionary) Number(hash uint64) uint32 {
	if 2*len(d.hashes) >= len(d.slots) {
		d.grow()
	}
	slot := d.slot(hash)
	if *slot == 0 {
		d.hashes = append(d.hashes, hash)
		*slot = uint32(len(d.hashes))
	}
	return *slot - 1
}

// slot returns the slot of a hash, or the free one that it would take.
func (d *Dictionary) slot(hash uint64) *uint32 {
	mask := uint64(len(d.slots) - 1)
	i := (hash ^ hash>>32) & mask
	for d.slots[i] != 0 && d.hashes[d.slots[i]-1] != hash {
		i = (i + 1) & mask
	}
	return &d.slots[i]
}

// find returns the number of a hash; ok is false if it has none.
func (d *Dictionary) find(hash uint64) (number uint32, ok bool) {
	if len(d.slots) == 0 {
		return 0, false
	}
	n := *d.slot(hash)
	return n - 1, n > 0
}

// first returns the content of the first slot of a hash; 0 if the slot is free.
func (d *Dictionary) first(hash uint64) uint32 {
	if len(d.slots) == 0 {
		return 0
	}
	return d.slots[(hash^hash>>32)&uint64(len(d.slots)-1)]
}

// touch reads what Number looks at first of some hashes, and returns a sum without meaning, see Numbering.Touch.
func (d *Dictionary) touch(hashes []uint64) (sum uint64) {
	for _, hash := range hashes {
		sum += uint64(d.first(hash))
	}
	for _, hash := range hashes {
		if at := d.first(hash); at > 0 {
			sum += d.hashes[at-1]
		}
	}
	return sum
}

func (d *Dictionary) grow() { d.resize(max(64, 2*len(d.slots))) }

// reserve makes room for n hashes in an empty dictionary.
func (d *Dictionary) reserve(n int) {
	if n > 0 {
		d.resize(1 << bits.Len(uint(2*n)))
		d.hashes = make([]uint64, 0, n)
	}
}

// resize makes so many slots, a power of two.
func (d *Dictionary) resize(slots int) {
	d.slots = make([]uint32, slots)
	mask := uint64(len(d.slots) - 1)
	for n, hash := range d.hashes {
		i := (hash ^ hash>>32) & mask
		for d.slots[i] != 0 {
			i = (i + 1) & mask
		}
		d.slots[i] = uint32(n + 1)
	}
}

func (d *Dictionary) clone() Dictionary {
	return Dictionary{slices.Clone(d.slots), slices.Clone(d.hashes)}
}

func (d *Dictionary) bytes() int64 { return int64(4*cap(d.slots) + 8*cap(d.hashes)) }

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

// A Table holds the records of a table. After all chunks are added it is read-only, and safe for concurrent
// use. A row takes 4 bytes a column, and 4 bytes plus its length for its id.
type Table struct {
	Columns   int
	numbering *Numbering
	pages     [][]uint32 // cells of pageRows rows each: 1 + the number of the value, 0: missing
	chunks    []*Chunk   // ids and kept values
	first     []int      // row of each chunk, and the number of all
	numbers   []uint32   // of the rows, ascending, see Chunk.Number; nil: these are numbered from 0 on
	bytes     int64      // of pages and chunks
	read      uint64     // means nothing: that it is kept keeps touchValues
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

const pageRows = 1 << 12

// NewTable returns an empty table whose rows have so many values.
func NewTable(columns int, n *Numbering) *Table {
	for len(n.columns) < columns {
		n.columns = append(n.columns, &Column{})
	}
	return &Table{Columns: columns, numbering: n, first: []int{0}}
}

// Add appends the rows of a chunk; the chunk then belongs to the table. O(cells, and tokens of distinct
// values).
func (t *Table) Add(c *Chunk) {
	numbers := make([]uint32, len(c.values))
	start, cut := 0, 0
	for i, v := range c.values {
		if i%touched == 0 {
			values := c.values[i:min(i+touched, len(c.values))]
			end := start
			for _, v := range values {
				end += v.cut()
			}
			t.read += t.numbering.touchValues(values) + t.numbering.tokens.touch(c.tokens[start:end])
		}
		n := v.cut()
		var of extent
		if v.tokens != notCut {
			of = c.extents[cut]
			cut++
		}
		if v.whole.Words != 0 {
			numbers[i] = t.numbering.value(v, c.tokens[start:start+n], c.kinds[v.column], of)
		}
		start += n
	}
	for row := range c.Rows() {
		at := t.Rows() + row
		if at%pageRows == 0 {
			t.pages = append(t.pages, make([]uint32, 0, pageRows*t.Columns))
			t.bytes += int64(4 * pageRows * t.Columns)
		}
		page := &t.pages[at/pageRows]
		for f, cell := range c.cells[row*t.Columns : (row+1)*t.Columns] {
			if cell > 0 {
				number := numbers[cell-1]
				t.numbering.columns[f].counts[number]++
				cell = 1 + number
			}
			*page = append(*page, cell)
		}
	}
	c.seen, c.values, c.tokens, c.cells, c.extents = Dictionary{}, nil, nil, nil, nil
	c.ids, c.idEnds, c.kept, c.keptEnds = exact(c.ids), exact(c.idEnds), exact(c.kept), exact(c.keptEnds)
	t.numbers = append(t.numbers, c.numbers...)
	c.numbers = nil
	t.chunks = append(t.chunks, c)
	t.bytes += int64(cap(c.ids) + 4*cap(c.idEnds) + cap(c.kept) + 8*cap(c.keptEnds))
	t.first = append(t.first, t.Rows()+c.Rows())
}

// Bytes returns the memory of the rows, without their values.
func (t *Table) Bytes() int64 { return t.bytes + int64(4*cap(t.numbers)) }

// Number returns the number of a row. It is the row itself unless only some rows of a larger table are
// held.
func (t *Table) Number(row int) int {
	if t.numbers == nil {
		return row
	}
	return int(t.numbers[row])
}

// Row returns the row of a number, which must be held. O(log rows).
func (t *Table) Row(number uint32) uint32 {
	if t.numbers == nil {
		return number
	}
	row, _ := slices.BinarySearch(t.numbers, number)
	return uint32(row)
}

// exact returns a copy without spare capacity.
func exact[E any](s []E) []E { return append(make([]E, 0, len(s)), s...) }

// Rows returns how many rows the table has.
func (t *Table) Rows() int { return t.first[len(t.first)-1] }

// Cells returns for each column of a row 1 + the number of the value, 0 if it is missing.
func (t *Table) Cells(row int) []uint32 {
	page := t.pages[row/pageRows]
	start := row % pageRows * t.Columns
	return page[start : start+t.Columns]
}

// chunk returns the chunk of a row, and its place in there.
func (t *Table) chunk(row int) (c *Chunk, at int) {
	i := sort.SearchInts(t.first, row+1) - 1
	return t.chunks[i], row - t.first[i]
}

// ID returns the id of a row.
func (t *Table) ID(row int) []byte {
	c, at := t.chunk(row)
	start := uint32(0)
	if at > 0 {
		start = c.idEnds[at-1]
	}
	return c.ids[start:c.idEnds[at]]
}

// Kept returns value i of the values of a row that are passed through unchanged. of is their number in a row.
func (t *Table) Kept(row, i, of int) []byte {
	c, at := t.chunk(row)
	at = at*of + i
	start := 0
	if at > 0 {
		start = c.keptEnds[at-1]
	}
	return c.kept[start:c.keptEnds[at]]
}

// Weights are inverse document frequencies, log(N/df) in units of 1/WeightUnit, rounded, by token. They are
// at least 1, so that a token of all values still counts if there is no other.
type Weights []uint16

// WeightUnit is the weight of a token that 1 in e values has.
const WeightUnit = 1 << 10

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
