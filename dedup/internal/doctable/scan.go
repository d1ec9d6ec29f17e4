package doctable

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/internal/scratch"
)

// Scan reads the rows of segments for one worker.
type Scan struct {
	t      *Table
	s      *segment
	docs   []Document // of the segment
	raw    []byte
	words  []uint64
	halves []uint32
}

// EachSegment calls visit for every segment, from up to threads goroutines.
func (t *Table) EachSegment(ctx context.Context, threads int, visit func(worker int, s *Scan) error) error {
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for worker := range min(threads, len(t.segments)) {
		group.Go(func() error {
			scan := &Scan{t: t}
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(t.segments) {
					return nil
				}
				scan.s = t.segments[i]
				if err := visit(worker, scan); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
	return group.Wait()
}

// Overlaps tells whether the segment has documents from first up to end.
func (r *Scan) Overlaps(first, end uint32) bool {
	return slices.ContainsFunc(r.s.blocks, func(i int32) bool {
		b := &r.t.Blocks[i]
		return b.FirstDoc < end && b.FirstDoc+b.Docs > first
	})
}

// EachBlock calls visit for every block of the segment that has documents, with its rows.
func (r *Scan) EachBlock(visit func(b *Block, row, end int) error) error {
	for _, i := range r.s.blocks {
		b := &r.t.Blocks[i]
		if b.Docs == 0 {
			continue
		}
		if err := visit(b, int(b.row), int(b.row+b.Docs)); err != nil {
			return err
		}
	}
	return nil
}

// Documents returns all documents of the segment, by row.
func (r *Scan) Documents() ([]Document, error) {
	s := r.s
	if s.resident || s.rows == 0 {
		return s.docs, nil
	}
	r.raw = scratch.Buffer(r.raw, s.rows*documentSize)
	p := &r.t.parts[s.part]
	if _, err := p.file.ReadAt(r.raw, s.layout.docsAt()); err != nil {
		return nil, fmt.Errorf("work folder: %s: %w", p.Name, err)
	}
	r.docs = slices.Grow(r.docs[:0], s.rows)[:s.rows]
	for i := range r.docs {
		at := i * documentSize
		var d storedDocument
		if err := p.readDocument(r.raw[at:], s.layout.docsAt()+int64(at), &d); err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		r.docs[i] = d.Document
	}
	return r.docs, nil
}

// EachKey calls visit for every document of the segment from first up to end that has keys, with
// its key for a band.
func (r *Scan) EachKey(band int, first, end uint32, visit func(doc uint32, key uint64) error) error {
	if r.s.keyed == 0 {
		return nil
	}
	column, err := r.keys(band)
	if err != nil {
		return err
	}
	docs := []Document(nil)
	if r.s.keyed < r.s.rows {
		if docs, err = r.Documents(); err != nil {
			return err
		}
	}
	at, done := 0, 0 // keys and rows already passed
	return r.EachBlock(func(b *Block, row, to int) error {
		if docs == nil {
			for doc := max(b.FirstDoc, first); doc < min(b.FirstDoc+b.Docs, end); doc++ {
				if err := visit(doc, column[row+int(doc-b.FirstDoc)]); err != nil {
					return err
				}
			}
			return nil
		}
		if row < done { // the segment has blocks of several files, which are not in the order of rows
			at, done = 0, 0
		}
		keyed, _ := count(docs[done:row])
		at, done = at+keyed, to
		for i := range docs[row:to] {
			if !docs[row+i].keyed() {
				continue
			}
			if doc := b.FirstDoc + uint32(i); doc >= first && doc < end {
				if err := visit(doc, column[at]); err != nil {
					return err
				}
			}
			at++
		}
		return nil
	})
}

// keys returns the keys of one band, by row of those that have keys.
func (r *Scan) keys(band int) ([]uint64, error) {
	s := r.s
	if s.resident {
		return s.Keys[band*s.keyed : (band+1)*s.keyed], nil
	}
	p := &r.t.parts[s.part]
	b, raw, err := p.readChecked(r.raw, s.layout.keysAt()+int64(band)*s.layout.bandSize(), int64(s.keyed)*8)
	r.raw = raw
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Name, err)
	}
	r.words = words(r.words[:0], b)
	return r.words, nil
}

// EachHashes calls visit for every document of the segment from first up to end that has hashes of
// its features, with these hashes.
func (r *Scan) EachHashes(first, end uint32, visit func(doc uint32, hashes []uint32) error) error {
	column, err := r.hashes()
	if err != nil || len(column) == 0 {
		return err
	}
	docs, err := r.Documents()
	if err != nil {
		return err
	}
	at, done := 0, 0 // hashes and rows already passed
	return r.EachBlock(func(b *Block, row, to int) error {
		if row < done { // see EachKey
			at, done = 0, 0
		}
		_, hashes := count(docs[done:row])
		at, done = at+hashes, to
		for i := range docs[row:to] {
			n := docs[row+i].hashes()
			if at+n > len(column) {
				return scratch.ErrDamaged
			}
			if doc := b.FirstDoc + uint32(i); n > 0 && doc >= first && doc < end {
				if err := visit(doc, column[at:at+n]); err != nil {
					return err
				}
			}
			at += n
		}
		return nil
	})
}

// hashes returns the hashes of features, by row.
func (r *Scan) hashes() ([]uint32, error) {
	s := r.s
	if s.resident || s.layout.hashes == 0 {
		return s.Hashes, nil
	}
	p := &r.t.parts[s.part]
	b, raw, err := p.readChecked(r.raw, s.layout.hashesAt(), s.layout.hashes*4)
	r.raw = raw
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Name, err)
	}
	r.halves = halves(r.halves[:0], b)
	return r.halves, nil
}

// AppendPlace appends the name of a document of a block that has no id.
func (t *Table) AppendPlace(dst []byte, b *Block, d *Document) []byte {
	return t.Sources[b.File].AppendID(dst, b.firstLine+int64(d.Line))
}

// EachDocument calls visit for every document that is not skipped, from up to threads
// goroutines.
func (t *Table) EachDocument(ctx context.Context, threads int, visit func(worker int, b *Block, doc uint32, d *Document) error) error {
	return t.EachSegment(ctx, threads, func(worker int, s *Scan) error {
		docs, err := s.Documents()
		if err != nil {
			return err
		}
		return s.EachBlock(func(b *Block, row, end int) error {
			for first := b.FirstDoc; row < end; row, first = row+1, first+1 {
				if t.Skipped.Has(first) {
					continue
				}
				if err := visit(worker, b, first, &docs[row]); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

func (t *Table) NamedByPlace(doc uint32) bool {
	return t.ByPlace != nil && int(doc) < t.References && t.ByPlace.Has(doc)
}
