package record

import "slices"

// A Guest is a record that is in no table, cut into tokens. Neither its values nor its tokens have numbers.
type Guest struct {
	ID     []byte
	kinds  []Kind
	values []guestValue // of each column
	tokens []uint64     // of the values, one after the other; of each ascending, without repeats
	kept   [][]byte
}

type guestValue struct {
	whole Whole // the zero value: it is missing
	end   int   // of its tokens
	extent
}

// Guest cuts the values of a record, one of each column. kinds says how; kept are values that are passed through.
// O(bytes of the values).
func (c *Cutter) Guest(kinds []Kind, id []byte, values [][]byte, kept ...[]byte) *Guest {
	g := &Guest{ID: id, kinds: kinds, kept: kept}
	for f, value := range values {
		start := len(g.tokens)
		var v guestValue
		if len(value) > 0 {
			g.tokens, v.whole = c.Cut(g.tokens, value, kinds[f])
			v.extent = extent{c.point, c.begins.hashes}
		}
		slices.Sort(g.tokens[start:])
		g.tokens = g.tokens[:start+len(slices.Compact(g.tokens[start:]))]
		v.end = len(g.tokens)
		g.values = append(g.values, v)
	}
	return g
}

// tokensOf returns the tokens of the value of a column.
func (g *Guest) tokensOf(f int) []uint64 {
	start := 0
	if f > 0 {
		start = g.values[f-1].end
	}
	return g.tokens[start:g.values[f].end]
}

// Known returns the numbers of those of the guest's tokens that have one, ascending without repeats.
func (n *Numbering) Known(g *Guest) (tokens []uint32) {
	for _, hash := range g.tokens {
		if number, ok := n.tokens.find(hash); ok {
			tokens = append(tokens, number)
		}
	}
	slices.Sort(tokens)
	return slices.Compact(tokens)
}

// An Excerpt is some rows of a table and a guest, with numbers of their own, so that the guest is compared with these rows
// as if it were in a table.
type Excerpt struct {
	Numbering   *Numbering
	Rows, Guest *Table     // Guest has one row
	Tokens      []uint32   // by number in the excerpt 1 + the number in the table; 0: only the guest has the token
	Values      [][]uint32 // the same of the values of each column
}

// Excerpt puts some rows of a table whose values have the numbers n, each with so many kept values, and a guest into an
// excerpt with an empty numbering. A value counts as often as the table and the guest have it. n must not be finished; it is
// only read. O(tokens of the rows and the guest).
func (n *Numbering) Excerpt(to *Numbering, t *Table, rows []uint32, kept int, g *Guest) *Excerpt {
	to.Openings = n.Openings
	x := &Excerpt{Numbering: to, Rows: NewTable(t.Columns, to), Guest: NewTable(t.Columns, to), Values: make([][]uint32, t.Columns)}
	some, cells := &Chunk{}, make([]uint32, 0, len(rows)*t.Columns)
	for _, row := range rows {
		for f, cell := range t.Cells(int(row)) {
			if cell > 0 {
				cell = 1 + x.value(n, f, cell-1, g.kinds[f])
			}
			cells = append(cells, cell)
		}
		some.hold(t.ID(int(row)))
		for i := range kept {
			some.keep(t.Kept(int(row), i, kept))
		}
	}
	x.Rows.small(some, cells)
	alone := &Chunk{}
	alone.hold(g.ID)
	for _, value := range g.kept {
		alone.keep(value)
	}
	x.Guest.small(alone, x.guest(n, g))
	return x
}

// value returns the number in the excerpt of a value of the table.
func (x *Excerpt) value(n *Numbering, f int, value uint32, kind Kind) uint32 {
	of, c := n.columns[f], x.Numbering.columns[f]
	number := c.numbers.Number(of.numbers.hashes[value])
	if int(number) < len(c.places) {
		return number
	}
	x.Values[f] = append(x.Values[f], value+1)
	if of.words != nil {
		c.words = append(c.words, of.words[value])
	}
	start := len(c.tokens)
	for _, token := range of.Tokens(value) {
		own := x.Numbering.tokens.Number(n.tokens.hashes[token])
		if int(own) == len(x.Tokens) {
			x.Tokens = append(x.Tokens, token+1)
		}
		c.tokens = append(c.tokens, own)
	}
	slices.Sort(c.tokens[start:])
	c.places, c.counts = append(c.places, place{end: len(c.tokens)}), append(c.counts, of.counts[value])
	c.extents.add(kind, extent{of.Point(value), of.Openings(value)}, n.Openings)
	return number
}

// guest numbers the guest's values, and returns its cells.
func (x *Excerpt) guest(n *Numbering, g *Guest) (cells []uint32) {
	for f, v := range g.values {
		if v.whole.Words == 0 {
			cells = append(cells, 0)
			continue
		}
		c := x.Numbering.columns[f]
		var number uint32
		if of, ok := n.columns[f].numbers.find(v.whole.hash()); ok {
			number = x.value(n, f, of, g.kinds[f])
		} else {
			number = x.Numbering.value(chunkValue{whole: v.whole, column: uint32(f)}, g.tokensOf(f), g.kinds[f], v.extent)
			x.Values[f] = append(x.Values[f], 0)
		}
		c.counts[number]++
		cells = append(cells, number+1)
	}
	for _, hash := range x.Numbering.tokens.hashes[len(x.Tokens):] {
		number := uint32(0)
		if token, ok := n.tokens.find(hash); ok {
			number = token + 1
		}
		x.Tokens = append(x.Tokens, number)
	}
	return cells
}

// small fills an empty table of a few rows.
func (t *Table) small(c *Chunk, cells []uint32) {
	for at := 0; at < len(cells); at += pageRows * t.Columns {
		t.pages = append(t.pages, cells[at:min(at+pageRows*t.Columns, len(cells))])
	}
	t.chunks, t.first = append(t.chunks, c), append(t.first, c.Rows())
}
