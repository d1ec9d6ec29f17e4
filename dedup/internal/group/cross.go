package group

import (
	"context"
	"errors"

	"github.com/alike-dev/alike/dedup/internal/graph"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/sides"
)

// Crossing returns the pairs of the rims, and of hubs with the members of their buckets, whose
// documents have different labels and that are not spokes. labels has the documents that edges join
// to others; every other document is its own label. The caller releases them.
func Crossing(ctx context.Context, o Options, met *Met, labels *extsort.Sorted) (*extsort.Sorted, error) {
	// Key: bucket, Value: label<<32|document.
	space := o.Graph.Space
	buckets, err := space.Sorted(ctx, space.Sorting("buckets", 8, graph.Bits(o.Table.Docs*o.Keys+int(o.Table.Hashes()))), func(to *extsort.Appender) error {
		return eachLabelled(met.Rims, labels, func(doc, label uint32, bucket uint64) error {
			return to.Add(bucket, labelledDoc(label, doc))
		})
	})
	if err != nil {
		return nil, err
	}
	crossed, err := o.cross(ctx, buckets, met.Hot, labels)
	if err = errors.Join(err, space.Release(buckets)); err != nil {
		return nil, err
	}
	fresh, err := o.Graph.Without(ctx, crossed, met.Pairs)
	return fresh, errors.Join(err, space.Release(crossed))
}

func labelledDoc(label, doc uint32) uint64 { return uint64(label)<<32 | uint64(doc) }

// cross returns the pairs with different labels. Sum is set, since several buckets may have the
// same pair.
func (o *Options) cross(ctx context.Context, buckets, hubs, labels *extsort.Sorted) (*extsort.Sorted, error) {
	space, crossed := o.Graph.Space, o.Graph.Sorting("crossing", 8)
	crossed.Sum = true
	sorter, err := extsort.New(crossed)
	if err != nil {
		return nil, err
	}
	crossers := make([]crosser, space.Threads)
	for i := range crossers {
		crossers[i] = crosser{o.Sides, sorter.Appender()}
	}
	err = buckets.Each(ctx, space.Threads, func(worker int, part []extsort.Entry, _ bool) error {
		return extsort.EachKey(part, crossers[worker].bucket)
	})
	if err == nil {
		err = o.crossHot(ctx, hubs, labels, crossers)
	}
	for _, c := range crossers {
		err = errors.Join(err, c.to.Flush())
	}
	return space.Ended(ctx, sorter, err)
}

// crosser collects pairs with different labels for one goroutine. A document is a word here:
// label<<32|document.
type crosser struct {
	sides *sides.Policy
	to    *extsort.Appender
}

// bucket adds the pairs of a bucket. It has at most as many members as the cap, so one part of the
// sorted entries holds all of it.
func (c *crosser) bucket(bucket []extsort.Entry) error {
	if bucket[0].Value>>32 == bucket[len(bucket)-1].Value>>32 {
		return nil // sorted by label: all have the same
	}
	for i, x := range bucket {
		for _, y := range bucket[i+1:] {
			if err := c.add(x.Value, y.Value); err != nil {
				return err
			}
		}
	}
	return nil
}

// add adds a pair if the labels differ and the documents may be compared.
func (c *crosser) add(x, y uint64) error {
	a, b := uint32(x), uint32(y)
	if x>>32 == y>>32 || !c.sides.Meet(a, b) {
		return nil
	}
	return c.to.Add(graph.Key(min(a, b), max(a, b)), 1)
}

// eachLabelled visits entries whose keys are documents, with their labels.
func eachLabelled(entries, labels *extsort.Sorted, visit func(doc, label uint32, value uint64) error) error {
	by := graph.NewLabels(labels)
	err := entries.Visit(func(e extsort.Entry) error {
		doc := uint32(e.Key)
		return visit(doc, by.Of(doc), e.Value)
	})
	return errors.Join(err, by.Err(), by.Close())
}
