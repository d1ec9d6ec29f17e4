package verify

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/dedup/internal/graph"
	"github.com/alike-dev/alike/dedup/internal/meter"
	"github.com/alike-dev/alike/dedup/internal/reread"
	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/distinct"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/resume"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/simjoin"
)

// unitBytes is how much raw text a unit of verification reads again: so little that the feature
// sets, about 1.3 times as much, stay in the second-level cache. With 8 MiB verifying takes a sixth
// longer, and other workers wait for the last units.
const unitBytes = 1 << 20

// unitPairs is how many pairs a unit holds at most.
const unitPairs = 1 << 13

// Options say how pairs are verified.
type Options struct {
	Graph    graph.Graph
	Records  *reread.Store // of the documents
	Edges    graph.Edges   // which edges pairs of sets make
	Log      *resume.Log   // nil: nothing is noted
	Progress meter.Progress
	Meter    *meter.Meter // nil: nothing is measured

	made [][]uint64 // sets of documents, made once for all units; nil: not made
}

// fromRecords tells whether records must be read again because the table lacks the sets.
func (v *Options) fromRecords() bool {
	return v.Records.Recipe.BySets() && !v.Records.Table.HasSets
}

// unit is a number of pairs that one worker verifies, with their documents, ascending.
type unit struct {
	pairs []graph.Pair
	docs  []uint32
	size  int64 // bytes of the records that are read
}

// Query says what to verify.
type Query struct {
	Pairs *extsort.Sorted
	Votes uint64             // that a pair needs
	Known bitset.Set[uint32] // documents all of whose pairs with each other are known; nil: none
	Rate  bool               // every pair gets its similarity, not only those that reach the threshold
	Kind  string             // of the notes on progress; "": none
}

// wants tells whether a pair with so many votes is verified.
func (q *Query) wants(p graph.Pair, votes uint64) bool {
	return votes >= q.Votes && (q.Known == nil || !q.Known.Has(p.A) || !q.Known.Has(p.B))
}

// Pairs computes the similarities of pairs of representatives. It returns the edges among them, and
// how many pairs have enough votes. The caller releases the edges.
//
// The feature sets come from the table if it keeps them, otherwise from the records, which each
// unit of pairs reads again.
func Pairs(ctx context.Context, v Options, what Query) (edges *extsort.Sorted, compared int64, err error) {
	if v.Log == nil {
		what.Kind = ""
	}
	if !v.fromRecords() {
		return v.pairs(ctx, what, what.Pairs)
	}
	all, err := v.outline(ctx, &what)
	if err != nil {
		return nil, 0, err
	}
	left := what.Pairs
	if all != nil {
		if left, compared, err = v.possible(ctx, &what, all); err != nil {
			return nil, 0, err
		}
		defer func() { err = errors.Join(err, v.Graph.Space.Release(left)) }()
		v.Progress.Advance(compared-left.Len(), 0)
		v.made, all.bits = all.sets, nil
		if what.Kind != "" { // another process may have room for them where this one has none
			what.Kind += "-outlined"
		}
	}
	ordered, err := v.byComponent(ctx, left)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, v.Graph.Space.Release(ordered)) }()
	if v.made == nil {
		if err = v.Records.Prepare(ctx, left); err != nil {
			return nil, 0, err
		}
	}
	edges, n, err := v.pairs(ctx, what, ordered)
	if all == nil {
		compared = n
	}
	return edges, compared, err
}

// pairs verifies pairs in this order.
func (v *Options) pairs(ctx context.Context, what Query, ordered *extsort.Sorted) (edges *extsort.Sorted, compared int64, err error) {
	c := &cutter{v: v, what: &what, docs: v.Records.Table.Cursor(), seen: map[uint32]bool{}}
	o := v.Graph.Sorting("edges", 8)
	if what.Kind != "" {
		var before resume.Stored
		found, err := v.Log.Last(what.Kind, &before)
		if err != nil {
			return nil, 0, err
		}
		if found {
			o.Runs, c.skip = before.Runs[0], before.Count
		}
	}
	sorter, err := extsort.New(o)
	if err != nil {
		return nil, 0, err
	}
	c.in = ordered.Reader()
	err = v.rounds(ctx, what, c, sorter)
	err = errors.Join(err, c.in.Close())
	edges, err = v.Graph.Space.Ended(ctx, sorter, err)
	return edges, c.done, err
}

// rounds repeats verifying until it is time for a note, and writing the note.
func (v *Options) rounds(ctx context.Context, what Query, c *cutter, edges *extsort.Sorter) error {
	to := edges.Appenders(v.Graph.Space.Threads)
	for !c.ended {
		err := v.round(ctx, what.Rate, c, to)
		if err = extsort.Flush(to, err); err != nil {
			return err
		}
		if c.ended || what.Kind == "" {
			continue
		}
		runs, err := edges.Save(ctx)
		if err != nil {
			return err
		}
		if err := v.Log.Note(what.Kind, resume.Stored{Runs: [][]extsort.Run{runs}, Count: c.done}); err != nil {
			return err
		}
	}
	return nil
}

// round makes all workers verify units.
func (v *Options) round(ctx context.Context, rate bool, c *cutter, to []*extsort.Appender) error {
	units := make(chan unit)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(units)
		return c.cut(ctx, units)
	})
	for worker, edges := range to {
		group.Go(func() error {
			defer v.Meter.Since("verify", worker, v.Meter.Now())
			w := v.newWorker(ctx, rate, edges)
			defer w.close()
			for u := range units {
				if err := w.verify(ctx, u); err != nil {
					return err
				}
				v.Progress.Advance(int64(len(u.pairs)), 0)
			}
			return nil
		})
	}
	return group.Wait()
}

// byComponent orders pairs by connected component, so that a unit has each of its documents in many
// pairs.
func (v *Options) byComponent(ctx context.Context, pairs *extsort.Sorted) (*extsort.Sorted, error) {
	labels, err := v.Graph.Components(ctx, pairs)
	if err != nil {
		return nil, err
	}
	ordered, err := v.Graph.ByLabel(ctx, pairs, labels)
	return ordered, errors.Join(err, v.Graph.Space.Release(labels))
}

// cutter cuts pairs into units.
type cutter struct {
	v     *Options
	in    *extsort.Reader
	what  *Query
	docs  *doctable.Cursor
	skip  int64 // pairs to skip
	done  int64 // pairs processed
	ended bool

	unit unit
	seen map[uint32]bool
}

// cut sends pairs with enough votes in units, by the bytes of the distinct records that a unit
// reads or, when nothing is read, by number alone. It returns at the end, or when it is time for a
// note: not before there are new pairs to record, since after a note of fewer pairs than the last
// one their edges would be made again.
func (c *cutter) cut(ctx context.Context, units chan<- unit) error {
	log := c.v.Log
	for added := false; !added || c.what.Kind == "" || !log.Due(); {
		e, ok := c.in.Next()
		if !ok {
			c.ended = true
			break
		}
		p, votes := graph.PairOf(e.Key), e.Value
		if c.v.fromRecords() {
			p, votes = graph.Pair{A: uint32(e.Value), B: uint32(e.Key)}, e.Value>>32
		}
		if !c.what.wants(p, votes) {
			continue
		}
		c.done++
		if c.done <= c.skip {
			continue
		}
		c.add(p)
		added = true
		if c.unit.size >= unitBytes || len(c.unit.pairs) >= unitPairs {
			if err := c.send(ctx, units); err != nil {
				return err
			}
		}
	}
	return errors.Join(c.send(ctx, units), c.in.Err(), c.docs.Err)
}

func (c *cutter) add(p graph.Pair) {
	c.unit.pairs = append(c.unit.pairs, p)
	if !c.v.fromRecords() {
		return
	}
	for _, doc := range [2]uint32{p.A, p.B} {
		if !c.seen[doc] {
			c.seen[doc] = true
			c.unit.docs = append(c.unit.docs, doc)
			c.unit.size += int64(c.docs.Doc(doc).Length)
		}
	}
}

func (c *cutter) send(ctx context.Context, units chan<- unit) error {
	if len(c.unit.pairs) == 0 {
		return nil
	}
	slices.Sort(c.unit.docs)
	select {
	case units <- c.unit:
	case <-ctx.Done():
		return ctx.Err()
	}
	c.unit = unit{}
	clear(c.seen)
	return nil
}

// fewPairs is how many pairs a document of a unit is in, on average, so that it pays to compare the
// features of each pair as they are. Sorting a document's features takes as long as comparing it three
// times, and comparing sorted sets next to nothing.
const fewPairs = 4

// worker owns the scratch memory of one goroutine.
type worker struct {
	v        *Options
	bySets   bool
	rate     bool // every pair is wanted
	comparer *recipe.Comparer
	edges    *extsort.Appender
	maker    *recipe.SetMaker
	fetch    *reread.Fetcher // nil: no records are read
	a, b     *doctable.Cursor
	docs     []uint32 // distinct documents of the unit, ascending
	sorted   bool     // whether the arena has sets, or features as they are in the text
	arena    []uint64 // of the documents, one after the other
	ends     []int
	unsorted *distinct.Comparer
}

func (v *Options) newWorker(ctx context.Context, rate bool, edges *extsort.Appender) *worker {
	recipe, t := v.Records.Recipe, v.Records.Table
	w := &worker{v: v, bySets: recipe.BySets(), rate: rate, comparer: recipe.NewComparer(rate), edges: edges, a: t.Cursor(), b: t.Cursor()}
	if v.fromRecords() && v.made == nil {
		w.maker, w.fetch = recipe.NewSetMaker(), v.Records.NewFetcher(ctx)
		w.unsorted = distinct.NewComparer(rand.Uint64())
	}
	return w
}

func (w *worker) close() {
	if w.fetch != nil {
		w.fetch.Close()
	}
}

// verify adds the edges of one unit. A unit with a long record waits for its turn, and gives its
// memory back.
func (w *worker) verify(ctx context.Context, u unit) error {
	release, err := w.v.Graph.Space.Turn.Take(ctx, int(u.size))
	if err != nil {
		return err
	}
	if release != nil {
		defer release()
	}
	defer w.trim()
	if w.fetch != nil {
		if err := w.load(u); err != nil {
			return err
		}
	}
	for _, p := range u.pairs {
		if err := w.compare(p); err != nil {
			return err
		}
	}
	return nil
}

// compare adds the edges of a pair of the unit.
func (w *worker) compare(p graph.Pair) error {
	similarity, wanted := 0.0, true
	switch {
	case !w.bySets:
		similarity, wanted = w.comparer.Signatures(w.a.Signature(p.A), w.b.Signature(p.B))
	case !w.rate:
		return w.compareSets(p)
	default:
		similarity, _ = w.comparer.Sets(w.sets(p))
	}
	if err := errors.Join(w.a.Err, w.b.Err); err != nil || !wanted {
		return err
	}
	return w.edges.Add(p.Key(), math.Float64bits(similarity))
}

// compareSets adds the edges of a pair whose sets reach the threshold.
func (w *worker) compareSets(p graph.Pair) error {
	m, ok := w.match(p)
	if err := errors.Join(w.a.Err, w.b.Err); err != nil || !ok {
		return err
	}
	return w.v.Edges.Add(w.edges, m)
}

// match counts what the sets of a pair have in common, and tells whether they reach the threshold.
func (w *worker) match(p graph.Pair) (m measure.Match, ok bool) {
	a, b := w.sets(p)
	threshold := w.v.Edges.Threshold.Undirected()
	sizeA, sizeB, inter := len(a), len(b), 0
	if w.fetch != nil && !w.sorted {
		sizeA, sizeB, inter = w.unsorted.Compare(a, b)
		ok = threshold.Reached(uint64(inter), uint64(sizeA), uint64(sizeB))
	} else {
		inter, ok = simjoin.Verify(a, b, threshold)
	}
	return measure.Match{A: uint64(p.A), B: uint64(p.B), Intersection: uint64(inter), SizeA: uint64(sizeA), SizeB: uint64(sizeB)}, ok
}

// sets returns the sets of a pair: of the unit, where they may be unsorted, or, when nothing is read, of
// the table.
func (w *worker) sets(p graph.Pair) (a, b []uint64) {
	if w.fetch != nil {
		return w.loaded(p.A), w.loaded(p.B)
	}
	if w.v.made != nil {
		return w.v.made[p.A], w.v.made[p.B]
	}
	return w.a.Set(p.A), w.b.Set(p.B)
}

// trim gives back the memory that long records have left.
func (w *worker) trim() {
	if cap(w.arena) > arenaMax {
		w.arena = nil
	}
	if w.fetch != nil {
		w.fetch.Trim(0)
	}
}

// arenaMax is the number of features whose memory is kept for the next unit, 8 MiB.
const arenaMax = 1 << 20

// makeRoom makes room for the features of documents, exactly as much as they take: an arena that
// grows step by step would be in memory at least twice. It returns the largest number of features of
// a document.
func (w *worker) makeRoom(docs []uint32) (most int, err error) {
	n := 0
	w.fetch.Longest = 0
	for _, doc := range docs {
		d := w.a.Doc(doc)
		n += int(d.Features)
		most = max(most, int(d.Features))
		w.fetch.Longest = max(w.fetch.Longest, int(d.Length))
	}
	if cap(w.arena) < n {
		w.arena = make([]uint64, 0, max(n, min(n+n/4, arenaMax)))
	}
	return most, w.a.Err
}

// load reads the records of a unit's documents and makes their features, and of them sets unless
// documents are in few pairs.
func (w *worker) load(u unit) error {
	w.docs, w.arena, w.ends = u.docs, w.arena[:0], w.ends[:0]
	most, err := w.makeRoom(u.docs)
	if err != nil {
		return err
	}
	w.sorted = w.rate || 2*len(u.pairs) > fewPairs*len(u.docs) || 2*most > distinct.ComparedMost
	for _, doc := range u.docs {
		text, err := w.fetch.Text(doc)
		if err != nil {
			return err
		}
		start := len(w.arena)
		w.arena = w.maker.AppendFeatures(w.arena, text)
		if len(w.arena)-start > most {
			return w.fetch.Changed(doc)
		}
		if w.sorted {
			w.arena = w.arena[:start+len(distinct.Sort(w.arena[start:]))]
		}
		w.ends = append(w.ends, len(w.arena))
	}
	return nil
}

func (w *worker) loaded(doc uint32) []uint64 {
	i, _ := slices.BinarySearch(w.docs, doc)
	start := 0
	if i > 0 {
		start = w.ends[i-1]
	}
	return w.arena[start:w.ends[i]]
}
