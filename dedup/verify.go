package dedup

import (
	"context"
	"errors"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/internal/components"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/recipe"
)

// unitBytes is how much raw text a unit of verification re-reads: so little that
// the feature sets, about 1.3 times as much, stay in the second-level cache. With
// 8 MiB verifying takes a sixth longer, and the last units keep one worker waiting.
const unitBytes = 1 << 20

// unitPairs is how many pairs a unit holds at most.
const unitPairs = 1 << 13

// verifier establishes similarities of pairs of representatives. The feature
// sets come from the table where it keeps them, else from the records, read
// again by the unit of pairs that needs them.
//
// An edge is a pair that was found similar, with the similarity: the measure of the feature
// sets or, where the recipe decides by signatures, what they show. As an entry its Key is
// the pair and its Value the bits of the float.
type verifier struct {
	r       *run
	records *recordStore
}

// fromRecords tells whether records are read again.
func (v *verifier) fromRecords() bool {
	return v.r.recipe.BySets() && !v.r.table.hasSets
}

// unit is a number of pairs that one worker verifies, and the documents that
// they are of, ascending.
type unit struct {
	pairs []pair
	docs  []uint32
	size  int64 // bytes of their records, as far as they are read
}

// verification is what is to be verified.
type verification struct {
	pairs *extsort.Sorted
	votes uint64 // that a pair needs
	known bitset // of documents whose pairs among each other are known; nil: none
	rate  bool   // every pair gets its similarity, not only those that reach the threshold
	kind  string // of the notes of how far it is; "": none
}

// verify returns the edges among pairs, and how many pairs have enough votes.
func (v *verifier) verify(ctx context.Context, what verification) (edges *extsort.Sorted, compared int64, err error) {
	r := v.r
	o := r.work.sorting("edges", 8, r.table.keyBits())
	c := &cutter{v: v, votes: what.votes, known: what.known, noted: what.kind != "", docs: r.table.cursor(), seen: map[uint32]bool{}}
	var before stored
	if what.kind != "" {
		found, err := r.work.log.last(what.kind, &before)
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
	ordered := what.pairs
	if v.fromRecords() {
		if ordered, err = v.byComponent(ctx, what.pairs); err == nil {
			defer func() { err = errors.Join(err, r.work.release(ordered)) }()
			err = v.records.prepare(ctx, what.pairs)
		}
	}
	if err == nil {
		c.in = ordered.Reader()
		err = v.rounds(ctx, what, c, sorter)
		err = errors.Join(err, c.in.Close())
	}
	edges, err = r.work.ended(ctx, sorter, err)
	return edges, c.done, err
}

// rounds verifies until it is time for a note, again and again.
func (v *verifier) rounds(ctx context.Context, what verification, c *cutter, edges *extsort.Sorter) error {
	to := appenders(edges, v.r.config.Threads)
	for !c.ended {
		err := v.round(ctx, what.rate, c, to)
		if err = flush(to, err); err != nil {
			return err
		}
		if c.ended || what.kind == "" {
			continue
		}
		runs, err := edges.Save(ctx)
		if err != nil {
			return err
		}
		if err := v.r.work.log.note(what.kind, stored{[][]extsort.Run{runs}, c.done}); err != nil {
			return err
		}
	}
	return nil
}

// round lets all workers verify units.
func (v *verifier) round(ctx context.Context, rate bool, c *cutter, to []*extsort.Appender) error {
	units := make(chan unit)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(units)
		return c.cut(ctx, units)
	})
	for worker, edges := range to {
		group.Go(func() error {
			defer v.r.clock.meter.since("verify", worker, v.r.clock.meter.now())
			w := v.newWorker(ctx, rate, edges)
			defer w.close()
			for u := range units {
				if err := w.verify(ctx, u); err != nil {
					return err
				}
				v.r.config.Progress.Advance(int64(len(u.pairs)), 0)
			}
			return nil
		})
	}
	return group.Wait()
}

// byComponent orders pairs so that those connected with each other lie
// together: a unit then meets each of its documents in many pairs.
func (v *verifier) byComponent(ctx context.Context, pairs *extsort.Sorted) (*extsort.Sorted, error) {
	labels, err := v.r.components(ctx, pairs)
	if err != nil {
		return nil, err
	}
	ordered, err := v.r.labelled(ctx, pairs, labels)
	return ordered, errors.Join(err, v.r.work.release(labels))
}

// labelled returns pairs by the label of their component: Key is label<<32|b,
// Value the lower half of what it was above a. Ordered by b, since where a few
// documents are compared with very many they are the a's: so each b is read once.
func (r *run) labelled(ctx context.Context, pairs, labels *extsort.Sorted) (*extsort.Sorted, error) {
	return r.work.sorted(ctx, r.work.sorting("labelled", 8, r.table.keyBits()), func(to *extsort.Appender) error {
		by := newLookup(labels)
		err := each(pairs, func(e extsort.Entry) error {
			p := pairOf(e.Key)
			label, _ := by.find(uint64(p.a)) // every document of a pair has one
			return to.Add(label<<32|uint64(p.b), e.Value<<32|uint64(p.a))
		})
		return errors.Join(err, by.Err(), by.Close())
	})
}

// components labels every document of a pair with the smallest one that pairs
// lead to from there.
func (r *run) components(ctx context.Context, pairs *extsort.Sorted) (*extsort.Sorted, error) {
	share := int64(4)
	if r.work.spilled.Load() > 0 { // the table has left its half
		share = 2
	}
	return components.Components(ctx, pairs, r.table.n, r.work.sorting("components", share, 0))
}

// cutter cuts pairs into units.
type cutter struct {
	v     *verifier
	in    *extsort.Reader
	votes uint64
	known bitset
	docs  *cursor
	skip  int64 // pairs to pass over
	done  int64 // pairs gone through
	ended bool
	noted bool // whether what is verified is noted now and then

	unit unit
	seen map[uint32]bool
}

// cut sends pairs with enough votes in units, by the bytes of the distinct
// records that a unit reads or, when nothing is read, by number alone. It returns
// at the end, or when it is time for a note.
func (c *cutter) cut(ctx context.Context, units chan<- unit) error {
	log := c.v.r.work.log
	for first := true; first || !c.noted || !log.due(); first = false { // some progress before the next note
		e, ok := c.in.Next()
		if !ok {
			c.ended = true
			break
		}
		p, votes := pairOf(e.Key), e.Value
		if c.v.fromRecords() {
			p, votes = pair{uint32(e.Value), uint32(e.Key)}, e.Value>>32
		}
		if votes < c.votes || c.known != nil && c.known.has(p.a) && c.known.has(p.b) {
			continue
		}
		c.done++
		if c.done <= c.skip {
			continue
		}
		c.add(p)
		if c.unit.size >= unitBytes || len(c.unit.pairs) >= unitPairs {
			if err := c.send(ctx, units); err != nil {
				return err
			}
		}
	}
	return errors.Join(c.send(ctx, units), c.in.Err(), c.docs.err)
}

func (c *cutter) add(p pair) {
	c.unit.pairs = append(c.unit.pairs, p)
	if !c.v.fromRecords() {
		return
	}
	for _, doc := range [2]uint32{p.a, p.b} {
		if !c.seen[doc] {
			c.seen[doc] = true
			c.unit.docs = append(c.unit.docs, doc)
			c.unit.size += int64(c.docs.doc(doc).length)
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

// verifyWorker owns the scratch memory of one goroutine.
type verifyWorker struct {
	v        *verifier
	bySets   bool
	comparer *recipe.Comparer
	edges    *extsort.Appender
	maker    *recipe.SetMaker
	fetch    *fetcher // nil: no records are read
	a, b     *cursor
	docs     []uint32 // distinct documents of the unit, ascending
	arena    []uint64 // their feature sets, one after the other
	ends     []int
}

func (v *verifier) newWorker(ctx context.Context, rate bool, edges *extsort.Appender) *verifyWorker {
	r := v.r
	w := &verifyWorker{
		v: v, bySets: r.recipe.BySets(), comparer: r.recipe.NewComparer(rate), edges: edges, a: r.table.cursor(), b: r.table.cursor(),
	}
	if v.fromRecords() {
		w.maker, w.fetch = r.recipe.NewSetMaker(), v.records.newFetcher(ctx)
	}
	return w
}

func (w *verifyWorker) close() {
	if w.fetch != nil {
		w.fetch.close()
	}
}

// verify adds the edges of one unit. One with a long record waits for its turn, and
// gives its memory back.
func (w *verifyWorker) verify(ctx context.Context, u unit) error {
	release, err := w.v.r.work.turn.Take(ctx, int(u.size))
	if err != nil {
		return err
	}
	if release != nil {
		defer release()
	}
	defer w.trim()
	if w.fetch != nil {
		if err := w.load(u.docs); err != nil {
			return err
		}
	}
	for _, p := range u.pairs {
		similarity, ok := w.compare(p)
		if err := errors.Join(w.a.err, w.b.err); err != nil {
			return err
		}
		if ok {
			if err := w.edges.Add(p.key(), math.Float64bits(similarity)); err != nil {
				return err
			}
		}
	}
	return nil
}

// compare returns the similarity of a pair and whether it is wanted.
func (w *verifyWorker) compare(p pair) (similarity float64, ok bool) {
	switch {
	case !w.bySets:
		return w.comparer.Signatures(w.a.signature(p.a), w.b.signature(p.b))
	case w.fetch != nil:
		return w.comparer.Sets(w.loaded(p.a), w.loaded(p.b))
	}
	return w.comparer.Sets(w.a.set(p.a), w.b.set(p.b))
}

// trim gives back the memory that long records have left.
func (w *verifyWorker) trim() {
	if cap(w.arena) > arenaMax {
		w.arena = nil
	}
	if w.fetch != nil {
		w.fetch.trim(0)
	}
}

// arenaMax is how many features' memory is kept from one unit to the next, 8 MiB.
const arenaMax = 1 << 20

// makeRoom makes room for the features of documents, just as much as they take: an
// arena that grows step by step is there twice or more.
func (w *verifyWorker) makeRoom(docs []uint32) error {
	n := 0
	w.fetch.longest = 0
	for _, doc := range docs {
		d := w.a.doc(doc)
		n += int(d.features)
		w.fetch.longest = max(w.fetch.longest, int(d.length))
	}
	if cap(w.arena) < n {
		w.arena = make([]uint64, 0, max(n, min(n+n/4, arenaMax)))
	}
	return w.a.err
}

// load reads the records of documents and makes their feature sets.
func (w *verifyWorker) load(docs []uint32) error {
	w.docs, w.arena, w.ends = docs, w.arena[:0], w.ends[:0]
	if err := w.makeRoom(docs); err != nil {
		return err
	}
	for _, doc := range docs {
		text, err := w.fetch.text(doc)
		if err != nil {
			return err
		}
		w.arena = w.maker.AppendSet(w.arena, text)
		w.ends = append(w.ends, len(w.arena))
	}
	return nil
}

func (w *verifyWorker) loaded(doc uint32) []uint64 {
	i, _ := slices.BinarySearch(w.docs, doc)
	start := 0
	if i > 0 {
		start = w.ends[i-1]
	}
	return w.arena[start:w.ends[i]]
}
