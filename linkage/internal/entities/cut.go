package entities

import (
	"cmp"
	"math"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/internal/sorting"
)

// cut chooses how far the joins of all groups go, and sets the figures of the result.
func (r *Result) cut(g *Graph, trees []tree, o *Options) {
	var joins []join
	for i := range trees {
		joins = append(joins, trees[i].joins...)
	}
	sorting.Func(joins, func(x, y join) int {
		return cmp.Or(cmp.Compare(y.evidence, x.evidence), cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b))
	})
	r.Matches = matches(g, joins)
	n := 0 // of the joins that are made
	for n < len(joins) && math.IsInf(joins[n].evidence, 1) {
		n++
	}
	var right, pairs, best float64
	for i := 0; i < len(joins); {
		// Joins of equal evidence are made or left out together.
		at := joins[i].evidence
		if at < 0 && (o.Even || best < 0.5 && o.Cut == nil && o.Precision == 0) {
			break // with an F1 below a half the data are too weak to accept what is improbable
		}
		for ; i < len(joins) && joins[i].evidence == at; i++ {
			right += joins[i].pairs * probability(at)
			pairs += joins[i].pairs
		}
		f1 := 2 * right / (pairs + r.Matches)
		var take bool
		switch {
		case o.Cut != nil:
			take = at >= *o.Cut
		case o.Precision > 0:
			take = right >= o.Precision*pairs
		default:
			take = f1 > best
		}
		if take {
			n = max(n, i)
		}
		best = max(best, f1)
	}
	r.Cut = math.Inf(1)
	for _, j := range joins[:n] {
		r.Cut = j.evidence
		r.Right += j.pairs * probability(j.evidence)
		r.Pairs += j.pairs
	}
}

// matches returns the expected number of pairs that are one thing: in clusters that are closed at even odds all
// pairs count by the evidence of the joins, others by their own.
func matches(g *Graph, joins []join) (n float64) {
	sets := cluster.New(g.Records)
	for _, j := range joins {
		if j.evidence >= 0 {
			sets.Union(j.a, j.b)
			n += j.pairs * probability(j.evidence)
		}
	}
	var others int64
	for _, p := range g.Pairs {
		if sets.Find(p.A) != sets.Find(p.B) {
			others += p.steps()
		}
	}
	return n + float64(others)*unit
}
