package linkage

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/candidates"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/record"
	"github.com/alike-dev/alike/simjoin"
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
// only one.
type pair struct{ a, b uint32 }

// sets are the distinct tokens of each record, in all columns, ascending.
type sets struct {
	ends   []int
	tokens []uint32
	sizes  []uint64 // sums of squared weights
}

func (s *sets) at(i uint32) []uint32 {
	start := 0
	if i > 0 {
		start = s.ends[i-1]
	}
	return s.tokens[start:s.ends[i]]
}

// setsOf makes the sets of a table, and counts the records that have each token.
func setsOf(t *record.Table, df []uint32) (s *sets, filled int) {
	s = &sets{ends: make([]int, t.Rows())}
	for i := range s.ends {
		start := len(s.tokens)
		s.tokens = append(s.tokens, t.Row(i).Tokens()...)
		set := s.tokens[start:]
		slices.Sort(set)
		set = slices.Compact(set)
		s.tokens = s.tokens[:start+len(set)]
		s.ends[i] = len(s.tokens)
		for _, token := range set {
			df[token]++
		}
		if len(set) > 0 {
			filled++
		}
	}
	return s, filled
}

// weigh sets the sizes.
func (s *sets) weigh(weights record.Weights) {
	s.sizes = make([]uint64, len(s.ends))
	for i := range s.ends {
		for _, token := range s.at(uint32(i)) {
			s.sizes[i] += uint64(weights[token]) * uint64(weights[token])
		}
	}
}

// records compares records as a whole.
type records struct {
	left, right *sets // the same for one table
	weights     record.Weights
}

// similarity returns the cosine of two records' tokens.
func (r *records) similarity(p pair) float64 {
	return cosine(common(r.left.at(p.a), r.right.at(p.b), r.weights), r.left.sizes[p.a], r.right.sizes[p.b])
}

// vectorsOf makes a vector of each record: its tokens, or its words only, with their weights.
func (s *sets) vectorsOf(weights record.Weights, skip func(token uint32) bool) (*simjoin.Vectors, error) {
	v := &simjoin.Vectors{}
	var features, w []uint32
	for i := range s.ends {
		features, w = features[:0], w[:0]
		for _, token := range s.at(uint32(i)) {
			if !skip(token) {
				features, w = append(features, token), append(w, uint32(weights[token]))
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
func nearest(ctx context.Context, threads int, left, right *simjoin.Vectors, k int) (pairs []pair, err error) {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	var other *candidates.Store
	if right != nil {
		other = candidates.StoreOf(right)
	}
	found, _, err := candidates.Find(ctx, candidates.Config{
		Method: candidates.TopK, Measure: measure.Cosine, K: k, Both: true, Threads: threads,
	}, candidates.StoreOf(left), other)
	if err != nil {
		return nil, err
	}
	for p, err := range found.All() {
		if err != nil {
			return nil, errors.Join(err, found.Close())
		}
		pairs = append(pairs, pair{p.A, p.B})
	}
	return pairs, found.Close()
}
