package hot

import (
	"cmp"
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/dedup/internal/graph"
	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/engine"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/forecast"
	"github.com/alike-dev/alike/recipe"
)

// hotBucketSignatures is a hot bucket whose members are compared by their signatures, each with all
// others, until the largest allowed number of pairs is found.
type hotBucketSignatures struct {
	docs []uint32 // ascending
	most int64    // pairs
}

// Within returns the pairs in met, and in addition the pairs within the distance that share only
// buckets over the cap, given by members. It counts the documents for which pairs may be missing.
// The caller releases the pairs.
func Within(ctx context.Context, o Options, met, members *extsort.Sorted) (pairs *extsort.Sorted, missed int64, err error) {
	within := o.Graph.Sorting("within", 8)
	within.Sum = true // several buckets may have the same pair
	made, missed, err := o.Log.Step(ctx, "hot-within", func() ([]*extsort.Sorted, int64, error) {
		sorter, err := extsort.New(within)
		if err != nil {
			return nil, 0, err
		}
		to := sorter.Appenders(o.Graph.Space.Threads)
		err = met.Visit(func(e extsort.Entry) error { return to[0].Add(e.Key, e.Value) })
		var missed int64
		if err == nil {
			missed, err = o.compareHot(ctx, members, to)
		}
		sorted, err := o.Graph.Space.Ended(ctx, sorter, extsort.Flush(to, err))
		return []*extsort.Sorted{sorted}, missed, err
	}, within)
	if err != nil {
		return nil, 0, err
	}
	return made[0], missed, nil
}

// compareHot adds the pairs of hot buckets within the distance, and counts the documents of buckets
// in which not all pairs are compared.
func (o *Options) compareHot(ctx context.Context, members *extsort.Sorted, to []*extsort.Appender) (missed int64, err error) {
	budget, err := o.hotBudget(members)
	if err != nil {
		return 0, err
	}
	left := bitset.New[uint32](o.Graph.Docs)
	buckets := make(chan hotBucketSignatures)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(buckets)
		return o.eachHot(ctx, members, budget, left, buckets)
	})
	for _, pairs := range to {
		group.Go(func() error {
			w := hotComparer{o: o, pairs: pairs, rows: o.Join.Records.Table.Cursor(), comparer: o.Join.Records.Recipe.NewComparer(false)}
			for b := range buckets {
				if err := w.compare(ctx, b, left); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err = group.Wait()
	return int64(left.Len()), err
}

// hotBudget admits as many levels of buckets, the smaller ones first, as it can afford.
func (o *Options) hotBudget(members *extsort.Sorted) (*engine.NearBudget, error) {
	b := engine.NewNearBudget(o.Join.Records.Recipe.Words(), o.Cap)
	err := eachBucket(members, o.Sides, func(of *bucketSize) error {
		if of.meet() {
			b.Add(of.n, of.pairs())
		}
		return nil
	})
	b.Spend(cmp.Or(o.Budget, forecast.HotBudget(o.Graph.Docs)))
	return b, err
}

// eachHot sends the buckets within the budget, and records the members of the others in left.
func (o *Options) eachHot(ctx context.Context, members *extsort.Sorted, budget *engine.NearBudget, left bitset.Set[uint32], to chan<- hotBucketSignatures) error {
	behind := members.Reader()
	err := eachBucket(members, o.Sides, func(b *bucketSize) error {
		within, meet := budget.Admits(b.n), b.meet()
		var docs []uint32
		for range b.n {
			e, ok := behind.Next()
			switch {
			case !ok:
				return behind.Err()
			case within:
				docs = append(docs, uint32(e.Value))
			case meet:
				left.AddShared(uint32(e.Value))
			}
		}
		if !within || !meet {
			return ctx.Err()
		}
		select {
		case to <- hotBucketSignatures{docs, budget.Pairs(b.n)}:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	return errors.Join(err, behind.Close())
}

// hotComparer compares buckets for one goroutine.
type hotComparer struct {
	o          *Options
	rows       *doctable.Cursor
	comparer   *recipe.Comparer
	pairs      *extsort.Appender
	signatures []uint32 // of a bucket's members, one after the other
}

// compare adds the pairs of a bucket whose documents may be compared.
func (w *hotComparer) compare(ctx context.Context, b hotBucketSignatures, left bitset.Set[uint32]) error {
	w.signatures = w.signatures[:0]
	for _, doc := range b.docs {
		w.signatures = append(w.signatures, w.rows.Signature(doc)...)
	}
	if w.rows.Err != nil {
		return w.rows.Err
	}
	of := engine.Bucket{Comparer: w.comparer, Sides: w.o.Sides, Docs: b.docs, Signatures: w.signatures, Most: b.most}
	for j, second := range b.docs {
		if err := ctx.Err(); err != nil {
			return err
		}
		all, err := of.EachNear(j, func(i int, _ float64) error { return w.pairs.Add(graph.Key(b.docs[i], second), 1) })
		if err != nil {
			return err
		}
		if !all {
			for _, doc := range b.docs {
				left.AddShared(doc)
			}
			return nil
		}
	}
	return nil
}
