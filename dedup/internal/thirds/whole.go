package thirds

import (
	"cmp"
	"context"

	"github.com/alike-dev/alike/dedup/internal/graph"
	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/places"
	"github.com/alike-dev/alike/internal/sides"
	"github.com/alike-dev/alike/internal/sorting"
)

// Limits of the texts by which it is counted what many have.
const (
	countedMost  = 2000
	countedBytes = 2 << 20
	countedEach  = 16 << 10 // of the beginning of a text
)

// Whole returns the edges of which the shorter text, or that which is no reference, stands in the other one, as
// places.WholeShare says, and how many are not such. Of documents, each with features of its own, some are drawn to count
// what many have. The caller releases the edges.
func Whole(ctx context.Context, o Options, s *sides.Policy, documents bitset.Set[uint32], edges *extsort.Sorted) (left *extsort.Sorted, gone int64, err error) {
	common, err := o.common(ctx, documents)
	if err != nil {
		return nil, 0, err
	}
	return o.left(ctx, edges, edges, "whole", func(w *worker) func(graph.Pair) (bool, error) {
		w.reader = places.NewWholeReader(o.features(), common)
		return func(p graph.Pair) (goes bool, err error) { return w.partial(s, p) }
	})
}

// partial tells whether only a part of the text that could be removed stands in the other one.
func (w *worker) partial(s *sides.Policy, p graph.Pair) (bool, error) {
	a, b, err := w.texts(p)
	if err != nil {
		return false, err
	}
	sizeA, sizeB := w.docs.Doc(p.A).TextSize, w.docs.Doc(p.B).TextSize
	refA, refB := s.Reference(p.A), s.Reference(p.B)
	if !refA && (refB || sizeA <= sizeB) && w.judging.Stands(a, b) < places.WholeShare {
		return true, w.docs.Err
	}
	return !refB && (refA || sizeB <= sizeA) && w.judging.Stands(b, a) < places.WholeShare, w.docs.Err
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
	most := uint64(1<<64 - 1)
	if whole > 2*countedMost {
		most = most / uint64(whole) * 2 * countedMost
	}
	c := o.Records.Table.Scanner()
	for doc := range documents.All() {
		d := c.Doc(doc)
		if order := hashing.Mix(d.Digest); order <= most {
			all = append(all, drawn{order, doc, min(int(d.TextSize), countedEach)})
		}
	}
	if c.Err != nil {
		return nil, c.Err
	}
	sorting.Func(all, func(a, b drawn) int { return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.doc, b.doc)) })
	bytes, n := 0, 0
	for n < len(all) && n < countedMost && bytes+all[n].size <= countedBytes {
		bytes += all[n].size
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
		if texts[i], err = w.read(d.doc, countedEach); err != nil {
			return nil, err
		}
	}
	return places.NewCommon(texts, whole), ctx.Err()
}
