package hot

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/dedup/internal/bitset"
	"github.com/alike-dev/alike/dedup/internal/graph"
	"github.com/alike-dev/alike/dedup/internal/table"
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

// hotBudget limits the cost of comparing the members of hot buckets; it is linear in documents, see
// forecast.HotBudget.
type hotBudget struct {
	levels int     // buckets of levels from here on are left out
	pairs  float64 // that may be found for each member of the other buckets
}

// Costs in nanoseconds: costLook of looking at a pair, costWord of comparing a word of two
// signatures that may be compared, and costNear of a pair that is found.
const (
	costLook = 2
	costWord = 0.5
	costNear = 50
)

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
	left := bitset.New(o.Graph.Docs)
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
func (o *Options) hotBudget(members *extsort.Sorted) (b hotBudget, err error) {
	words := costWord * float64(o.Join.Records.Recipe.Words())
	var cost, sizes [forecast.HotLevels]float64
	err = eachBucket(members, o.Sides, func(b *bucketSize) error {
		if b.meet() {
			cost[forecast.HotLevel(b.n, o.Cap)] += costLook*float64(b.n)*float64(b.n-1)/2 + words*b.pairs()
			sizes[forecast.HotLevel(b.n, o.Cap)] += float64(b.n)
		}
		return nil
	})
	most := forecast.HotBudget(o.Graph.Docs)
	if o.Budget > 0 {
		most = o.Budget
	}
	left, size := most, 0.0
	for ; b.levels < forecast.HotLevels && left >= cost[b.levels]; b.levels++ {
		left -= cost[b.levels]
		size += sizes[b.levels]
	}
	b.pairs = most / costNear / max(size, 1)
	return b, err
}

// eachHot sends the buckets within the budget, and records the members of the others in left.
func (o *Options) eachHot(ctx context.Context, members *extsort.Sorted, budget hotBudget, left bitset.Set, to chan<- hotBucketSignatures) error {
	behind := members.Reader()
	err := eachBucket(members, o.Sides, func(b *bucketSize) error {
		within, meet := forecast.HotLevel(b.n, o.Cap) < budget.levels, b.meet()
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
		case to <- hotBucketSignatures{docs, int64(budget.pairs * float64(b.n))}:
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
	rows       *table.Cursor
	comparer   *recipe.Comparer
	pairs      *extsort.Appender
	signatures []uint32 // of a bucket's members, one after the other
}

// compare adds the pairs of a bucket whose documents may be compared.
func (w *hotComparer) compare(ctx context.Context, b hotBucketSignatures, left bitset.Set) error {
	words := w.o.Join.Records.Recipe.Words()
	w.signatures = w.signatures[:0]
	for _, doc := range b.docs {
		w.signatures = append(w.signatures, w.rows.Signature(doc)...)
	}
	if w.rows.Err != nil {
		return w.rows.Err
	}
	of := func(i int) []uint32 { return w.signatures[i*words : (i+1)*words] }
	for i, second := range b.docs {
		if err := ctx.Err(); err != nil {
			return err
		}
		for j, first := range b.docs[:i] {
			if !w.o.Sides.Meet(first, second) {
				continue
			}
			if _, near := w.comparer.Signatures(of(j), of(i)); !near {
				continue
			}
			if b.most--; b.most < 0 {
				for _, doc := range b.docs {
					left.AddShared(doc)
				}
				return nil
			}
			if err := w.pairs.Add(graph.Key(first, second), 1); err != nil {
				return err
			}
		}
	}
	return nil
}
