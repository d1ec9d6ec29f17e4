package model

import (
	"cmp"
	"slices"

	"github.com/alike-dev/alike/internal/sorting"
	"github.com/alike-dev/alike/linkage/internal/compare"
)

// byDecoys returns the probability of each of c by its score alone. Pairs within sources, which are no matches, are the
// decoys: of the pairs across sources with a score, as many are no matches as there are pairs within with it, in
// proportion to the pairs that are possible. This share never rises with the score, so it is an isotonic regression (M.
// Ayer et al., "An empirical distribution function for sampling with incomplete information", 1955).
func byDecoys(m *Model, c *compare.Comparison, around *Surroundings) []float64 {
	return newDecoys(m, c, around).Of(m, c)
}

// Decoys say how likely pairs are matches, by their scores alone.
type Decoys struct {
	Groups   []Decoy `json:"groups"`    // by falling score
	PerDecoy float64 `json:"per_decoy"` // pairs across sources that are no matches for each one within
}

// newDecoys returns what pairs within sources say of the scores of pairs across.
func newDecoys(m *Model, c *compare.Comparison, around *Surroundings) *Decoys {
	var all scored
	score := func(from *compare.Comparison, i int) float64 { return m.Score(from.Of(i)) }
	each(around.Across, len(c.Pairs), func(i int) { all = append(all, Decoy{Least: score(c, i), Across: 1}) })
	for i := range around.Within.Pairs {
		all = append(all, Decoy{Least: score(around.Within, i), Within: 1})
	}
	return &Decoys{all.pooled(), around.Possible[0] / around.Possible[1]}
}

// Of returns the probability of each of some pairs, whose scores are those by a model.
func (d *Decoys) Of(m *Model, c *compare.Comparison) []float64 {
	probability := make([]float64, len(c.Pairs))
	for i := range probability {
		at, _ := slices.BinarySearchFunc(d.Groups, m.Score(c.Of(i)), func(g Decoy, z float64) int { return cmp.Compare(z, g.Least) })
		g := d.Groups[min(at, len(d.Groups)-1)]
		// Half a decoy more: that none was seen does not say that there is none.
		probability[i] = max(0, 1-d.PerDecoy*(g.Within+0.5)/max(g.Across, 1))
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

// A Decoy is a group of pairs with neighbouring scores: the least of these, and the numbers of pairs across and within sources.
type Decoy struct {
	Least  float64 `json:"least"`
	Across float64 `json:"across"`
	Within float64 `json:"within"`
}

// falser tells whether pairs of g are no matches more often than those of h.
func (g Decoy) falser(h Decoy) bool { return g.Within*h.Across > h.Within*g.Across }

type scored []Decoy

// pooled returns groups by falling score, in which the share of decoys rises: neighbours of which the first has the larger
// share are joined until there are none.
func (s scored) pooled() (groups []Decoy) {
	sorting.Func(s, func(x, y Decoy) int { return cmp.Compare(y.Least, x.Least) })
	for i := 0; i < len(s); {
		g := Decoy{Least: s[i].Least}
		for ; i < len(s) && s[i].Least == g.Least; i++ {
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
func (g Decoy) with(h Decoy) Decoy {
	return Decoy{h.Least, g.Across + h.Across, g.Within + h.Within}
}

// askDecoys notes what pairs within the sources of the only table say. If by these less than half of the matches are right, what
// such pairs have in common is no thing of a source, or its things have it: which of the two, the data do not tell.
func (f *Fitted) askDecoys(c *compare.Comparison, around *Surroundings) {
	f.Decoys = newDecoys(f.Model, c, around)
	right, n := confirmedOf(f.Probability, f.Decoys.Of(f.Model, c))
	if 2*right < n {
		f.Dispute = OverAll
	}
}
