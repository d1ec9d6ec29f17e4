package stage

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/scratch"
)

// A Document is a record as stages see it. Its slices hold during the visit.
type Document struct {
	Position uint64 // file<<32 | record of the file, those that cannot be used counted
	Name     []byte // its id, or its path and line
	Made     bool   // the name is made of path and line; of Join: it has none
	Text     []byte
	Fields   [][]byte // of records: the values that are compared, and the others of Tables, in place of the text
	Row      uint64   // of Join, without an id: its number among the usable records of its file, from 1 on
	Field    []byte   // that the keep rule compares; nil: it has none
	Damaged  bool     // it cannot be used: only its position is known
}

// DocumentCounts say what a task's files hold.
type DocumentCounts struct{ Read, Skipped int64 }

// Input is what a task reads.
type Input interface {
	// Blocks visits the blocks of a stream that are for the task, by the task that has made
	// them and their numbers there. It may be called again. A block holds during the visit.
	Blocks(ctx context.Context, s Stream, visit func(block []byte) error) error
	// Documents visits the task's documents by ascending position: all, or those that are
	// wanted, which it asks for each once, in order; damaged ones too. Every call visits the same.
	Documents(ctx context.Context, wanted func(position uint64) bool, visit func(d *Document) error) (DocumentCounts, error)
	// Keep copies the task's documents that are kept to where the results go, for stage write of
	// Dedup. It asks for each position once, in order. Where an engine drops documents by the
	// stream Drops it does nothing.
	Keep(ctx context.Context, kept func(position uint64) bool) error
}

// task is one run of one task.
type task struct {
	ctx    context.Context
	plan   *Plan
	number int
	in     Input
	out    *emitter
	space  *scratch.Space
}

// ErrStage says that there is no such stage or task.
var ErrStage = errors.New("no such stage")

// Find returns the stage of a name, if it has a task of that number. The error wraps ErrStage.
func (p *Plan) Find(name string, number int) (Stage, error) {
	all := p.Stages()
	i := slices.IndexFunc(all, func(s Stage) bool { return s.Name == name })
	if i < 0 {
		return Stage{}, fmt.Errorf("%w: %q", ErrStage, name)
	}
	if number < 0 || number >= all[i].Tasks {
		return Stage{}, fmt.Errorf("%w: task %d of stage %s, which has tasks 0 to %d", ErrStage, number, name, all[i].Tasks-1)
	}
	return all[i], nil
}

// Run runs one task of a stage but Publish. What it gives to out depends on the plan, the
// blocks and the documents only: not on memory, time or order. It works on one processor (stage
// match on all), within the memory of space, beside some bytes for each row of its partition: 8 in
// stage classes, 20 for each set in stage verify, 24 for each member of the largest cluster in stage
// clusters; up to 30 for each of forecast.HotFeatures in stage hot; of a Join some 60 for each token
// of a table in stages bands and vectors, and 16 for each record in stage score; what package linkage holds in stage match; and 16 MiB of blocks
// that are not full. The plan must be settled.
func Run(ctx context.Context, p *Plan, name string, number int, in Input, out Output, space *scratch.Space) error {
	s, err := p.Find(name, number)
	if err != nil {
		return err
	}
	if s.run == nil {
		return fmt.Errorf("%w: %q", ErrStage, name)
	}
	t := &task{ctx: ctx, plan: p, number: number, in: in, out: &emitter{plan: p, task: number, out: out}, space: space}
	if err = s.run(t); err == nil {
		err = t.out.flush()
	}
	if err != nil {
		return fmt.Errorf("stage %s, task %d: %w", name, number, err)
	}
	return nil
}

// each visits the rows of a stream.
func (t *task) each(s Stream, visit func(r row) error) error {
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

// sorted sorts rows of two words.
func (t *task) sorted(share int64, streams ...Stream) (*extsort.Sorted, error) {
	return t.space.Sorted(t.ctx, t.space.Sorting("rows", share, 64), func(to *extsort.Appender) error {
		for _, s := range streams {
			if err := t.each(s, func(r row) error { return to.Add(r.words[0], r.words[len(r.words)-1]) }); err != nil {
				return err
			}
		}
		return nil
	})
}

// shelved puts the rows of streams on a shelf, by one of their words.
func (t *task) shelved(by int, share int64, streams ...Stream) (*shelf, error) {
	shelf, err := newShelf(t.space, share)
	if err != nil {
		return nil, err
	}
	for _, s := range streams {
		if err == nil {
			err = t.each(s, func(r row) error { return shelf.add(r.words[by], r.payload, r.words...) })
		}
	}
	if err == nil {
		err = shelf.end(t.ctx)
	}
	if err != nil {
		return nil, errors.Join(err, shelf.close())
	}
	return shelf, nil
}

func (t *task) count(c Count, n int64) error {
	if n == 0 {
		return nil
	}
	return t.out.add(Counts, 0, nil, uint64(c), uint64(n))
}
