package group

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/dedup/internal/graph"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/sides"
)

// hotBuckets are the buckets over the cap, by band and key, with their hubs but the smallest. A
// band has fewer than documents/BucketCap of them, so they fit in memory: a few bytes a document at
// the default cap.
type hotBuckets []map[uint64]*hotBucket

// hotBucket has its hubs as words: label<<32|document.
type hotBucket struct {
	hubs     []uint64
	oneLabel bool // all hubs have the same label
}

// crossHot adds the pairs of hubs with the members of their buckets. For that it goes once more
// through the keys of all documents, in ranges of as many documents as there is memory for labels.
func (o *Options) crossHot(ctx context.Context, hubs, labels *extsort.Sorted, crossers []crosser) error {
	if hubs.Len() == 0 {
		return nil
	}
	hot, err := o.hotBuckets(hubs, labels)
	if err != nil {
		return err
	}
	var short *prefixes
	if len(hot) > o.Keys && hot[o.Keys] != nil {
		if short, err = o.prefixes(ctx); err != nil {
			return err
		}
	}
	t := o.Table
	room := t.Docs
	if share := o.Graph.Space.Share(8); share > 0 {
		room = min(room, max(int(share/4), 1<<12))
	}
	known := graph.NewLabels(labels)
	of := labelRange{labels: make([]uint32, 0, room)}
	for first := 0; first < t.Docs && err == nil; first += room {
		of.fill(known, uint32(first), min(room, t.Docs-first))
		err = t.EachSegment(ctx, len(crossers), func(worker int, s *doctable.Scan) error {
			return o.scanHot(s, hot, short, &of, &crossers[worker])
		})
	}
	return errors.Join(err, known.Err(), known.Close())
}

// hotBuckets returns the buckets of the hubs, with the labels of the hubs.
func (o *Options) hotBuckets(hubs, labels *extsort.Sorted) (hotBuckets, error) {
	all := make([]extsort.Entry, 0, hubs.Len())
	err := hubs.Visit(func(e extsort.Entry) error {
		all = append(all, e)
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(x, y extsort.Entry) int { return cmp.Compare(uint32(x.Value), uint32(y.Value)) })
	hot := make(hotBuckets, o.allBands())
	known := graph.NewLabels(labels)
	for _, e := range all {
		band, doc := e.Value>>32, uint32(e.Value)
		label := known.Of(doc)
		if hot[band] == nil {
			hot[band] = map[uint64]*hotBucket{}
		}
		b := hot[band][e.Key]
		if b == nil {
			b = &hotBucket{oneLabel: true}
			hot[band][e.Key] = b
		}
		b.hubs = append(b.hubs, labelledDoc(label, doc))
		b.oneLabel = b.oneLabel && uint32(b.hubs[0]>>32) == label
	}
	return hot, errors.Join(known.Err(), known.Close())
}

// labelRange is the labels of consecutive documents.
type labelRange struct {
	first  uint32
	labels []uint32
}

// fill takes the labels of n documents from known, which must be at first.
func (l *labelRange) fill(known graph.Labels, first uint32, n int) {
	l.first, l.labels = first, l.labels[:n]
	for i := range l.labels {
		l.labels[i] = known.Of(first + uint32(i))
	}
}

// scanHot adds the pairs of those documents of a segment whose labels are in the range.
func (o *Options) scanHot(s *doctable.Scan, hot hotBuckets, short *prefixes, of *labelRange, to *crosser) error {
	end := of.first + uint32(len(of.labels))
	if !s.Overlaps(of.first, end) {
		return nil
	}
	for band, buckets := range hot {
		if buckets == nil {
			continue
		}
		err := o.eachKey(s, band, short, of.first, end, func(doc uint32, _ outline, key uint64) error {
			if bucket := buckets[key]; bucket != nil {
				return bucket.cross(labelledDoc(of.labels[doc-of.first], doc), to)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// cross adds the pairs of a member.
func (b *hotBucket) cross(member uint64, to *crosser) error {
	if b.oneLabel && b.hubs[0]>>32 == member>>32 {
		return nil
	}
	for _, hub := range b.hubs {
		if err := to.add(hub, member); err != nil {
			return err
		}
	}
	return nil
}

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
