// Package thirds takes out similar pairs by looking at their texts once more: with Whole those of which no text stands in the
// other one, and with Left those that other texts contradict: two that ran into the same neighbour share a real
// passage, and are no copies. A third text, similar to one of a pair, contradicts it if it has little of what both have
// in common: see package places. A pair goes if more of the texts that are similar to one of the two contradict it than
// not, unless nearly all of one text stands in the other.
//
//	edges → the texts most similar to each document → edges by group → units → verdicts → edges that stay
//
// A group is what is connected by the edges to the most similar text of each: copies, mostly. Components of all edges
// would be large, as passages connect them, and a text would rarely be held when it is asked again.
//
// What a pair is judged by depends on all edges and on the texts alone, so the result is the same for any number of
// workers. The texts are read again, a few at a time.
package thirds

import (
	"cmp"
	"context"
	"errors"
	"math"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/dedup/internal/graph"
	"github.com/alike-dev/alike/dedup/internal/meter"
	"github.com/alike-dev/alike/dedup/internal/reread"
	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/places"
	"github.com/alike-dev/alike/internal/sides"
	"github.com/alike-dev/alike/internal/sorting"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/shingle"
)

// Options say how third texts are asked.
type Options struct {
	Graph    graph.Graph
	Records  *reread.Store // of the documents
	Parts    bool          // for Whole: a text goes for one with a larger set, as edges are by containment, not for a longer one
	Progress meter.Progress
	Meter    *meter.Meter // nil: nothing is measured
}

// unitPairs is how many pairs a worker takes at once.
const unitPairs = 64

// Left returns the edges that third texts leave, and how many they do not. The caller releases them.
func Left(ctx context.Context, o Options, edges *extsort.Sorted) (left *extsort.Sorted, gone int64, err error) {
	related, err := relatedOf(ctx, o.Graph, edges)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, related.close()) }()
	return o.left(ctx, edges, related.nearest, "thirds", func(w *worker) func(graph.Pair) (bool, error) {
		w.related = related
		return w.contradicted
	})
}

// left returns the edges that stay, and how many go, as a worker's function says. Edges of one component of near are judged one
// after the other, since they share texts.
func (o *Options) left(
	ctx context.Context, edges, near *extsort.Sorted, name string, by func(*worker) func(graph.Pair) (goes bool, err error),
) (left *extsort.Sorted, gone int64, err error) {
	space := o.Graph.Space
	if err := o.Records.Prepare(ctx, edges); err != nil {
		return nil, 0, err
	}
	labels, err := o.Graph.Components(ctx, near)
	if err != nil {
		return nil, 0, err
	}
	ordered, err := o.Graph.ByLabel(ctx, edges, labels)
	if err = errors.Join(err, space.Release(labels)); err != nil {
		return nil, 0, err
	}
	out, err := o.judged(ctx, ordered, name, by)
	if err = errors.Join(err, space.Release(ordered)); err != nil {
		return nil, 0, err
	}
	left, err = o.Graph.Without(ctx, edges, out)
	return left, out.Len(), errors.Join(err, space.Release(out))
}

// judged returns the edges that go, as a worker's function says. Those given are ordered as by graph.ByLabel.
func (o *Options) judged(
	ctx context.Context, ordered *extsort.Sorted, name string, by func(*worker) func(graph.Pair) (goes bool, err error),
) (*extsort.Sorted, error) {
	sorter, err := extsort.New(o.Graph.Sorting("gone", 8))
	if err != nil {
		return nil, err
	}
	units := make(chan []graph.Pair)
	to := sorter.Appenders(o.Graph.Space.Threads)
	group, within := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(units)
		return send(within, ordered, units)
	})
	for number, out := range to {
		group.Go(func() error {
			defer o.Meter.Since(name, number, o.Meter.Now())
			w := o.newWorker(within)
			defer w.fetch.Close()
			judge := by(w)
			for pairs := range units {
				for _, p := range pairs {
					goes, err := judge(p)
					if err == nil && goes {
						err = out.Add(p.Key(), 0)
					}
					if err != nil {
						return err
					}
				}
				o.Progress.Advance(int64(len(pairs)), 0)
			}
			return nil
		})
	}
	err = extsort.Flush(to, group.Wait())
	return o.Graph.Space.Ended(ctx, sorter, err)
}

func send(ctx context.Context, ordered *extsort.Sorted, units chan<- []graph.Pair) error {
	var unit []graph.Pair
	flush := func() error {
		select {
		case units <- unit:
		case <-ctx.Done():
			return ctx.Err()
		}
		unit = nil
		return nil
	}
	err := ordered.Visit(func(e extsort.Entry) error {
		unit = append(unit, graph.Pair{A: uint32(e.Value), B: uint32(e.Key)})
		if len(unit) == unitPairs {
			return flush()
		}
		return nil
	})
	if err == nil && len(unit) > 0 {
		err = flush()
	}
	return err
}

// worker judges pairs, for one goroutine.
type worker struct {
	o       *Options
	ctx     context.Context
	related *related
	docs    *doctable.Cursor
	fetch   *reread.Fetcher
	reader  *places.Reader
	judging places.Judge
	ofA     []uint32
	ofB     []uint32
	maker   *recipe.SetMaker // nil: sets are in the table, or not asked for
	made    []uint64
	held    map[uint32]*places.Text
	sizes   map[uint32]uint64 // with a maker, of the sets of those held
	bytes   int               // of those held
}

// heldBytes is about how much memory the texts that a worker holds take.
const heldBytes = 2 << 20

func (o *Options) newWorker(ctx context.Context) *worker {
	return &worker{
		o: o, ctx: ctx, docs: o.Records.Table.Cursor(), fetch: o.Records.NewFetcher(ctx), reader: places.NewReader(o.features()), held: map[uint32]*places.Text{},
	}
}

func (o *Options) features() shingle.Options {
	features, _ := o.Records.Recipe.Features()
	return features
}

// contradicted tells whether more third texts contradict a pair than not.
func (w *worker) contradicted(p graph.Pair) (goes bool, err error) {
	if w.ofA, err = w.related.of(w.ofA, p.A, p.B); err != nil {
		return false, err
	}
	if w.ofB, err = w.related.of(w.ofB, p.B, p.A); err != nil {
		return false, err
	}
	if len(w.ofA)+len(w.ofB) == 0 {
		return false, nil
	}
	a, b, err := w.texts(p)
	if err != nil || !w.judging.Doubts(a, b) {
		return false, err
	}
	more, left := 0, len(w.ofA)+len(w.ofB)
	for side, thirds := range [2][]uint32{w.ofA, w.ofB} {
		of := [2]*places.Text{a, b}[side]
		for _, c := range thirds {
			if more > left || more+left <= 0 {
				break // the others change nothing
			}
			third, err := w.text(c)
			if err != nil {
				return false, err
			}
			if w.judging.Contradicts(of, third) {
				more++
			} else {
				more--
			}
			left--
		}
	}
	return more > 0, nil
}

func (w *worker) texts(p graph.Pair) (a, b *places.Text, err error) {
	if a, err = w.text(p.A); err == nil {
		b, err = w.text(p.B)
	}
	return a, b, err
}

// text returns a document's text, which stays valid.
func (w *worker) text(doc uint32) (*places.Text, error) {
	if t := w.held[doc]; t != nil {
		return t, nil
	}
	t, err := w.read(doc, math.MaxInt)
	if err != nil {
		return nil, err
	}
	if w.bytes += t.Bytes(); w.bytes > heldBytes {
		clear(w.held)
		w.bytes = t.Bytes()
		clear(w.sizes)
	}
	if w.maker != nil {
		w.sizes[doc] = uint64(len(w.made))
	}
	w.held[doc] = t
	return t, nil
}

// read reads the beginning of a document's text, of up to so many bytes.
func (w *worker) read(doc uint32, most int) (*places.Text, error) {
	release, err := w.o.Graph.Space.Turn.Take(w.ctx, int(w.docs.Doc(doc).Length))
	if err = errors.Join(err, w.docs.Err); err != nil {
		return nil, err
	}
	if release != nil {
		defer release()
	}
	raw, err := w.fetch.Text(doc)
	if err != nil {
		return nil, err
	}
	if w.maker != nil {
		w.made = w.docs.WithinHash(doc).Set(w.maker.AppendSet(w.made[:0], raw))
	}
	t := w.reader.Read(raw[:min(len(raw), most)])
	if release != nil {
		w.fetch.Trim(0)
	}
	return t, nil
}

// Whole returns the edges of which the smaller text, or that which is no reference, stands in the other one, as
// places.WholeShare says, and how many are not such. Of documents, each with features of its own, some are drawn to count
// what many have. The caller releases the edges.
func Whole(ctx context.Context, o Options, s *sides.Policy, documents bitset.Set[uint32], edges *extsort.Sorted) (left *extsort.Sorted, gone int64, err error) {
	common, err := o.common(ctx, documents)
	if err != nil {
		return nil, 0, err
	}
	return o.left(ctx, edges, edges, "whole", func(w *worker) func(graph.Pair) (bool, error) {
		w.reader = places.NewWholeReader(o.features(), common)
		if o.Parts && !o.Records.Table.HasSets {
			w.maker, w.sizes = o.Records.Recipe.NewSetMaker(), map[uint32]uint64{}
		}
		return func(p graph.Pair) (goes bool, err error) { return w.partial(s, p) }
	})
}

// partial tells whether only a part of the text that could be removed stands in the other one.
func (w *worker) partial(s *sides.Policy, p graph.Pair) (bool, error) {
	a, err := w.text(p.A)
	if err != nil {
		return false, err
	}
	ofA := places.Side{Text: a, Size: w.size(p.A), Reference: s.Reference(p.A)} // now: the other text may take its place
	b, err := w.text(p.B)
	if err != nil {
		return false, err
	}
	return w.judging.Partial(ofA, places.Side{Text: b, Size: w.size(p.B), Reference: s.Reference(p.B)}), w.docs.Err
}

// size returns the size by which stars are made of a document whose text is held: the larger one of a pair stays.
func (w *worker) size(doc uint32) uint64 {
	switch {
	case w.maker != nil:
		return w.sizes[doc]
	case w.o.Parts:
		return uint64(w.docs.SetSize(doc))
	}
	return uint64(w.docs.Doc(doc).TextSize)
}

// common counts what many documents have in some that are drawn by their digests.
func (o *Options) common(ctx context.Context, documents bitset.Set[uint32]) (*places.Common, error) {
	type drawn struct {
		order uint64
		doc   uint32
		size  int
	}
	var all []drawn
	whole := documents.Len()
	c := o.Records.Table.Scanner()
	for doc := range documents.All() {
		d := c.Doc(doc)
		if order := places.CountedOrder(d.Digest); places.CanCount(order, whole) {
			all = append(all, drawn{order, doc, int(d.TextSize)})
		}
	}
	if c.Err != nil {
		return nil, c.Err
	}
	sorting.Func(all, func(a, b drawn) int { return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.doc, b.doc)) })
	var counting places.Counting
	n := 0
	for n < len(all) && counting.Takes(all[n].size) {
		n++
	}
	all = all[:n]
	wanted := bitset.New[uint32](o.Graph.Docs)
	for _, d := range all {
		wanted.Add(d.doc)
	}
	if err := o.Records.PrepareAll(ctx, wanted); err != nil {
		return nil, err
	}
	w := o.newWorker(ctx)
	defer w.fetch.Close()
	texts := make([]*places.Text, len(all))
	for i, d := range all {
		var err error
		if texts[i], err = w.read(d.doc, places.CountedEach); err != nil {
			return nil, err
		}
	}
	return places.NewCommon(texts, whole), ctx.Err()
}
