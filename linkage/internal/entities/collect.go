package entities

import (
	"cmp"
	"math"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/internal/sorting"
)

// collect makes the clusters from the joins above the cut. It returns the number of each record's cluster; −1: it is
// alone.
func (r *Result) collect(g *Graph, trees []tree) []int32 {
	sets := cluster.New(g.Records)
	size := make([]uint32, g.Records)
	made := func(yield func(join)) {
		for i := range trees {
			for _, j := range trees[i].joins {
				if j.evidence >= r.Cut {
					yield(j)
				}
			}
		}
	}
	made(func(j join) { sets.Union(j.a, j.b) })
	for i := range uint32(g.Records) {
		size[sets.Find(i)]++
	}
	of, number := make([]int32, g.Records), make([]int32, g.Records)
	for i := range uint32(g.Records) {
		root := sets.Find(i)
		if of[i] = -1; size[root] < 2 {
			continue
		}
		if number[root] == 0 {
			r.Clusters = append(r.Clusters, Cluster{Members: make([]uint32, 0, size[root]), Joins: make([]Pair, 0, size[root]-1)})
			number[root] = int32(len(r.Clusters))
		}
		of[i] = number[root] - 1
		c := &r.Clusters[of[i]]
		c.Members = append(c.Members, i)
	}
	made(func(j join) { // those of a cluster in falling order of evidence
		c := &r.Clusters[of[j.a]]
		c.Joins = append(c.Joins, j.best)
		c.Probability, c.Weakest = probability(j.evidence), j.best
	})
	var alone int64
	for _, p := range g.Pairs {
		if c := of[p.A]; c >= 0 && c == of[p.B] {
			if alone += p.steps(); p.Evidence > 0 {
				r.Clusters[c].Believed++
			}
		}
	}
	r.RightAlone = float64(alone) * unit
	return of
}

// contradict lists what cannot hold together.
func (r *Result) contradict(g *Graph, trees []tree, of []int32) {
	for i := range trees {
		for _, p := range trees[i].refused {
			r.Contradictions = append(r.Contradictions, Contradiction{Pair{p[0], p[1], math.Inf(1)}, ByVerdict})
		}
	}
	name := func(record uint32) uint32 { // of what the record is part of
		if c := of[record]; c >= 0 {
			return r.Clusters[c].Members[0]
		}
		return record
	}
	different := map[uint64]bool{}
	for _, p := range g.Different {
		different[key(name(p[0]), name(p[1]))] = true
	}
	for _, p := range g.Pairs {
		if a, b := name(p.A), name(p.B); p.Evidence > 0 && a != b {
			c := Contradiction{p, ByOthers}
			switch {
			case different[key(a, b)]:
				c.Reason = ByVerdict
			case g.Sources != nil && r.share(g, of, p):
				c.Reason = BySource
			}
			r.Contradictions = append(r.Contradictions, c)
		}
	}
	sorting.Func(r.Contradictions, func(x, y Contradiction) int {
		return cmp.Or(cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B), cmp.Compare(y.Evidence, x.Evidence))
	})
}

// share tells whether the clusters of the records of a pair have records of one source.
func (r *Result) share(g *Graph, of []int32, p Pair) bool {
	members := func(record uint32) []uint32 {
		if c := of[record]; c >= 0 {
			return r.Clusters[c].Members
		}
		return []uint32{record}
	}
	for _, a := range members(p.A) {
		for _, b := range members(p.B) {
			if s := g.Sources[a]; s != 0 && s == g.Sources[b] {
				return true
			}
		}
	}
	return false
}
