package parquetfile

import (
	"context"
	"encoding/binary"
	"io"

	"github.com/parquet-go/parquet-go/format"

	"github.com/alike-dev/alike/internal/bitset"
)

// Copy writes the file to w without the rows for which keep is false. Row groups stay row groups;
// those without kept rows are left out. Everything else is unchanged: the schema, key/value
// metadata, the order of columns, their codecs and encodings, and dictionaries, except for values
// that no kept row uses. Statistics are computed again where rows were left out: exact bounds and
// counts of nulls where the source has them, no counts of distinct values, no histograms. Pages of
// zstd and snappy that lose rows are packed about as tightly as they were, by one of two levels (see level). The page
// index and Bloom filters are kept; they are still bounds and supersets.
//
// A row group of which all rows are kept is copied unchanged, and so is such a file. Otherwise Copy
// makes two passes over columns with dictionaries, and one over others, page by page: memory is
// f.Room for pages and a bit a row of a row group. maxPage is as for NewReader. keep is called once
// for each row, in ascending order, by one goroutine. The bytes do not depend on threads.
//
// Parts that are copied unchanged are decoded nevertheless, so that no damage is passed on; except
// for the columns of known, which a Reader has decoded before. A damaged page index or Bloom filter
// is left out.
//
// Rows behind the last kept row of a row group are not read, and row groups without kept rows are
// not read at all: so the rows before damage can be copied. WholeRows returns how many these are.
//
// extra, unless nil, gives columns to add, or with f.Instead one that takes the place of another.
func (f *File) Copy(ctx context.Context, w io.Writer, threads int, maxPage int64, known []int, keep func(row int64) bool, extra Extra) error {
	o := &output{w: w}
	c := &copier{f: f, limit: max(maxPage, DefaultMaxPage), known: known, keep: keep, extra: extra}
	for range f.Leaves {
		c.levels = append(c.levels, [2]level{newLevel(), newLevel()})
	}
	whole, err := c.plan(ctx)
	if err != nil {
		return err
	}
	if whole = whole && extra == nil; whole {
		if whole, err = c.check(ctx, max(threads, 1)); err != nil {
			return err
		}
	}
	if whole {
		return o.copyRange(ctx, f.r, 0, f.size)
	}
	if err := o.write([]byte(magic)); err != nil {
		return err
	}
	if err := runPipeline(ctx, o, max(threads, 1), f.Room, c.produce); err != nil {
		return err
	}
	return c.finish(o)
}

// finish ends the file.
func (c *copier) finish(o *output) error {
	meta := c.f.meta.edit()
	if c.extra != nil {
		if c.added == nil { // no row group: only its schema counts
			data, err := c.extra(nil)
			if err != nil {
				return err
			}
			if c.added, err = parseExtra(data, 0); err != nil {
				return err
			}
		}
		if c.f.Instead == 0 {
			if err := c.added.addSchema(&meta); err != nil {
				return err
			}
		}
	}
	return o.finish(meta)
}

type copier struct {
	f      *File
	limit  int64
	known  []int // columns that need no check
	keep   func(row int64) bool
	ahead  []bitset.Set[int] // for the first row groups, made by plan
	total  int64             // bytes of the columns that were copied
	levels [][2]level        // of the columns, see chunkCopy
	extra  Extra
	added  *extraColumns // the first ones
}

// chunk parses and checks the metadata of one column of a row group that will be copied.
func (c *copier) chunk(group, column int) (*chunk, error) {
	chunk, err := c.f.chunk(group, column)
	if err != nil {
		return nil, err
	}
	c.total += chunk.end - chunk.start
	return chunk, c.f.checkTotal(c.total)
}

// plan reports whether all rows are kept. It calls keep only up to the end of the first row group
// that loses rows.
func (c *copier) plan(ctx context.Context) (whole bool, err error) {
	for g := range c.f.groups {
		rows, kept, err := c.choose(ctx, g)
		if err != nil {
			return false, err
		}
		if kept == int(c.f.groups[g].rows) {
			rows = nil // all rows are kept: no set is needed
		}
		c.ahead = append(c.ahead, rows)
		if rows != nil {
			return false, nil
		}
	}
	return true, nil
}

// choose calls keep for the rows of a row group.
func (c *copier) choose(ctx context.Context, group int) (rows bitset.Set[int], kept int, err error) {
	g := &c.f.groups[group]
	rows = bitset.New[int](int(g.rows))
	for i := range int(g.rows) {
		if i&0xffff == 0 && ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		if c.keep(g.first + int64(i)) {
			rows.Add(i)
			kept++
		}
	}
	return rows, kept, nil
}

// produce adds the jobs for all row groups.
func (c *copier) produce(p *pipeline) error {
	for g := range c.f.groups {
		total := int(c.f.groups[g].rows)
		var rows bitset.Set[int]
		kept := total
		var err error
		if g < len(c.ahead) {
			if rows = c.ahead[g]; rows != nil {
				kept = rows.LenWithin(0, total)
			}
			c.ahead[g] = nil
		} else if rows, kept, err = c.choose(p.ctx, g); err != nil {
			return err
		}
		switch kept {
		case 0:
		case total:
			err = c.copyGroup(p, g)
		default:
			err = c.filterGroup(p, g, rows, kept)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// outGroup is a row group of the output.
type outGroup struct {
	fields structure
	start  int64
	chunks []*outChunk
}

// outChunk is a column of an outGroup. Offsets in fields and meta are those in the output.
type outChunk struct {
	fields, meta             structure
	columnIndex, offsetIndex []byte // encoded; nil if there is none
	bloomFrom, bloomTo       int64  // in the source
}

func (o *output) group(fields structure) *outGroup {
	g := &outGroup{fields: fields.edit(), start: o.at}
	o.groups = append(o.groups, g)
	return g
}

// copyGroup adds the jobs that copy a row group unchanged.
func (c *copier) copyGroup(p *pipeline, group int) error {
	columns, err := c.checkGroup(p, group)
	if err != nil {
		return err
	}
	more, err := c.extraOf(group, nil)
	if err != nil {
		return err
	}
	return p.add(&job{weight: more.weight(), write: func(o *output) error {
		g := o.group(c.f.groups[group].fields)
		for i, k := range columns {
			if i == c.f.Instead-1 {
				g.leave()
				continue
			}
			out, shift := newOutChunk(c.f, k.c), o.at-k.c.start
			if k.indexFits() {
				out.columnIndex, out.offsetIndex = c.f.columnIndex(k.c), c.f.shiftedOffsets(k.c, shift)
			}
			k.setPlaces(&out.meta, shift)
			g.chunks = append(g.chunks, out)
			if err := o.copyRange(p.ctx, c.f.r, k.c.start, k.behind); err != nil {
				return err
			}
		}
		if err := o.addExtra(p.ctx, g, more, c.f, group); err != nil {
			return err
		}
		return o.endGroup(p.ctx, c.f, g, c.f.groups[group].rows)
	}})
}

func newOutChunk(f *File, from *chunk) *outChunk {
	out := &outChunk{fields: from.fields.edit(), meta: from.meta.edit()}
	out.bloomFrom, out.bloomTo, _ = f.bloom(from)
	out.meta.del(metaBloom, metaBloomLength)
	return out
}

// endGroup writes the Bloom filters of a row group and completes its metadata.
func (o *output) endGroup(ctx context.Context, f *File, g *outGroup, rows int64) error {
	plain, packed := int64(0), int64(0)
	for _, c := range g.chunks {
		plain += c.meta.intOr(metaUncompressed, 0)
		packed += c.meta.intOr(metaCompressed, 0)
		if at, ok := c.fields.int(chunkOffset); ok && at > 0 {
			at = c.meta.intOr(metaDataPage, 0)
			if d := c.meta.intOr(metaDictionaryPage, 0); d > 0 {
				at = d
			}
			c.fields.setInt(chunkOffset, tI64, at)
		}
		if c.bloomTo > 0 {
			c.meta.setInt(metaBloom, tI64, o.at)
			c.meta.setInt(metaBloomLength, tI32, c.bloomTo-c.bloomFrom)
			if err := o.copyRange(ctx, f.r, c.bloomFrom, c.bloomTo); err != nil {
				return err
			}
		}
	}
	g.fields.setInt(groupBytes, tI64, plain)
	g.fields.setInt(groupRows, tI64, rows)
	if g.fields.has(groupOffset) {
		g.fields.setInt(groupOffset, tI64, g.start)
	}
	if g.fields.has(groupCompressed) {
		g.fields.setInt(groupCompressed, tI64, packed)
	}
	if g.fields.has(groupOrdinal) {
		g.fields.setInt(groupOrdinal, tI16, int64(len(o.groups)-1))
	}
	return nil
}

// finish writes the page index and the footer, which is meta with other row groups.
func (o *output) finish(meta structure) error {
	for _, index := range [...]struct {
		of         func(c *outChunk) []byte
		at, length int16
	}{
		{func(c *outChunk) []byte { return c.columnIndex }, chunkColumnIndex, chunkColumnIndexLength},
		{func(c *outChunk) []byte { return c.offsetIndex }, chunkOffsetIndex, chunkOffsetIndexLength},
	} {
		for _, g := range o.groups {
			for _, c := range g.chunks {
				c.fields.del(index.at, index.length)
				b := index.of(c)
				if b == nil {
					continue
				}
				c.fields.setInt(index.at, tI64, o.at)
				c.fields.setInt(index.length, tI32, int64(len(b)))
				if err := o.write(b); err != nil {
					return err
				}
			}
		}
	}
	rows := int64(0)
	var groups [][]byte
	for _, g := range o.groups {
		var chunks [][]byte
		for _, c := range g.chunks {
			c.fields.setStruct(chunkMeta, c.meta)
			chunks = append(chunks, c.fields.append(nil))
		}
		g.fields.setList(groupColumns, tStruct, chunks)
		rows += g.fields.intOr(groupRows, 0)
		groups = append(groups, g.fields.append(nil))
	}
	meta.setInt(fileRows, tI64, rows)
	meta.setList(fileGroups, tStruct, groups)
	footer := meta.append(nil)
	footer = binary.LittleEndian.AppendUint32(footer, uint32(len(footer)))
	return o.write(append(footer, magic...))
}

// level is how tightly the pages of a column that lose rows are packed by zstd or snappy. The fastest level
// takes about half the time of the default one and less, and makes prose 8 percent larger by zstd and 20 by
// snappy: about what writers make that take no more time, such as pyarrow. So the first page decides for
// all: they are packed at the fastest level unless that makes this page larger than it is in the file.
type level struct {
	claimed bool          // of the producer
	decided chan struct{} // closed when fast is set
	fast    bool
}

// slack is by what share of a page the fastest level may exceed it.
const slack = 1.0 / 64

func newLevel() level { return level{decided: make(chan struct{})} }

// claim reports whether the caller's page is the first one, which decides.
func (l *level) claim() bool {
	first := !l.claimed
	l.claimed = true
	return first
}

// decide sets the level by a page that f has decoded.
func (l *level) decide(f *filter, h *pageHead, c codec) (err error) {
	levels := h.repLen + h.defLen // of v2, which are not packed
	if c.leveled() && (h.kind == format.DataPage || h.packed) && h.uncompressed > levels {
		c.fast = true
		if f.packed, err = c.encode(f.packed, f.page.raw); err != nil {
			return err
		}
		l.fast = float64(len(f.packed)) <= float64(h.compressed-levels)*(1+slack)
	}
	close(l.decided)
	return nil
}
