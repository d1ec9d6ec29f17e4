package passages

import (
	"context"
	"errors"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/inorder"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/pieces"
)

// asked are entries for documents, ascending: those that lie in the upper bits of their keys.
type asked struct {
	reader *extsort.Reader
	shift  uint // of a key to its document
}

// next returns the first document for which there are entries left; ok is false if there is none.
func (a *asked) next() (doc uint32, ok bool) {
	e, ok := a.reader.Peek()
	return uint32(e.Key >> a.shift), ok
}

// upTo appends the entries for documents below end.
func (a *asked) upTo(dst []extsort.Entry, end uint32) []extsort.Entry {
	for doc, ok := a.next(); ok && doc < end; doc, ok = a.next() {
		e, _ := a.reader.Next()
		dst = append(dst, e)
	}
	return dst
}

func (a *asked) close() error { return errors.Join(a.reader.Err(), a.reader.Close()) }

// of returns the entries of a document, of those at the start of entries, and the rest.
func (a *asked) of(entries []extsort.Entry, doc uint32) (own, rest []extsort.Entry) {
	n := 0
	for n < len(entries) && uint32(entries[n].Key>>a.shift) == doc {
		n++
	}
	return entries[:n], entries[n:]
}

// found is what a look has found in the documents of a block.
type found struct {
	entries []extsort.Entry
	bytes   []byte
	ends    []int // of the bytes of each entry, if there are any
}

// A look appends what it finds in a document, for the entries that are asked for. Several goroutines call it.
type look func(c *pieces.Cutter, r *corpus.Record, asked []extsort.Entry, out *found)

// addTo has the entries that are found added.
func addTo(to *extsort.Appender) func(*found) error {
	return func(f *found) error {
		for _, e := range f.entries {
			if err := to.Add(e.Key, e.Value); err != nil {
				return err
			}
		}
		return nil
	}
}

// looking is the work on one block.
type looking struct {
	parser  *corpus.Parser
	cutter  *pieces.Cutter
	entries []extsort.Entry
	found   found
}

// visit looks at the documents for which there are entries, and has what is found taken in the order of the input.
func visit(ctx context.Context, j *Job, d *Documents, a *asked, f look, take func(*found) error) error {
	workers := make([]*looking, j.Space.Threads)
	for i := range workers {
		workers[i] = &looking{parser: corpus.NewParser(j.Corpus), cutter: pieces.NewCutter(j.Cut)}
	}
	o := j.order()
	none := func(end uint32) bool {
		doc, ok := a.next()
		return !ok || doc >= end
	}
	o.Wanted = func(at int) bool {
		f := &d.files[at]
		return len(f.ends) > 0 && !none(f.ends[len(f.ends)-1])
	}
	o.Skip = func(at int, seq int64) bool {
		_, end := d.block(at, seq)
		return none(end)
	}
	err := inorder.Each(ctx, o, inorder.Steps{
		Take: func(worker int, b *inorder.Block) error {
			w := workers[worker]
			if w.entries = w.entries[:0]; !b.End {
				_, end := d.block(b.At, b.Seq)
				w.entries = a.upTo(w.entries, end)
			}
			return a.reader.Err()
		},
		Work: func(worker int, b *inorder.Block) error { return workers[worker].work(d, b, a, f) },
		Commit: func(worker int, b *inorder.Block) error {
			if err := take(&workers[worker].found); err != nil {
				return err
			}
			j.Progress.Advance(0, int64(len(b.Data())))
			return nil
		},
	})
	if _, left := a.next(); left && err == nil {
		err = corpus.ErrChanged
	}
	return err
}

func (w *looking) work(d *Documents, b *inorder.Block, a *asked, f look) error {
	w.found = found{w.found.entries[:0], w.found.bytes[:0], w.found.ends[:0]}
	rest := w.entries
	if len(rest) == 0 {
		return nil
	}
	doc, end := d.block(b.At, b.Seq)
	var record corpus.Record
	for w.parser.Start(b.File, &b.Block); len(rest) > 0 && w.parser.Next(&record); {
		if record.Err != nil {
			continue
		}
		var own []extsort.Entry
		if own, rest = a.of(rest, doc); len(own) > 0 {
			f(w.cutter, &record, own, &w.found)
		}
		doc++
	}
	w.parser.Trim()
	w.cutter.Trim()
	if len(rest) > 0 || doc > end {
		return corpus.ErrChanged
	}
	return nil
}

// keysOf returns the keys that are asked for.
func keysOf(asked []extsort.Entry) map[uint64]bool {
	keys := make(map[uint64]bool, len(asked))
	for _, e := range asked {
		keys[e.Value] = true
	}
	return keys
}

// Place finds where the pieces that go stand first, and completes the groups. It releases gone.
func Place(ctx context.Context, j *Job, d *Documents, g *Groups, gone *extsort.Sorted) (err error) {
	defer func() { err = errors.Join(err, j.Space.Release(gone)) }()
	defer func() {
		err = errors.Join(err, j.Space.Release(g.wanted))
		g.wanted = nil
	}()
	wanted := &asked{reader: g.wanted.Reader()}
	found, err := j.Space.Sorted(ctx, j.Space.Sorting("found", 8, 0), func(to *extsort.Appender) error {
		return visit(ctx, j, d, wanted, func(c *pieces.Cutter, r *corpus.Record, entries []extsort.Entry, out *found) {
			inFile := placesOf(r)
			for p := range c.Firsts(r.Text, keysOf(entries)) {
				at := p.First
				if j.Cut.Unit != pieces.Substring {
					at = inFile(p.Start)
				}
				out.entries = append(out.entries, extsort.Entry{Key: p.Key, Value: uint64(at)})
			}
		}, addTo(to))
	})
	if err = errors.Join(err, wanted.close()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Space.Release(found)) }()
	g.Places, err = j.Space.Sorted(ctx, j.Space.Sorting("places", 8, 0), func(to *extsort.Appender) error {
		places := extsort.NewLookup(found)
		visited := gone.Visit(func(e extsort.Entry) error {
			at, ok := places.Find(e.Key)
			if !ok {
				return errors.Join(corpus.ErrChanged, places.Err())
			}
			return to.Add(e.Value<<32|at, e.Key)
		})
		return errors.Join(visited, places.Err(), places.Close())
	})
	return err
}
