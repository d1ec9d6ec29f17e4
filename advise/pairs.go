package advise

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/shingle"
)

// pair is two documents that share rare runs.
type pair struct {
	a, b  uint32
	cover float64 // from 0 to 1: the share of the blocks of one document that stand in the other one, both ways

	own      bool // cover is of what the texts have beside a template
	template bool // cover was lowered, as both may fill a template
	stands   bool // nearly all of one text stands in the other, in any order

	weight float64 // for how many pairs of the whole it stands
}

// each calls what newWork makes for every number from 0 to n−1, on up to threads goroutines, each with a work
// function of its own. It ends early with the error of ctx.
func each(ctx context.Context, n, threads int, newWork func() func(i int)) error {
	const grain = 16
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range min(threads, n/grain+1) {
		g.Go(func() error {
			work := newWork()
			for ctx.Err() == nil {
				from := int(next.Add(grain)) - grain
				if from >= n {
					return nil
				}
				for i := from; i < min(from+grain, n); i++ {
					work(i)
				}
			}
			return ctx.Err()
		})
	}
	return g.Wait()
}

func shingler(o shingle.Options) *shingle.Shingler {
	s, err := shingle.New(o)
	if err != nil {
		panic("advise: options that are valid are not: " + err.Error())
	}
	return s
}
