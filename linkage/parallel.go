package linkage

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// parallel calls work for ranges of 0…n−1, at most grain long, from so many goroutines, and
// returns when all are done or ctx has ended. Each goroutine, of which there are threads at
// most, gets a work of its own.
func parallel(ctx context.Context, threads, n, grain int, newWork func(worker int) func(from, to int)) error {
	return parallelEnd(ctx, threads, n, grain, func(worker int) (func(from, to int), func()) { return newWork(worker), func() {} })
}

// parallelEnd is parallel, where each goroutine calls an end of its own after its last range.
func parallelEnd(ctx context.Context, threads, n, grain int, newWork func(worker int) (work func(from, to int), end func())) error {
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for worker := range min(threads, (n+grain-1)/grain) {
		g.Go(func() error {
			work, end := newWork(worker)
			for {
				from := int(next.Add(int64(grain))) - grain
				if from >= n {
					end()
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
