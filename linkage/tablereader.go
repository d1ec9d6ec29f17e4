package linkage

import (
	"context"
	"slices"
	"strconv"
	"sync"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/record"
)

// reader reads a table with several goroutines, each block by one of them.
type reader struct {
	*source
	kinds       []record.Kind
	repetitions bool
	onSkip      func(*corpus.Problem) error
	grown       func() error // called when the table has grown; an error says that it is too large

	index *rowIndex             // nil: all rows are held
	hold  func(row uint32) bool // with an index: tells which rows are held

	mu    sync.Mutex
	table *record.Table
	// Of the current file:
	chunks  []*record.Chunk // by block; nil: not read yet, or added to the table
	added   int             // number of chunks that were added to the table
	skipped teller
}

// read reads a table: the given columns, cut as kinds say, and the columns keep, which are passed through.
func (r *reader) read(ctx context.Context, threads int, columns, keep []string) error {
	fields := slices.Concat(columns, keep)
	for i := range r.files {
		if err := r.readFile(ctx, threads, i, fields); err != nil {
			return err
		}
	}
	return nil
}

// readFile reads the next file of the table.
func (r *reader) readFile(ctx context.Context, threads, file int, fields []string) error {
	r.chunks, r.added, r.skipped = nil, 0, teller{onSkip: r.onSkip}
	return r.eachBlock(ctx, threads, file, fields, func(int) func(*block) error {
		cutter := record.NewCutter()
		cutter.Repetitions = r.repetitions
		return func(b *block) error {
			chunk := record.NewChunk(r.kinds)
			row := r.index.first(file, b.Seq)
			problems := b.each(func(rec *corpus.Record) {
				if r.index == nil || r.hold(row) {
					chunk.Append(cutter, rec.ID, rec.Fields[:len(r.kinds)], rec.Fields[len(r.kinds):]...)
					if r.index != nil {
						chunk.Number(row)
					}
				}
				row++
			})
			if !r.index.ends(file, b.Seq, row) {
				return r.changed()
			}
			return r.put(b, chunk, problems)
		}
	})
}

// put adds the chunk of a block to the table as soon as all chunks before it were added.
func (r *reader) put(b *block, chunk *record.Chunk, problems []*corpus.Problem) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for int64(len(r.chunks)) <= b.Seq {
		r.chunks = append(r.chunks, nil)
	}
	r.chunks[b.Seq] = chunk
	if err := r.skipped.add(b, problems); err != nil {
		return err
	}
	for ; r.added < len(r.chunks) && r.chunks[r.added] != nil; r.added++ {
		c := r.chunks[r.added]
		c.NameRows(r.table.Rows(), func(row int) string { return strconv.Itoa(row + 1) })
		r.table.Add(c)
		r.chunks[r.added] = nil
	}
	return r.grown()
}
