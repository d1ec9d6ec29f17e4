package parquetfile

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go/format"

	"github.com/alike-dev/alike/internal/bitset"
)

// WholeRows returns how many rows from the start of the file can be copied, whichever of them are
// kept, and the error of the next row: nil if all can. It decodes every page of every column up to
// there, one after the other. maxPage is as for NewReader.
func (f *File) WholeRows(ctx context.Context, maxPage int64) (rows int64, damage error) {
	c := &copier{f: f, limit: max(maxPage, DefaultMaxPage)}
	for g := range f.groups {
		whole := f.groups[g].rows
		for i := range f.Leaves {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			if n, err := c.wholeRows(g, i); err != nil && (damage == nil || n < whole) {
				whole, damage = n, err
			}
		}
		if rows += whole; damage != nil {
			break
		}
	}
	return rows, damage
}

// wholeRows returns how many rows of a column of a row group precede damage.
func (c *copier) wholeRows(group, column int) (rows int64, damage error) {
	from, err := c.chunk(group, column)
	if err != nil {
		return 0, err
	}
	k, f := c.f.chunkCopy(from, c.limit, everyRow(from)), &filter{}
	err = k.pageByPage(true, func(s *sourcePage) error {
		defer s.release()
		if err := k.decodeSafely(f, s); err != nil {
			return err
		}
		rows = int64(s.end)
		return nil
	})
	if err == nil {
		return from.rows, nil
	}
	if from.leaf.maxRep > 0 && rows > 0 {
		rows-- // its last row may continue in the damaged page
	}
	return rows, fmt.Errorf("column %q: %w", from.leaf.Name, err)
}

func (k *chunkCopy) decodeSafely(f *filter, s *sourcePage) (err error) {
	defer guard(&err)
	return k.decode(f, s)
}

func everyRow(c *chunk) bitset.Set[int] {
	rows := bitset.New[int](int(c.rows))
	for i := range int(c.rows) {
		rows.Add(i)
	}
	return rows
}

// pageByPage calls do with every data page of a chunk and records their places. If decode is set,
// the dictionary was decoded before.
func (k *chunkCopy) pageByPage(decode bool, do func(s *sourcePage) error) (err error) {
	defer guard(&err)
	k.behind = k.c.start
	h, err := k.f.cursor(k.c, k.limit).next()
	if err == nil && h.kind == format.DictionaryPage {
		k.dict = h
		if decode {
			if _, err := k.f.dictionary(h, k.c); err != nil {
				return err
			}
		}
	}
	if err != nil && err != io.EOF {
		return err
	}
	return k.walk(func(s *sourcePage) error {
		k.pages = append(k.pages, pageEntry{ordinal: s.ordinal, source: s.h.at})
		return do(s)
	})
}

// check decodes the whole file, which Copy is about to copy unchanged. It reports whether its
// metadata are right, so that they can be copied too.
func (c *copier) check(ctx context.Context, threads int) (whole bool, err error) {
	whole = true
	err = runPipeline(ctx, &output{w: io.Discard}, threads, c.f.Room, func(p *pipeline) error {
		for g := range c.f.groups {
			columns, err := c.checkGroup(p, g)
			if err != nil {
				return err
			}
			for _, k := range columns {
				_, _, intact := c.f.bloom(k.c)
				whole = whole && intact && k.indexFits() && k.placesFit()
			}
			ordinal := c.f.groups[g].fields.intOr(groupOrdinal, int64(g))
			whole = whole && ordinal == int64(g)
		}
		return nil
	})
	c.total = 0
	return whole, err
}

// checkGroup adds jobs that decode the pages of a row group, except those of known columns.
func (c *copier) checkGroup(p *pipeline, group int) (columns []*chunkCopy, err error) {
	for i := range c.f.Leaves {
		from, err := c.chunk(group, i)
		if err != nil {
			return nil, err
		}
		k := c.f.chunkCopy(from, c.limit, everyRow(from))
		known := slices.Contains(c.known, i)
		err = k.pageByPage(!known, func(s *sourcePage) error {
			if known {
				s.release()
				return nil
			}
			return p.add(&job{weight: s.weight(), run: func(f *filter) error {
				defer s.release()
				if err := k.decode(f, s); err != nil {
					return fmt.Errorf("column %q: %w", from.leaf.Name, err)
				}
				return nil
			}})
		})
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", from.leaf.Name, err)
		}
		columns = append(columns, k)
	}
	return columns, nil
}

// setPlaces sets the offsets of the pages of a chunk that is copied unchanged, shifted by shift
// bytes.
func (k *chunkCopy) setPlaces(meta *structure, shift int64) {
	meta.del(metaIndexPage, metaDictionaryPage)
	if k.dict != nil {
		meta.setInt(metaDictionaryPage, tI64, k.dict.at+shift)
	}
	at := k.c.start
	if len(k.pages) > 0 {
		at = k.pages[0].source
	}
	meta.setInt(metaDataPage, tI64, at+shift)
	meta.setInt(metaCompressed, tI64, k.behind-k.c.start)
}

// placesFit reports whether the metadata of a chunk say where its pages are. Old writers do not
// mention the dictionary, and say that the data begin with it.
func (k *chunkCopy) placesFit() bool {
	if k.c.values == 0 {
		return true
	}
	if k.behind != k.c.end {
		return false
	}
	first, dict := k.c.start, k.c.meta.intOr(metaDictionaryPage, 0)
	if k.dict != nil {
		return dict == k.dict.at || dict <= 0 && k.c.meta.intOr(metaDataPage, 0) == first
	}
	return dict <= 0
}

// indexFits reports whether the page index, if there is one, is that of the pages.
func (k *chunkCopy) indexFits() bool {
	at := func(id int16) bool { from, _ := k.c.fields.int(id); return from > 0 }
	if !at(chunkOffsetIndex) && !at(chunkColumnIndex) {
		return true
	}
	column, offset := k.f.newIndexes(k.c, k.pages)
	return (offset != nil || len(k.pages) == 0 || !at(chunkOffsetIndex)) && (column != nil || !at(chunkColumnIndex))
}

// bloom returns the place of a chunk's Bloom filter, 0 if there is none. intact is false if its
// header does not fit.
func (f *File) bloom(c *chunk) (from, to int64, intact bool) {
	from, _ = c.meta.int(metaBloom)
	length := c.meta.intOr(metaBloomLength, 0)
	if from <= 0 || length <= 0 {
		return 0, 0, true
	}
	if from >= f.dataEnd || length > f.dataEnd-from {
		return 0, 0, false
	}
	head := make([]byte, min(length, bloomHead))
	if readAt(f.r, head, from) != nil {
		return 0, 0, false
	}
	fields, size, err := parseAs(head, new(format.BloomFilterHeader))
	if n, ok := fields.int(bloomBytes); err != nil || !ok || n <= 0 || int64(size)+n > length {
		return 0, 0, false
	}
	return from, from + length, true
}

// bloomBytes is a field id of BloomFilterHeader, whose fields are a number and three
// unions without content: it has no more than bloomHead bytes.
const (
	bloomBytes = 1
	bloomHead  = 64
)
