package linkage

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/dustin/go-humanize"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/linkage/internal/find"
	"github.com/alike-dev/alike/record"
)

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
