package model

import (
	"context"
	"math"
	"slices"

	"github.com/alike-dev/alike/linkage/internal/compare"
)

// exclusive computes how likely each candidate is a match if a record has at most one partner, or one of either table,
// given its odds without rivals. It is the marginal of a random matching in which a set of edges is
// weighted by the product of their odds, computed by belief propagation: exact on trees, and with
// one fixed point on every graph.
//
// (M. Bayati, D. Gamarnik, D. Katz, C. Nair, P. Tetali, "Simple deterministic approximation
// algorithms for counting matchings", STOC 2007.)
type exclusive struct {
	pairs       []compare.Pair // each record by its place among the left or the right records that have an edge
	out, back   []float64      // messages to the right record, to the left one
	left, right []float64      // scratch: the sum of each record
	once        Once
	rounds      int // of the next call
	ctx         context.Context
}

// Rounds of messages: their effect falls off geometrically with the distance in the graph.
// Messages stay from one call to the next, which asks for similar odds.
const (
	firstRounds = 16
	moreRounds  = 4
)

func newExclusive(ctx context.Context, g Graph, once Once) *exclusive {
	if g.Sources != nil {
		g = g.parted()
	}
	e := &exclusive{ctx: ctx, pairs: make([]compare.Pair, len(g.Pairs)), once: once, rounds: firstRounds}
	e.out, e.back = slices.Repeat([]float64{1}, len(g.Pairs)), slices.Repeat([]float64{1}, len(g.Pairs))
	records := max(g.Left, g.Right)
	left, right := places{of: make([]uint32, records)}, places{of: make([]uint32, records)}
	for i, p := range g.Pairs {
		e.pairs[i] = compare.Pair{A: left.place(p.A), B: right.place(p.B)}
	}
	e.left, e.right = make([]float64, left.count), make([]float64, right.count)
	return e
}

// places number records in the order of their first use: few of many records have edges, and what is known of
// these few stays in the caches.
type places struct {
	of    []uint32 // 1 + the place of each record; 0: it has none yet
	count uint32
}

func (p *places) place(record uint32) uint32 {
	if p.of[record] == 0 {
		p.count++
		p.of[record] = p.count
	}
	return p.of[record] - 1
}

// marginals puts the probability of each edge into dst, and the logarithm of its odds with rivals
// into rank, unless that is nil. odds returns the odds of an edge. When the context has ended, it
// returns after the current round, and the results mean nothing.
func (e *exclusive) marginals(dst, rank []float64, odds func(i int) float64) {
	for range e.rounds {
		if e.ctx.Err() != nil {
			return
		}
		if e.once.Left {
			e.send(e.out, e.back, e.left, odds, func(p compare.Pair) uint32 { return p.A })
		}
		if e.once.Right {
			e.send(e.back, e.out, e.right, odds, func(p compare.Pair) uint32 { return p.B })
		}
	}
	e.rounds = moreRounds
	for i := range dst {
		q := odds(i) * e.out[i] * e.back[i]
		dst[i] = q / (1 + q)
		if rank != nil {
			rank[i] = math.Log(max(q, 1e-300))
		}
	}
}

// send sets the messages of each record along its edges: how likely it is free according to its
// other edges. sums is scratch.
func (e *exclusive) send(to, from, sums []float64, odds func(i int) float64, end func(compare.Pair) uint32) {
	clear(sums)
	for i, p := range e.pairs {
		sums[end(p)] += odds(i) * from[i]
	}
	for i, p := range e.pairs {
		to[i] = 1 / (1 + max(0, sums[end(p)]-odds(i)*from[i]))
	}
}
