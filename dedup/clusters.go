package dedup

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/internal/extsort"
)

// clustering says what becomes of the documents that are not alone. All of its
// entries have documents as keys.
type clustering struct {
	labels       *extsort.Sorted // members of clusters of two or more; Value: the smallest document of the cluster
	removed      *extsort.Sorted // Value: the document kept instead
	similarities *extsort.Sorted // of removed documents that are no copies of the kept one; Value: bits of a float
	clusters     int64
	largest      []int // sizes, descending, at most largestMax
}

func (c *clustering) release(w *workspace) error {
	return w.releaseAll(c.labels, c.removed, c.similarities)
}

// cluster groups the documents: verified edges connect representatives, and a
// representative stands for its class, within which every similarity is 1.
func (r *run) cluster(ctx context.Context) (*clustering, error) {
	members, err := r.groups(ctx)
	if err != nil {
		return nil, err
	}
	c := &clustering{}
	queries, err := r.decide(ctx, c, members)
	err = errors.Join(err, r.work.release(members))
	if err == nil {
		c.similarities, err = r.similarities(ctx, queries)
		err = errors.Join(err, r.work.release(queries))
	}
	if err != nil {
		return nil, errors.Join(err, c.release(r.work))
	}
	return c, nil
}

// groups returns who gives way to the same document: Key is group<<32|document,
// Value the document's representative. A group is named by a representative: of a
// component its smallest document, of a star its centre. Every reference's class
// is a group of its own, since references are kept, each for itself; the other
// documents of a component that holds references give way to the first of them.
func (r *run) groups(ctx context.Context) (*extsort.Sorted, error) {
	var of *extsort.Sorted // group of each representative with an edge
	var err error
	if r.config.Star {
		of, err = r.stars(ctx)
	} else {
		of, err = r.components(ctx, r.edges)
	}
	if err != nil {
		return nil, err
	}
	groups, err := r.work.sorted(ctx, r.work.sorting("groups", 8, r.table.keyBits()), func(to *extsort.Appender) error {
		reps := of.Reader()
		// Both streams ascend by representative.
		alone := func(before uint64) error {
			for e, ok := reps.Peek(); ok && e.Key < before; e, ok = reps.Peek() {
				reps.Next()
				group := e.Value
				if r.sides.Reference(uint32(e.Key)) {
					group = e.Key
				}
				if err := to.Add(group<<32|e.Key, e.Key); err != nil {
					return err
				}
			}
			return nil
		}
		last, group := uint64(math.MaxUint64), uint64(0)
		err := each(r.classes.members, func(e extsort.Entry) error {
			if e.Key != last {
				last, group = e.Key, e.Key
				if err := alone(e.Key); err != nil {
					return err
				}
				if l, ok := reps.Peek(); ok && l.Key == e.Key {
					reps.Next()
					if !r.sides.Reference(uint32(e.Key)) {
						group = l.Value
					}
				}
			}
			return to.Add(group<<32|e.Value, e.Key)
		})
		if err == nil {
			err = alone(math.MaxUint64)
		}
		return errors.Join(err, reps.Err(), reps.Close())
	})
	return groups, errors.Join(err, r.work.release(of))
}

// stars returns the centre of each representative with an edge. It holds the
// edges of one component in memory at a time.
func (r *run) stars(ctx context.Context) (centres *extsort.Sorted, err error) {
	labels, err := r.components(ctx, r.edges)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.work.release(labels)) }()
	bests, err := r.bests(ctx, labels)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.work.release(bests)) }()
	byLabel, err := r.labelled(ctx, r.edges, labels)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.work.release(byLabel)) }()
	return r.work.sorted(ctx, r.work.sorting("centres", 8, bitLen(r.table.n)), func(to *extsort.Appender) error {
		c := r.table.cursor()
		s := &star{r: r, to: to, c: c, prefer: r.config.Keep.Order(c.meta), bests: bests.Reader()}
		if r.removesParts {
			s.prefer = largestFirst(c, s.prefer)
		}
		label := uint64(math.MaxUint64)
		err := each(byLabel, func(e extsort.Entry) error {
			if next := e.Key >> 32; next != label {
				if len(s.edges) > 0 {
					if err := errors.Join(s.end(label), ctx.Err()); err != nil {
						return err
					}
				}
				label = next
			}
			s.edges = append(s.edges, cluster.Edge{A: uint32(e.Key), B: uint32(e.Value)})
			return nil
		})
		if err == nil && len(s.edges) > 0 {
			err = s.end(label)
		}
		return errors.Join(err, s.bests.Close())
	})
}

// bests returns the member that the keep rule prefers of each class by which a
// representative with an edge is judged: Key is label<<32|representative.
func (r *run) bests(ctx context.Context, labels *extsort.Sorted) (*extsort.Sorted, error) {
	return r.work.sorted(ctx, r.work.sorting("bests", 8, r.table.keyBits()), func(to *extsort.Appender) error {
		c := r.table.cursor()
		prefer := r.config.Keep.Order(c.meta)
		members := r.classes.members.Reader()
		err := each(labels, func(e extsort.Entry) error {
			best := uint32(e.Key)
			for m, ok := members.Peek(); ok && m.Key <= e.Key; m, ok = members.Peek() {
				members.Next()
				if m.Key == e.Key && !r.sides.Reference(uint32(e.Key)) && prefer(uint32(m.Value), best) {
					best = uint32(m.Value)
				}
			}
			return errors.Join(c.err, to.Add(e.Value<<32|e.Key, uint64(best)))
		})
		return errors.Join(err, members.Err(), members.Close())
	})
}

// star clusters one component after the other.
type star struct {
	r      *run
	to     *extsort.Appender
	c      *cursor
	prefer func(a, b uint32) bool
	bests  *extsort.Reader
	edges  []cluster.Edge
	docs   []uint32
	best   []uint32 // by which each of docs is judged
}

// end adds the centres of the component in edges, and empties it.
func (s *star) end(label uint64) error {
	s.docs, s.best = s.docs[:0], s.best[:0]
	for e, ok := s.bests.Peek(); ok && e.Key>>32 == label; e, ok = s.bests.Peek() {
		s.bests.Next()
		s.docs, s.best = append(s.docs, uint32(e.Key)), append(s.best, uint32(e.Value))
	}
	number := func(doc uint32) uint32 {
		i, _ := slices.BinarySearch(s.docs, doc)
		return uint32(i)
	}
	for i, e := range s.edges {
		s.edges[i] = cluster.Edge{A: number(e.A), B: number(e.B)}
	}
	refs, _ := slices.BinarySearch(s.docs, s.r.sides.References())
	kept := cluster.Star(len(s.docs), refs, s.edges, func(a, b uint32) bool { return s.prefer(s.best[a], s.best[b]) })
	for i, centre := range kept {
		if err := s.to.Add(uint64(s.docs[i]), uint64(s.docs[centre])); err != nil {
			return err
		}
	}
	s.edges = s.edges[:0]
	return errors.Join(s.c.err, s.bests.Err())
}

// decider goes through the groups twice at once: ahead finds out whom a group
// keeps, then behind says so of each of its members.
type decider struct {
	r             *run
	c             *clustering
	docs          *cursor
	prefer        func(a, b uint32) bool
	ahead, behind *extsort.Reader

	labels, removed, queries *extsort.Appender
}

// decide fills in c but for the similarities. It returns those that are asked
// for: Key is a pair of representatives, Value the removed document.
func (r *run) decide(ctx context.Context, c *clustering, members *extsort.Sorted) (queries *extsort.Sorted, err error) {
	docs := r.table.cursor()
	d := &decider{r: r, c: c, docs: docs, prefer: r.config.Keep.Order(docs.meta), ahead: members.Reader(), behind: members.Reader()}
	defer func() { err = errors.Join(err, d.ahead.Close(), d.behind.Close()) }()
	bits := bitLen(r.table.n)
	queries, err = r.work.sorted(ctx, r.work.sorting("queries", 8, r.table.keyBits()), func(to *extsort.Appender) error {
		d.queries = to
		var err error
		c.labels, err = r.work.sorted(ctx, r.work.sorting("labels", 8, bits), func(to *extsort.Appender) error {
			d.labels = to
			var err error
			c.removed, err = r.work.sorted(ctx, r.work.sorting("removed", 8, bits), func(to *extsort.Appender) error {
				d.removed = to
				return d.run(ctx)
			})
			return err
		})
		return err
	})
	slices.SortFunc(c.largest, func(a, b int) int { return cmp.Compare(b, a) })
	return queries, err
}

func (d *decider) run(ctx context.Context) error {
	for n := 0; ; n++ {
		first, ok := d.ahead.Peek()
		if !ok {
			return errors.Join(d.ahead.Err(), d.docs.err)
		}
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := d.group(first.Key); err != nil {
			return err
		}
	}
}

// group decides about the group that begins with an entry's key.
func (d *decider) group(first uint64) error {
	group := uint32(first >> 32)
	kept, keptRep, size := d.choose(group)
	label := uint64(uint32(first))
	for range size {
		e, _ := d.behind.Next()
		doc, rep := uint32(e.Key), uint32(e.Value)
		if size > 1 {
			if err := d.labels.Add(uint64(doc), label); err != nil {
				return err
			}
		}
		if doc == kept || d.r.sides.Reference(doc) {
			continue
		}
		if err := d.removed.Add(uint64(doc), uint64(kept)); err != nil {
			return err
		}
		if rep != keptRep {
			p := pair{min(rep, keptRep), max(rep, keptRep)}
			if err := d.queries.Add(p.key(), uint64(doc)); err != nil {
				return err
			}
		}
	}
	if size > 1 {
		d.c.count(size)
	}
	return errors.Join(d.behind.Err(), d.docs.err)
}

// choose returns whom a group keeps: its reference, or else the member that the
// keep rule prefers, of a star among the centre's own class.
func (d *decider) choose(group uint32) (kept, rep uint32, size int) {
	chosen := false
	for e, ok := d.ahead.Peek(); ok && uint32(e.Key>>32) == group; e, ok = d.ahead.Peek() {
		d.ahead.Next()
		size++
		doc, of := uint32(e.Key), uint32(e.Value)
		if d.r.config.Star && of != group {
			continue
		}
		switch {
		case !chosen:
			kept, rep, chosen = doc, of, true
		case d.r.sides.Reference(group): // the reference comes first
		case d.prefer(doc, kept):
			kept, rep = doc, of
		}
	}
	return kept, rep, size
}

// count notes a cluster's size.
func (c *clustering) count(size int) {
	c.clusters++
	if len(c.largest) < largestMax {
		c.largest = append(c.largest, size)
		return
	}
	if i := slices.Index(c.largest, slices.Min(c.largest)); size > c.largest[i] {
		c.largest[i] = size
	}
}

// similarities answers queries: from the edges or, where a chain led from one
// document to the other, by comparing them now.
func (r *run) similarities(ctx context.Context, queries *extsort.Sorted) (*extsort.Sorted, error) {
	unknown := r.work.sorting("unknown", 8, r.table.keyBits())
	unknown.Sum = true
	missing, err := r.work.sorted(ctx, unknown, func(to *extsort.Appender) error {
		known := newLookup(r.edges)
		err := each(queries, func(e extsort.Entry) error {
			if _, ok := known.find(e.Key); ok {
				return nil
			}
			return to.Add(e.Key, 1)
		})
		return errors.Join(err, known.Err(), known.Close())
	})
	if err != nil {
		return nil, err
	}
	rated, _, err := r.verifier.verify(ctx, verification{pairs: missing, rate: true})
	if err = errors.Join(err, r.work.release(missing)); err != nil {
		return nil, err
	}
	answers, err := r.work.sorted(ctx, r.work.sorting("similarities", 8, bitLen(r.table.n)), func(to *extsort.Appender) error {
		known, now := newLookup(r.edges), newLookup(rated)
		err := each(queries, func(e extsort.Entry) error {
			similarity, ok := known.find(e.Key)
			if !ok {
				similarity, _ = now.find(e.Key)
			}
			return to.Add(e.Value, similarity)
		})
		return errors.Join(err, known.Err(), now.Err(), known.Close(), now.Close())
	})
	return answers, errors.Join(err, r.work.release(rated))
}
