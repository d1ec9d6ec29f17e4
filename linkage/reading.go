package linkage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/dustin/go-humanize"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/linkage/internal/find"
	"github.com/alike-dev/alike/record"
)

// reading reads the tables of a join, a much smaller one first.
type reading struct {
	*find.Finder
	result  *Result
	config  *Config
	sources [2]*source
	columns [2][]string // that are compared, of the left and the right table
	skipped func(*corpus.Problem) error
	sieves  bool
	before  int64 // bytes of the tables before the one that is read
}

// table returns the table of a side, nil if it was not read yet.
func (r *reading) table(side int) *record.Table { return []*record.Table{r.Left, r.Right}[side] }

func (r *reading) setTable(side int, t *record.Table) {
	r.before += t.Bytes()
	r.Set(side, t)
}

// rows reads the rows of a table for which hold returns true, or all without an index.
func (r *reading) rows(ctx context.Context, side int, x *rowIndex, hold func(row uint32) bool, skipped func(*corpus.Problem) error) (*record.Table, error) {
	of := &reader{
		source: r.sources[side], kinds: r.Kinds, repetitions: r.config.Repetitions, onSkip: skipped,
		index: x, hold: hold, table: record.NewTable(len(r.Kinds), &r.Numbering),
	}
	which := "first"
	if x != nil {
		which = "wanted"
	}
	of.grown = func() error {
		return r.Memory.Hold(r.before+of.table.Bytes()+r.Numbering.Bytes(),
			fmt.Sprintf("the %s %s records of %s alone take", which, humanize.Comma(int64(of.table.Rows())), fault.Shown(of.name)))
	}
	if err := of.read(ctx, r.config.Threads, r.columns[side], r.Kept); err != nil {
		return nil, err
	}
	return of.table, nil
}

// toldAlready ignores problems of a table that was read before: they were reported then.
func toldAlready(*corpus.Problem) error { return nil }

// countRows counts the rows of a table, and returns the hash of an id that several of them have, 0 if there is none.
func (r *reading) countRows(ctx context.Context, side int) (x *rowIndex, repeated uint64, err error) {
	ids, err := extsort.New(extsort.Options{Dir: r.Memory, Name: "ids", Memory: r.Memory.Sorting() / 4, Threads: r.config.Threads, Temporary: true})
	if err != nil {
		return nil, 0, err
	}
	var adding []*extsort.Appender
	for range r.config.Threads {
		adding = append(adding, ids.Appender())
	}
	s := r.sources[side]
	x, err = s.count(ctx, r.config.Threads, slices.Concat(r.columns[side], r.Kept), r.skipped, func(worker int, id []byte) error {
		return adding[worker].Add(hashing.Bytes(id), 0)
	})
	for _, a := range adding {
		err = errors.Join(err, a.Flush())
	}
	sorted, err := r.Memory.Ended(ctx, ids, err)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, r.Memory.Release(sorted)) }()
	all := sorted.Reader()
	defer func() { err = errors.Join(err, all.Close()) }()
	for e, ok := all.Next(); ok; e, ok = all.Next() {
		if next, ok := all.Peek(); ok && next.Key == e.Key {
			return x, e.Key, nil
		}
	}
	return x, 0, nil
}

// noteRepeated notes an id that several records have, for a table that is held whole.
func (r *reading) noteRepeated(s *source, of *record.Table) {
	hashes := make([]uint64, of.Rows())
	for i := range hashes {
		hashes[i] = hashing.Bytes(of.ID(i))
	}
	slices.Sort(hashes)
	for i := 1; i < len(hashes); i++ {
		if hashes[i] != hashes[i-1] {
			continue
		}
		for row := range of.Rows() {
			if id := of.ID(row); hashing.Bytes(id) == hashes[i] {
				r.result.Repeated = append(r.result.Repeated, describeID(s, id))
				return
			}
		}
	}
}

// describeID names a table and an id that several of its records have.
func describeID(s *source, id []byte) string {
	return fmt.Sprintf("%s: id %q", fault.Shown(s.name), id)
}

// sieve reads the rows of the larger table that matter. repeated is the hash of an id that several of its
// records have, 0 if there is none.
func (r *reading) sieve(ctx context.Context, side int, x *rowIndex, repeated uint64) (err error) {
	small := r.table(1 - side)
	r.Records[side] = x.rows
	sample, err := r.held(ctx, side, x, r.Sample(side, x.rows, r.config.limits.own))
	if err != nil {
		return err
	}
	r.setTable(side, sample)
	s := &find.Sieve{
		Finder: r.Finder, Side: side, Rows: x.rows, Own: r.config.limits.own, Strangers: r.config.limits.strangers, Repetitions: r.config.Repetitions,
		Scan: func(ctx context.Context, newVisit func() (func(uint32, *corpus.Record), func())) error {
			// All passes read the same columns, so that the same rows are skipped in each.
			return r.sources[side].scan(ctx, r.config.Threads, x, slices.Concat(r.columns[side], r.Kept), newVisit)
		},
	}
	found, of, err := s.Find(ctx, r.namer(side, repeated))
	if err != nil {
		return err
	}
	r.before -= sample.Bytes()
	held, err := r.held(ctx, side, x, of)
	if err != nil {
		return err
	}
	r.setTable(side, held)
	r.Numbering.Recount(small, held)
	r.Sieved = found
	if err := r.Memory.Hold(r.before+r.Numbering.Bytes()+int64(4*r.Numbering.Tokens()*(len(r.Kinds)+1)),
		fmt.Sprintf("%s records of %s, and what the others have in common with them, take", humanize.Comma(int64(held.Rows())), fault.Shown(r.sources[side].name))); err != nil {
		return err
	}
	return s.CountRest(ctx, found, held)
}

func (r *reading) held(ctx context.Context, side int, x *rowIndex, of find.RowSet) (*record.Table, error) {
	return r.rows(ctx, side, x, of.Has, toldAlready)
}

// namer returns a function that sees the id of each row, and reports one with this hash; 0: there is none.
func (r *reading) namer(side int, repeated uint64) func(id []byte) {
	var once sync.Once
	return func(id []byte) {
		if repeated != 0 && len(id) > 0 && hashing.Bytes(id) == repeated {
			once.Do(func() { r.result.Repeated = append(r.result.Repeated, describeID(r.sources[side], id)) })
		}
	}
}

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
