package dedup

import (
	"context"
	"errors"
	"math"

	"github.com/alike-dev/alike/dedup/internal/sides"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
)

// classes groups documents with equal features. Only the first of a class, its
// representative, goes into bands and verification: copies cost one comparison
// of digests, however many there are.
type classes struct {
	both    bitset          // of two collections, the representatives on the left whose classes have members on the right
	active  bitset          // the documents to compare: with features, not skipped, first of their class
	members *extsort.Sorted // Key: representative, Value: member; classes of two or more, the representative too
	copies  int64           // documents that are not the first of their class; of two collections, those of the other one than the first
}

// classify finds the documents with equal digests: of the features or, bySet, of
// the feature sets. Two documents whose texts repeat features differently have
// equal sets, which matters where all sets are compared.
func (r *run) classify(ctx context.Context, bySet bool) (*classes, error) {
	t, w := r.table, r.work
	c := &classes{active: newBitset(t.n), both: newBitset(t.left)}
	sorter, err := extsort.New(w.sorting("digests", 2, 64))
	if err != nil {
		return nil, err
	}
	to := appenders(sorter, w.threads)
	err = t.eachSegment(ctx, w.threads, func(worker int, s *rowScan) error {
		return t.addDigests(s, bySet, r.threshold, to[worker])
	})
	digests, err := w.ended(ctx, sorter, flush(to, err))
	if err != nil {
		return nil, err
	}
	err = c.group(ctx, digests, r)
	if r.sides.Apart() {
		r.sides = sides.Between(t.left, c.both)
	}
	return c, errors.Join(err, r.work.release(digests))
}

// addDigests adds an entry for every document of a segment that is to be
// compared: Key and the upper half of Value are its digest. By Overlap, documents with
// fewer features than asked for match nothing, not even their copies.
func (t *table) addDigests(s *rowScan, bySet bool, threshold measure.Threshold, to *extsort.Appender) error {
	docs, err := s.documents()
	if err != nil {
		return err
	}
	c := t.cursor()
	return s.eachBlock(func(_ *block, first uint32, row, end int) error {
		for ; row < end; row, first = row+1, first+1 {
			d := &docs[row]
			if d.features == 0 || t.skipped.has(first) {
				continue
			}
			sum := d.digest
			if bySet {
				set := c.set(first)
				if c.err != nil {
					return c.err
				}
				if n := uint64(len(set)); !threshold.Reached(n, n, n) {
					continue
				}
				sum = recipe.Digest(set)
			}
			if err := to.Add(sum[0], hashing.Mix(sum[1])&^math.MaxUint32|uint64(first)); err != nil {
				return err
			}
		}
		return nil
	})
}

// group makes classes of equal digests.
func (c *classes) group(ctx context.Context, digests *extsort.Sorted, r *run) error {
	sorter, err := extsort.New(r.work.sorting("classes", 4, bitLen(r.table.n)))
	if err != nil {
		return err
	}
	workers := make([]classWorker, r.work.threads)
	for i := range workers {
		workers[i].to, workers[i].active, workers[i].sides, workers[i].both = sorter.Appender(), c.active, &r.sides, c.both
	}
	err = digests.Each(ctx, r.work.threads, func(worker int, part []extsort.Entry, more bool) error {
		return workers[worker].group(part)
	})
	for i := range workers {
		c.copies += workers[i].copies
		err = errors.Join(err, workers[i].to.Flush())
	}
	c.members, err = r.work.ended(ctx, sorter, err)
	return err
}

// classWorker makes classes for one goroutine.
type classWorker struct {
	to     *extsort.Appender
	active bitset
	sides  *sides.Policy
	both   bitset // see classes
	copies int64
	key    uint64 // the digest of the last entry
	check  uint64
	rep    uint32
	begun  bool // rep is there
	alone  bool // rep has no copy yet
}

// group goes on with entries that follow those seen before, or have other keys.
func (w *classWorker) group(part []extsort.Entry) error {
	for _, e := range part {
		doc, check := uint32(e.Value), e.Value>>32
		if !w.begun || e.Key != w.key || check != w.check {
			w.key, w.check, w.rep, w.begun, w.alone = e.Key, check, doc, true, true
			w.active.addShared(doc)
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
			w.both.addShared(w.rep)
		}
		if err := w.to.Add(uint64(w.rep), uint64(doc)); err != nil {
			return err
		}
	}
	return nil
}
