package linkage

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/candidates"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/record"
	"github.com/alike-dev/alike/simjoin"
)

// parallel calls work for ranges of 0…n−1, at most grain long, from so many goroutines, and
// returns when all are done or ctx has ended. Each goroutine gets a work of its own.
func parallel(ctx context.Context, threads, n, grain int, newWork func() func(from, to int)) error {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range min(threads, (n+grain-1)/grain) {
		g.Go(func() error {
			work := newWork()
			for {
				from := int(next.Add(int64(grain))) - grain
				if from >= n {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				work(from, min(from+grain, n))
			}
		})
	}
	return g.Wait()
}

// pair is a candidate: record a of the left table and b of the right one, or a < b of the
// only one, with how alike their vectors are (measure.Measure.Score).
type pair struct {
	a, b  uint32
	score uint64
}

// vectorsOf makes a vector of each record: its tokens in all columns, each with its weight
// times that of the column, of several the largest.
func vectorsOf(t *record.Table, weights record.Weights, columns []Column) (*simjoin.Vectors, error) {
	v := &simjoin.Vectors{}
	var entries []uint64 // token, weight: the largest of a token comes last
	var features, w []uint32
	for i := range t.Rows() {
		row := t.Row(i)
		tokens := row.Tokens()
		entries = entries[:0]
		for f := range columns {
			n := row.Length(f)
			for _, token := range tokens[:n] {
				weight := max(1, math.Round(float64(weights[token])*columns[f].Weight))
				entries = append(entries, uint64(token)<<32|uint64(weight))
			}
			tokens = tokens[n:]
		}
		slices.Sort(entries)
		features, w = features[:0], w[:0]
		for j, e := range entries {
			if j+1 == len(entries) || entries[j+1]>>32 != e>>32 {
				features, w = append(features, uint32(e>>32)), append(w, uint32(e))
			}
		}
		if err := v.Append(features, w); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// nearest returns, ascending and each once, the pairs in which either record is one of the k
// most similar ones of the other. right is nil for one table.
func nearest(ctx context.Context, threads int, left, right *simjoin.Vectors, k int) (pairs []pair, err error) {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	var other *candidates.Store
	if right != nil {
		other = candidates.StoreOf(right)
	}
	found, _, err := candidates.Find(ctx, candidates.Config{
		Method: candidates.TopK, Measure: measure.Cosine, K: k, Both: true, Threads: threads,
	}, candidates.StoreOf(left), other)
	if err != nil {
		return nil, err
	}
	for p, err := range found.All() {
		if err != nil {
			return nil, errors.Join(err, found.Close())
		}
		pairs = append(pairs, pair{p.A, p.B, p.Score})
	}
	return pairs, found.Close()
}
