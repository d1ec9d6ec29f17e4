package group

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/dedup/internal/graph"
	"github.com/alike-dev/alike/dedup/internal/meter"
	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/resume"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/internal/sides"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
)

// Options say which documents are grouped.
type Options struct {
	Graph graph.Graph
	Table *doctable.Table
	Docs  bitset.Set[uint32] // representatives
	Sides *sides.Policy
	Keys  int // number of keys of a document whose set is not short
	// Threshold is the threshold of the sets, for finding short ones.
	Threshold measure.Threshold
	Cap       int // members up to which a bucket votes for all its pairs
	// Together is how many keys are sorted at once if one band has fewer; see TogetherKeys.
	Together int
	Log      *resume.Log // nil: no notes are written
	Progress meter.Progress
	Meter    *meter.Meter // nil: nothing is measured
}

// grouper finds candidate pairs of representatives: those that agree in at least Recipe.MinKeys
// bands. Bands are processed one after the other, each grouped by all workers, so that only one
// band's keys are sorted at a time.
//
// Every bucket votes for its pairs, and a pair with enough votes is a candidate. A bucket over the
// cap votes only for the pairs of its smallest members (see lsh.EachPair); a pair that also shares
// an ordinary bucket is still found.
//
// A run that needs all pairs takes all of these, and records the members of buckets over the cap,
// whose other pairs are found in another way (see package hot). For a run that needs only clusters
// that would be far too many comparisons, since a family of n near-copies makes n²/2 pairs, or 8n
// over the cap. It first takes spokes: in every bucket, the pairs of the smallest member. The
// verified spokes already join most families. Then it takes the crossing pairs: those of the other
// pairs whose documents are not in one cluster yet. The clusters are the same, because a pair
// within a cluster cannot change it.
//
// To find crossing pairs, the other members of a bucket are recorded: its rim. Of a bucket over the
// cap only the hubs are recorded, and its members are looked up again in the table of keys (see
// hotBuckets): recording and sorting a million of them for every band would cost more than all the
// rest.
type grouper struct {
	Options
	sparse bool
	short  *prefixes    // nil: no set is short
	capped atomic.Int64 // buckets over the cap
	next   atomic.Uint64

	votes *extsort.Sorter // Key: a pair
	rims  *extsort.Sorter // if sparse: Key: a document, Value: the number of a bucket on whose rim it lies
	hubs  *extsort.Sorter // of buckets over the cap: Key: the bucket's key, Value: if sparse band<<32|a hub but the smallest, otherwise a member
}

// bucketVoter processes the buckets of a band for one goroutine.
type bucketVoter struct {
	g       *grouper
	band    int
	sides   *sides.Policy
	votes   *extsort.Appender
	rims    *extsort.Appender
	hubs    *extsort.Appender
	members []uint64      // see member
	huge    []uint64      // the hubs of a bucket too large for one call
	present sides.Present // sides of its documents so far
	err     error
}

func (g *grouper) voter() *bucketVoter {
	return &bucketVoter{g: g, sides: g.Sides, votes: g.votes.Appender(), rims: g.rims.Appender(), hubs: g.hubs.Appender()}
}

func (v *bucketVoter) flush() error {
	return errors.Join(v.votes.Flush(), v.rims.Flush(), v.hubs.Flush())
}

// voted is a note on the progress of a grouper.
type voted struct {
	resume.Stored        // votes, rims, hubs; Count: buckets over the cap
	Bands         int    // that have voted
	Next          uint64 // number of buckets with rims
}

// VotedKind is the kind of these notes.
const VotedKind = "voted"

// Met are pairs that share buckets. The caller releases them.
type Met struct {
	Space *scratch.Space

	Pairs *extsort.Sorted // Value: votes; only spokes if sparse
	// Rims is set if sparse: Key is a document, Value the number of a bucket on whose rim it lies.
	Rims *extsort.Sorted
	// Hot has the buckets over the cap: Key is the bucket's key, Value a member, perhaps with graph.NotSampled, or, if
	// sparse, band<<32|a hub but the smallest.
	Hot    *extsort.Sorted
	Capped int64 // buckets over the cap
}

// Release frees the entries.
func (m *Met) Release() error { return m.Space.ReleaseAll(m.Pairs, m.Rims, m.Hot) }

// Candidates returns the candidate pairs of representatives: if sparse only spokes, and what
// Crossing needs. It continues where an earlier process stopped.
func Candidates(ctx context.Context, o Options, sparse bool) (*Met, error) {
	g := &grouper{Options: o, sparse: sparse}
	made, capped, err := o.Log.Step(ctx, "candidates", func() ([]*extsort.Sorted, int64, error) {
		made, err := g.run(ctx)
		return made, g.capped.Load(), err
	}, g.sorting()...)
	if err != nil {
		return nil, err
	}
	return &Met{o.Graph.Space, made[0], made[1], made[2], capped}, nil
}

// sorting returns the options of the sorters of votes, rims and hubs.
func (g *grouper) sorting() []extsort.Options {
	votes := g.Graph.Sorting("votes", 8)
	votes.Sum = true
	return []extsort.Options{votes, g.Graph.ByDoc("rims", 8), g.Graph.Space.Sorting("hubs", 16, 64)}
}

// run lets all bands vote, and returns votes, rims and hubs.
func (g *grouper) run(ctx context.Context) (votesRimsHubs []*extsort.Sorted, err error) {
	options := g.sorting()
	var before voted
	found, err := g.Log.Last(VotedKind, &before)
	if err != nil {
		return nil, err
	}
	if found {
		if len(before.Runs) != len(options) {
			return nil, scratch.ErrDamaged
		}
		g.capped.Store(before.Count)
		g.next.Store(before.Next)
	}
	for i, into := range []**extsort.Sorter{&g.votes, &g.rims, &g.hubs} {
		if found {
			options[i].Runs = before.Runs[i]
		}
		if *into, err = extsort.New(options[i]); err != nil {
			return nil, errors.Join(err, g.release())
		}
	}
	if err := g.bands(ctx, before.Bands); err != nil {
		return nil, errors.Join(err, g.release())
	}
	for _, sorter := range g.sorters() {
		sorted, err := sorter.Sort(ctx)
		if err != nil {
			return nil, errors.Join(err, g.release(), g.Graph.Space.ReleaseAll(votesRimsHubs...))
		}
		votesRimsHubs = append(votesRimsHubs, sorted)
	}
	return votesRimsHubs, nil
}

func (g *grouper) sorters() []*extsort.Sorter { return []*extsort.Sorter{g.votes, g.rims, g.hubs} }

func (g *grouper) release() (err error) {
	for _, s := range g.sorters() {
		if s != nil {
			err = errors.Join(err, g.Graph.Space.Release(s))
		}
	}
	return err
}

// bands processes the bands from the first one that has not voted.
func (g *grouper) bands(ctx context.Context, first int) error {
	keys, err := extsort.New(g.Graph.Space.Sorting("keys", 4, 64))
	if err != nil {
		return err
	}
	voters := make([]*bucketVoter, g.Graph.Space.Threads)
	for i := range voters {
		voters[i] = g.voter()
	}
	to := keys.Appenders(g.Graph.Space.Threads)
	together := g.together()
	if g.allBands() > g.Keys {
		if g.short, err = g.prefixes(ctx); err != nil {
			return errors.Join(err, g.Graph.Space.Release(keys))
		}
	}
	for band := first; band < g.allBands(); {
		next := min(band+together, g.allBands())
		err := g.group(ctx, band, next, keys, to, voters)
		if err == nil && g.Log.Due() {
			err = g.note(ctx, next)
		}
		if err != nil {
			return errors.Join(err, g.Graph.Space.Release(keys))
		}
		g.Progress.Advance(int64(g.Table.Docs)*int64(next-band), 0)
		band = next
	}
	return g.Graph.Space.Release(keys)
}

// TogetherKeys is how many keys are sorted at once if one band has fewer: with few documents,
// beginning and ending each of many bands would cost more than grouping.
const TogetherKeys = 1 << 16

// together returns how many bands are grouped at once. Keys of different bands are never equal (see
// lsh.Params.AppendKeys), but the records of a hot bucket for crossing pairs are of one band.
func (g *grouper) together() int {
	if g.sparse {
		return 1
	}
	return max(g.Together/max(g.Table.Docs, 1), 1)
}

// note records the votes of the bands so far.
func (g *grouper) note(ctx context.Context, bands int) error {
	v := voted{resume.Stored{Count: g.capped.Load()}, bands, g.next.Load()}
	for _, s := range g.sorters() {
		runs, err := s.Save(ctx)
		if err != nil {
			return err
		}
		v.Runs = append(v.Runs, runs)
	}
	return g.Log.Note(VotedKind, v)
}

// group groups the keys of some bands and lets every bucket vote.
func (g *grouper) group(ctx context.Context, first, next int, keys *extsort.Sorter, to []*extsort.Appender, voters []*bucketVoter) error {
	err := g.Table.EachSegment(ctx, g.Graph.Space.Threads, func(worker int, s *doctable.Scan) error {
		defer g.Meter.Since("group", worker, g.Meter.Now())
		for band := first; band < next; band++ {
			if err := g.addKeys(s, band, to[worker]); err != nil {
				return err
			}
		}
		return nil
	})
	if err = extsort.Flush(to, err); err != nil {
		return err
	}
	sorted, err := keys.Sort(ctx)
	if err != nil {
		return err
	}
	for _, v := range voters {
		v.band = first
	}
	err = sorted.Each(ctx, g.Graph.Space.Threads, func(worker int, part []extsort.Entry, more bool) error {
		defer g.Meter.Since("group", worker, g.Meter.Now())
		return voters[worker].take(part, more)
	})
	for _, v := range voters {
		err = errors.Join(err, v.flush())
	}
	return errors.Join(err, g.Graph.Space.Release(sorted), keys.Reset())
}

// addKeys adds a segment's keys of a band.
func (g *grouper) addKeys(s *doctable.Scan, band int, to *extsort.Appender) error {
	return g.eachKey(s, band, g.short, 0, uint32(g.Table.Docs), func(doc uint32, shape outline, key uint64) error {
		return to.Add(key, member(doc, shape))
	})
}

// member is a document of a bucket, with the outline of its set.
func member(doc uint32, shape outline) uint64 { return uint64(doc)<<32 | uint64(shape) }

func docOf(member uint64) uint32 { return uint32(member >> 32) }

// eachKey calls visit for every key of a band that representatives of a segment, from first up to
// end, have. short is for the last band, if that is the one of short sets; in others no set has an
// outline.
func (o *Options) eachKey(s *doctable.Scan, band int, short *prefixes, first, end uint32, visit func(doc uint32, shape outline, key uint64) error) error {
	if band < o.Keys {
		return s.EachKey(band, first, end, func(doc uint32, key uint64) error {
			if !o.Docs.Has(doc) {
				return nil
			}
			return visit(doc, 0, key)
		})
	}
	var keys []uint64
	return o.eachShort(s, shortQuery{counts: short.counts, first: first, end: end}, func(doc uint32, features []uint64) error {
		keys = short.appendKeys(keys[:0], features)
		shape := outlineOf(features)
		for _, key := range keys {
			if err := visit(doc, shape, key); err != nil {
				return err
			}
		}
		return nil
	})
}

// take votes for the pairs of the buckets in a part: several whole ones, or a piece of one that is
// too large.
func (v *bucketVoter) take(part []extsort.Entry, more bool) error {
	if more || len(v.huge) > 0 {
		v.takePiece(part)
		if !more {
			if v.present.Meet() {
				v.g.capped.Add(1)
			}
			v.huge, v.present = v.huge[:0], sides.Present{}
		}
		return v.err
	}
	return extsort.EachKey(part, func(run []extsort.Entry) error {
		if len(run) > 1 {
			v.bucket(run)
		}
		return v.err
	})
}

// takePiece pairs the documents of a piece with the bucket's hubs, the first documents of the first
// piece.
func (v *bucketVoter) takePiece(part []extsort.Entry) {
	for _, e := range part {
		v.present.Add(v.sides, docOf(e.Value))
		spokes := v.huge
		if v.g.sparse && len(v.huge) > 0 {
			spokes = v.huge[:1]
		}
		for _, hub := range spokes {
			v.vote(hub, e.Value)
		}
		if len(v.huge) < lsh.Hubs {
			if v.g.sparse {
				v.hub(e, len(v.huge))
			}
			v.huge = append(v.huge, e.Value)
		}
	}
	if !v.g.sparse {
		v.hot(part)
	}
}

// hot records members of a bucket over the cap.
func (v *bucketVoter) hot(part []extsort.Entry) {
	for _, e := range part {
		v.check(v.hubs.Add(e.Key, uint64(docOf(e.Value))))
	}
}

// bucket votes for the pairs of a bucket.
func (v *bucketVoter) bucket(run []extsort.Entry) {
	limit := v.g.Cap
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
		v.members = append(v.members, e.Value)
	}
	lsh.EachPair(v.members, limit, v.vote)
}

// spokes votes for the pairs of the smallest member, and records the other members of the bucket.
func (v *bucketVoter) spokes(run []extsort.Entry, over bool) {
	for _, e := range run[1:] {
		v.vote(run[0].Value, e.Value)
	}
	switch {
	case over:
		for i, e := range run[:min(lsh.Hubs, len(run))] {
			v.hub(e, i)
		}
	case len(run) > 2:
		number := v.g.next.Add(1)
		for _, e := range run[1:] {
			v.check(v.rims.Add(uint64(docOf(e.Value)), number))
		}
	}
}

// hub records a hub of a bucket over the cap: its i-th smallest member.
func (v *bucketVoter) hub(e extsort.Entry, i int) {
	if i > 0 {
		v.check(v.hubs.Add(e.Key, uint64(v.band)<<32|uint64(docOf(e.Value))))
	}
}

// vote counts that members a and b share a bucket, if they may be compared and may be similar.
func (v *bucketVoter) vote(a, b uint64) {
	if v.sides.Meet(docOf(a), docOf(b)) && (v.g.short == nil || v.g.short.mayReach(outline(a), outline(b))) {
		v.check(v.votes.Add(graph.Key(docOf(a), docOf(b)), 1))
	}
}

func (v *bucketVoter) check(err error) {
	if err != nil {
		v.err = err
	}
}

// across votes for the pairs of a bucket that go from one side to the other. The bucket is over the
// cap if these are more than all pairs of limit documents: comparing a few documents of one side
// with very many of the other is cheap enough.
func (v *bucketVoter) across(run []extsort.Entry, limit int) {
	v.members = v.members[:0]
	left, both := 0, 0
	for _, e := range run {
		doc := docOf(e.Value)
		v.members = append(v.members, e.Value)
		if v.sides.Left(doc) {
			left++
		}
		if v.sides.Both(doc) {
			both++
		}
	}
	right := len(run) - left + both
	switch pairs := sides.Pairs(left, right, both); {
	case pairs == 0:
	case int64(pairs) > int64(limit)*int64(limit-1)/2:
		v.g.capped.Add(1)
		v.hot(run)
		lsh.EachPair(v.members, limit, v.vote)
	default:
		v.eachAcross(v.members[:left], v.members[left:])
	}
}

// eachAcross votes for the pairs between the documents on the left, some of which may be on both
// sides, and those only on the right.
func (v *bucketVoter) eachAcross(left, right []uint64) {
	for _, a := range left {
		for _, b := range right {
			v.vote(a, b)
		}
		if !v.sides.Both(docOf(a)) {
			continue
		}
		for _, b := range left {
			if b > a || b < a && !v.sides.Both(docOf(b)) {
				v.vote(min(a, b), max(a, b))
			}
		}
	}
}
