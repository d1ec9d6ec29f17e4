package linkage

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/candidates"
	"github.com/alike-dev/alike/measure"
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
// only one.
type pair struct{ a, b uint32 }

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
		pairs = append(pairs, pair{p.A, p.B})
	}
	return pairs, found.Close()
}
