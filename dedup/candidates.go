package dedup

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/alike-dev/alike/dedup/internal/sides"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/lsh"
)

// pair is two representatives worth comparing, a < b. As the key of an entry it
// is a<<32|b.
type pair struct{ a, b uint32 }

func (p pair) key() uint64 { return uint64(p.a)<<32 | uint64(p.b) }

func pairOf(key uint64) pair { return pair{uint32(key >> 32), uint32(key)} }

// grouper finds candidate pairs of representatives: those that agree in at least
// Recipe.MinKeys bands. Bands are gone through one after the other, each
// grouped by all workers, so that only one band's keys are sorted at a time.
//
// Every bucket votes for its pairs, and a pair with enough votes is a candidate.
// A bucket over the cap votes only for the pairs of its smallest members (see
// lsh.EachPair), so that a pair which also shares an ordinary bucket is still
// found.
//
// Who wants all pairs takes all of them, and notes the members of buckets over the
// cap, whose other pairs are found in another way (see joinHot). Who wants clusters
// only would compare
// far too much that way, since a family of n near-copies makes n²/2 pairs, or 8n
// over the cap. It takes spokes first: in every bucket, the pairs of the smallest
// member. Those verified join most families already. Then it takes what crosses:
// the other pairs, but only those that are not in one cluster yet. The clusters
// are the same, for a pair within a cluster cannot change it.
//
// For what crosses, the other members of a bucket are noted: its rim. Of a bucket
// over the cap, only hubs are, and the members are looked for again in the table of
// keys (see hotBuckets): noting and sorting a million of them for every band costs
// more than all the rest.
type grouper struct {
	r      *run
	sparse bool
	capped atomic.Int64 // buckets over the cap
	next   atomic.Uint64

	votes *extsort.Sorter // Key: a pair
	rims  *extsort.Sorter // of sparse: Key: a document, Value: the number of a bucket on whose rim it lies
	hubs  *extsort.Sorter // of buckets over the cap: Key: that of the bucket, Value: of sparse band<<32|a hub but the smallest, else a member
}

// bucketVoter takes the buckets of a band for one goroutine.
type bucketVoter struct {
	g       *grouper
	band    int
	sides   *sides.Policy
	votes   *extsort.Appender
	rims    *extsort.Appender
	hubs    *extsort.Appender
	members []uint32
	huge    []uint32 // the hubs of a bucket too large for one call
	sided   sided    // who it has had so far
	err     error
}

func (g *grouper) voter() *bucketVoter {
	return &bucketVoter{g: g, sides: &g.r.sides, votes: g.votes.Appender(), rims: g.rims.Appender(), hubs: g.hubs.Appender()}
}

func (v *bucketVoter) flush() error {
	return errors.Join(v.votes.Flush(), v.rims.Flush(), v.hubs.Flush())
}

// voteOptions are those of the sorters of a grouper's votes, rims and hubs.
func (r *run) voteOptions() []extsort.Options {
	votes := r.work.sorting("votes", 8, r.table.keyBits())
	votes.Sum = true
	return []extsort.Options{votes, r.work.sorting("rims", 8, bitLen(r.table.n)), r.work.sorting("hubs", 16, 64)}
}

// voted is a note of how far a grouper is.
type voted struct {
	stored        // votes, rims, hubs; Count: buckets over the cap
	Bands  int    // that have voted
	Next   uint64 // number of buckets with rims
}

// votedKind is the kind of those notes.
const votedKind = "voted"

// candidates returns the candidate pairs, spokes alone if sparse, and the rims and
// hubs that crossing needs besides. It counts the buckets over the cap.
func (r *run) candidates(ctx context.Context, sparse bool) (votesRimsHubs []*extsort.Sorted, capped int64, err error) {
	g := &grouper{r: r, sparse: sparse}
	options := r.voteOptions()
	var before voted
	found, err := r.work.log.last(votedKind, &before)
	if err != nil {
		return nil, 0, err
	}
	if found {
		if len(before.Runs) != len(options) {
			return nil, 0, errDamaged
		}
		g.capped.Store(before.Count)
		g.next.Store(before.Next)
	}
	for i, into := range []**extsort.Sorter{&g.votes, &g.rims, &g.hubs} {
		if found {
			options[i].Runs = before.Runs[i]
		}
		if *into, err = extsort.New(options[i]); err != nil {
			return nil, 0, errors.Join(err, g.release())
		}
	}
	if err := g.bands(ctx, before.Bands); err != nil {
		return nil, 0, errors.Join(err, g.release())
	}
	for _, sorter := range g.sorters() {
		sorted, err := sorter.Sort(ctx)
		if err != nil {
			return nil, 0, errors.Join(err, g.release(), r.work.releaseAll(votesRimsHubs...))
		}
		votesRimsHubs = append(votesRimsHubs, sorted)
	}
	return votesRimsHubs, g.capped.Load(), nil
}

func (g *grouper) sorters() []*extsort.Sorter { return []*extsort.Sorter{g.votes, g.rims, g.hubs} }

func (g *grouper) release() (err error) {
	for _, s := range g.sorters() {
		if s != nil {
			err = errors.Join(err, g.r.work.release(s))
		}
	}
	return err
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
		voters[i] = g.voter()
	}
	to := appenders(keys, r.work.threads)
	together := g.together()
	for band := first; band < r.recipe.Keys(); {
		next := min(band+together, r.recipe.Keys())
		err := g.group(ctx, band, next, keys, to, voters)
		if err == nil && r.work.log.due() {
			err = g.note(ctx, next)
		}
		if err != nil {
			return errors.Join(err, r.work.release(keys))
		}
		r.config.Progress.Advance(int64(r.table.n)*int64(next-band), 0)
		band = next
	}
	return r.work.release(keys)
}

// togetherKeys is how many keys are sorted at once where one band has fewer: many
// bands of few documents would cost more to begin and end than to group.
const togetherKeys = 1 << 16

// together returns how many bands are grouped at once. Keys of different bands never
// meet (see lsh.Params.AppendKeys), but what is noted of a hot bucket for crossing is
// of one band.
func (g *grouper) together() int {
	if g.sparse {
		return 1
	}
	return max(int(g.r.config.limits.together)/max(g.r.table.n, 1), 1)
}

// note keeps what the bands so far have voted.
func (g *grouper) note(ctx context.Context, bands int) error {
	v := voted{stored{Count: g.capped.Load()}, bands, g.next.Load()}
	for _, s := range g.sorters() {
		runs, err := s.Save(ctx)
		if err != nil {
			return err
		}
		v.Runs = append(v.Runs, runs)
	}
	return g.r.work.log.note(votedKind, v)
}

// group groups the keys of some bands and lets every bucket vote.
func (g *grouper) group(ctx context.Context, first, next int, keys *extsort.Sorter, to []*extsort.Appender, voters []*bucketVoter) error {
	r := g.r
	err := r.table.eachSegment(ctx, r.work.threads, func(worker int, s *rowScan) error {
		defer r.clock.meter.since("group", worker, r.clock.meter.now())
		for band := first; band < next; band++ {
			if err := g.addKeys(s, band, to[worker]); err != nil {
				return err
			}
		}
		return nil
	})
	if err = flush(to, err); err != nil {
		return err
	}
	sorted, err := keys.Sort(ctx)
	if err != nil {
		return err
	}
	for _, v := range voters {
		v.band = first
	}
	err = sorted.Each(ctx, r.work.threads, func(worker int, part []extsort.Entry, more bool) error {
		defer r.clock.meter.since("group", worker, r.clock.meter.now())
		return voters[worker].take(part, more)
	})
	for _, v := range voters {
		err = errors.Join(err, v.flush())
	}
	return errors.Join(err, r.work.release(sorted), keys.Reset())
}

// addKeys adds the keys that a segment has for a band.
func (g *grouper) addKeys(s *rowScan, band int, to *extsort.Appender) error {
	column, err := s.keys(band)
	if err != nil {
		return err
	}
	return s.eachBlock(func(_ *block, first uint32, row, end int) error {
		for i, key := range column[row:end] {
			if doc := first + uint32(i); g.r.classes.active.has(doc) {
				if err := to.Add(key, uint64(doc)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// take votes for the pairs of the buckets in a part: several whole ones, or a
// piece of one that is too large.
func (v *bucketVoter) take(part []extsort.Entry, more bool) error {
	if more || len(v.huge) > 0 {
		v.takePiece(part)
		if !more {
			if v.sided.meet() {
				v.g.capped.Add(1)
			}
			v.huge, v.sided = v.huge[:0], sided{}
		}
		return v.err
	}
	return eachRun(part, func(run []extsort.Entry) error {
		if len(run) > 1 {
			v.bucket(run)
		}
		return v.err
	})
}

// takePiece pairs the documents of a piece with the bucket's hubs, which the first
// piece begins with.
func (v *bucketVoter) takePiece(part []extsort.Entry) {
	for _, e := range part {
		doc := uint32(e.Value)
		v.sided.add(v.sides, doc)
		spokes := v.huge
		if v.g.sparse && len(v.huge) > 0 {
			spokes = v.huge[:1]
		}
		for _, hub := range spokes {
			v.vote(hub, doc)
		}
		if len(v.huge) < lsh.Hubs {
			if v.g.sparse {
				v.hub(e, len(v.huge))
			}
			v.huge = append(v.huge, doc)
		}
	}
	if !v.g.sparse {
		v.hot(part)
	}
}

// hot notes members of a bucket over the cap.
func (v *bucketVoter) hot(part []extsort.Entry) {
	for _, e := range part {
		v.check(v.hubs.Add(e.Key, e.Value))
	}
}

// bucket votes for the pairs of a bucket.
func (v *bucketVoter) bucket(run []extsort.Entry) {
	limit := v.g.r.config.BucketCap
	if v.sides.Apart() {
		v.across(run, limit)
		return
	}
	if len(run) > limit {
		v.g.capped.Add(1)
	}
	if v.g.sparse {
		v.spokes(run, len(run) > limit)
		return
	}
	if len(run) > limit {
		v.hot(run)
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
	for _, e := range run[1:] {
		v.vote(uint32(run[0].Value), uint32(e.Value))
	}
	switch {
	case over:
		for i, e := range run[:min(lsh.Hubs, len(run))] {
			v.hub(e, i)
		}
	case len(run) > 2:
		number := v.g.next.Add(1)
		for _, e := range run[1:] {
			v.check(v.rims.Add(e.Value, number))
		}
	}
}

// hub notes a hub of a bucket over the cap: its i-th smallest member.
func (v *bucketVoter) hub(e extsort.Entry, i int) {
	if i > 0 {
		v.check(v.hubs.Add(e.Key, uint64(v.band)<<32|e.Value))
	}
}

// vote counts that a and b share a bucket, if they may meet.
func (v *bucketVoter) vote(a, b uint32) {
	if v.sides.Meet(a, b) {
		v.check(v.votes.Add(pair{a, b}.key(), 1))
	}
}

func (v *bucketVoter) check(err error) {
	if err != nil {
		v.err = err
	}
}

// crossing returns the pairs of the rims, and of hubs with the members of their
// buckets, whose documents have different labels and that are not among the spokes.
// labels has those documents that an edge joins to others; the label of any other is
// its own.
func (r *run) crossing(ctx context.Context, spokes, rims, hubs, labels *extsort.Sorted) (*extsort.Sorted, error) {
	// Key: bucket, Value: label<<32|document.
	o := r.work.sorting("buckets", 8, bitLen(r.table.n*r.recipe.Keys()))
	buckets, err := r.work.sorted(ctx, o, func(to *extsort.Appender) error {
		return eachLabelled(rims, labels, func(doc, label uint32, bucket uint64) error {
			return to.Add(bucket, labelledDoc(label, doc))
		})
	})
	if err != nil {
		return nil, err
	}
	crossed, err := r.cross(ctx, buckets, hubs, labels)
	if err = errors.Join(err, r.work.release(buckets)); err != nil {
		return nil, err
	}
	fresh, err := r.without(ctx, crossed, spokes)
	return fresh, errors.Join(err, r.work.release(crossed))
}

func labelledDoc(label, doc uint32) uint64 { return uint64(label)<<32 | uint64(doc) }

// cross returns the pairs of different labels: Sum, since several buckets may have
// the same.
func (r *run) cross(ctx context.Context, buckets, hubs, labels *extsort.Sorted) (*extsort.Sorted, error) {
	o := r.work.sorting("crossing", 8, r.table.keyBits())
	o.Sum = true
	sorter, err := extsort.New(o)
	if err != nil {
		return nil, err
	}
	crossers := make([]crosser, r.work.threads)
	for i := range crossers {
		crossers[i] = crosser{&r.sides, sorter.Appender()}
	}
	err = buckets.Each(ctx, r.work.threads, func(worker int, part []extsort.Entry, _ bool) error {
		return eachRun(part, crossers[worker].bucket)
	})
	if err == nil {
		err = r.crossHot(ctx, hubs, labels, crossers)
	}
	for _, c := range crossers {
		err = errors.Join(err, c.to.Flush())
	}
	return r.work.ended(ctx, sorter, err)
}

// crosser collects pairs of different labels for one goroutine. A document is a word
// here: label<<32|document.
type crosser struct {
	sides *sides.Policy
	to    *extsort.Appender
}

// bucket adds the pairs of a bucket. It has at most as many members as the cap, so a
// part of the buckets holds all of it.
func (c *crosser) bucket(bucket []extsort.Entry) error {
	if bucket[0].Value>>32 == bucket[len(bucket)-1].Value>>32 {
		return nil // sorted by label: there is one
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

// add adds a pair if the labels differ and the documents may meet.
func (c *crosser) add(x, y uint64) error {
	a, b := uint32(x), uint32(y)
	if x>>32 == y>>32 || !c.sides.Meet(a, b) {
		return nil
	}
	return c.to.Add(pair{min(a, b), max(a, b)}.key(), 1)
}

// eachLabelled visits entries whose keys are documents, with their labels.
func eachLabelled(entries, labels *extsort.Sorted, visit func(doc, label uint32, value uint64) error) error {
	by := newLookup(labels)
	err := each(entries, func(e extsort.Entry) error {
		doc := uint32(e.Key)
		return visit(doc, by.label(doc), e.Value)
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
