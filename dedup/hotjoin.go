package dedup

import (
	"context"
	"errors"
	"fmt"

	"github.com/alike-dev/alike/dedup/internal/sides"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/lsh"
)

// hotPairs is what was found among the documents of hot buckets, those over the cap,
// beside the pairs that they vote for.
type hotPairs struct {
	joined bitset          // documents of which all similar pairs are among edges; nil: none
	edges  *extsort.Sorted // of them
}

// findHot joins the documents that lie in hot buckets with each other: all of them or,
// where that would take too long, those of the smaller ones. It says of how many
// documents pairs may be missing.
//
// A join goes by rare features, so that documents which meet in hot buckets and are not
// alike cost little. Documents that really are alike cost what their pairs do.
func (r *run) findHot(ctx context.Context, members *extsort.Sorted) (h hotPairs, err error) {
	if members.Len() == 0 {
		return h, nil
	}
	var levels *extsort.Sorted
	err = r.clock.stage("group", 0, func() (items, bytes int64, err error) {
		levels, err = r.hotLevels(ctx, members)
		return 0, 0, err
	})
	if err != nil {
		return h, err
	}
	missed := int64(0)
	if r.recipe.BySets() && r.recipe.MinKeys() == 1 {
		h, missed, err = r.joinHot(ctx, levels)
	} else {
		missed, err = r.hotFrom(levels, 0, func(uint32) {})
	}
	if missed > 0 {
		r.config.OnNotice(setting.Textf("documents in buckets of more than %d: %d were compared with the first %d of their buckets only, "+
			"so pairs of them may be missing; raise %s, or find them with %s exact", r.config.BucketCap, missed, lsh.Hubs, setting.BucketCap, setting.Candidates))
	}
	return h, errors.Join(err, r.work.release(levels))
}

// hotLevels returns the documents of hot buckets: Key is the document, Value the level
// of the smallest one that it lies in.
func (r *run) hotLevels(ctx context.Context, members *extsort.Sorted) (*extsort.Sorted, error) {
	all, err := r.work.sorted(ctx, r.work.sorting("memberships", 8, bitLen(r.table.n)), func(to *extsort.Appender) error {
		behind := members.Reader()
		err := eachBucket(members, &r.sides, func(n int64, meet bool) error {
			level := uint64(r.level(n))
			for range n {
				e, _ := behind.Next()
				if !meet {
					continue
				}
				if err := to.Add(e.Value, level); err != nil {
					return err
				}
			}
			return behind.Err()
		})
		return errors.Join(err, behind.Close())
	})
	if err != nil {
		return nil, err
	}
	levels, err := r.work.sorted(ctx, r.work.sorting("levels", 8, bitLen(r.table.n)), func(to *extsort.Appender) error {
		last := extsort.Entry{Key: noDoc}
		return each(all, func(e extsort.Entry) error {
			if e.Key == last.Key { // a larger bucket, or one as large
				return nil
			}
			last = e
			return to.Add(e.Key, e.Value)
		})
	})
	return levels, errors.Join(err, r.work.release(all))
}

// noDoc is no document.
const noDoc = 1 << 32

// eachBucket visits buckets by how many members they have and whether any of these may
// meet.
func eachBucket(members *extsort.Sorted, policy *sides.Policy, visit func(n int64, meet bool) error) error {
	key, n := uint64(0), int64(0)
	var s sided
	err := each(members, func(e extsort.Entry) error {
		if n > 0 && e.Key != key {
			if err := visit(n, s.meet()); err != nil {
				return err
			}
			n, s = 0, sided{}
		}
		key = e.Key
		s.add(policy, uint32(e.Value))
		n++
		return nil
	})
	if err == nil && n > 0 {
		err = visit(n, s.meet())
	}
	return err
}

// hotFrom visits the documents of levels below end, and counts the others.
func (r *run) hotFrom(levels *extsort.Sorted, end uint64, visit func(doc uint32)) (others int64, err error) {
	err = each(levels, func(e extsort.Entry) error {
		if e.Value >= end {
			others++
		} else {
			visit(uint32(e.Key))
		}
		return nil
	})
	return others, err
}

// levelsEnd is behind the highest level: a bucket has fewer than 2³² documents.
const levelsEnd = 34

// joinHot joins as many levels of documents as a forecast finds worth it, and counts
// the documents that are left out.
func (r *run) joinHot(ctx context.Context, levels *extsort.Sorted) (h hotPairs, missed int64, err error) {
	end := int64(0)
	err = r.clock.stage("join", 0, func() (items, bytes int64, err error) {
		found, n, err := r.step(ctx, "hot-edges", func() ([]*extsort.Sorted, int64, error) {
			edges, end, err := r.joinLevels(ctx, levels)
			return []*extsort.Sorted{edges}, int64(end), err
		}, r.work.sorting("edges", 8, r.table.keyBits()))
		if err != nil {
			return 0, 0, err
		}
		h.edges, end = found[0], n
		r.summary.Candidates += h.edges.Len()
		return h.edges.Len(), 0, nil
	})
	if err != nil {
		return h, 0, err
	}
	if end > 0 {
		h.joined = newBitset(r.table.n)
	}
	missed, err = r.hotFrom(levels, uint64(end), func(doc uint32) { h.joined.add(doc) })
	return h, missed, err
}

// joinLevels joins the documents of all levels below end.
func (r *run) joinLevels(ctx context.Context, levels *extsort.Sorted) (edges *extsort.Sorted, end int, err error) {
	features, err := r.levelFeatures(levels)
	if err != nil {
		return nil, 0, err
	}
	for end = levelsEnd; end > 0; end-- {
		if features[end-1] == (sideFeatures{}) { // no document is of this level
			continue
		}
		var sum sideFeatures
		for _, n := range features[:end] {
			sum.left += n.left
			sum.right += n.right
		}
		if min(sum.left, sum.right) > hotMost {
			continue
		}
		docs := newBitset(r.table.n)
		if _, err := r.hotFrom(levels, uint64(end), docs.add); err != nil {
			return nil, 0, err
		}
		if edges, err := r.joinSome(ctx, docs, end); !errors.Is(err, errManyEdges) {
			return edges, end, err
		}
	}
	none, err := r.work.sorted(ctx, r.work.sorting("edges", 8, r.table.keyBits()), func(*extsort.Appender) error { return nil })
	return none, 0, err
}

// levelFeatures returns how many features the documents of each level have.
func (r *run) levelFeatures(levels *extsort.Sorted) (features [levelsEnd]sideFeatures, err error) {
	docs := r.table.scanner()
	err = each(levels, func(e extsort.Entry) error {
		doc := uint32(e.Key)
		features[e.Value].add(&r.sides, doc, int64(docs.doc(doc).features))
		return docs.err
	})
	return features, err
}

// A join of documents in hot buckets may cost hotEach nanoseconds, as choose.go counts
// them, for each document of the corpus, and some: about as much as all else. Of edges,
// it may find twice as many as that allows.
const (
	hotEach = 10_000
	hotMore = 4e9
	hotMost = 4 << 20 // features to index: with little memory it is made by chunks, each a pass over all
)

// joinSome joins documents of hot buckets. The error is errManyEdges if that costs too
// much.
func (r *run) joinSome(ctx context.Context, docs bitset, end int) (*extsort.Sorted, error) {
	f, err := r.forecast(ctx, docs)
	if err != nil {
		return nil, err
	}
	most := hotEach*float64(r.table.n) + hotMore
	if f.exact(r.table.hasSets) > most {
		return nil, errManyEdges
	}
	return r.join(ctx, joining{docs: docs, kind: fmt.Sprintf("hot-joined-%d", end), limit: int64(2 * most / f.verify())})
}
