package dedup

import (
	"context"
	"errors"
	"math/bits"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/recipe"
)

// hotBucketSignatures is a hot bucket whose members are compared by their signatures, all
// with all, until it has found as many pairs as it may.
type hotBucketSignatures struct {
	docs []uint32 // ascending
	most int64    // pairs
}

// hotBudget is what comparing the members of hot buckets may cost, linear in documents; see
// hotEach.
type hotBudget struct {
	levels int     // buckets of levels from here on are left out
	pairs  float64 // that may be found for each member of the buckets that are not
}

// costWord is what comparing a word of two signatures costs, in nanoseconds; costNear what
// a pair that is found does.
const (
	costWord = 0.5
	costNear = 50
)

// withHotPairs returns the pairs that met, and besides those within the distance that only
// buckets over the cap, of members, have. It says of how many documents pairs may be missing.
func (r *run) withHotPairs(ctx context.Context, met, members *extsort.Sorted) (pairs *extsort.Sorted, err error) {
	o := r.work.sorting("within", 8, r.table.keyBits())
	o.Sum = true // several buckets may have the same pair
	missed := int64(0)
	err = r.clock.stage("join", 0, func() (items, bytes int64, err error) {
		made, n, err := r.step(ctx, "hot-within", func() ([]*extsort.Sorted, int64, error) {
			sorter, err := extsort.New(o)
			if err != nil {
				return nil, 0, err
			}
			to := appenders(sorter, r.config.Threads)
			err = each(met, func(e extsort.Entry) error { return to[0].Add(e.Key, e.Value) })
			var missed int64
			if err == nil {
				missed, err = r.compareHot(ctx, members, to)
			}
			sorted, err := r.work.ended(ctx, sorter, flush(to, err))
			return []*extsort.Sorted{sorted}, missed, err
		}, o)
		if err != nil {
			return 0, 0, err
		}
		pairs, missed = made[0], n
		return pairs.Len(), 0, nil
	})
	if missed > 0 {
		r.config.OnNotice(setting.Textf("documents in buckets of more than %d: %d were not compared with all of their buckets, only with the first %d and some others, "+
			"so pairs of them may be missing; raise %s, or take a smaller %s", r.config.BucketCap, missed, lsh.Hubs, setting.BucketCap, setting.Distance))
	}
	return pairs, err
}

// compareHot adds the pairs of hot buckets within the distance, and counts the documents of
// buckets that are not compared all with all.
func (r *run) compareHot(ctx context.Context, members *extsort.Sorted, to []*extsort.Appender) (missed int64, err error) {
	budget, err := r.hotBudget(members)
	if err != nil {
		return 0, err
	}
	left := newBitset(r.table.n)
	buckets := make(chan hotBucketSignatures)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(buckets)
		return r.eachHot(ctx, members, budget, left, buckets)
	})
	for _, pairs := range to {
		group.Go(func() error {
			w := hotComparer{r: r, pairs: pairs, rows: r.table.cursor(), comparer: r.recipe.NewComparer(false)}
			for b := range buckets {
				if err := w.compare(ctx, b, left); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err = group.Wait()
	return int64(left.count()), err
}

// level is how often the cap was doubled to reach a bucket's size.
func (r *run) level(n int64) int { return bits.Len64(uint64((n - 1) / int64(r.config.BucketCap))) }

// hotBudget takes as many levels of buckets, the smaller ones first, as can be afforded.
func (r *run) hotBudget(members *extsort.Sorted) (b hotBudget, err error) {
	compare := 2 + costWord*float64(r.recipe.Words())
	var cost, sizes [levelsEnd]float64
	err = eachBucket(members, &r.sides, func(n int64, meet bool) error {
		if !meet {
			return nil
		}
		cost[r.level(n)] += compare * float64(n) * float64(n-1) / 2
		sizes[r.level(n)] += float64(n)
		return nil
	})
	most := hotEach*float64(r.table.n) + hotMore
	if limit := r.config.limits.hot; limit > 0 {
		most = limit
	}
	left, size := most, 0.0
	for ; b.levels < levelsEnd && left >= cost[b.levels]; b.levels++ {
		left -= cost[b.levels]
		size += sizes[b.levels]
	}
	b.pairs = most / costNear / max(size, 1)
	return b, err
}

// eachHot sends the buckets within the budget, and notes the members of the others.
func (r *run) eachHot(ctx context.Context, members *extsort.Sorted, budget hotBudget, left bitset, to chan<- hotBucketSignatures) error {
	behind := members.Reader()
	err := eachBucket(members, &r.sides, func(n int64, meet bool) error {
		within := r.level(n) < budget.levels
		var docs []uint32
		for range n {
			e, ok := behind.Next()
			switch {
			case !ok:
				return behind.Err()
			case within:
				docs = append(docs, uint32(e.Value))
			case meet:
				left.addShared(uint32(e.Value))
			}
		}
		if !within || !meet {
			return ctx.Err()
		}
		select {
		case to <- hotBucketSignatures{docs, int64(budget.pairs * float64(n))}:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	return errors.Join(err, behind.Close())
}

// hotComparer compares buckets for one goroutine.
type hotComparer struct {
	r          *run
	rows       *cursor
	comparer   *recipe.Comparer
	pairs      *extsort.Appender
	signatures []uint32 // of a bucket's members, one after the other
}

// compare adds the pairs of a bucket whose documents may meet.
func (w *hotComparer) compare(ctx context.Context, b hotBucketSignatures, left bitset) error {
	words := w.r.recipe.Words()
	w.signatures = w.signatures[:0]
	for _, doc := range b.docs {
		w.signatures = append(w.signatures, w.rows.signature(doc)...)
	}
	if w.rows.err != nil {
		return w.rows.err
	}
	of := func(i int) []uint32 { return w.signatures[i*words : (i+1)*words] }
	for i, second := range b.docs {
		if err := ctx.Err(); err != nil {
			return err
		}
		for j, first := range b.docs[:i] {
			if !w.r.sides.Meet(first, second) {
				continue
			}
			if _, near := w.comparer.Signatures(of(j), of(i)); !near {
				continue
			}
			if b.most--; b.most < 0 {
				for _, doc := range b.docs {
					left.addShared(doc)
				}
				return nil
			}
			if err := w.pairs.Add(pair{first, second}.key(), 1); err != nil {
				return err
			}
		}
	}
	return nil
}
