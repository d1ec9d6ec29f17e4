package parquetfile

// A Piece is a run of rows of some columns. It belongs to one goroutine.
type Piece struct {
	First int64 // number of its first row in the file
	Rows  int

	columns []pieceColumn
	limit   int64
}

type pieceColumn struct {
	leaf  *Leaf
	parts []part
}

// part is rows lo to hi of a page.
type part struct {
	page   *sharedPage
	lo, hi int
}

// Load reads and decodes the pages of the piece and returns how many of its rows can be read. With
// an error these are fewer than Rows, and no later row of the file may be delivered.
func (p *Piece) Load() (rows int, err error) {
	rows = p.Rows
	for _, c := range p.columns {
		good := 0
		for _, part := range c.parts {
			if perr := part.page.load(p.limit); perr != nil {
				if good < rows {
					rows, err = good, perr
				}
				break
			}
			good += part.hi - part.lo
		}
	}
	return rows, err
}

// Bytes returns how many bytes the values of the first rows have, of those that Load could read.
func (p *Piece) Bytes(rows int) (n int64) {
	for i := range p.columns {
		n += p.columns[i].bytes(rows)
	}
	return n
}

func (c *pieceColumn) bytes(rows int) (n int64) {
	for _, part := range c.parts {
		if rows <= 0 || part.page.err != nil {
			break
		}
		hi := min(part.hi, part.lo+rows)
		rows -= hi - part.lo
		v := &part.page.p.values
		for i, end := part.page.valuesBefore(part.lo), part.page.valuesBefore(hi); i < end; i++ {
			n += int64(len(v.at(i)))
		}
	}
	return n
}

// Release gives back the memory of the piece. Its values must not be used any more.
func (p *Piece) Release() {
	for _, c := range p.columns {
		for _, part := range c.parts {
			part.page.release()
		}
	}
	p.columns = nil
}

// Cells returns the values of column i, in the order of NewReader's columns. As many rows may be
// read as Load has returned.
func (p *Piece) Cells(i int) Cells {
	c := Cells{Leaf: p.columns[i].leaf, parts: p.columns[i].parts}
	c.enter()
	return c
}

// Cells are the values of a column, row after row.
type Cells struct {
	Leaf *Leaf

	parts   []part
	row, at int // in the first of parts: the next row, and the index of its value unless it is null
}

func (c *Cells) enter() {
	if len(c.parts) > 0 && c.parts[0].page.err == nil {
		c.row = c.parts[0].lo
		c.at = c.parts[0].page.valuesBefore(c.row)
	}
}

// Next returns the next value; nil and false if it is null. It is valid until the piece is
// released.
func (c *Cells) Next() (v []byte, ok bool) {
	for c.row == c.parts[0].hi {
		c.parts = c.parts[1:]
		c.enter()
	}
	s := c.parts[0].page
	row := c.row
	c.row++
	if s.c.leaf.maxDef > 0 && int(s.p.def[row]) < s.c.leaf.maxDef {
		return nil, false
	}
	c.at++
	return s.p.values.at(c.at - 1), true
}
