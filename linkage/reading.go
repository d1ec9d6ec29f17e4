package linkage

import (
	"context"
	"errors"
	"fmt"
	"slices"

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
