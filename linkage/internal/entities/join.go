package entities

import (
	"context"
	"math"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/sorting"
)

// A join is one step of a group: two clusters became one.
type join struct {
	a, b     uint32  // a record of each
	evidence float64 // mean; +∞: somebody has said that they are the same
	pairs    float64 // between the two
	best     Pair    // the strongest of them
}

// A tree is the joins of a group, in falling order of evidence, those that sources ruled out, and the verdicts that could
// not be kept.
type tree struct {
	joins, rivals []join
	refused       [][2]uint32
}

// joinAll joins the records of all groups.
func joinAll(ctx context.Context, g *Graph, groups *groups, threads int) ([]tree, error) {
	trees := make([]tree, len(groups.list))
	const atOnce = 64
	var next atomic.Int64
	workers, ctx := errgroup.WithContext(ctx)
	for range threads {
		workers.Go(func() error {
			for {
				from := int(next.Add(atOnce)) - atOnce
				if from >= len(trees) {
					return nil
				}
				for i := from; i < min(from+atOnce, len(trees)); i++ {
					if ctx.Err() != nil {
						return ctx.Err()
					}
					trees[i] = newJoiner(g, groups, i).run(ctx)
				}
			}
		})
	}
	return trees, workers.Wait()
}

// A joiner joins the clusters of one group. Records are numbered within the group.
//
// Clusters are sets of a union-find forest. edges has every edge once, by the roots of its two ends. near lists the
// other ends of a root's edges; some have become part of another root. When two clusters are joined, the edges of the
// one that has fewer are moved. The queue has an upper bound of each edge's evidence, because joins never raise the
// larger of two means; what comes out with another value than it has now is put back.
type joiner struct {
	g      *Graph
	group  *group
	place  []uint32 // see groups
	parent []uint32
	size   []int64
	first  []uint32 // smallest record of a root: names do not depend on the order of pairs
	near   [][]uint32
	edges  *edges
	source [][]uint32 // of a root's records, ascending; nil: sources do not matter
	queue  queue
}

func newJoiner(g *Graph, all *groups, number int) *joiner {
	of := &all.list[number]
	n := len(of.records)
	j := &joiner{g: g, group: of, place: all.place, parent: make([]uint32, n), size: make([]int64, n), first: make([]uint32, n),
		near: make([][]uint32, n), edges: newEdges(len(of.pairs) + len(of.different))}
	for i := range n {
		j.parent[i], j.first[i], j.size[i] = uint32(i), uint32(i), 1
	}
	if g.Sources != nil {
		j.source = make([][]uint32, n)
		for i, r := range of.records {
			if s := g.Sources[r]; s != 0 {
				j.source[i] = []uint32{s}
			}
		}
	}
	for _, i := range of.pairs {
		p := g.Pairs[i]
		j.add(j.place[p.A], j.place[p.B], edge{sum: steps(p.Evidence), compared: 1, best: i})
	}
	for _, p := range of.different {
		j.add(j.place[p[0]], j.place[p[1]], edge{best: none, different: true})
	}
	return j
}

func (j *joiner) find(x uint32) uint32 {
	for j.parent[x] != x {
		j.parent[x] = j.parent[j.parent[x]]
		x = j.parent[x]
	}
	return x
}

// add adds an edge between two roots to what is known already.
func (j *joiner) add(a, b uint32, e edge) {
	if old := j.edges.get(a, b); old != nil {
		old.sum, old.compared, old.different = old.sum+e.sum, old.compared+e.compared, old.different || e.different
		if j.stronger(e.best, old.best) {
			old.best = e.best
		}
		return
	}
	j.near[a], j.near[b] = append(j.near[a], b), append(j.near[b], a)
	e.ends = key(a, b)
	j.edges.put(e)
}

// stronger tells whether a pair says more than another one; of equal ones the first records decide.
func (j *joiner) stronger(x, y uint32) bool {
	if x == none || y == none {
		return y == none
	}
	p, q := j.g.Pairs[x], j.g.Pairs[y]
	if p.Evidence != q.Evidence {
		return p.Evidence > q.Evidence
	}
	return key(p.A, p.B) < key(q.A, q.B)
}

// run joins clusters until no mean is above Least or the context has ended.
func (j *joiner) run(ctx context.Context) (t tree) {
	for _, p := range j.group.same {
		a, b := j.find(j.place[p[0]]), j.find(j.place[p[1]])
		if e := j.edges.get(a, b); a != b && e != nil && e.different {
			t.refused = append(t.refused, p)
		} else if a != b {
			t.joins = append(t.joins, j.join(a, b, math.Inf(1), Pair{p[0], p[1], math.Inf(1)}))
		}
	}
	for _, e := range j.edges.list {
		if a, b := uint32(e.ends>>32), uint32(e.ends); j.find(a) == a && j.find(b) == b {
			if now := j.entry(a, b, &e); now.evidence > Least {
				j.queue = append(j.queue, now)
			}
		}
	}
	j.queue.order()
	for n := 0; len(j.queue) > 0 && (n%1024 != 0 || ctx.Err() == nil); n++ {
		top := j.queue.pop()
		a, b := j.find(top.a), j.find(top.b)
		if a == b {
			continue
		}
		e := j.edges.get(a, b) // that of the clusters which these have become
		switch now := j.entry(a, b, e); {
		case now.evidence <= Least:
		case now != top:
			j.queue.push(now)
		case e.different:
			// They stay apart, and so do all clusters that they become part of.
		case j.shared(a, b) > 0:
			t.rivals = append(t.rivals, j.rival(a, b, e))
			e.different = true
		default:
			t.joins = append(t.joins, j.join(a, b, now.evidence, j.g.Pairs[e.best]))
		}
	}
	return t
}

// entry returns the edge between two roots as it is in the queue.
func (j *joiner) entry(a, b uint32, e *edge) entry {
	all := j.size[a] * j.size[b]
	a, b = j.first[a], j.first[b]
	return entry{e.mean(all), min(a, b), max(a, b)}
}

// shared returns how many sources have a record in each of two clusters. Such a source has one record in either, or it was
// said that these are the same.
func (j *joiner) shared(a, b uint32) (n int64) {
	if j.source == nil {
		return 0
	}
	x, y := j.source[a], j.source[b]
	for len(x) > 0 && len(y) > 0 {
		switch {
		case x[0] == y[0]:
			n++
			x, y = x[1:], y[1:]
		case x[0] < y[0]:
			x = x[1:]
		default:
			y = y[1:]
		}
	}
	return n
}

// rival returns the join of two clusters that sources keep apart. Its evidence is that of the pairs of different sources.
func (j *joiner) rival(a, b uint32, e *edge) join {
	pairs := max(1, j.size[a]*j.size[b]-j.shared(a, b))
	return join{a: j.group.records[a], b: j.group.records[b], evidence: e.mean(pairs)}
}

// join makes one cluster of two roots.
func (j *joiner) join(a, b uint32, evidence float64, best Pair) join {
	done := join{j.group.records[a], j.group.records[b], evidence, float64(j.size[a] * j.size[b]), best}
	if len(j.near[a]) < len(j.near[b]) {
		a, b = b, a
	}
	j.parent[b], j.first[a] = a, min(j.first[a], j.first[b])
	j.size[a] += j.size[b]
	for _, n := range j.near[b] {
		if n != a && j.parent[n] == n {
			j.add(a, n, *j.edges.get(b, n))
		}
	}
	j.near[b] = nil
	if j.source != nil {
		j.source[a] = append(j.source[a], j.source[b]...)
		slices.Sort(j.source[a])
		j.source[b] = nil
	}
	return done
}

// An edge is what is known between two clusters.
type edge struct {
	ends      uint64 // see key
	sum       int64  // evidence of the pairs that were compared, in steps
	compared  uint32 // their number
	best      uint32 // index of the strongest pair; none: there is none
	different bool   // somebody has said so of two of their records, or sources do
}

// mean returns the mean evidence of so many pairs, of which the edge has what was compared.
func (e *edge) mean(pairs int64) float64 {
	return (float64(e.sum)*unit + Uncompared*float64(max(0, pairs-int64(e.compared)))) / float64(pairs)
}

const none = ^uint32(0)

// key names two roots, or two records, in either order.
func key(a, b uint32) uint64 { return uint64(min(a, b))<<32 | uint64(max(a, b)) }

// edges are a hash table with linear probing. Nothing is ever taken out: nobody asks for the edges of a cluster that
// has become part of another one.
type edges struct {
	list  []edge
	slots []uint32 // 1 + index in list; 0: free. At most half of them are used.
}

// newEdges returns an empty table with room for n edges.
func newEdges(n int) *edges {
	size := 4
	for size < 2*n {
		size *= 2
	}
	return &edges{make([]edge, 0, n), make([]uint32, size)}
}

// slot returns the place of an edge in slots, or the free one where it would be.
func (t *edges) slot(ends uint64) uint64 {
	mask := uint64(len(t.slots) - 1)
	at := hashing.Mix(ends) & mask
	for t.slots[at] != 0 && t.list[t.slots[at]-1].ends != ends {
		at = (at + 1) & mask
	}
	return at
}

// get returns an edge; nil: nothing is known. It is valid until the next put.
func (t *edges) get(a, b uint32) *edge {
	if i := t.slots[t.slot(key(a, b))]; i != 0 {
		return &t.list[i-1]
	}
	return nil
}

// put adds an edge that is not there yet.
func (t *edges) put(e edge) {
	t.list = append(t.list, e)
	if 2*len(t.list) <= len(t.slots) {
		t.slots[t.slot(e.ends)] = uint32(len(t.list))
		return
	}
	t.slots = make([]uint32, 2*len(t.slots))
	for i := range t.list {
		t.slots[t.slot(t.list[i].ends)] = uint32(i + 1)
	}
}

// An entry is two clusters by their first records within the group, and the evidence between them.
type entry struct {
	evidence float64
	a, b     uint32
}

func (x entry) before(y entry) bool {
	switch {
	case x.evidence != y.evidence:
		return x.evidence > y.evidence
	case x.a != y.a:
		return x.a < y.a
	}
	return x.b < y.b
}

// queue is a binary heap of entries, the largest evidence first. (container/heap would allocate every entry.)
type queue []entry

func (q queue) order() {
	for i := len(q)/2 - 1; i >= 0; i-- {
		q.sink(i)
	}
}

func (q *queue) push(x entry) {
	*q = append(*q, x)
	h := *q
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if !h[i].before(h[up]) {
			return
		}
		h[i], h[up] = h[up], h[i]
		i = up
	}
}

func (q *queue) pop() entry {
	h := *q
	top := h[0]
	h[0] = h[len(h)-1]
	*q = h[:len(h)-1]
	q.sink(0)
	return top
}

func (q queue) sink(i int) {
	for {
		next := 2*i + 1
		if next >= len(q) {
			return
		}
		if next+1 < len(q) && q[next+1].before(q[next]) {
			next++
		}
		if !q[next].before(q[i]) {
			return
		}
		q[i], q[next] = q[next], q[i]
		i = next
	}
}

// A group is records that may share clusters, and the pairs among them. Between records of different groups there is
// no pair above Least, so no mean is.
type group struct {
	records         []uint32 // ascending
	pairs           []uint32 // indices into Graph.Pairs
	same, different [][2]uint32
}

// groups are all groups, and the number of each record within its group.
type groups struct {
	list  []group
	place []uint32
}

// split divides the records into groups; those that are alone are in none. O(records + pairs).
func split(g *Graph) *groups {
	sets := cluster.New(g.Records)
	for _, p := range g.Pairs {
		if p.Evidence > Least {
			sets.Union(p.A, p.B)
		}
	}
	for _, p := range g.Same {
		sets.Union(p[0], p[1])
	}
	of := sets.AppendLabels(nil) // the first record of the group
	size := make([]uint32, g.Records)
	for _, first := range of {
		size[first]++
	}
	all := &groups{place: make([]uint32, g.Records)}
	number := make([]int32, g.Records) // 1 + that of the group of a first record
	for i, first := range of {
		if size[first] < 2 {
			continue
		}
		if number[first] == 0 {
			all.list = append(all.list, group{records: make([]uint32, 0, size[first])})
			number[first] = int32(len(all.list))
		}
		group := &all.list[number[first]-1]
		all.place[i] = uint32(len(group.records))
		group.records = append(group.records, uint32(i))
	}
	within := func(a, b uint32) *group { // nil: none has both
		if of[a] != of[b] || number[of[a]] == 0 {
			return nil
		}
		return &all.list[number[of[a]]-1]
	}
	for i, p := range g.Pairs {
		if group := within(p.A, p.B); group != nil {
			group.pairs = append(group.pairs, uint32(i))
		}
	}
	for _, p := range g.Same {
		group := within(p[0], p[1])
		group.same = append(group.same, ordered(p))
	}
	for _, p := range g.Different {
		if group := within(p[0], p[1]); group != nil {
			group.different = append(group.different, ordered(p))
		}
	}
	for i := range all.list {
		sorting.Func(all.list[i].same, comparePairs)
	}
	return all
}

func ordered(p [2]uint32) [2]uint32 { return [2]uint32{min(p[0], p[1]), max(p[0], p[1])} }

func comparePairs(x, y [2]uint32) int { return slices.Compare(x[:], y[:]) }
