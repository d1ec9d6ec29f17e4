package dedup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/sides"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/setting"
)

// Outputs name a document by its id or, if it has none, by its path and line (a text
// by its path alone). A name must mean one document:
//
//   - Of inputs with one name the first is used and the others are skipped, as of
//     references among themselves. A name that was made of a place stays with the
//     document at that place, though: who has it as an id is skipped.
//   - A reference may have the name of an input. It is named by AgainstPrefix and its
//     place then.
//   - Names of two collections are told apart by their columns.

// uniqueNames sees to that. It marks documents as skipped and returns them, each with
// the one that has its name.
//
// Names are compared where their hashes are equal. Names of places are not even made
// unless they could meet others: where some documents have ids and some have not, or
// by the names of files.
func (r *run) uniqueNames(ctx context.Context) (*extsort.Sorted, error) {
	repeated, err := extsort.New(r.work.sorting("repeated", 8, bitLen(r.table.n)))
	if err != nil {
		return nil, err
	}
	shared, err := r.compareNames(ctx, true, repeated)
	if err == nil && shared != nil {
		r.table.byPlace = shared
		r.config.OnNotice(setting.Textf("references that have the name of an input: %d; outputs name them %sFILE:LINE", shared.count(), AgainstPrefix))
		_, err = r.compareNames(ctx, false, repeated) // the new names may be ids of inputs
	}
	return r.work.ended(ctx, repeated, err)
}

// nameHashes sorts the hashes of all ids (Value: the document) with those of the names
// of places that might be among them: of documents without an id or, if not places, of
// the references in table.byPlace.
func (r *run) nameHashes(ctx context.Context, places bool) (*extsort.Sorted, error) {
	t, w := r.table, r.work
	sorter, err := extsort.New(w.sorting("ids", 2, 64))
	if err != nil {
		return nil, err
	}
	to := appenders(sorter, w.threads)
	with, without := make([]bool, w.threads), make([]bool, w.threads) // some document has an id, or none
	err = t.eachDocument(ctx, w.threads, func(worker int, _ *block, doc uint32, d *document) error {
		if d.idHash == 0 {
			without[worker] = true
			return nil
		}
		with[worker] = true
		return to[worker].Add(d.idHash, uint64(doc))
	})
	if err == nil && (!places || anyOf(with) && anyOf(without) || t.placesMeet()) {
		names := make([][]byte, w.threads)
		err = t.eachDocument(ctx, w.threads, func(worker int, b *block, doc uint32, d *document) error {
			name := names[worker][:0]
			switch {
			case places && d.idHash != 0 || !places && !t.namedByPlace(doc):
				return nil
			case !places:
				name = append(name, AgainstPrefix...)
			}
			name = t.sources[b.file].AppendID(name, b.firstLine+int64(d.line))
			names[worker] = name
			return to[worker].Add(hashID(name), uint64(doc))
		})
	}
	return w.ended(ctx, sorter, flush(to, err))
}

func anyOf(flags []bool) bool {
	for _, f := range flags {
		if f {
			return true
		}
	}
	return false
}

// eachDocument calls visit for every document that is not skipped, from up to threads
// goroutines.
func (t *table) eachDocument(ctx context.Context, threads int, visit func(worker int, b *block, doc uint32, d *document) error) error {
	return t.eachSegment(ctx, threads, func(worker int, s *rowScan) error {
		docs, err := s.documents()
		if err != nil {
			return err
		}
		return s.eachBlock(func(b *block, first uint32, row, end int) error {
			for ; row < end; row, first = row+1, first+1 {
				if t.skipped.has(first) {
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

func (t *table) namedByPlace(doc uint32) bool {
	return t.byPlace != nil && int(doc) < t.refs && t.byPlace.has(doc)
}

// placesMeet tells whether names of places may be equal: a file is a reference and an
// input, or a text has the name of a line.
func (t *table) placesMeet() bool {
	refs := make(map[string]bool, t.refSources)
	for i := range t.sources {
		s := &t.sources[i]
		label := s.Label()
		if i < t.refSources {
			refs[label] = true
		} else if refs[label] {
			return true
		}
		if line := strings.TrimRight(label, "0123456789"); s.Format == corpus.Text && len(line) < len(label) && strings.HasSuffix(line, ":") {
			return true
		}
	}
	return false
}

// compareNames compares the names whose hashes nameHashes gives. It skips documents and
// adds them to repeated, and returns the references that have names of inputs; nil is
// none.
func (r *run) compareNames(ctx context.Context, places bool, repeated *extsort.Sorter) (bitset, error) {
	t, w := r.table, r.work
	hashes, err := r.nameHashes(ctx, places)
	if err != nil {
		return nil, err
	}
	shared := newBitset(t.refs)
	workers := make([]nameWorker, w.threads)
	for i := range workers {
		workers[i] = nameWorker{t: t, sides: &r.sides, shared: shared, to: repeated.Appender(), names: t.cursor()}
	}
	err = hashes.Each(ctx, w.threads, func(worker int, part []extsort.Entry, more bool) error {
		return workers[worker].compare(part)
	})
	found := false
	for i := range workers {
		found = found || workers[i].found
		err = errors.Join(err, workers[i].to.Flush(), workers[i].names.err)
	}
	if err = errors.Join(err, w.release(hashes)); err != nil || !found {
		return nil, err
	}
	return shared, nil
}

// nameWorker finds equal names for one goroutine.
type nameWorker struct {
	t      *table
	sides  *sides.Policy
	to     *extsort.Appender
	names  *cursor
	shared bitset // references that have names of inputs
	found  bool   // there is one

	hash  uint64
	first []uint32 // documents with names of this hash that are no repeats, nearly always one
	name  []byte
	other []byte
}

// compare goes on with entries that follow those seen before, or have other keys.
func (w *nameWorker) compare(part []extsort.Entry) error {
	for _, e := range part {
		doc := uint32(e.Value)
		if len(w.first) == 0 || e.Key != w.hash {
			w.hash, w.first = e.Key, append(w.first[:0], doc)
			continue
		}
		if err := w.add(doc); err != nil {
			return err
		}
	}
	return nil
}

// add compares a document with the earlier ones of its hash.
func (w *nameWorker) add(doc uint32) error {
	w.name = w.names.appendID(w.name[:0], doc)
	for i, earlier := range w.first {
		w.other = w.names.appendID(w.other[:0], earlier)
		if w.names.err != nil {
			return w.names.err
		}
		if w.sides.Side(doc) != w.sides.Side(earlier) || !bytes.Equal(w.name, w.other) {
			continue
		}
		switch {
		case w.sides.Reference(earlier) && !w.sides.Reference(doc) && !w.t.namedByPlace(earlier):
			w.shared.addShared(earlier)
			w.found = true
		case w.names.made(doc) && !w.names.made(earlier):
			w.first[i] = doc
			return w.skip(earlier, doc)
		default:
			return w.skip(doc, earlier)
		}
	}
	w.first = append(w.first, doc)
	return nil
}

func (w *nameWorker) skip(doc, other uint32) error {
	w.t.skipped.addShared(doc)
	return w.to.Add(uint64(doc), uint64(other))
}

// made tells whether a document's name was made of its place.
func (c *cursor) made(doc uint32) bool { return c.t.namedByPlace(doc) || c.doc(doc).idHash == 0 }

// repeatedProblem says that a document has the name of another one.
func repeatedProblem(c *cursor, doc, other uint32) *corpus.Problem {
	place := func(doc uint32) string { return fmt.Sprintf("%s:%d", fault.Shown(c.label(doc)), c.line(doc)) }
	name := c.id(doc)
	p := &corpus.Problem{Path: c.label(doc), Line: c.line(doc), Offset: c.doc(doc).offset}
	switch {
	case c.made(doc):
		p.Err = fmt.Errorf("its name %q is that of another document without an id (%s) too; give one of the files another name", name, place(other))
	case c.made(other):
		p.Err = setting.Errorf("id %q is the name of a document without an id of its own (%s); make ids unique, or name documents by file and line with %s %s",
			name, place(other), setting.IDField, corpus.NoID)
	default:
		p.Err = setting.Errorf("id %q was there before (%s); make ids unique, or name documents by file and line with %s %s",
			name, place(other), setting.IDField, corpus.NoID)
	}
	return p
}
