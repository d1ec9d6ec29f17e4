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

// A counter adds to counts that several goroutines share. Each counts by itself what came first, since
// many records have most of it.
type counter struct{ own, shared []uint32 }

// ownCounts is of how many tokens each goroutine counts the records by itself.
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

// end adds what the goroutine has counted by itself.
func (c *counter) end() {
	for i, n := range c.own {
		if n > 0 {
			atomic.AddUint32(&c.shared[i], n)
		}
	}
}

// frequencies returns how many records of both tables have each token, and how many have any.
func (t *tables) frequencies(ctx context.Context, threads int, r *records) (df []uint32, filled int, err error) {
	df, filled = t.sieved.ofRecords(t.numbering.Tokens())
	var mu sync.Mutex
	for _, table := range t.all() {
		if err := parallelEnd(ctx, threads, table.Rows(), 1<<12, func(int) (func(from, to int), func()) {
			m, near, counter := r.newMatcher(), nearer{of: r.numbering}, newCounter(df)
			n := 0
			count := func(from, to int) {
				for i := from; i < to; i++ {
					any := false
					near.atRow(table, i, from, to)
					m.each(table, i, func(token uint32) {
						any = true
						counter.add(token)
					})
					if any {
						n++
					}
				}
			}
			return count, func() {
				counter.end()
				mu.Lock()
				defer mu.Unlock()
				filled += n
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
