// Package assignment chooses a matching among weighted edges: a set of edges of which no two share
// a node. In every connected component that is small and bipartite the matching has the largest
// possible sum of weights; in the others it is a greedy one.
//
// An optimal matching is found by shortest augmenting paths with potentials (R. Jonker, A.
// Volgenant, "A shortest augmenting path algorithm for dense and sparse linear assignment
// problems", Computing 38, 1987), on integers throughout. The result depends only on the edges and
// their order, also where several matchings have the same sum.
package assignment

import (
	"cmp"
	"container/heap"
	"slices"
)

// An Edge joins two nodes. Its weight is at least 0. The sum of the weights that a matching of one
// component may use is below 2⁶².
type Edge struct {
	A, B   uint32
	Weight int64
}

// Summary says how a matching was found.
type Summary struct {
	Components int // with an edge
	Greedy     int //  Greedy     int // components with more nodes than the limit, or with an odd cycle
}

// Match returns, ascending, the indices of chosen edges, no two of which share a node. Nodes are
// numbered from 0 to nodes−1; an edge from a node to itself is never chosen. Bipartite components
// of up to limit nodes get a matching of the largest sum of weights: O(n·m·log m) for n nodes and m
// edges. In the others the heaviest remaining edge is chosen repeatedly, equal weights in the order
// of the edges: O(m log m).
func Match(edges []Edge, nodes, limit int) (chosen []int, s Summary) {
	g := newGraph(edges, nodes)
	for node := range uint32(nodes) {
		if g.side[node] != unseen || len(g.at(node)) == 0 {
			continue
		}
		s.Components++
		left, within, bipartite := g.component(node)
		if !bipartite || len(g.members) > limit {
			s.Greedy++
			chosen = g.greedy(chosen, within)
		} else {
			chosen = g.optimal(chosen, left)
		}
	}
	slices.Sort(chosen)
	return chosen, s
}

const (
	unseen = int8(iota)
	onLeft
	onRight
)

// graph holds the edges by node, and the search state of each node.
type graph struct {
	edges   []Edge
	starts  []int // offsets in order of each node's first edge; the last entry is the end
	order   []int // indices of edges, grouped by node, ascending for each node
	side    []int8
	members []uint32 // nodes of the component that was examined last

	matched   []int   // edge of each node; −1: none
	potential []int64 // of each node
	distance  []int64 // of each right node from the node that looks for a partner; −1: not reached
	via       []int   // last edge of the path to each right node
	done      []bool
	queue     queue
	reached   []uint32
}

func newGraph(edges []Edge, nodes int) *graph {
	g := &graph{
		edges: edges, starts: make([]int, nodes+1), order: make([]int, 2*len(edges)), side: make([]int8, nodes),
		matched: slices.Repeat([]int{-1}, nodes), potential: make([]int64, nodes), distance: slices.Repeat([]int64{-1}, nodes),
		via: make([]int, nodes), done: make([]bool, nodes),
	}
	for _, e := range edges {
		if e.A != e.B {
			g.starts[e.A+1]++
			g.starts[e.B+1]++
		}
	}
	for i := range nodes {
		g.starts[i+1] += g.starts[i]
	}
	next := slices.Clone(g.starts)
	for i, e := range edges {
		if e.A != e.B {
			g.order[next[e.A]], g.order[next[e.B]] = i, i
			next[e.A]++
			next[e.B]++
		}
	}
	return g
}

func (g *graph) at(node uint32) []int { return g.order[g.starts[node]:g.starts[node+1]] }

func (g *graph) other(edge int, node uint32) uint32 { return g.edges[edge].A ^ g.edges[edge].B ^ node }

// component returns the left nodes and the edges of a node's component, and whether it is
// bipartite, that is, no edge joins two nodes of one side. The node first counts as left.
func (g *graph) component(first uint32) (left []uint32, within []int, bipartite bool) {
	bipartite = true
	g.members = append(g.members[:0], first)
	g.side[first] = onLeft
	for i := 0; i < len(g.members); i++ {
		node := g.members[i]
		if g.side[node] == onLeft {
			left = append(left, node)
		}
		for _, e := range g.at(node) {
			switch other := g.other(e, node); {
			case g.side[other] == unseen:
				g.side[other] = onLeft + onRight - g.side[node]
				g.members = append(g.members, other)
			case g.side[other] == g.side[node]:
				bipartite = false
			}
			if g.edges[e].A == node {
				within = append(within, e)
			}
		}
	}
	slices.Sort(left)
	return left, within, bipartite
}

// greedy repeatedly appends the heaviest edge between nodes that are still free.
func (g *graph) greedy(chosen, within []int) []int {
	slices.SortFunc(within, func(i, j int) int {
		return cmp.Or(cmp.Compare(g.edges[j].Weight, g.edges[i].Weight), cmp.Compare(i, j))
	})
	for _, i := range within {
		e := g.edges[i]
		if g.matched[e.A] < 0 && g.matched[e.B] < 0 {
			g.matched[e.A], g.matched[e.B] = i, i
			chosen = append(chosen, i)
		}
	}
	return chosen
}

// optimal appends a matching of the largest sum. Left nodes look for partners one after the other;
// an augmenting path may also end at a left node that gives up its partner and stays alone.
//
// An edge costs −weight and staying alone costs 0. The potentials u of left and v of right nodes
// keep every reduced cost −weight − u − v and −u at 0 or above, and at 0 along the matching; so
// Dijkstra's algorithm on reduced costs finds the shortest path.
func (g *graph) optimal(chosen []int, left []uint32) []int {
	for _, node := range left {
		for _, e := range g.at(node) {
			g.potential[node] = min(g.potential[node], -g.edges[e].Weight-g.potential[g.other(e, node)])
		}
		g.augment(node)
	}
	for _, node := range left {
		if e := g.matched[node]; e >= 0 {
			chosen = append(chosen, e)
		}
	}
	return chosen
}

// augment finds the shortest path from a free left node to a free right node, or to a left node
// that stays alone, and swaps partners along it.
func (g *graph) augment(from uint32) {
	g.reached, g.queue = g.reached[:0], g.queue[:0]
	node, length := from, int64(0)
	shortest, alone, free := -g.potential[from], from, -1 // the best end so far: a left node, or a right one
	var visited []uint32                                  // left nodes
	var lengths []int64
	for {
		visited, lengths = append(visited, node), append(lengths, length)
		if d := length - g.potential[node]; d < shortest {
			shortest, alone = d, node
		}
		for _, e := range g.at(node) {
			other := g.other(e, node)
			d := length - g.edges[e].Weight - g.potential[node] - g.potential[other]
			if known := g.distance[other]; g.done[other] || known >= 0 && known <= d {
				continue
			} else if known < 0 {
				g.reached = append(g.reached, other)
			}
			g.distance[other], g.via[other] = d, e
			heap.Push(&g.queue, waypoint{d, other})
		}
		next, ok := g.nearest()
		if !ok || g.distance[next] >= shortest {
			break
		}
		g.done[next] = true
		if g.matched[next] < 0 {
			shortest, free = g.distance[next], int(next)
			break
		}
		node, length = g.other(g.matched[next], next), g.distance[next]
	}
	for i, v := range visited {
		g.potential[v] += shortest - lengths[i]
	}
	for _, r := range g.reached {
		if g.done[r] {
			g.potential[r] -= shortest - g.distance[r]
		}
		g.distance[r], g.done[r] = -1, false
	}
	g.change(from, alone, free)
}

// nearest takes from the queue the nearest right node that is not done.
func (g *graph) nearest() (node uint32, ok bool) {
	for len(g.queue) > 0 {
		p := heap.Pop(&g.queue).(waypoint)
		if !g.done[p.node] && g.distance[p.node] == p.distance {
			return p.node, true
		}
	}
	return 0, false
}

// change swaps partners along the path that ends at the right node free or, if free is −1, at the
// left node alone.
func (g *graph) change(from, alone uint32, free int) {
	var right uint32
	if free >= 0 {
		right = uint32(free)
	} else {
		if alone == from {
			return
		}
		right = g.other(g.matched[alone], alone)
		g.matched[alone] = -1
	}
	for {
		e := g.via[right]
		left := g.other(e, right)
		before := g.matched[left]
		g.matched[left], g.matched[right] = e, e
		if left == from {
			return
		}
		right = g.other(before, left)
	}
}

// queue is a heap of right nodes, the nearest first, equal ones by number.
type queue []waypoint

type waypoint struct {
	distance int64
	node     uint32
}

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return q[i].distance < q[j].distance || q[i].distance == q[j].distance && q[i].node < q[j].node
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(waypoint)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
