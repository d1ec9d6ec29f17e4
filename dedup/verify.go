package dedup

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/simjoin"
)

// unitBytes is how much raw text a unit of verification re-reads: so little that
// the feature sets, about 1.3 times as much, stay in the second-level cache. With
// 8 MiB verifying takes a sixth longer, and the last units keep one worker waiting.
const unitBytes = 1 << 20

// unitPairs is how many pairs a unit holds at most.
const unitPairs = 1 << 16

// edge is a pair with its similarity: inter/union of the feature sets or, under
// VerifySketch and VerifyNone, the signatures' estimate.
type edge struct {
	a, b       uint32
	similarity float64
}

func (e edge) pair() pair { return pair{e.a, e.b} }

func (e edge) compare(f edge) int { return e.pair().compare(f.pair()) }

// verifier establishes similarities of pairs of representatives. The feature
// sets come from memory where all are held, else from the records, read again
// by the unit of pairs that needs them.
type verifier struct {
	t         *table
	config    *Config
	threshold simjoin.Threshold
	records   *recordStore
}

// verify returns the pairs that reach the threshold, in order.
func (v *verifier) verify(ctx context.Context, pairs []pair) ([]edge, error) {
	return v.run(ctx, pairs, true)
}

// rate returns every pair with its similarity, in order.
func (v *verifier) rate(ctx context.Context, pairs []pair) ([]edge, error) {
	return v.run(ctx, pairs, false)
}

func (v *verifier) run(ctx context.Context, pairs []pair, filter bool) ([]edge, error) {
	fromRecords := v.config.Verify == VerifyExact && v.t.sets == nil
	if fromRecords {
		pairs = byComponent(len(v.t.docs), pairs)
		if err := v.records.prepare(ctx, pairs); err != nil {
			return nil, err
		}
	}
	units := v.cut(pairs, fromRecords)
	found := make([][]edge, len(units))
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range min(v.config.Threads, len(units)) {
		group.Go(func() error {
			w, err := v.newWorker(filter, fromRecords)
			if err != nil {
				return err
			}
			defer w.close()
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(units) {
					return nil
				}
				if found[i], err = w.unit(units[i]); err != nil {
					return err
				}
				v.config.Progress.Advance(int64(len(units[i])), 0)
			}
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	edges := slices.Concat(found...)
	slices.SortFunc(edges, edge.compare)
	return edges, nil
}

// byComponent orders pairs so that those connected with each other lie
// together: a unit then meets each of its documents in many pairs.
func byComponent(n int, pairs []pair) []pair {
	u := cluster.New(n)
	for _, p := range pairs {
		u.Union(p.a, p.b)
	}
	type labelled struct {
		label uint32
		pair
	}
	order := make([]labelled, len(pairs))
	for i, p := range pairs {
		order[i] = labelled{u.Find(p.a), p}
	}
	slices.SortFunc(order, func(x, y labelled) int {
		return cmp.Or(cmp.Compare(x.label, y.label), x.compare(y.pair))
	})
	sorted := make([]pair, len(pairs))
	for i, o := range order {
		sorted[i] = o.pair
	}
	return sorted
}

// cut splits pairs into units, by the bytes of the distinct records that a unit
// reads or, when nothing is read, by number alone.
func (v *verifier) cut(pairs []pair, fromRecords bool) [][]pair {
	var units [][]pair
	seen := map[uint32]bool{}
	size, start := int64(0), 0
	for i, p := range pairs {
		if fromRecords {
			for _, doc := range [2]uint32{p.a, p.b} {
				if !seen[doc] {
					seen[doc] = true
					size += int64(v.t.docs[doc].length)
				}
			}
		}
		if size >= unitBytes || i+1-start >= unitPairs {
			units = append(units, pairs[start:i+1])
			start, size = i+1, 0
			clear(seen)
		}
	}
	if start < len(pairs) {
		units = append(units, pairs[start:])
	}
	return units
}

// verifyWorker owns the scratch memory of one goroutine.
type verifyWorker struct {
	*verifier
	filter   bool
	minEqual int
	shingler *shingle.Shingler
	fetch    *fetcher
	docs     []uint32 // distinct documents of the unit, ascending
	arena    []uint64 // their feature sets, one after the other
	ends     []int
}

func (v *verifier) newWorker(filter, fromRecords bool) (*verifyWorker, error) {
	w := &verifyWorker{verifier: v, filter: filter, minEqual: v.config.Sketch.MinEqual(v.config.Threshold)}
	if v.config.Verify == VerifyNone {
		w.filter = false
	}
	if fromRecords {
		var err error
		if w.shingler, err = shingle.New(v.config.Features); err != nil {
			return nil, err
		}
		w.fetch = v.records.newFetcher()
	}
	return w, nil
}

func (w *verifyWorker) close() {
	if w.fetch != nil {
		w.fetch.close()
	}
}

// unit returns the edges of one unit.
func (w *verifyWorker) unit(pairs []pair) ([]edge, error) {
	set := func(doc uint32) []uint64 { return w.t.sets[doc] }
	if w.fetch != nil {
		if err := w.load(pairs); err != nil {
			return nil, err
		}
		set = w.loaded
	}
	var edges []edge
	for _, p := range pairs {
		e := edge{a: p.a, b: p.b}
		ok := true
		if w.config.Verify == VerifyExact {
			e.similarity, ok = w.jaccard(set(p.a), set(p.b))
		} else {
			equal := w.config.Sketch.Equal(w.t.signature(p.a), w.t.signature(p.b))
			e.similarity, ok = w.config.Sketch.Estimate(equal), !w.filter || equal >= w.minEqual
		}
		if ok {
			edges = append(edges, e)
		}
	}
	return edges, nil
}

func (w *verifyWorker) jaccard(a, b []uint64) (similarity float64, ok bool) {
	var inter int
	if w.filter {
		if inter, ok = simjoin.Verify(a, b, w.threshold); !ok {
			return 0, false
		}
	} else {
		inter = simjoin.Intersection(a, b)
	}
	return float64(inter) / float64(len(a)+len(b)-inter), true
}

// load reads the records of a unit's documents and makes their feature sets.
func (w *verifyWorker) load(pairs []pair) error {
	w.docs = w.docs[:0]
	for _, p := range pairs {
		w.docs = append(w.docs, p.a, p.b)
	}
	slices.Sort(w.docs)
	w.docs = slices.Compact(w.docs)
	w.arena, w.ends = w.arena[:0], w.ends[:0]
	for _, doc := range w.docs {
		text, err := w.fetch.text(doc)
		if err != nil {
			return err
		}
		start := len(w.arena)
		w.arena = w.shingler.AppendFeatures(w.arena, text)
		set := shingle.Set(w.arena[start:])
		w.arena = w.arena[:start+len(set)]
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
