package find

import (
	"context"
	"errors"
	"slices"

	"github.com/alike-dev/alike/candidates"
	"github.com/alike-dev/alike/corpus"
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

type RowSet []uint64

func newRowSet(rows int) RowSet { return make(RowSet, rows/64+1) }

func (s RowSet) add(row uint32) { s[row/64] |= 1 << (row % 64) }

func (s RowSet) Has(row uint32) bool { return s[row/64]>>(row%64)&1 != 0 }

// A Sieve finds the rows of the larger table that matter. The other table, and the sample of the larger one, were read.
type Sieve struct {
	*Finder
	Side        int // of the larger table
	Rows        int // of the larger table
	Own         int // about how many records of it show what chance finds
	Strangers   uint64
	Repetitions bool
	// Scan calls visit for the rows of the larger table. Each goroutine gets a visit of its own, and calls end at its end.
	Scan func(ctx context.Context, newVisit func() (visit func(row uint32, rec *corpus.Record), end func())) error

	known *record.Numbering // of the smaller table and the sample
	*Vocabulary
}

// Sample returns the rows of the larger table that show what chance finds, for Scan's first pass.
func (t *Finder) Sample(side, rows, own int) RowSet {
	of := newRowSet(rows)
	for _, row := range t.Some(side, own) {
		of.add(row)
	}
	return of
}

// Find finds the candidates, and returns the rows of the larger table that are needed for them. see is called with the id
// of each row.
func (s *Sieve) Find(ctx context.Context, see func(id []byte)) (found *Sieved, rows RowSet, err error) {
	s.known, s.Vocabulary = s.Numbering.Snapshot(), s.newVocabulary()
	if s.frequencies[1-s.Side], err = candidates.Frequencies(ctx, s.Threads, s.count, &items{s.All()[1-s.Side], s.Vocabulary}); err != nil {
		return nil, nil, err
	}
	if s.stored, err = newStoredItems(s.Memory.Space, s.Side, s.Rows); err != nil {
		return nil, nil, err
	}
	found = &Sieved{Side: s.Side}
	if err = s.store(ctx, see); err == nil {
		rows, err = s.find(ctx, found)
	}
	err = errors.Join(err, s.stored.close())
	s.stored = nil
	return found, rows, err
}

// store stores the items of the larger table's rows, and counts the rows that have each item.
func (s *Sieve) store(ctx context.Context, see func(id []byte)) error {
	df := make([]uint32, s.count)
	var failed error
	err := s.Scan(ctx, func() (func(uint32, *corpus.Record), func()) {
		look := record.NewLookup(s.known, s.Kinds, s.Repetitions, true)
		counts, to := compare.NewCounter(df), itemWriter{to: s.stored}
		var items []uint32
		return func(row uint32, rec *corpus.Record) {
				see(rec.ID)
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
	s.frequencies[s.Side] = df
	return errors.Join(err, failed, s.stored.finish())
}

// found appends the distinct items of values, ascending.
func (v *Vocabulary) found(dst []uint32, look *record.Lookup, values [][]byte) []uint32 {
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
func (s *Sieve) find(ctx context.Context, found *Sieved) (rows RowSet, err error) {
	v, side := s.Vocabulary, s.Side
	if found.Closest, err = s.Closest(ctx, v, LearnedFrom); err != nil {
		return nil, err
	}
	if found.Own, err = s.ClosestTo(ctx, v, s.Some(side, s.Own), side, side); err != nil {
		return nil, err
	}
	if found.pairs, err = s.sharing(ctx, v, 0); err != nil {
		return nil, err
	}
	rows = newRowSet(s.Rows)
	for p := range compare.Strangers(s.Records, s.Strangers) {
		rows.add(of(p, side))
	}
	for _, p := range found.Closest {
		rows.add(of(p, side))
	}
	for _, p := range found.Own {
		rows.add(p.A)
		rows.add(p.B)
	}
	for p, err := range Each(ctx, found.pairs) {
		if err != nil {
			return nil, errors.Join(err, found.pairs.Close())
		}
		rows.add(of(compare.Pair{A: p.A, B: p.B}, side))
	}
	return rows, nil
}

// of returns the record of the left or the right side.
func of(p compare.Pair, side int) uint32 { return [2]uint32{p.A, p.B}[side] }

// CountRest counts the tokens and values of held rows in the rows that are not held.
func (s *Sieve) CountRest(ctx context.Context, found *Sieved, held *record.Table) error {
	found.Rest = compare.NewRest(s.Numbering.Tokens(), len(s.Kinds))
	there := newRowSet(s.Rows)
	for row := range held.Rows() {
		there.add(uint32(held.Number(row)))
	}
	return s.Scan(ctx, func() (func(uint32, *corpus.Record), func()) {
		c := compare.NewRestCounter(found.Rest, &s.Numbering)
		look := record.NewLookup(&s.Numbering, s.Kinds, s.Repetitions, false)
		return func(row uint32, rec *corpus.Record) {
			if !there.Has(row) {
				c.Add(look, rec.Fields)
			}
		}, func() { c.End(found.Rest) }
	})
}

// Sieved has the results about a table that is not held whole, by the numbers of records. nil: all are.
type Sieved struct {
	Side    int
	Closest []compare.Pair    // result of Finder.Closest
	Own     []compare.Pair    // records of the table's sample with the closest ones of the same table
	Rest    *compare.Rest     // of the rows that are not held
	pairs   *candidates.Pairs // pairs that share keys; nil: given away
}

// Is tells whether the table of a side is not held whole.
func (s *Sieved) Is(side int) bool { return s != nil && s.Side == side }

// Bytes returns the memory of the results.
func (s *Sieved) Bytes() int64 {
	if s == nil {
		return 0
	}
	return s.Rest.Bytes() + int64(8*len(s.Closest)+8*len(s.Own))
}

// RestOf returns the counts of the rows that are not held; nil: all are held.
func (s *Sieved) RestOf() *compare.Rest {
	if s == nil {
		return nil
	}
	return s.Rest
}
