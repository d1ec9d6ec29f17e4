package model

import (
	"context"
	"math"
	"slices"
)

// exclusive computes how likely each candidate is a match if a record has at most one partner, or one of either table,
// given its odds without rivals. It is the marginal of a random matching in which a set of edges is
// weighted by the product of their odds, computed by belief propagation: exact on trees, and with
// one fixed point on every graph.
//
// (M. Bayati, D. Gamarnik, D. Katz, C. Nair, P. Tetali, "Simple deterministic approximation
// algorithms for counting matchings", STOC 2007.)
type exclusive struct {
	a, b        []uint32  // the records of each edge, by their places among the left or the right records that have one
	out, back   []float64 // messages to the right record, to the left one
	left, right []float64 // scratch: the sum of each record
	once        Once
	rounds      int // of the next call
	ctx         context.Context
	most        float64   // largest number of edges of a matching
	twice       []float64 // of covered edges: scratch for their odds; nil: they are not
}

// Rounds of messages: their effect falls off geometrically with the distance in the graph.
// Messages stay from one call to the next, which asks for similar odds. Those of one table alone depend on no others.
const (
	firstRounds = 16
	moreRounds  = 4
)

func newExclusive(ctx context.Context, g Graph, once Once) *exclusive {
	covered := g.Right == 0 && g.Sources == nil && once.Both()
	switch {
	case g.Sources != nil:
		g = g.parted()
	case covered:
		g = g.covered()
	}
	e := &exclusive{ctx: ctx, a: make([]uint32, len(g.Pairs)), b: make([]uint32, len(g.Pairs)), once: once, rounds: firstRounds}
	e.out, e.back = slices.Repeat([]float64{1}, len(g.Pairs)), slices.Repeat([]float64{1}, len(g.Pairs))
	records := max(g.Left, g.Right)
	left, right := places{of: make([]uint32, records)}, places{of: make([]uint32, records)}
	for i, p := range g.Pairs {
		e.a[i], e.b[i] = left.place(p.A), right.place(p.B)
	}
	e.left, e.right = make([]float64, left.count), make([]float64, right.count)
	e.most = float64(once.Most(len(e.left), len(e.right)))
	if covered {
		e.twice, e.most = make([]float64, len(g.Pairs)), e.most/2
	}
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
// into rank, unless that is nil. odds are those of the edges. When the context has ended, it
// returns after the current round, and the results mean nothing.
func (e *exclusive) marginals(dst, rank, odds []float64) {
	if e.twice != nil {
		copy(e.twice, odds)
		copy(e.twice[len(odds):], odds)
		odds = e.twice
	}
	if !e.once.Both() {
		e.rounds = min(e.rounds, 1)
	}
	for range e.rounds {
		if e.ctx.Err() != nil {
			return
		}
		if e.once.Left {
			send(e.out, e.back, odds, e.left, e.a)
		}
		if e.once.Right {
			send(e.back, e.out, odds, e.right, e.b)
		}
	}
	e.rounds = moreRounds
	for i := range dst {
		q := odds[i] * e.out[i] * e.back[i]
		if e.twice != nil {
			q = math.Sqrt(q) * math.Sqrt(odds[i]*e.out[len(dst)+i]*e.back[len(dst)+i])
		}
		dst[i] = q / (1 + q)
		if rank != nil {
			rank[i] = math.Log(max(q, 1e-300))
		}
	}
}

// send sets the messages of each record along its edges: how likely it is free according to its
// other edges. sums is scratch, ends has the record of each edge.
func send(to, from, odds, sums []float64, ends []uint32) {
	clear(sums)
	from, odds, ends = from[:len(to)], odds[:len(to)], ends[:len(to)] // no bounds are checked in the loops
	for i := range to {
		q := odds[i] * from[i]
		to[i] = q
		sums[ends[i]] += q
	}
	for i, q := range to {
		to[i] = 1 / (1 + max(0, sums[ends[i]]-q))
	}
}
