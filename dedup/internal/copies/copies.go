package copies

import (
	"context"
	"errors"

	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/dedup/internal/graph"
	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/engine"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/internal/sides"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
)

// Classes groups documents with equal features. Only the first document of a class, its
// representative, goes into bands and verification: copies cost one comparison of digests, however
// many there are.
type Classes struct {
	Both            bitset.Set[uint32] // of two collections, the representatives on the left whose classes have members on the right
	Representatives bitset.Set[uint32] // the documents to compare: with features, not skipped, not removed as known, first of their class
	Members         *extsort.Sorted    // Key: representative, Value: member; classes of two or more, the representative too
	Copies          int64              // documents that are not the first of their class; with two collections, those in the other collection than the first
}

// Options say which documents count as equal.
type Options struct {
	Space *scratch.Space
	Table *doctable.Table
	Sides *sides.Policy
	// BySet compares feature sets instead of features. Two documents whose texts repeat features
	// differently have equal sets, which matters where all sets are compared.
	BySet     bool
	Threshold measure.Threshold // a document that does not reach it with itself is in no class; used BySet
}

// Find finds the documents with equal digests, of the features or of the feature sets. The caller
// releases the members.
func Find(ctx context.Context, o Options) (*Classes, error) {
	t, w := o.Table, o.Space
	c := &Classes{Representatives: bitset.New[uint32](t.Docs), Both: bitset.New[uint32](t.Left)}
	again, err := o.findRepeats(ctx)
	if err != nil {
		return nil, err
	}
	sorter, err := extsort.New(w.Sorting("digests", 2, 64))
	if err != nil {
		return nil, err
	}
	to := sorter.Appenders(w.Threads)
	err = t.EachSegment(ctx, w.Threads, func(worker int, s *doctable.Scan) error {
		return o.eachDigest(s, again.Asking(func(sum, value uint64, again bool) error {
			if !again {
				c.Representatives.AddShared(uint32(value))
				return nil
			}
			return to[worker].Add(sum, value)
		}))
	})
	digests, err := w.Ended(ctx, sorter, extsort.Flush(to, err))
	if err != nil {
		return nil, err
	}
	err = c.group(ctx, digests, o)
	return c, errors.Join(err, w.Release(digests))
}

// findRepeats returns the digests that more than one document may have. It returns nil, which means
// all, where a filter would cost more than sorting all: digests of sets would be made twice.
func (o *Options) findRepeats(ctx context.Context) (*bitset.Repeats, error) {
	if o.BySet {
		return nil, nil
	}
	again := bitset.RepeatsAmong(o.Table.Docs, o.Space.Share(16))
	if again == nil {
		return nil, nil
	}
	err := o.Table.EachSegment(ctx, o.Space.Threads, func(_ int, s *doctable.Scan) error {
		return o.eachDigest(s, again.Adding())
	})
	return again, err
}

// eachDigest gives to a filter the digest of every document of a segment that must be compared, with its check and its
// number. With Overlap, documents with fewer features than the threshold match nothing, not even their copies.
func (o *Options) eachDigest(s *doctable.Scan, to *bitset.Together) error {
	docs, err := s.Documents()
	if err != nil {
		return err
	}
	t := o.Table
	c := t.Cursor()
	err = s.EachBlock(func(b *doctable.Block, row, end int) error {
		for first := b.FirstDoc; row < end; row, first = row+1, first+1 {
			d := &docs[row]
			if d.Features == 0 || !t.Counts(first) {
				continue
			}
			sum, check := d.Digest, d.Check
			if o.BySet {
				set := c.Set(first)
				if c.Err != nil {
					return c.Err
				}
				if n := uint64(len(set)); !o.Threshold.Reached(n, n, n) {
					continue
				}
				digest := recipe.Digest(set)
				sum, check = digest[0], engine.Check(digest)
			}
			if err := to.Put(sum, uint64(check)<<32|uint64(first)); err != nil {
				return err
			}
		}
		return nil
	})
	return errors.Join(err, to.Flush())
}

// group makes classes of documents with equal digests.
func (c *Classes) group(ctx context.Context, digests *extsort.Sorted, o Options) error {
	sorter, err := extsort.New(o.Space.Sorting("classes", 4, graph.Bits(o.Table.Docs)))
	if err != nil {
		return err
	}
	workers := make([]classWorker, o.Space.Threads)
	for i := range workers {
		workers[i].to, workers[i].active, workers[i].sides, workers[i].both = sorter.Appender(), c.Representatives, o.Sides, c.Both
	}
	err = digests.Each(ctx, o.Space.Threads, func(worker int, part []extsort.Entry, more bool) error {
		return workers[worker].group(part)
	})
	for i := range workers {
		c.Copies += workers[i].copies
		err = errors.Join(err, workers[i].to.Flush())
	}
	c.Members, err = o.Space.Ended(ctx, sorter, err)
	return err
}

// classWorker makes classes for one goroutine.
type classWorker struct {
	to     *extsort.Appender
	active bitset.Set[uint32]
	sides  *sides.Policy
	both   bitset.Set[uint32] // see classes
	copies int64
	of     engine.Classes
	rep    uint32
	alone  bool // rep has no copy yet
}

// group processes entries that continue those before, or have other keys.
func (w *classWorker) group(part []extsort.Entry) error {
	for _, e := range part {
		doc := uint32(e.Value)
		if w.of.Begins(e.Key, e.Value>>32) {
			w.rep, w.alone = doc, true
			w.active.AddShared(doc)
			continue
		}
		if w.alone {
			w.alone = false
			if err := w.to.Add(uint64(w.rep), uint64(w.rep)); err != nil {
				return err
			}
		}
		if !w.sides.Apart() {
			w.copies++
		} else if w.sides.Side(doc) != w.sides.Side(w.rep) {
			w.copies++
			w.both.AddShared(w.rep)
		}
		if err := w.to.Add(uint64(w.rep), uint64(doc)); err != nil {
			return err
		}
	}
	return nil
}
