package record

import (
	"math"
	"slices"

	"github.com/alike-dev/alike/internal/hashing"
)

// A Chunk is some rows of a table, in the order of the table, before they are added to it. It numbers its
// values itself and holds each value once.
type Chunk struct {
	kinds   []Kind
	seen    Dictionary // hashes of the bytes of values, mixed with their columns
	values  []chunkValue
	tokens  []uint64 // of the values, one after the other
	extents []extent // of the values that are cut here

	cells    []uint32 // of each value of each row 1 + its number in values; 0: missing
	ids      []byte
	idEnds   []uint32
	kept     []byte // values to be passed through
	keptEnds []int
	numbers  []uint32 // of the rows, see Number; nil: not set
}

// chunkValue is a distinct value of a chunk.
type chunkValue struct {
	whole  Whole // as Cut returns it
	column uint32
	tokens uint32 // how many there are; notCut: the cutter has cut it for an earlier chunk
}

const notCut = math.MaxUint32

// cut returns how many tokens the chunk has of the value.
func (v *chunkValue) cut() int {
	if v.tokens == notCut {
		return 0
	}
	return int(v.tokens)
}

// NewChunk returns an empty chunk of a table whose columns have these kinds.
func NewChunk(kinds []Kind) *Chunk { return &Chunk{kinds: kinds} }

// Rows returns how many rows the chunk has.
func (c *Chunk) Rows() int { return len(c.idEnds) }

// Append adds a copy of a row: its id, the value of each column, and values to be passed through unchanged.
// The chunks that one cutter fills must be of one table, and must be added to it in the order in which they
// were filled: the cutter does not cut again a value that it remembers.
func (c *Chunk) Append(cutter *Cutter, id []byte, values [][]byte, keep ...[]byte) {
	if c.Rows() == 0 {
		c.seen.reserve(cutter.distinct)
	}
	for f, value := range values {
		if len(value) == 0 {
			c.cells = append(c.cells, 0)
			continue
		}
		raw := hashing.Bytes(value) + uint64(f)*valueSalt
		number := c.seen.Number(raw)
		if int(number) == len(c.values) {
			c.add(cutter, raw, value, f)
		}
		if c.values[number].whole.Words == 0 {
			c.cells = append(c.cells, 0)
		} else {
			c.cells = append(c.cells, number+1)
		}
	}
	cutter.distinct = c.seen.Len()
	c.hold(id)
	for _, value := range keep {
		c.keep(value)
	}
}

// hold adds the id of the next row.
func (c *Chunk) hold(id []byte) {
	c.ids = append(c.ids, id...)
	c.idEnds = append(c.idEnds, uint32(len(c.ids)))
}

// keep adds a value of the last row that is passed through.
func (c *Chunk) keep(value []byte) {
	c.kept = append(c.kept, value...)
	c.keptEnds = append(c.keptEnds, len(c.kept))
}

// Number sets the number of the last row, for a table of which only some rows are held. Call it for all
// rows of the table, or for none.
func (c *Chunk) Number(row uint32) { c.numbers = append(c.numbers, row) }

// add adds a value that the chunk does not have.
func (c *Chunk) add(cutter *Cutter, raw uint64, value []byte, column int) {
	if whole, ok := cutter.met(raw); ok {
		c.values = append(c.values, chunkValue{whole, uint32(column), notCut})
		return
	}
	start := len(c.tokens)
	var whole Whole
	c.tokens, whole = cutter.Cut(c.tokens, value, c.kinds[column])
	slices.Sort(c.tokens[start:])
	c.tokens = c.tokens[:start+len(slices.Compact(c.tokens[start:]))]
	c.values = append(c.values, chunkValue{whole, uint32(column), uint32(len(c.tokens) - start)})
	c.extents = append(c.extents, extent{cutter.point, cutter.begins.hashes})
	cutter.meet(raw, whole)
}

// NameRows gives each row without an id the name that name returns for its number. Numbers count from that of the
// first row on, unless Chunk.Number set others.
func (c *Chunk) NameRows(first int, name func(row int) string) {
	start := uint32(0)
	var ids []byte
	for i, end := range c.idEnds {
		id := c.ids[start:end]
		start = end
		if len(id) > 0 {
			ids = append(ids, id...)
		} else {
			number := first + i
			if c.numbers != nil {
				number = int(c.numbers[i])
			}
			ids = append(ids, name(number)...)
		}
		c.idEnds[i] = uint32(len(ids))
	}
	c.ids = ids
}
