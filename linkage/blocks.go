package linkage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/fault"
)

// block is a block of a file, with the parser of its goroutine.
type block struct {
	corpus.Block
	file   *corpus.File
	parser *corpus.Parser
}

// each calls visit for the records of a block, and returns those that cannot be read, with their lines in the block.
func (b *block) each(visit func(*corpus.Record)) (problems []*corpus.Problem) {
	for rec := (corpus.Record{}); b.parser.Next(&rec); {
		if rec.Err != nil {
			problems = append(problems, b.file.RecordProblem(0, &rec, rec.Err))
			continue
		}
		visit(&rec)
	}
	return problems
}

// eachBlock reads the blocks of a file of the table with several workers. Each worker gets a work function of its
// own, which it calls for its blocks.
func (s *source) eachBlock(ctx context.Context, threads, file int, fields []string, newWork func(worker int) func(*block) error) (err error) {
	o := s.options
	o.Fields = fields
	f, err := corpus.Open(ctx, s.files[file], o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	g, ctx := errgroup.WithContext(ctx)
	for worker := range threads {
		g.Go(func() error {
			work := newWork(worker)
			b := block{file: f, parser: corpus.NewParser(o)}
			defer b.Release()
			for {
				if err := ctx.Err(); err != nil {
					return err
				}
				err := f.Next(&b.Block)
				if err == io.EOF {
					return nil
				} else if err != nil {
					return fmt.Errorf("%w; a table must be whole to be joined", err)
				}
				b.parser.Start(f, &b.Block)
				if err := work(&b); err != nil {
					return err
				}
			}
		})
	}
	return g.Wait()
}

// A teller reports the records of a file that were skipped, in the order of the file: those of a block as soon as all
// blocks before it were read. So it holds those of a few blocks only.
type teller struct {
	onSkip func(*corpus.Problem) error
	next   int64 // number of the next block
	line   int64 // where it begins
	ahead  map[int64]readBlock
}

// readBlock is what a teller knows of a block.
type readBlock struct {
	lines    int64
	problems []*corpus.Problem
}

// add adds the problems of a block, and reports those that are next.
func (t *teller) add(b *block, problems []*corpus.Problem) error {
	if t.ahead == nil {
		t.ahead = map[int64]readBlock{}
	}
	t.ahead[b.Seq] = readBlock{b.Lines, problems}
	for {
		of, ok := t.ahead[t.next]
		if !ok {
			return nil
		}
		for _, p := range of.problems {
			p.Line += t.line
			if err := t.onSkip(p); err != nil {
				return err
			}
		}
		delete(t.ahead, t.next)
		t.next, t.line = t.next+1, t.line+of.lines
	}
}

// changed returns the error for a table whose rows have changed since they were counted. It wraps
// corpus.ErrChanged, as the error of opening a changed file does.
func (s *source) changed() error {
	return fmt.Errorf("%s: %w", fault.Shown(s.name),
		fault.Because(corpus.ErrChanged, "the table has other rows than a moment ago; join it again when nothing writes to it"))
}

// rowIndex says which rows each block of a table has, by file and block. It is nil for a table whose rows were not
// counted.
type rowIndex struct {
	firsts [][]uint32 // for each file: the first row of each block, then the first row of the next file
	rows   int
}

func (x *rowIndex) first(file int, block int64) uint32 {
	if x == nil || block >= int64(len(x.firsts[file])) {
		return 0
	}
	return x.firsts[file][block]
}

// ends tells whether the row after a block has the same number as before.
func (x *rowIndex) ends(file int, block int64, row uint32) bool {
	return x == nil || block+1 < int64(len(x.firsts[file])) && x.firsts[file][block+1] == row
}

// count counts the rows of a table, reports those that cannot be read, and notes the id of each.
func (s *source) count(ctx context.Context, threads int, fields []string, onSkip func(*corpus.Problem) error, note func(worker int, id []byte) error) (*rowIndex, error) {
	x := &rowIndex{}
	for file := range s.files {
		var mu sync.Mutex
		var rows []uint32
		skipped := teller{onSkip: onSkip}
		if err := s.eachBlock(ctx, threads, file, fields, func(worker int) func(*block) error {
			return func(b *block) (err error) {
				n := uint32(0)
				bad := b.each(func(rec *corpus.Record) {
					n++
					if err == nil && len(rec.ID) > 0 {
						err = note(worker, rec.ID)
					}
				})
				mu.Lock()
				defer mu.Unlock()
				for int64(len(rows)) <= b.Seq {
					rows = append(rows, 0)
				}
				rows[b.Seq] = n
				return cmp.Or(err, skipped.add(b, bad))
			}
		}); err != nil {
			return nil, err
		}
		for i, n := range rows {
			rows[i] = uint32(x.rows)
			x.rows += int(n)
		}
		x.firsts = append(x.firsts, append(rows, uint32(x.rows)))
	}
	return x, nil
}

// scan calls visit for the rows of a table that has an index. Each goroutine gets a visit of its own, and calls
// end at its end.
func (s *source) scan(ctx context.Context, threads int, x *rowIndex, fields []string, newVisit func() (visit func(row uint32, rec *corpus.Record), end func())) error {
	visits, ends := make([]func(uint32, *corpus.Record), threads), make([]func(), threads)
	for i := range visits {
		visits[i], ends[i] = newVisit()
	}
	for file := range s.files {
		if err := s.eachBlock(ctx, threads, file, fields, func(worker int) func(*block) error {
			visit := visits[worker]
			return func(b *block) error {
				row := x.first(file, b.Seq)
				b.each(func(rec *corpus.Record) {
					visit(row, rec)
					row++
				})
				if !x.ends(file, b.Seq, row) {
					return s.changed()
				}
				return nil
			}
		}); err != nil {
			return err
		}
	}
	for _, end := range ends {
		end()
	}
	return nil
}
