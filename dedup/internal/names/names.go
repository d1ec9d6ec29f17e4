package names

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/dedup/internal/graph"
	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/engine"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/internal/sides"
)

// Outputs name a document by its id or, if it has none, by its path and line (a text by its path
// alone). A name must mean one document:
//
//   - Of inputs with one name the first is used and the others are skipped; likewise
//     among references. But a name that was made from a place stays with the
//     document at that place: a document that has it as an id is skipped.
//   - A reference may have the name of an input. It is then named by AgainstPrefix and
//     its place.
//   - Names of two collections are distinguished by their columns.

// search looks for equal names.
type search struct {
	space *scratch.Space
	table *doctable.Table
	sides *sides.Policy
}

// Unique makes names unique. It marks documents as skipped and returns them: Key is such a
// document, Value the one that has its name. References that have the name of an input are counted,
// and get another name. The caller releases the result.
//
// Names are compared if their hashes are equal. Names of places are made only if they could be
// equal to others: if some documents have ids and some have none, or because of the names of files.
func Unique(ctx context.Context, space *scratch.Space, t *doctable.Table, policy *sides.Policy) (skipped *extsort.Sorted, references int, err error) {
	s := &search{space, t, policy}
	repeated, err := extsort.New(space.Sorting("repeated", 8, graph.Bits(t.Docs)))
	if err != nil {
		return nil, 0, err
	}
	shared, err := s.compareNames(ctx, true, repeated)
	if err == nil && shared != nil {
		t.ByPlace = shared
		references = shared.Len()
		_, err = s.compareNames(ctx, false, repeated) // the new names may be ids of inputs
	}
	skipped, err = space.Ended(ctx, repeated, err)
	return skipped, references, err
}

// nameHashes sorts the hashes of names that other documents may have (Value: the document).
func (s *search) nameHashes(ctx context.Context, places bool) (*extsort.Sorted, error) {
	again := bitset.RepeatsAmong(s.table.Docs, s.space.Share(16))
	together := make([]*bitset.Together, s.space.Threads)
	put := func(worker int, hash uint64, doc uint32) error { return together[worker].Put(hash, uint64(doc)) }
	flush := func() (err error) {
		for _, t := range together {
			err = errors.Join(err, t.Flush())
		}
		return err
	}
	if again != nil {
		for i := range together {
			together[i] = again.Adding()
		}
		if err := errors.Join(s.eachName(ctx, places, put), flush()); err != nil {
			return nil, err
		}
	}
	sorter, err := extsort.New(s.space.Sorting("ids", 2, 64))
	if err != nil {
		return nil, err
	}
	to := sorter.Appenders(s.space.Threads)
	for i := range together {
		together[i] = again.Asking(func(hash, doc uint64, again bool) error {
			if !again {
				return nil
			}
			return to[i].Add(hash, doc)
		})
	}
	err = errors.Join(s.eachName(ctx, places, put), flush())
	return s.space.Ended(ctx, sorter, extsort.Flush(to, err))
}

// eachName visits the hashes of all ids and of the names of places that might be equal to them: of
// documents without an id or, if not places, of the references in table.byPlace.
func (s *search) eachName(ctx context.Context, places bool, visit func(worker int, hash uint64, doc uint32) error) error {
	t, w := s.table, s.space
	with, without := make([]bool, w.Threads), make([]bool, w.Threads) // some document has an id, or none
	err := t.EachDocument(ctx, w.Threads, func(worker int, _ *doctable.Block, doc uint32, d *doctable.Document) error {
		if d.IDHash == 0 {
			without[worker] = true
			return nil
		}
		with[worker] = true
		return visit(worker, d.IDHash, doc)
	})
	if err != nil || places && !(anyOf(with) && anyOf(without)) && !placesMeet(t) {
		return err
	}
	names := make([][]byte, w.Threads)
	return t.EachDocument(ctx, w.Threads, func(worker int, b *doctable.Block, doc uint32, d *doctable.Document) error {
		name := names[worker][:0]
		switch {
		case places && d.IDHash != 0 || !places && !t.NamedByPlace(doc):
			return nil
		case !places:
			name = append(name, engine.AgainstPrefix...)
		}
		name = t.AppendPlace(name, b, d)
		names[worker] = name
		return visit(worker, doctable.HashID(name), doc)
	})
}

func anyOf(flags []bool) bool {
	for _, f := range flags {
		if f {
			return true
		}
	}
	return false
}

// placesMeet tells whether names of places may be equal: a file is both a reference and an input,
// or a text has the name of a line.
func placesMeet(t *doctable.Table) bool {
	refs := make(map[string]bool, t.ReferenceFiles)
	for i := range t.Sources {
		s := &t.Sources[i]
		label := s.Label()
		if i < t.ReferenceFiles {
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

// compareNames compares the names whose hashes nameHashes returns. It skips documents and adds them
// to repeated, and returns the references that have names of inputs; nil means none.
func (s *search) compareNames(ctx context.Context, places bool, repeated *extsort.Sorter) (bitset.Set[uint32], error) {
	t, w := s.table, s.space
	hashes, err := s.nameHashes(ctx, places)
	if err != nil {
		return nil, err
	}
	shared := bitset.New[uint32](t.References)
	workers := make([]nameWorker, w.Threads)
	for i := range workers {
		workers[i] = nameWorker{t: t, sides: s.sides, shared: shared, to: repeated.Appender(), names: t.Cursor()}
	}
	err = hashes.Each(ctx, w.Threads, func(worker int, part []extsort.Entry, more bool) error {
		return workers[worker].compare(part)
	})
	found := false
	for i := range workers {
		found = found || workers[i].found
		err = errors.Join(err, workers[i].to.Flush(), workers[i].names.Err)
	}
	if err = errors.Join(err, w.Release(hashes)); err != nil || !found {
		return nil, err
	}
	return shared, nil
}

// nameWorker finds equal names for one goroutine.
type nameWorker struct {
	t      *doctable.Table
	sides  *sides.Policy
	to     *extsort.Appender
	names  *doctable.Cursor
	shared bitset.Set[uint32] // references that have names of inputs
	found  bool               // there is such a reference

	hash  uint64
	first []uint32 // documents with names of this hash that are no repeats, nearly always one
	name  []byte
	other []byte
}

// compare processes entries that continue those before, or have other keys.
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
	w.name = w.names.AppendID(w.name[:0], doc)
	for i, earlier := range w.first {
		w.other = w.names.AppendID(w.other[:0], earlier)
		if w.names.Err != nil {
			return w.names.Err
		}
		if w.sides.Side(doc) != w.sides.Side(earlier) || !bytes.Equal(w.name, w.other) {
			continue
		}
		switch engine.SameName(w.bearer(earlier), w.bearer(doc)) {
		case engine.RenameEarlier:
			w.shared.AddShared(earlier)
			w.found = true
		case engine.SkipEarlier:
			w.first[i] = doc
			return w.skip(earlier, doc)
		default:
			return w.skip(doc, earlier)
		}
	}
	w.first = append(w.first, doc)
	return nil
}

func (w *nameWorker) bearer(doc uint32) engine.Bearer {
	return engine.Bearer{Made: w.names.Made(doc), Reference: w.sides.Reference(doc), Renamed: w.t.NamedByPlace(doc)}
}

func (w *nameWorker) skip(doc, other uint32) error {
	w.t.Skipped.AddShared(doc)
	return w.to.Add(uint64(doc), uint64(other))
}

// Problem says that a document has the name of another one.
func Problem(c *doctable.Cursor, doc, other uint32) *corpus.Problem {
	place := func(doc uint32) string { return fmt.Sprintf("%s:%d", fault.Shown(c.Label(doc)), c.Line(doc)) }
	name := c.ID(doc)
	p := &corpus.Problem{Path: c.Label(doc), Line: c.Line(doc), Offset: c.Doc(doc).Offset()}
	switch {
	case c.Made(doc):
		p.Err = fault.Because(fault.ErrRepeatedName,
			"its name %q is that of another document without an id (%s) too; give one of the files another name", name, place(other))
	case c.Made(other):
		p.ID, p.Err = name, fault.Because(fault.ErrRepeatedName,
			"id %q is the name of a document without an id of its own (%s); make ids unique, or name documents by file and line with %s %s",
			name, place(other), setting.IDField, corpus.NoID)
	default:
		p.ID, p.Err = name, fault.Because(fault.ErrRepeatedName, "id %q was there before (%s); make ids unique, or name documents by file and line with %s %s",
			name, place(other), setting.IDField, corpus.NoID)
	}
	return p
}
