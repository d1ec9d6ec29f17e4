package model

import (
	"cmp"
	"slices"

	"github.com/alike-dev/alike/linkage/internal/compare"
)

// byDecoys returns the probability of each of c by its score alone. Pairs within sources, which are no matches, are the
// decoys: of the pairs across sources with a score, as many are no matches as there are pairs within with it, in
// proportion to the pairs that are possible. This share never rises with the score, so it is an isotonic regression (M.
// Ayer et al., "An empirical distribution function for sampling with incomplete information", 1955).
func byDecoys(m *Model, c *compare.Comparison, around *Surroundings) []float64 {
	var all scored
	score := func(from *compare.Comparison, i int) float64 { return m.Score(from.Of(i)) }
	each(around.Across, len(c.Pairs), func(i int) { all = append(all, group{least: score(c, i), across: 1}) })
	for i := range around.Within.Pairs {
		all = append(all, group{least: score(around.Within, i), within: 1})
	}
	perDecoy := around.Possible[0] / around.Possible[1]
	groups := all.pooled()
	probability := make([]float64, len(c.Pairs))
	for i := range probability {
		z := score(c, i)
		at, _ := slices.BinarySearchFunc(groups, z, func(g group, z float64) int { return cmp.Compare(z, g.least) })
		g := groups[min(at, len(groups)-1)]
		// Half a decoy more: that none was seen does not say that there is none.
		probability[i] = max(0, 1-perDecoy*(g.within+0.5)/max(g.across, 1))
	}
	return probability
}

// each visits some places, or all of n if some is nil.
func each(some []int, n int, visit func(i int)) {
	if some == nil {
		for i := range n {
			visit(i)
		}
	}
	for _, i := range some {
		visit(i)
	}
}

// A group has pairs with neighbouring scores: the least of these, and the numbers of pairs across and within sources.
type group struct{ least, across, within float64 }

// falser tells whether pairs of g are no matches more often than those of h.
func (g group) falser(h group) bool { return g.within*h.across > h.within*g.across }

type scored []group

// pooled returns groups by falling score, in which the share of decoys rises: neighbours of which the first has the larger
// share are joined until there are none.
func (s scored) pooled() (groups []group) {
	slices.SortFunc(s, func(x, y group) int { return cmp.Compare(y.least, x.least) })
	for i := 0; i < len(s); {
		g := group{least: s[i].least}
		for ; i < len(s) && s[i].least == g.least; i++ {
			g = g.with(s[i])
		}
		for n := len(groups); n > 0 && !g.falser(groups[n-1]); n-- {
			g, groups = groups[n-1].with(g), groups[:n-1]
		}
		groups = append(groups, g)
	}
	return groups
}

// with returns g and the pairs of a group with scores that are no larger.
func (g group) with(h group) group {
	return group{h.least, g.across + h.across, g.within + h.within}
}
