package linkage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/fault"
)

// block is a block of a file, with the parser of its goroutine.
type block struct {
	corpus.Block
	parser *corpus.Parser
}

// each calls visit for the records of a block, and returns those that cannot be read.
func (b *block) each(visit func(*corpus.Record)) (problems []blockProblem) {
	for rec := (corpus.Record{}); b.parser.Next(&rec); {
		if rec.Err != nil {
			problems = append(problems, blockProblem{b.Seq, rec.Line, rec.Offset, rec.Err})
			continue
		}
		visit(&rec)
	}
	return problems
}

// eachBlock reads the blocks of a file of the table with several workers. Each worker gets a work function of its
// own, which it calls for its blocks, and calls end when there are no more.
func (s *source) eachBlock(ctx context.Context, threads, file int, fields []string, newWork func(worker int) func(*block) error, end func(*corpus.File) error) (err error) {
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
			b := block{parser: corpus.NewParser(o)}
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
	if err := g.Wait(); err != nil {
		return err
	}
	return end(f)
}

// blockProblem is a record that was skipped, by its place.
type blockProblem struct {
	block, line int64
	offset      int64
	err         error
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

// first returns the number of the first row of a block.
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
		var lines []int64
		var problems []blockProblem
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
					rows, lines = append(rows, 0), append(lines, 0)
				}
				rows[b.Seq], lines[b.Seq] = n, b.Lines
				problems = append(problems, bad...)
				return err
			}
		}, func(f *corpus.File) error { return reportProblems(f, lines, problems, onSkip) }); err != nil {
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
		}, func(*corpus.File) error { return nil }); err != nil {
			return err
		}
	}
	for _, end := range ends {
		end()
	}
	return nil
}

// reportProblems reports the records of a file that were skipped, in its order. lines has the number of lines of each block.
func reportProblems(f *corpus.File, lines []int64, problems []blockProblem, onSkip func(*corpus.Problem) error) error {
	slices.SortFunc(problems, func(x, y blockProblem) int {
		return cmp.Or(cmp.Compare(x.block, y.block), cmp.Compare(x.offset, y.offset))
	})
	block, line := int64(0), int64(0)
	for _, p := range problems {
		for ; block < p.block; block++ {
			line += lines[block]
		}
		if err := onSkip(f.Problem(line+p.line, p.offset, p.err)); err != nil {
			return err
		}
	}
	return nil
}
