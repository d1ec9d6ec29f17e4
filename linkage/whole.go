package linkage

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/alike-dev/alike/internal/weighing"
	"github.com/alike-dev/alike/record"
)

// records returns the records as sets of weighted tokens.
func (t *tables) records(ctx context.Context, c *Config) (_ *records, err error) {
	r := &records{left: t.left, right: t.left, numbering: &t.numbering, scale: c.scale()}
	if t.right != nil {
		r.right = t.right
	}
	df, n, repeated, err := t.frequencies(ctx, c.Threads)
	if err != nil {
		return nil, err
	}
	if r.weights, err = c.weigh(df, n); err != nil {
		return nil, err
	}
	t.weighColumns(r.weights)
	masses, err := r.masses(ctx, c.Threads)
	if err != nil {
		return nil, err
	}
	for side, table := range t.all() {
		if r.sizes[side], err = r.sizesOf(ctx, c.Threads, table, masses, repeated[side]); err != nil {
			return nil, err
		}
	}
	if t.right == nil {
		r.sizes[1] = r.sizes[0]
	}
	return r, nil
}

// masses returns the mass of the tokens of each value of each column. O(distinct values and their tokens).
func (r *records) masses(ctx context.Context, threads int) ([][]uint64, error) {
	masses := make([][]uint64, r.left.Columns)
	return masses, parallel(ctx, threads, len(masses), 1, func(int) func(from, to int) {
		return func(f, _ int) {
			values := r.numbering.Column(f)
			masses[f] = make([]uint64, values.Len())
			for v := range masses[f] {
				for _, token := range values.Tokens(uint32(v)) {
					masses[f][v] += r.mass(token)
				}
			}
		}
	})
}

// sizesOf returns the mass of the distinct tokens of each row of a table: the sum over its values, less the
// repetitions of tokens that several columns have.
func (r *records) sizesOf(ctx context.Context, threads int, table *record.Table, masses [][]uint64, repeated *repeats) ([]uint64, error) {
	sizes := make([]uint64, table.Rows())
	return sizes, parallel(ctx, threads, len(sizes), rangeRows, func(int) func(from, to int) {
		finder := newRepeatFinder(r.numbering)
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
					sizes[row] -= r.mass(token)
				}
				start = end
			}
		}
	})
}

// A counter adds to counts that several goroutines share. Each goroutine counts the tokens with the lowest numbers by
// itself, since most records have these.
type counter struct{ own, shared []uint32 }

// ownCounts is the number of tokens that each goroutine counts by itself.
const ownCounts = 1 << 16

func newCounter(shared []uint32) counter {
	return counter{make([]uint32, min(ownCounts, len(shared))), shared}
}

func (c *counter) add(i uint32) {
	if int(i) < len(c.own) {
		c.own[i]++
	} else {
		atomic.AddUint32(&c.shared[i], 1)
	}
}

// end adds the goroutine's own counts to the shared ones.
func (c *counter) end() {
	for i, n := range c.own {
		if n > 0 {
			atomic.AddUint32(&c.shared[i], n)
		}
	}
}

// frequencies returns the number of records of both tables that have each token, the number that have any, and the
// tokens that records of either table have in several columns.
func (t *tables) frequencies(ctx context.Context, threads int) (df []uint32, filled int, repeated [2]*repeats, err error) {
	df, filled = t.sieved.ofRecords(t.numbering.Tokens())
	var mu sync.Mutex
	for side, table := range t.all() {
		again := newRepeats(table.Rows(), t.roomForRepeats(table))
		repeated[side] = again
		if err := parallelEnd(ctx, threads, table.Rows(), rangeRows, func(int) (func(from, to int), func()) {
			finder, counter := newRepeatFinder(&t.numbering), newCounter(df)
			n, last := 0, -1
			count := func(from, to int) {
				again.hold(from, finder.find(table, from, to, func(row int, token uint32) {
					if row != last {
						n, last = n+1, row
					}
					counter.add(token)
				}))
			}
			return count, func() {
				counter.end()
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

// roomForRepeats returns how many numbers of repeats may be held while sizes are computed: one for each cell, as far
// as the memory allows.
func (t *tables) roomForRepeats(table *record.Table) int64 {
	room := int64(table.Rows() * table.Columns)
	if sorting := t.memory.sorting(); sorting > 0 {
		room = min(room, sorting/16)
	}
	return room
}

// weighColumns scales the weights of tokens if columns have different weights: by the largest weight of the columns
// that have the token, as a share of the largest weight of all.
func (t *tables) weighColumns(weights record.Weights) {
	columns := t.result.Columns
	heaviest, same := 0.0, true
	for _, c := range columns {
		heaviest, same = max(heaviest, c.Weight), same && c.Weight == columns[0].Weight
	}
	if same {
		return
	}
	of := make([]float64, len(weights))
	for f, c := range columns {
		values := t.numbering.Column(f)
		for v := range values.Len() {
			for _, token := range values.Tokens(uint32(v)) {
				of[token] = max(of[token], c.Weight/heaviest)
			}
		}
	}
	for i := range weights {
		weights[i] = weighing.OfColumn(weights[i], of[i])
	}
}
