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
	df, n, err := t.frequencies(ctx, c.Threads, r)
	if err != nil {
		return nil, err
	}
	if r.weights, err = c.weigh(df, n); err != nil {
		return nil, err
	}
	t.weighColumns(r.weights)
	for side, table := range t.all() {
		sizes := make([]uint64, table.Rows())
		if err := parallel(ctx, c.Threads, len(sizes), 1<<14, func(int) func(from, to int) {
			m, near := r.newMatcher(), nearer{of: r.numbering}
			return func(from, to int) {
				for i := from; i < to; i++ {
					near.atRow(table, i, from, to)
					m.each(table, i, func(token uint32) { sizes[i] += r.mass(token) })
				}
			}
		}); err != nil {
			return nil, err
		}
		r.sizes[side] = sizes
	}
	if t.right == nil {
		r.sizes[1] = r.sizes[0]
	}
	return r, nil
}

// ownCounts is of how many tokens each goroutine counts the records by itself: those that came
// first, most of which many records have.
const ownCounts = 1 << 16

// frequencies returns how many records of both tables have each token, and how many have any.
func (t *tables) frequencies(ctx context.Context, threads int, r *records) (df []uint32, filled int, err error) {
	df = make([]uint32, t.numbering.Tokens())
	var mu sync.Mutex
	for _, table := range t.all() {
		if err := parallelEnd(ctx, threads, table.Rows(), 1<<12, func(int) (func(from, to int), func()) {
			m, own, n := r.newMatcher(), make([]uint32, min(ownCounts, len(df))), 0
			near := nearer{of: r.numbering}
			count := func(from, to int) {
				for i := from; i < to; i++ {
					any := false
					near.atRow(table, i, from, to)
					m.each(table, i, func(token uint32) {
						if any = true; int(token) < len(own) {
							own[token]++
						} else {
							atomic.AddUint32(&df[token], 1)
						}
					})
					if any {
						n++
					}
				}
			}
			return count, func() {
				mu.Lock()
				defer mu.Unlock()
				filled += n
				for token, count := range own {
					df[token] += count
				}
			}
		}); err != nil {
			return nil, 0, err
		}
	}
	return df, filled, nil
}

// weighColumns multiplies the weight of each token by the largest weight of the columns that
// have it, where they differ: as a share of the largest of all.
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
