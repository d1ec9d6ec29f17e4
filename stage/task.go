package stage

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/internal/splice"
)

// A Document is a text or a record of a table. Its slices are valid during the visit only.
type Document struct {
	Position uint64 // file<<32 | number in the file; records that cannot be used are counted too
	Name     []byte // its id, or its path and line
	Place    []byte // of a reference: its path and line behind engine.AgainstPrefix
	Whole    bool   // it is a file of its own, which Dedup lists and does not copy
	// InFile returns where a byte of Text stands in the file; nil: Text is not all of a file.
	InFile  func(at int) int
	Made    bool // the name was made of path and line; for Join: the record has no id
	Text    []byte
	Fields  [][]byte // of a record, in place of Text: values of Columns, Others and Sources of Tables
	Row     uint64   // for Join: its number among the usable records of its file, from 1 on
	Field   []byte   // value that the keep rule compares; nil: none
	Within  []byte   // value in the field of the recipe's Within
	Damaged bool     // it cannot be used: only Position is set
}

// DocumentCounts counts the documents of a task's files.
type DocumentCounts struct{ Read, Skipped int64 }

// Input is what a task reads.
type Input interface {
	// Blocks visits the blocks of a stream for the task, in the order of the tasks that made them and
	// of their numbers there. It may be called again. A block is valid during the visit only.
	Blocks(ctx context.Context, s Stream, visit func(block []byte) error) error
	// Step returns what a task of a step of a joined stage reads, see Stage.Steps.
	Step(s Stage, number int) Input
	// Documents visits the wanted documents of the task, damaged ones too, by ascending position. It calls
	// wanted once for each document, in order. Every call finds the same documents.
	Documents(ctx context.Context, wanted func(position uint64) bool, visit func(d *Document) error) (DocumentCounts, error)
	// Keep copies the kept documents of the task to the output, for stage write of Dedup and Cut. It calls kept once for
	// each position, in order. For an engine it does nothing: the engine drops the documents of the stream Drops.
	Keep(ctx context.Context, kept func(position uint64) bool, edits Edits) error
}

// Edits are what Keep changes in the documents that it copies. It calls each function for ascending positions.
type Edits struct {
	// Tag returns what is added to a kept record; nil: nothing is.
	Tag func(position uint64) (Tag, error)
	// Cut returns the spans that are cut out of the text of a kept record, of the file if the text is all of it; nil:
	// nothing is.
	Cut func(position uint64) ([]splice.Span, error)
	// CutsIn tells whether Cut returns spans for one of the positions from first up to end, which is not included.
	CutsIn func(first, end uint64) bool
}

// task is one run of one task.
type task struct {
	ctx    context.Context
	plan   *Plan
	number int
	in     Input
	out    *emitter
	space  *scratch.Space
	opened []func() error // closes what the task holds
}

// own has what the task holds closed when it ends.
func (t *task) own(close func() error) { t.opened = append(t.opened, close) }

// end closes what the task holds, the last first.
func (t *task) end(err error) error {
	for _, close := range slices.Backward(t.opened) {
		err = errors.Join(err, close())
	}
	return err
}

// sort sorts what fill adds, with 1/share of the memory.
func (t *task) sort(name string, share int64, fill func(to *extsort.Appender) error) (*extsort.Sorted, error) {
	sorted, err := t.space.Sorted(t.ctx, t.space.Sorting(name, share, 64), fill)
	if err == nil {
		t.own(sorted.Close)
	}
	return sorted, err
}

func (t *task) reader(of *extsort.Sorted) *extsort.Reader {
	r := of.Reader()
	t.own(r.Close)
	return r
}

func (t *task) lookup(of *extsort.Sorted) extsort.Lookup { return extsort.Lookup{Reader: t.reader(of)} }

// each visits the rows of a stream for the task, of stream zero none. It checks that they come in the order of Input.Blocks.
func (t *task) each(s Stream, visit func(r row) error) error {
	if s == 0 {
		return nil
	}
	var last Header
	begun := false
	return t.in.Blocks(t.ctx, s, func(block []byte) error {
		if err := t.ctx.Err(); err != nil {
			return err
		}
		h, rows, err := open(block)
		if err != nil {
			return err
		}
		switch {
		case h.Plan != t.plan.id:
			return fmt.Errorf("%w: %s is of another plan", ErrBlock, h)
		case h.Stream != s || h.Partition != t.number:
			return fmt.Errorf("%w: %s in place of one of stream %s for partition %d", ErrBlock, h, s, t.number)
		case begun && !last.less(h):
			return fmt.Errorf("%w: %s comes after block %d from task %d", ErrBlock, h, last.Number, last.Task)
		}
		last, begun = h, true
		return eachRow(h, rows, make([]uint64, 0, streams[s].words), visit)
	})
}

// sorted sorts rows by their first word, with 1/share of the memory. The value is the second word, if there is one.
func (t *task) sorted(share int64, streams ...Stream) (*extsort.Sorted, error) {
	return t.sortedBy(0, 1, share, streams...)
}

// sortedBy sorts rows by the word with index key. The value is the word with index value, or the last one.
func (t *task) sortedBy(key, value int, share int64, streams ...Stream) (*extsort.Sorted, error) {
	return t.sort("rows", share, func(to *extsort.Appender) error {
		for _, s := range streams {
			if err := t.each(s, func(r row) error { return to.Add(r.words[key], r.words[min(value, len(r.words)-1)]) }); err != nil {
				return err
			}
		}
		return nil
	})
}

// shelved puts the rows of streams on a shelf. Their key is the word with index by.
func (t *task) shelved(by int, share int64, streams ...Stream) (*shelf, error) {
	shelf, err := t.shelf(share)
	for _, s := range streams {
		if err == nil {
			err = t.each(s, func(r row) error { return shelf.add(r.words[by], r.payload, r.words...) })
		}
	}
	if err == nil {
		err = shelf.end(t.ctx)
	}
	return shelf, err
}

func (t *task) count(c Count, n int64) error {
	if n == 0 {
		return nil
	}
	return t.out.add(Counts, 0, nil, uint64(c), uint64(n))
}

// text returns a writer of CSV to a stream of text.
func (t *task) text(s Stream) *csv.Writer { return csv.NewWriter(textWriter{t, s}) }

type textWriter struct {
	t *task
	s Stream
}

var _ io.Writer = textWriter{}

func (w textWriter) Write(p []byte) (int, error) { return len(p), w.t.out.add(w.s, 0, p) }

func everything(uint64) bool { return true }
