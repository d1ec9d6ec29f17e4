package dedup

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/lsh"
)

// pair is two representatives worth comparing, a < b. As the key of an entry it
// is a<<32|b.
type pair struct{ a, b uint32 }

func (p pair) key() uint64 { return uint64(p.a)<<32 | uint64(p.b) }

func pairOf(key uint64) pair { return pair{uint32(key >> 32), uint32(key)} }

// grouper finds candidate pairs of representatives: those that agree in at least
// banding.MinBands bands. Bands are gone through one after the other, each
// grouped by all workers, so that only one band's keys are sorted at a time.
//
// Every bucket votes for its pairs, and a pair with enough votes is a candidate.
// A bucket over the cap votes only for the pairs of its smallest members (see
// lsh.EachPair), so that a pair which also shares an ordinary bucket is still
// found.
//
// Who wants all pairs takes all of them. Who wants clusters only would compare
// far too much that way, since a family of n near-copies makes n²/2 pairs, or 8n
// over the cap. It takes spokes first: in every bucket, the pairs of the smallest
// member. Those verified join most families already. Then it takes what crosses:
// the other pairs, but only those that are not in one cluster yet. The clusters
// are the same, for a pair within a cluster cannot change it.
type grouper struct {
	r      *run
	sparse bool
	capped atomic.Int64 // buckets over the cap
	next   atomic.Uint64

	votes *extsort.Sorter // Key: a pair
	rims  *extsort.Sorter // of sparse: Key: a document, Value: a rim that it lies on
}

// rim is a bucket without its smallest member: of what crosses, those pairs.
//
//	number of the bucket | it is over the cap | the document is one of its hubs
type rim uint64

func (r rim) bucket() uint64 { return uint64(r) >> 1 } // with the mark of the cap
func (r rim) isHub() bool    { return r&1 != 0 }

// overCap tells whether a bucket has more members than the cap.
func overCap(bucket uint64) bool { return bucket&1 != 0 }

// bucketVoter takes the buckets of a band for one goroutine.
type bucketVoter struct {
	g       *grouper
	refs    uint32
	votes   *extsort.Appender
	rims    *extsort.Appender
	members []uint32
	hubs    []uint32 // of a bucket too large for one call
	huge    uint64   // its number
	err     error
}

// voteOptions are those of the sorter of a grouper's votes, rimOptions of its rims.
func (r *run) voteOptions() extsort.Options {
	o := r.work.sorting("votes", 8, r.table.keyBits())
	o.Sum = true
	return o
}

func (r *run) rimOptions() extsort.Options { return r.work.sorting("rims", 8, bitLen(r.table.n)) }

// voted is a note of how far a grouper is.
type voted struct {
	stored        // votes, then rims; Count: buckets over the cap
	Bands  int    // that have voted
	Next   uint64 // number of buckets with rims
}

// votedKind is the kind of those notes.
const votedKind = "voted"

// candidates returns the candidate pairs, spokes alone if sparse, and the rims
// that crossing needs besides. It counts the buckets over the cap.
func (r *run) candidates(ctx context.Context, sparse bool) (pairsAndRims []*extsort.Sorted, capped int64, err error) {
	g := &grouper{r: r, sparse: sparse}
	votes, rims := r.voteOptions(), r.rimOptions()
	var before voted
	if found, err := r.work.log.last(votedKind, &before); err != nil {
		return nil, 0, err
	} else if found {
		votes.Runs, rims.Runs = before.Runs[0], before.Runs[1]
		g.capped.Store(before.Count)
		g.next.Store(before.Next)
	}
	if g.votes, err = extsort.New(votes); err != nil {
		return nil, 0, err
	}
	if g.rims, err = extsort.New(rims); err != nil {
		return nil, 0, errors.Join(err, r.work.release(g.votes))
	}
	err = g.bands(ctx, before.Bands)
	voted, err := r.work.ended(ctx, g.votes, err)
	if err != nil {
		return nil, 0, errors.Join(err, r.work.release(g.rims))
	}
	rim, err := r.work.ended(ctx, g.rims, nil)
	if err != nil {
		return nil, 0, errors.Join(err, r.work.release(voted))
	}
	return []*extsort.Sorted{voted, rim}, g.capped.Load(), nil
}

// bands goes through the bands from the first one that has not voted.
func (g *grouper) bands(ctx context.Context, first int) error {
	r := g.r
	keys, err := extsort.New(r.work.sorting("keys", 4, 64))
	if err != nil {
		return err
	}
	voters := make([]*bucketVoter, r.work.threads)
	for i := range voters {
		voters[i] = &bucketVoter{g: g, refs: uint32(r.table.refs), votes: g.votes.Appender(), rims: g.rims.Appender()}
	}
	to := appenders(keys, r.work.threads)
	for band := first; band < r.banding.Bands; band++ {
		err := g.band(ctx, band, keys, to, voters)
		if err == nil && r.work.log.due() {
			err = g.note(ctx, band+1)
		}
		if err != nil {
			return errors.Join(err, r.work.release(keys))
		}
		r.config.Progress.Advance(int64(r.table.n), 0)
	}
	return r.work.release(keys)
}

// note keeps what the bands so far have voted.
func (g *grouper) note(ctx context.Context, bands int) error {
	votes, err := g.votes.Save(ctx)
	if err != nil {
		return err
	}
	rims, err := g.rims.Save(ctx)
	if err != nil {
		return err
	}
	return g.r.work.log.note(votedKind, voted{stored{[][]string{votes, rims}, g.capped.Load()}, bands, g.next.Load()})
}

// band groups the keys of one band and lets every bucket vote.
func (g *grouper) band(ctx context.Context, band int, keys *extsort.Sorter, to []*extsort.Appender, voters []*bucketVoter) error {
	r := g.r
	err := r.table.eachSegment(ctx, r.work.threads, func(worker int, s *rowScan) error {
		column, err := s.keys(band)
		if err != nil {
			return err
		}
		return s.eachBlock(func(_ *block, first uint32, row, end int) error {
			for i, key := range column[row:end] {
				if doc := first + uint32(i); r.classes.active.has(doc) {
					if err := to[worker].Add(key, uint64(doc)); err != nil {
						return err
					}
				}
			}
			return nil
		})
	})
	if err = flush(to, err); err != nil {
		return err
	}
	sorted, err := keys.Sort(ctx)
	if err != nil {
		return err
	}
	err = sorted.Each(ctx, r.work.threads, func(worker int, part []extsort.Entry, more bool) error {
		return voters[worker].take(part, more)
	})
	for _, v := range voters {
		err = errors.Join(err, v.votes.Flush(), v.rims.Flush())
	}
	return errors.Join(err, r.work.release(sorted), keys.Reset())
}

// take votes for the pairs of the buckets in a part: several whole ones, or a
// piece of one that is too large.
func (v *bucketVoter) take(part []extsort.Entry, more bool) error {
	if more || len(v.hubs) > 0 {
		v.takePiece(part)
		if !more {
			v.hubs = v.hubs[:0]
			v.g.capped.Add(1)
		}
		return v.err
	}
	for start := 0; start < len(part); {
		end := start + 1
		for end < len(part) && part[end].Key == part[start].Key {
			end++
		}
		if end-start > 1 {
			v.bucket(part[start:end])
		}
		start = end
	}
	return v.err
}

// takePiece pairs the documents of a piece with the bucket's hubs, which the first
// piece begins with.
func (v *bucketVoter) takePiece(part []extsort.Entry) {
	if len(v.hubs) == 0 {
		v.huge = v.g.next.Add(1)
	}
	for _, e := range part {
		doc := uint32(e.Value)
		spokes := v.hubs
		if v.g.sparse && len(v.hubs) > 0 {
			spokes = v.hubs[:1]
			v.onRim(doc, v.huge<<1|1, len(v.hubs) < lsh.Hubs)
		}
		for _, hub := range spokes {
			v.vote(hub, doc)
		}
		if len(v.hubs) < lsh.Hubs {
			v.hubs = append(v.hubs, doc)
		}
	}
}

// bucket votes for the pairs of a bucket.
func (v *bucketVoter) bucket(run []extsort.Entry) {
	limit := v.g.r.config.BucketCap
	if len(run) > limit {
		v.g.capped.Add(1)
	}
	if v.g.sparse {
		v.spokes(run, len(run) > limit)
		return
	}
	v.members = v.members[:0]
	for _, e := range run {
		v.members = append(v.members, uint32(e.Value))
	}
	lsh.EachPair(v.members, limit, v.vote)
}

// spokes votes for the pairs of the smallest member, and notes who else shares
// the bucket.
func (v *bucketVoter) spokes(run []extsort.Entry, over bool) {
	bucket := uint64(0)
	if len(run) > 2 {
		bucket = v.g.next.Add(1) << 1
	}
	if over {
		bucket |= 1
	}
	for i, e := range run[1:] {
		doc := uint32(e.Value)
		v.vote(uint32(run[0].Value), doc)
		if len(run) > 2 {
			v.onRim(doc, bucket, over && i+1 < lsh.Hubs)
		}
	}
}

// vote counts that a and b share a bucket. References are not compared among
// themselves.
func (v *bucketVoter) vote(a, b uint32) {
	if b >= v.refs {
		if err := v.votes.Add(pair{a, b}.key(), 1); err != nil {
			v.err = err
		}
	}
}

// onRim notes that a document shares a bucket besides its smallest member.
func (v *bucketVoter) onRim(doc uint32, bucket uint64, isHub bool) {
	r := bucket << 1
	if isHub {
		r |= 1
	}
	if err := v.rims.Add(uint64(doc), r); err != nil {
		v.err = err
	}
}

// crossing returns the pairs of the rims whose documents have different labels
// and that are not among the spokes. labels has those documents that an edge
// joins to others; the label of any other is its own.
func (r *run) crossing(ctx context.Context, spokes, rims, labels *extsort.Sorted) (*extsort.Sorted, error) {
	c := &crosser{r: r, refs: uint32(r.table.refs), hubs: map[uint64][]uint64{}}
	// Key: bucket, Value: label<<32|document.
	o := r.work.sorting("buckets", 8, bitLen(r.table.n*r.banding.Bands)+1)
	buckets, err := r.work.sorted(ctx, o, func(to *extsort.Appender) error {
		return eachLabelled(rims, labels, func(doc, label uint32, value uint64) error {
			place, labelled := rim(value), uint64(label)<<32|uint64(doc)
			if place.isHub() {
				c.hubs[place.bucket()] = append(c.hubs[place.bucket()], labelled)
			}
			return to.Add(place.bucket(), labelled)
		})
	})
	if err != nil {
		return nil, err
	}
	crossed, err := c.cross(ctx, buckets)
	if err = errors.Join(err, r.work.release(buckets)); err != nil {
		return nil, err
	}
	fresh, err := r.without(ctx, crossed, spokes)
	return fresh, errors.Join(err, r.work.release(crossed))
}

// crosser finds pairs of different labels. A document is a word here:
// label<<32|document.
type crosser struct {
	r    *run
	refs uint32
	hubs map[uint64][]uint64 // of the buckets over the cap; there are few
}

func (c *crosser) cross(ctx context.Context, buckets *extsort.Sorted) (*extsort.Sorted, error) {
	o := c.r.work.sorting("crossing", 8, c.r.table.keyBits())
	o.Sum = true
	sorter, err := extsort.New(o)
	if err != nil {
		return nil, err
	}
	to := appenders(sorter, c.r.work.threads)
	err = buckets.Each(ctx, c.r.work.threads, func(worker int, part []extsort.Entry, _ bool) error {
		for start := 0; start < len(part); {
			end := start + 1
			for end < len(part) && part[end].Key == part[start].Key {
				end++
			}
			if err := c.bucket(part[start:end], to[worker]); err != nil {
				return err
			}
			start = end
		}
		return nil
	})
	return c.r.work.ended(ctx, sorter, flush(to, err))
}

// bucket adds the pairs of a bucket or, over the cap, of a piece of it with its
// hubs.
func (c *crosser) bucket(bucket []extsort.Entry, to *extsort.Appender) error {
	if overCap(bucket[0].Key) {
		for _, hub := range c.hubs[bucket[0].Key] {
			for _, e := range bucket {
				if err := c.add(hub, e.Value, to); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if bucket[0].Value>>32 == bucket[len(bucket)-1].Value>>32 {
		return nil // sorted by label: there is one
	}
	for i, x := range bucket {
		for _, y := range bucket[i+1:] {
			if err := c.add(x.Value, y.Value, to); err != nil {
				return err
			}
		}
	}
	return nil
}

// add adds a pair unless the labels are the same or both are references.
func (c *crosser) add(x, y uint64, to *extsort.Appender) error {
	if x>>32 == y>>32 {
		return nil
	}
	a, b := uint32(x), uint32(y)
	if a, b = min(a, b), max(a, b); b < c.refs {
		return nil
	}
	return to.Add(pair{a, b}.key(), 1)
}

// eachLabelled visits entries whose keys are documents, with their labels.
func eachLabelled(entries, labels *extsort.Sorted, visit func(doc, label uint32, value uint64) error) error {
	by := newLookup(labels)
	err := each(entries, func(e extsort.Entry) error {
		label, ok := by.find(e.Key)
		if !ok {
			label = e.Key
		}
		return visit(uint32(e.Key), uint32(label), e.Value)
	})
	return errors.Join(err, by.Err(), by.Close())
}

// without returns the entries of a whose keys are not among those of b.
func (r *run) without(ctx context.Context, a, b *extsort.Sorted) (*extsort.Sorted, error) {
	return r.work.sorted(ctx, r.work.sorting("fresh", 8, r.table.keyBits()), func(to *extsort.Appender) error {
		known := newLookup(b)
		err := each(a, func(e extsort.Entry) error {
			if _, ok := known.find(e.Key); ok {
				return nil
			}
			return to.Add(e.Key, e.Value)
		})
		return errors.Join(err, known.Err(), known.Close())
	})
}
