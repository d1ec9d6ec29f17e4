package compare

import (
	"context"
	"sync"

	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/weighing"
	"github.com/alike-dev/alike/linkage/internal/parallel"
	"github.com/alike-dev/alike/record"
)

// Input has the tables, whose values all have numbers, and the settings of weights.
type Input struct {
	Left, Right *record.Table // Right is nil for one table
	Numbering   *record.Numbering
	Rest        *Rest         // of rows that are not held; nil: all are
	Kinds       []record.Kind // of the columns
	OneKind     bool          // what is larger or later in the right table says nothing, as if there were one table

	Columns []float64  // weight of each column, relative to the others
	Passing [][]uint64 // see Comparer; nil: that is not known
	Scale   weighing.Scale
	Weigh   func(df []uint32, n int) (record.Weights, error) // weights of tokens by df, the number of the n values with each

	Threads int
	Room    int64 // how many repeats of tokens may be held while sizes are computed
}

// tables returns the one or two tables.
func (in *Input) tables() []*record.Table {
	if in.Right == nil {
		return []*record.Table{in.Left}
	}
	return []*record.Table{in.Left, in.Right}
}

// NewRecords returns the records as sets of weighted tokens.
func NewRecords(ctx context.Context, in *Input) (_ *Records, err error) {
	r := &Records{left: in.Left, right: in.Left, Numbering: in.Numbering, scale: in.Scale}
	if in.Right != nil {
		r.right = in.Right
	}
	df, n, repeated, err := in.frequencies(ctx)
	if err != nil {
		return nil, err
	}
	r.rare = in.rareWords(df)
	if r.Weights, err = in.Weigh(df, n); err != nil {
		return nil, err
	}
	in.weighColumns(r.Weights)
	masses, err := r.masses(ctx, in.Threads)
	if err != nil {
		return nil, err
	}
	for side, table := range in.tables() {
		if r.Sizes[side], err = r.sizesOf(ctx, in.Threads, table, masses, repeated[side]); err != nil {
			return nil, err
		}
	}
	if in.Right == nil {
		r.Sizes[1] = r.Sizes[0]
	}
	return r, nil
}

// rareWords returns the words that two records have, by the number of records that have each token.
func (in *Input) rareWords(df []uint32) bitset.Set[uint32] {
	rare := bitset.New[uint32](len(df))
	for token, n := range df {
		if n == 2 && !in.Numbering.IsGram(uint32(token)) {
			rare.Add(uint32(token))
		}
	}
	return rare
}

// masses returns the mass of the tokens of each value of each column. O(distinct values and their tokens).
func (r *Records) masses(ctx context.Context, threads int) ([][]uint64, error) {
	masses := make([][]uint64, r.left.Columns)
	return masses, parallel.Ranges(ctx, threads, len(masses), 1, func(int) func(from, to int) {
		return func(f, _ int) {
			values := r.Numbering.Column(f)
			masses[f] = make([]uint64, values.Len())
			for v := range masses[f] {
				for _, token := range values.Tokens(uint32(v)) {
					masses[f][v] += r.Mass(token)
				}
			}
		}
	})
}

// sizesOf returns the mass of the distinct tokens of each row of a table: the sum over its values, less the
// repetitions of tokens that several columns have.
func (r *Records) sizesOf(ctx context.Context, threads int, table *record.Table, masses [][]uint64, repeated *repeats) ([]uint64, error) {
	sizes := make([]uint64, table.Rows())
	return sizes, parallel.Ranges(ctx, threads, len(sizes), rangeRows, func(int) func(from, to int) {
		finder := newRepeatFinder(r.Numbering)
		return func(from, to int) {
			again := repeated.ranges[from/rangeRows]
			if again == nil {
				again = finder.find(table, from, to, func(int, uint32) {})
			}
			start := uint32(0)
			for row := from; row < to; row++ {
				for f, cell := range table.Cells(row) {
					if cell > 0 {
						sizes[row] += masses[f][cell-1]
					}
				}
				end := again.ends[row-from]
				for _, token := range again.tokens[start:end] {
					sizes[row] -= r.Mass(token)
				}
				start = end
			}
		}
	})
}

// frequencies returns the number of records of both tables that have each token, the number that have any, and the
// tokens that records of either table have in several columns.
func (in *Input) frequencies(ctx context.Context) (df []uint32, filled int, repeated [2]*repeats, err error) {
	df, filled = in.Rest.ofRecords(in.Numbering.Tokens())
	var mu sync.Mutex
	for side, table := range in.tables() {
		again := newRepeats(table.Rows(), min(int64(table.Rows()*table.Columns), in.Room)) // one number for each cell
		repeated[side] = again
		if err := parallel.RangesEnd(ctx, in.Threads, table.Rows(), rangeRows, func(int) (func(from, to int), func()) {
			finder, counter := newRepeatFinder(in.Numbering), NewCounter(df)
			n, last := 0, -1
			count := func(from, to int) {
				again.hold(from, finder.find(table, from, to, func(row int, token uint32) {
					if row != last {
						n, last = n+1, row
					}
					counter.Add(token)
				}))
			}
			return count, func() {
				counter.End()
				mu.Lock()
				defer mu.Unlock()
				filled += n
			}
		}); err != nil {
			return nil, 0, repeated, err
		}
	}
	return df, filled, repeated, nil
}

// weighColumns scales the weights of tokens if columns have different weights: by the largest weight of the columns
// that have the token, as a share of the largest weight of all.
func (in *Input) weighColumns(weights record.Weights) {
	heaviest, same := 0.0, true
	for _, w := range in.Columns {
		heaviest, same = max(heaviest, w), same && w == in.Columns[0]
	}
	if same {
		return
	}
	of := make([]float64, len(weights))
	for f, w := range in.Columns {
		values := in.Numbering.Column(f)
		for v := range values.Len() {
			for _, token := range values.Tokens(uint32(v)) {
				of[token] = max(of[token], w/heaviest)
			}
		}
	}
	for i := range weights {
		weights[i] = weighing.OfColumn(weights[i], of[i])
	}
}
