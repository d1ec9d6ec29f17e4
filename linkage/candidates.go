package linkage

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/record"
	"github.com/alike-dev/alike/simjoin"
	"github.com/alike-dev/alike/topk"
)

// parallel calls work for ranges of 0…n−1, at most grain long, from so many goroutines, and
// returns when all are done or ctx has ended. Each goroutine gets a work of its own.
func parallel(ctx context.Context, threads, n, grain int, newWork func() func(from, to int)) error {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range min(threads, (n+grain-1)/grain) {
		g.Go(func() error {
			work := newWork()
			for {
				from := int(next.Add(int64(grain))) - grain
				if from >= n {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				work(from, min(from+grain, n))
			}
		})
	}
	return g.Wait()
}

// pair is a candidate: record a of the left table and b of the right one, or a < b of the
// only one, with the dot product of their vectors.
type pair struct {
	a, b    uint32
	overlap uint64
}

// vectorsOf makes a vector of each record: its tokens in all columns, each with its weight
// times that of the column, of several the largest.
func vectorsOf(t *record.Table, weights record.Weights, columns []Column) (*simjoin.Vectors, error) {
	v := &simjoin.Vectors{}
	var entries []uint64 // token, weight: the largest of a token comes last
	var features, w []uint32
	for i := range t.Rows() {
		row := t.Row(i)
		tokens := row.Tokens()
		entries = entries[:0]
		for f := range columns {
			n := row.Length(f)
			for _, token := range tokens[:n] {
				weight := max(1, math.Round(float64(weights[token])*columns[f].Weight))
				entries = append(entries, uint64(token)<<32|uint64(weight))
			}
			tokens = tokens[n:]
		}
		slices.Sort(entries)
		features, w = features[:0], w[:0]
		for j, e := range entries {
			if j+1 == len(entries) || entries[j+1]>>32 != e>>32 {
				features, w = append(features, uint32(e>>32)), append(w, uint32(e))
			}
		}
		if err := v.Append(features, w); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// nearest returns, ascending and each once, the pairs in which either record is one of the k
// most similar ones of the other. right is nil for one table.
func nearest(ctx context.Context, threads int, left, right *simjoin.Vectors, k int) ([]pair, error) {
	options := topk.Options{Measure: measure.Cosine, K: k}
	search := func(queries, indexed *simjoin.Vectors, emit func(query uint32, m topk.Match) pair) ([]pair, error) {
		x, err := topk.NewIndex(indexed, options)
		if err != nil {
			return nil, err
		}
		found := make([][]pair, queries.Len())
		err = parallel(ctx, threads, queries.Len(), 64, func() func(from, to int) {
			s := x.NewSearcher()
			var matches []topk.Match
			return func(from, to int) {
				for i := from; i < to; i++ {
					if right == nil {
						matches = s.Others(matches[:0], i)
					} else {
						matches = s.Search(matches[:0], queries.At(i))
					}
					list := make([]pair, len(matches))
					for j, m := range matches {
						list[j] = emit(uint32(i), m)
					}
					found[i] = list
				}
			}
		})
		return slices.Concat(found...), err
	}
	if right == nil {
		pairs, err := search(left, left, func(i uint32, m topk.Match) pair {
			return pair{min(i, m.Index), max(i, m.Index), m.Overlap}
		})
		return distinct(pairs), err
	}
	pairs, err := search(left, right, func(i uint32, m topk.Match) pair { return pair{i, m.Index, m.Overlap} })
	if err != nil {
		return nil, err
	}
	back, err := search(right, left, func(i uint32, m topk.Match) pair { return pair{m.Index, i, m.Overlap} })
	return distinct(append(pairs, back...)), err
}

// distinct sorts pairs and removes repeats.
func distinct(pairs []pair) []pair {
	slices.SortFunc(pairs, func(x, y pair) int {
		return cmp.Or(cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b))
	})
	return slices.Compact(pairs)
}
