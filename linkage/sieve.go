package linkage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/dustin/go-humanize"

	"github.com/alike-dev/alike/candidates"
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/record"
)

// If one table has many times as many records as the other, most of them are similar to no record of the
// other table, and need not be held in memory. The larger table is read five times, which costs less than
// holding it, and gives the same links:
//
//	count   counts its rows
//	sample  reads the rows that show what chance finds
//	items   writes the items that each row shares with the smaller table and the sample to a file. Keys are
//	        made of these only, so candidates are found as usual, from the file
//	hold    reads the rows that are in candidates or in pairs of strangers
//	count   counts the tokens and values of the held rows in all other rows
//
// Items are numbered in the order of the smaller table, which is always read first. So the choice among
// equally rare items for keys does not depend on the rows that are held.

// rowSet is a set of rows.
type rowSet []uint64

func newRowSet(rows int) rowSet { return make(rowSet, rows/64+1) }

func (s rowSet) add(row uint32)      { s[row/64] |= 1 << (row % 64) }
func (s rowSet) has(row uint32) bool { return s[row/64]>>(row%64)&1 != 0 }

// sieve reads the rows of the larger table that matter. repeated is the hash of an id that several of its
// records have, 0 if there is none.
func (r *reading) sieve(ctx context.Context, side int, x *rowIndex, repeated uint64) (err error) {
	small := r.table(1 - side)
	of := newRowSet(x.rows)
	r.setRecords(side, x.rows)
	for _, row := range r.someOf(side, r.config.limits.own) {
		of.add(row)
	}
	sample, err := r.held(ctx, side, x, of)
	if err != nil {
		return err
	}
	r.setTable(side, sample)
	s := &sieve{reading: r, side: side, index: x, known: r.numbering.Snapshot(), vocabulary: r.newVocabulary()}
	if s.frequencies[1-side], err = candidates.Frequencies(ctx, r.config.Threads, s.count, &items{small, s.vocabulary}); err != nil {
		return err
	}
	if r.stored, err = newStoredItems(r.memory.Space, side, x.rows); err != nil {
		return err
	}
	found := &sieved{side: side}
	err = s.store(ctx, repeated)
	if err == nil {
		of, err = s.find(ctx, found)
	}
	if err = errors.Join(err, r.stored.close()); err != nil {
		return err
	}
	r.stored = nil
	r.before -= sample.Bytes()
	held, err := r.held(ctx, side, x, of)
	if err != nil {
		return err
	}
	r.setTable(side, held)
	r.numbering.Recount(small, held)
	r.sieved = found
	return s.countRest(ctx, found, held)
}

// held reads the rows of a set.
func (r *reading) held(ctx context.Context, side int, x *rowIndex, of rowSet) (*record.Table, error) {
	return r.rows(ctx, side, x, of.has, toldAlready)
}

// sieve finds the rows of the larger table that matter.
type sieve struct {
	*reading
	side  int // of the larger table
	index *rowIndex
	known *record.Numbering // of the smaller table and the sample
	*vocabulary
}

// fields returns the columns to read. All passes read the same, so that the same rows are skipped in each.
func (s *sieve) fields() []string { return slices.Concat(s.columns[s.side], s.kept) }

// store stores the items of the larger table's rows, counts the rows that have each item, and records an id
// that several rows have.
func (s *sieve) store(ctx context.Context, repeatedID uint64) error {
	df := make([]uint32, s.count)
	var mu sync.Mutex
	var failed error
	named := false
	name := func(id []byte) {
		mu.Lock()
		defer mu.Unlock()
		if !named {
			s.result.Repeated = append(s.result.Repeated, describeID(s.sources[s.side], id))
		}
		named = true
	}
	err := s.sources[s.side].scan(ctx, s.config.Threads, s.index, s.fields(), func() (func(uint32, *corpus.Record), func()) {
		look := record.NewLookup(s.known, s.kinds, s.config.Repetitions, true)
		counts, to := compare.NewCounter(df), itemWriter{to: s.stored}
		var items []uint32
		return func(row uint32, rec *corpus.Record) {
				if repeatedID != 0 && len(rec.ID) > 0 && hashing.Bytes(rec.ID) == repeatedID {
					name(rec.ID)
				}
				items = s.found(items[:0], look, rec.Fields)
				for _, x := range items {
					counts.Add(x)
				}
				to.add(row, items)
			}, func() {
				counts.End()
				to.flush()
				failed = errors.Join(failed, to.err)
			}
	})
	s.frequencies[s.side] = df
	return errors.Join(err, failed, s.stored.finish())
}

// found appends the distinct items of values, ascending.
func (v *vocabulary) found(dst []uint32, look *record.Lookup, values [][]byte) []uint32 {
	for f := range v.first {
		switch found := look.Find(f, values[f]); {
		case found.Missing:
		case v.first[f] > 0 && found.Value == 0:
			dst = append(dst, v.other())
		case v.first[f] > 0:
			dst = append(dst, v.first[f]+found.Value-1)
		default:
			dst = append(dst, found.Tokens...)
			if found.Others {
				dst = append(dst, v.other())
			}
		}
	}
	slices.Sort(dst)
	return slices.Compact(dst)
}

// find finds the candidates, by the numbers of records, and returns the rows of the larger table that are
// needed for them.
func (s *sieve) find(ctx context.Context, found *sieved) (rows rowSet, err error) {
	c, v, side := s.config, s.vocabulary, s.side
	if found.closest, err = s.closest(ctx, c, v, learnedFrom); err != nil {
		return nil, err
	}
	if found.own, err = s.closestTo(ctx, c, v, s.someOf(side, c.limits.own), side, side); err != nil {
		return nil, err
	}
	if found.pairs, err = s.sharing(ctx, c, v); err != nil {
		return nil, err
	}
	rows = newRowSet(s.index.rows)
	for p := range compare.Strangers(s.counts(), c.limits.strangers) {
		rows.add(of(p, side))
	}
	for _, p := range found.closest {
		rows.add(of(p, side))
	}
	for _, p := range found.own {
		rows.add(p.A)
		rows.add(p.B)
	}
	for p, err := range each(ctx, found.pairs) {
		if err != nil {
			return nil, errors.Join(err, found.pairs.Close())
		}
		rows.add(of(compare.Pair{A: p.A, B: p.B}, side))
	}
	return rows, nil
}

// of returns the record of the left or the right side.
func of(p compare.Pair, side int) uint32 { return [2]uint32{p.A, p.B}[side] }

// countRest counts the tokens and values of held rows in the rows that are not held.
func (s *sieve) countRest(ctx context.Context, found *sieved, held *record.Table) error {
	tokens, columns := s.numbering.Tokens(), len(s.kinds)
	if err := s.memory.hold(s.before+s.numbering.Bytes()+int64(4*tokens*(columns+1)),
		fmt.Sprintf("%s records of %s, and what the others have in common with them, take", humanize.Comma(int64(held.Rows())), fault.Shown(s.sources[s.side].name))); err != nil {
		return err
	}
	found.rest = compare.NewRest(tokens, columns)
	there := newRowSet(s.index.rows)
	for row := range held.Rows() {
		there.add(uint32(held.Number(row)))
	}
	return s.sources[s.side].scan(ctx, s.config.Threads, s.index, s.fields(), func() (func(uint32, *corpus.Record), func()) {
		c := compare.NewRestCounter(found.rest, &s.numbering)
		look := record.NewLookup(&s.numbering, s.kinds, s.config.Repetitions, false)
		return func(row uint32, rec *corpus.Record) {
			if !there.has(row) {
				c.Add(look, rec.Fields)
			}
		}, func() { c.End(found.rest) }
	})
}
