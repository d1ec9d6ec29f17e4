package parallel

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// Ranges calls work for ranges of 0…n−1 of length grain at most, and returns when all are done or ctx has ended.
// It uses at most threads goroutines. Each gets a work function of its own.
func Ranges(ctx context.Context, threads, n, grain int, newWork func(worker int) func(from, to int)) error {
	return RangesEnd(ctx, threads, n, grain, func(worker int) (func(from, to int), func()) { return newWork(worker), func() {} })
}

// RangesEnd is like parallel, but each goroutine also gets an end function, which it calls after its last range.
func RangesEnd(ctx context.Context, threads, n, grain int, newWork func(worker int) (work func(from, to int), end func())) error {
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
