package parquetfile

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/parquet-go/parquet-go/format"

	"github.com/alike-dev/alike/internal/bitset"
)

// Field ids of Statistics and PageEncodingStats.
const (
	statMax, statMin, statNulls, statDistinct              = 1, 2, 3, 4
	statMaxValue, statMinValue, statMaxExact, statMinExact = 5, 6, 7, 8

	statPage, statEncoding, statCount = 1, 2, 3
)

// longestBound is the longest value that is written as a bound: readers load
// all of them with the footer.
const longestBound = 1 << 10

// chunkCopy is a column of a row group that loses rows. The pipeline's jobs first scan the pages
// with a dictionary, then write its dictionary, then its pages.
type chunkCopy struct {
	f     *File
	c     *chunk
	limit int64
	keep  bitset.Set[int] // of the rows
	last  int             // last row that is kept
	level *[2]level       // of the pages: of values, of indexes into a dictionary

	bounded bool // statistics need bounds
	dict    *pageHead
	mu      sync.Mutex
	used    bitset.Set[int] // values of the dictionary that kept rows use
	scanned sync.WaitGroup  // scans under way
	scans   int
	ready   chan struct{} // closed when remap is set
	remap   []uint32      // new indexes of the used values
	same    bool          // all values are used

	behind int64 // end of the pages, once walk has seen the last one

	// Fields of the writer:
	out          *outChunk
	start        int64
	pages        []pageEntry
	rows         int64
	values       int64
	nulls        int64
	bounds       bounds
	uncompressed int64
	encodings    []pageKind
}

// pageKind is the key under which PageEncodingStats count pages.
type pageKind struct {
	kind     format.PageType
	encoding format.Encoding
	count    int64
}

func (f *File) chunkCopy(c *chunk, limit int64, keep bitset.Set[int]) *chunkCopy {
	return &chunkCopy{f: f, c: c, limit: limit, keep: keep, last: keep.Bound() - 1, ready: make(chan struct{})}
}

// filterGroup adds the jobs for a row group that loses rows.
func (c *copier) filterGroup(p *pipeline, group int, rows bitset.Set[int], kept int) error {
	var g *outGroup
	begin := func(o *output) error { g = o.group(c.f.groups[group].fields); return nil }
	if err := p.add(&job{write: begin}); err != nil {
		return err
	}
	for i := range c.f.Leaves {
		from, err := c.chunk(group, i)
		if err != nil {
			return err
		}
		if i == c.f.Instead-1 {
			if err := p.add(&job{write: func(*output) error { g.leave(); return nil }}); err != nil {
				return err
			}
			continue
		}
		k := c.f.chunkCopy(from, c.limit, rows)
		k.level = &c.levels[i]
		stats, _ := from.meta.sub(metaStatistics)
		k.bounded = from.leaf.ordered() && stats.has(statMinValue) && stats.has(statMaxValue)
		if err := k.produce(p); err != nil {
			return fmt.Errorf("column %q: %w", from.leaf.Name, err)
		}
		end := func(o *output) error { g.chunks = append(g.chunks, k.end(o)); return nil }
		if err := p.add(&job{write: end}); err != nil {
			return err
		}
	}
	more, err := c.extraOf(group, rows)
	if err != nil {
		return err
	}
	return p.add(&job{weight: more.weight(), write: func(o *output) error {
		return errors.Join(o.addExtra(p.ctx, g, more, c.f, group), o.endGroup(p.ctx, c.f, g, int64(kept)))
	}})
}

// produce adds the jobs for a chunk.
func (k *chunkCopy) produce(p *pipeline) error {
	begin := func(o *output) error { k.out, k.start = newOutChunk(k.f, k.c), o.at; return nil }
	if err := p.add(&job{write: begin}); err != nil {
		return err
	}
	first := k.f.cursor(k.c, k.limit)
	if h, err := first.next(); err == nil && h.kind == format.DictionaryPage {
		k.dict, k.used = h, bitset.New[int](h.values)
		err := k.walk(func(s *sourcePage) error {
			if !isDictionary(s.h.encoding) {
				s.release()
				return nil
			}
			k.scans++
			k.scanned.Add(1)
			return p.add(&job{weight: s.weight(), run: func(f *filter) error {
				defer k.scanned.Done()
				return k.scan(f, s)
			}})
		})
		if err != nil {
			return err
		}
		if err := k.addDictionary(p); err != nil {
			return err
		}
	}
	return k.walk(func(s *sourcePage) error { return p.add(k.pageJob(p, s)) })
}

// sourcePage is a data page with rows that are kept.
type sourcePage struct {
	h       *pageHead
	ordinal int
	first   int   // first row that starts in it
	end     int   // first row that starts in a later page
	whole   bool  // all rows are kept
	p       *page // set where the page had to be decoded to find its rows
}

func (s *sourcePage) weight() int64 {
	return 64<<10 + int64(s.h.compressed) + 3*int64(s.h.uncompressed)
}

func (s *sourcePage) take(f *File) (*page, error) {
	if s.p != nil {
		return s.p, nil
	}
	s.p = pagePool.Get().(*page)
	return s.p, s.p.read(f, s.h)
}

func (s *sourcePage) release() {
	if s.p != nil {
		s.p.recycle()
		s.p = nil
	}
}

// walk calls do with every page that has kept rows.
func (k *chunkCopy) walk(do func(s *sourcePage) error) error {
	cur := k.f.cursor(k.c, k.limit)
	leaf, row, values := k.c.leaf, 0, int64(0)
	for ordinal := 0; values < k.c.values; {
		// A row of a repeated column may reach into the next page.
		if row > k.last && (leaf.maxRep == 0 || row > k.last+1) {
			return nil
		}
		h, err := cur.next()
		if err == io.EOF {
			return fmt.Errorf("%w: it ends after %d of %d values", ErrCorrupt, values, k.c.values)
		}
		if err != nil {
			return err
		}
		if !h.isData() {
			continue
		}
		s := &sourcePage{h: h, ordinal: ordinal, first: row}
		ordinal++
		values += int64(h.values)
		from, rows, err := k.rowsOf(s)
		if err != nil {
			return err
		}
		if row += rows; int64(row) > k.c.rows {
			return fmt.Errorf("%w: more rows than its row group", ErrCorrupt)
		}
		s.end, k.behind = row, h.end()
		kept := k.keep.LenWithin(from, row)
		if kept == 0 {
			s.release()
			continue
		}
		s.whole = kept == row-from
		if err := do(s); err != nil {
			return err
		}
	}
	if row <= k.last {
		return fmt.Errorf("%w: it ends after %d of %d rows", ErrCorrupt, row, k.c.rows)
	}
	return nil
}

// rowsOf returns the first row with values in a page, and how many rows start in
// it.
func (k *chunkCopy) rowsOf(s *sourcePage) (from, rows int, err error) {
	leaf := k.c.leaf
	switch {
	case leaf.maxRep == 0:
		return s.first, s.h.values, nil
	case s.h.kind == format.DataPageV2:
		return s.first, s.h.rows, nil
	}
	p, err := s.take(k.f)
	if err != nil {
		return 0, 0, err
	}
	rep, def, _, err := p.unpack(s.h, k.c)
	if err == nil {
		err = p.decodeLevels(s.h, leaf, rep, def)
	}
	if err != nil {
		return 0, 0, err
	}
	from = s.first
	for i, r := range p.rep {
		if r == 0 {
			rows++
		} else if i == 0 {
			from--
		}
	}
	if from < 0 {
		return 0, 0, fmt.Errorf("%w: the first row has no start", ErrCorrupt)
	}
	return from, rows, nil
}

// decode decodes a page for a filter.
func (k *chunkCopy) decode(f *filter, s *sourcePage) error {
	p, err := s.take(k.f)
	if err != nil {
		return err
	}
	f.page = p
	var dict *values
	if k.dict != nil {
		dict = &values{n: k.dict.values} // only their number is used
	}
	if err := p.decode(s.h, k.c, dict, k.limit); err != nil {
		return err
	}
	if len(p.rep) > 0 && s.h.kind == format.DataPageV2 {
		rows := 0
		for _, r := range p.rep {
			if r == 0 {
				rows++
			}
		}
		if p.rep[0] != 0 || rows != s.h.rows {
			return fmt.Errorf("%w: other rows in a page than its header says", ErrCorrupt)
		}
	}
	return nil
}

// scan marks the values of the dictionary that kept rows of a page use.
func (k *chunkCopy) scan(f *filter, s *sourcePage) error {
	defer s.release()
	if err := k.decode(f, s); err != nil {
		return fmt.Errorf("column %q: %w", k.c.leaf.Name, err)
	}
	f.choose(k.c.leaf, s.h.values, k.keep, s.first)
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, r := range f.runs {
		for _, i := range f.page.values.index[r.from:r.to] {
			k.used.Add(int(i))
		}
	}
	return nil
}

// addDictionary adds the job that writes the dictionary without the values that no kept row uses.
func (k *chunkCopy) addDictionary(p *pipeline) error {
	if k.scans == 0 {
		k.dict = nil
		return nil
	}
	var out []byte
	var uncompressed int
	run := func(*filter) (err error) {
		k.scanned.Wait()
		out, uncompressed, err = k.newDictionary()
		close(k.ready)
		return err
	}
	write := func(o *output) error {
		k.out.meta.setInt(metaDictionaryPage, tI64, o.at)
		k.count(k.dict, uncompressed)
		return o.write(out)
	}
	return p.add(&job{weight: 64<<10 + int64(k.dict.compressed) + 3*int64(k.dict.uncompressed), run: run, write: write})
}

func (k *chunkCopy) newDictionary() (out []byte, uncompressed int, err error) {
	h := k.dict
	v, err := k.f.dictionary(h, k.c)
	if err != nil {
		return nil, 0, err
	}
	k.remap = make([]uint32, v.n)
	f := &filter{page: &page{values: *v}}
	for i := range v.n {
		if !k.used.Has(i) {
			continue
		}
		k.remap[i] = uint32(len(f.runs))
		f.runs = append(f.runs, span{uint32(i), uint32(i) + 1})
		if k.bounded {
			k.bounds.add(k.c.leaf, v.at(i))
		}
	}
	if k.same = len(f.runs) == v.n; k.same {
		out = make([]byte, h.size+h.compressed)
		return out, h.size + h.uncompressed, readAt(k.f.r, out, h.at)
	}
	body, err := f.encode(nil, k.c.leaf, format.Plain, nil)
	if err != nil {
		return nil, 0, err
	}
	uncompressed = len(body)
	if !k.c.codec.plain() {
		if body, err = k.c.codec.encode(nil, body); err != nil {
			return nil, 0, err
		}
	}
	fields := h.fields.edit()
	sub, _ := fields.sub(headDictionary)
	sub.setInt(dictValues, tI32, int64(len(f.runs)))
	fields.setStruct(headDictionary, sub)
	out, header := appendPage(nil, fields, uncompressed, nil, body)
	return out, header + uncompressed, nil
}

// pageJob returns the job that writes a page with only its kept rows.
func (k *chunkCopy) pageJob(p *pipeline, s *sourcePage) *job {
	var out []byte
	var uncompressed int
	var kept kept
	level := k.levelOf(s)
	decides := level.claim()
	run := func(f *filter) (err error) {
		defer s.release()
		if out, uncompressed, kept, err = k.newPage(p, f, s, level, decides); err != nil {
			err = fmt.Errorf("column %q: %w", k.c.leaf.Name, err)
		}
		return err
	}
	write := func(o *output) error {
		k.pages = append(k.pages, pageEntry{
			ordinal: s.ordinal, source: s.h.at, at: o.at, size: len(out), row: k.rows,
			nulls: kept.nulls, onlyOfNulls: kept.nulls == kept.levels,
		})
		k.rows += int64(kept.rows)
		k.values += int64(kept.levels)
		k.nulls += int64(kept.nulls)
		k.bounds.merge(k.c.leaf, kept.bounds)
		k.count(s.h, uncompressed)
		err := o.write(out)
		if cap(out) <= pooledPage {
			outPool.Put(&out)
		}
		return err
	}
	return &job{weight: s.weight(), run: run, write: write}
}

// outPool holds the buffers of pages that were written.
var outPool = sync.Pool{New: func() any { return new([]byte) }}

// levelOf returns the level of the pages of a column that have what s has: values or indexes.
func (k *chunkCopy) levelOf(s *sourcePage) *level {
	if isDictionary(s.h.encoding) {
		return &k.level[1]
	}
	return &k.level[0]
}

// newPage makes the page of the rows of s that are kept. decides: it is the page that sets the level.
func (k *chunkCopy) newPage(p *pipeline, f *filter, s *sourcePage, level *level, decides bool) (out []byte, uncompressed int, kept kept, err error) {
	h, leaf := s.h, k.c.leaf
	indexed := isDictionary(h.encoding)
	if indexed && k.dict != nil {
		if err := p.wait(k.ready); err != nil {
			return nil, 0, kept, err
		}
	}
	if err := k.decode(f, s); err != nil {
		return nil, 0, kept, err
	}
	if decides {
		if err := level.decide(f, h, k.c.codec); err != nil {
			return nil, 0, kept, err
		}
	}
	kept = f.choose(leaf, h.values, k.keep, s.first)
	if k.bounded && !indexed {
		f.each(func(v []byte) { kept.bounds.add(leaf, v) })
	}
	dst := *outPool.Get().(*[]byte)
	if s.whole && (!indexed || k.same) {
		out = grown(dst, h.size+h.compressed)
		return out, h.size + h.uncompressed, kept, readAt(k.f.r, out, h.at)
	}
	if err := p.wait(level.decided); err != nil {
		return nil, 0, kept, err
	}
	codec := k.c.codec
	codec.fast = level.fast
	out, uncompressed, err = f.assemble(dst[:0], h, leaf, codec, kept, k.remap)
	return out, uncompressed, kept, err
}

func (k *chunkCopy) count(h *pageHead, uncompressed int) {
	k.uncompressed += int64(uncompressed)
	for i := range k.encodings {
		if e := &k.encodings[i]; e.kind == h.kind && e.encoding == h.encoding {
			e.count++
			return
		}
	}
	k.encodings = append(k.encodings, pageKind{h.kind, h.encoding, 1})
}

// end completes the metadata of the chunk.
func (k *chunkCopy) end(o *output) *outChunk {
	m := &k.out.meta
	m.setInt(metaValues, tI64, k.values)
	m.setInt(metaUncompressed, tI64, k.uncompressed)
	m.setInt(metaCompressed, tI64, o.at-k.start)
	if len(k.pages) > 0 {
		m.setInt(metaDataPage, tI64, k.pages[0].at)
	}
	if k.dict == nil {
		m.del(metaDictionaryPage)
	}
	m.del(metaIndexPage, metaSizeStatistics, metaGeoStatistics)
	if m.has(metaEncodingStats) {
		var elems [][]byte
		for _, e := range k.encodings {
			var s structure
			s.setInt(statPage, tI32, int64(e.kind))
			s.setInt(statEncoding, tI32, int64(e.encoding))
			s.setInt(statCount, tI32, e.count)
			elems = append(elems, s.append(nil))
		}
		m.setList(metaEncodingStats, tStruct, elems)
	}
	if stats, ok := m.sub(metaStatistics); ok {
		m.setStruct(metaStatistics, k.statistics(stats))
	}
	k.out.columnIndex, k.out.offsetIndex = k.f.newIndexes(k.c, k.pages)
	return k.out
}

// statistics returns the statistics of the kept rows, as far as the source has them.
func (k *chunkCopy) statistics(s structure) structure {
	exact := s.has(statMaxExact) || s.has(statMinExact)
	if s.has(statNulls) {
		s.setInt(statNulls, tI64, k.nulls)
	}
	s.del(statMax, statMin, statDistinct, statMaxValue, statMinValue, statMaxExact, statMinExact)
	if !k.bounds.any {
		return s
	}
	least, most := k.bounds.encoded(k.c.leaf)
	if len(least) > longestBound || len(most) > longestBound {
		return s
	}
	s.setBytes(statMaxValue, most)
	s.setBytes(statMinValue, least)
	if exact {
		s.setBool(statMaxExact, true)
		s.setBool(statMinExact, true)
	}
	return s
}
