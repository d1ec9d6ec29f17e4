package group

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/dedup/internal/graph"
	"github.com/alike-dev/alike/internal/extsort"
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
