package linkage

import (
	"context"
	"math"
	"slices"
)

// graph has the candidates as edges between records, to find the rivals of a pair. With one table
// right is 0, and both ends of an edge are records of the left table.
type graph struct {
	pairs       []pair
	left, right int
}

// exclusive computes how likely each candidate is a match if a record has at most one partner,
// given its odds without rivals. It is the marginal of a random matching in which a set of edges is
// weighted by the product of their odds, computed by belief propagation: exact on trees, and with
// one fixed point on every graph.
//
// (M. Bayati, D. Gamarnik, D. Katz, C. Nair, P. Tetali, "Simple deterministic approximation
// algorithms for counting matchings", STOC 2007.)
type exclusive struct {
	pairs       []pair    // each record by its place among the left or the right records that have an edge
	out, back   []float64 // messages to the right record, to the left one
	left, right []float64 // scratch: the sum of each record
	rounds      int       // of the next call
	ctx         context.Context
}

// Rounds of messages: their effect falls off geometrically with the distance in the graph.
// Messages stay from one call to the next, which asks for similar odds.
const (
	firstRounds = 16
	moreRounds  = 4
)

func newExclusive(ctx context.Context, g graph) *exclusive {
	e := &exclusive{ctx: ctx, pairs: make([]pair, len(g.pairs)), rounds: firstRounds,
		out: make([]float64, len(g.pairs)), back: slices.Repeat([]float64{1}, len(g.pairs))}
	records := max(g.left, g.right)
	left, right := places{of: make([]uint32, records)}, places{of: make([]uint32, records)}
	for i, p := range g.pairs {
		e.pairs[i] = pair{left.place(p.a), right.place(p.b)}
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
		e.send(e.out, e.back, e.left, odds, func(p pair) uint32 { return p.a })
		e.send(e.back, e.out, e.right, odds, func(p pair) uint32 { return p.b })
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
func (e *exclusive) send(to, from, sums []float64, odds func(i int) float64, end func(pair) uint32) {
	clear(sums)
	for i, p := range e.pairs {
		sums[end(p)] += odds(i) * from[i]
	}
	for i, p := range e.pairs {
		to[i] = 1 / (1 + max(0, sums[end(p)]-odds(i)*from[i]))
	}
}

// mutual returns the edges that are the first choice of both of their records, by rank, then
// by the similarity of the records, then by order.
func (g graph) mutual(rank []float64, wholes []float32) []int {
	bestA := firstChoice(g.left)
	bestB := bestA
	if g.right > 0 {
		bestB = firstChoice(g.right)
	}
	better := func(i, j int) bool {
		if j < 0 || rank[i] != rank[j] {
			return j < 0 || rank[i] > rank[j]
		}
		return wholes[i] > wholes[j]
	}
	for i, p := range g.pairs {
		if better(i, bestA[p.a]) {
			bestA[p.a] = i
		}
		if better(i, bestB[p.b]) {
			bestB[p.b] = i
		}
	}
	var both []int
	for i, p := range g.pairs {
		if bestA[p.a] == i && bestB[p.b] == i {
			both = append(both, i)
		}
	}
	return both
}

func firstChoice(n int) []int {
	best := make([]int, n)
	for i := range best {
		best[i] = -1
	}
	return best
}

// best returns the edges that are the first choice of their left record.
func (g graph) best(rank []float64, wholes []float32) []int {
	taken := make([]bool, g.left)
	return keepFirst(g.byRank(rank, wholes), func(i int) bool {
		free := !taken[g.pairs[i].a]
		taken[g.pairs[i].a] = true
		return free
	})
}

// byRank returns all edges, the best first.
func (g graph) byRank(rank []float64, wholes []float32) []int {
	order := make([]int, len(g.pairs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case rank[i] != rank[j]:
			return sign(rank[j] - rank[i])
		default:
			return sign(float64(wholes[j]) - float64(wholes[i]))
		}
	})
	return order
}

func sign(x float64) int {
	switch {
	case x < 0:
		return -1
	case x > 0:
		return 1
	}
	return 0
}

// keepFirst returns, ascending, the edges for which keep is true; it asks in the given order.
func keepFirst(order []int, keep func(i int) bool) []int {
	var kept []int
	for _, i := range order {
		if keep(i) {
			kept = append(kept, i)
		}
	}
	slices.Sort(kept)
	return kept
}
