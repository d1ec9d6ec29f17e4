package parquetfile

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/parquet-go/parquet-go/format"
)

// A Reader divides the rows of some columns into pieces. Next reads only the headers of pages and
// belongs to one goroutine at a time; the costly work, reading and decoding the pages, is done by
// Piece.Load in as many goroutines as there are pieces under way:
//
//	rows      0         1000        2000        3000
//	column 0  │ page 0  │   page 1     │ page 2  │     its bytes decide where pieces end
//	column 1  │      page 0        │    page 1    │
//	pieces    │  0  │  1  │  2  │  3  │  4  │  5  │
//
// A page is decoded once, by the first piece that needs it, and its memory is reused when all
// pieces with its rows are released. So memory is a few pages a goroutine, whatever the size of row
// groups. How rows are divided into pieces depends only on the file and the options.
type Reader struct {
	f       *File
	target  int
	limit   int64
	columns []int
	total   int64        // bytes of the columns
	taken   atomic.Int64 // bytes delivered so far
	cols    []*column    // of the current row group
	group   int          // number of the next one
	row     int64        // next row in the current row group
	rows    int64        // rows of the current row group
	failed  error
}

// column is one column of the current row group.
type column struct {
	r     *Reader
	c     *chunk
	cur   *cursor
	dict  *sharedDict   // nil until its page is read
	pages []*sharedPage // with rows from the current one on
	end   int64         // row behind the last of them
}

// NewReader reads columns, given by their index in f.Leaves, none of which may be a list or
// repeated. A piece has at most about target bytes of each column. maxPage bounds the bytes of a
// page, if it is above DefaultMaxPage.
func (f *File) NewReader(columns []int, target int, maxPage int64) (_ *Reader, err error) {
	defer guard(&err)
	r := &Reader{f: f, columns: columns, target: max(target, 1), limit: max(maxPage, DefaultMaxPage)}
	for g := range f.groups {
		for _, at := range columns {
			c, err := f.chunk(g, at)
			if err != nil {
				return nil, err
			}
			r.total += c.end - c.start
		}
	}
	return r, f.checkTotal(r.total)
}

// Progress returns the share of the columns' bytes that was delivered, 0 to 1. It is safe for
// concurrent use.
func (r *Reader) Progress() float64 {
	if r.total == 0 {
		return 1
	}
	return float64(r.taken.Load()) / float64(r.total)
}

// Next returns the next piece, or io.EOF behind the last one. Any other error reports damage: rows
// before it were delivered, rows after it are not.
func (r *Reader) Next() (*Piece, error) {
	for r.failed == nil && r.row == r.rows {
		if r.group == len(r.f.groups) {
			r.failed = io.EOF
		} else {
			r.failed = r.enter()
		}
	}
	if r.failed != nil {
		return nil, r.failed
	}
	end := r.rows
	for _, c := range r.cols {
		var err error
		if end, err = c.pieceEnd(r.row, end); err != nil {
			r.failed = err
		}
	}
	if end == r.row {
		return nil, r.failed
	}
	p := &Piece{First: r.f.groups[r.group-1].first + r.row, Rows: int(end - r.row), limit: r.limit}
	for _, c := range r.cols {
		p.columns = append(p.columns, c.take(r.row, end))
	}
	r.row = end
	return p, nil
}

// enter goes to the next row group.
func (r *Reader) enter() error {
	g := r.group
	r.group++
	r.row, r.rows, r.cols = 0, r.f.groups[g].rows, nil
	for _, at := range r.columns {
		c, err := r.f.chunk(g, at)
		if err != nil {
			return err
		}
		r.cols = append(r.cols, &column{r: r, c: c, cur: r.f.cursor(c, r.limit)})
	}
	return nil
}

// leastRow is the size that a row without a text counts for in a piece.
const leastRow = 16

// pieceEnd chooses the end of a piece that begins at row: most at the latest. With an error, rows
// before the returned end can be read.
func (c *column) pieceEnd(row, most int64) (end int64, err error) {
	defer guard(&err)
	end = row
	budget := int64(c.r.target)
	for i := 0; end < most && budget > 0; i++ {
		if err := c.reach(end + 1); err != nil {
			return end, err
		}
		p := c.pages[i]
		each, err := p.bytesPerRow()
		if err != nil {
			return end, err
		}
		behind := p.first + int64(p.rows)
		n := min(budget/each, behind-end)
		if n == 0 && end == row {
			n = 1
		}
		end += n
		budget -= n * each
		if end < behind {
			break
		}
	}
	return min(end, most), nil
}

// reach reads headers of pages until one holds the row before end.
func (c *column) reach(end int64) error {
	for c.end < end {
		h, err := c.cur.next()
		if err == io.EOF {
			return fmt.Errorf("%w: column %q ends after %d of %d rows", ErrCorrupt, c.c.leaf.Name, c.end, c.c.rows)
		}
		if err != nil {
			return fmt.Errorf("column %q: %w", c.c.leaf.Name, err)
		}
		c.r.taken.Add(h.end() - h.at)
		if !h.isData() {
			if h.kind == format.DictionaryPage && c.dict == nil {
				c.dict = &sharedDict{f: c.r.f, c: c.c, h: h}
			}
			continue
		}
		if h.rows >= 0 && h.rows != h.values || int64(h.values) > c.c.rows-c.end {
			return fmt.Errorf("%w: column %q has more values than rows", ErrCorrupt, c.c.leaf.Name)
		}
		if h.values == 0 {
			continue
		}
		p := &sharedPage{f: c.r.f, c: c.c, h: h, dict: c.dict, first: c.end, rows: h.values}
		p.refs.Store(1)
		c.pages = append(c.pages, p)
		c.end += int64(h.values)
	}
	return nil
}

// take returns the rows from row to end and releases pages before end.
func (c *column) take(row, end int64) pieceColumn {
	pc := pieceColumn{leaf: c.c.leaf}
	for len(c.pages) > 0 {
		p := c.pages[0]
		behind := p.first + int64(p.rows)
		p.refs.Add(1)
		pc.parts = append(pc.parts, part{p, int(max(row, p.first) - p.first), int(min(end, behind) - p.first)})
		if behind > end {
			break
		}
		p.release()
		c.pages = c.pages[1:]
		if behind == end {
			break
		}
	}
	return pc
}

// sharedDict is the dictionary of a chunk, decoded once when it is needed.
type sharedDict struct {
	f    *File
	c    *chunk
	h    *pageHead
	once sync.Once
	v    *values
	each int64 // see bytesPerRow
	err  error
}

func (d *sharedDict) load() (*values, error) {
	if d == nil {
		return nil, fmt.Errorf("%w: no dictionary", ErrCorrupt)
	}
	d.once.Do(func() {
		defer guard(&d.err)
		if d.v, d.err = d.f.dictionary(d.h, d.c); d.err == nil && d.v.n > 0 {
			// No piece should grow to more than 16 times its size where the longest value is far
			// longer than most.
			d.each = int64(max(len(d.v.data)/d.v.n, d.v.longest()/16))
		}
	})
	return d.v, d.err
}

// sharedPage is a page whose rows may be in several pieces.
type sharedPage struct {
	f     *File
	c     *chunk
	h     *pageHead
	dict  *sharedDict
	first int64 // row in the row group
	rows  int

	refs atomic.Int32
	once sync.Once
	err  error
	p    *page
}

// bytesPerRow estimates the bytes of a value.
func (s *sharedPage) bytesPerRow() (int64, error) {
	each := int64(s.h.uncompressed / s.rows)
	if isDictionary(s.h.encoding) {
		if _, err := s.dict.load(); err != nil {
			return 0, fmt.Errorf("column %q: %w", s.c.leaf.Name, err)
		}
		each = s.dict.each
	}
	return max(each, leastRow), nil
}

// pooledPage is the largest memory of a page that is kept for another page.
const pooledPage = 16 << 20

var pagePool = sync.Pool{New: func() any { return new(page) }}

// load reads and decodes the page, once.
func (s *sharedPage) load(limit int64) error {
	s.once.Do(func() {
		defer guard(&s.err)
		s.p = pagePool.Get().(*page)
		var dict *values
		err := s.p.read(s.f, s.h)
		if err == nil && isDictionary(s.h.encoding) {
			dict, err = s.dict.load()
		}
		if err == nil {
			err = s.p.decode(s.h, s.c, dict, limit)
		}
		if err != nil {
			s.err = fmt.Errorf("column %q: %w", s.c.leaf.Name, err)
		}
	})
	return s.err
}

// valuesBefore counts the values before a row of the page.
func (s *sharedPage) valuesBefore(row int) int {
	if s.c.leaf.maxDef == 0 {
		return row
	}
	return s.c.leaf.present(s.p.def[:row])
}

// release drops one reference; the last one gives the memory back.
func (s *sharedPage) release() {
	if s.refs.Add(-1) > 0 || s.p == nil {
		return
	}
	s.p.recycle()
	s.p = nil
}

// recycle keeps the page's memory for another page, unless it is unusually large.
func (p *page) recycle() {
	if cap(p.body)+cap(p.raw)+cap(p.rep)+cap(p.def)+cap(p.values.own)+8*cap(p.values.spans) <= pooledPage {
		p.values.dict = nil
		pagePool.Put(p)
	}
}
