package model

import "github.com/alike-dev/alike/linkage/internal/compare"

// A fit may take two kinds of pairs for its matches: copies of a firm's record, and the firms of one group, which share name,
// address and telephone, and of which half of the matches consist. In each column most matches agree; only both together show
// that the same pairs differ in the date of founding and in the tax number.

// leastOfMatches is the least share of the matches that a kind has which says something about them.
const leastOfMatches = 0.1

// apartIn returns the columns in which a kind among the matches in one table leaves to chance what would name a record, though
// another kind among them agrees in it; nil: no kind does. Columns that agree together among other pairs, such as those of an
// address, count once: who moves changes all of them.
func (s *Surroundings) apartIn(c *compare.Comparison, m *mixture, probability, own []float64) (columns []int) {
	of := make([]float64, len(m.Share))
	there, agree := make([][]float64, len(of)), make([][]float64, len(of))
	for k := range of {
		there[k], agree[k] = make([]float64, m.Columns), make([]float64, m.Columns)
	}
	all := 0.0
	for i, p := range probability {
		if p <= 0.5 {
			continue
		}
		all++
		for k, share := range m.posterior[i] {
			of[k] += share
			for f, l := range c.Of(i)[:m.Columns] {
				if l != compare.Missing {
					there[k][f] += share
				}
				if l >= compare.Near {
					agree[k][f] += share
				}
			}
		}
	}
	more := func(k, f int) float64 {
		return (agree[k][f]/max(there[k][f], 1e-300) - s.Alike[f]) / (1 - s.Alike[f])
	}
	for k := range of {
		if of[k] < leastOfMatches*all {
			continue
		}
		naming, differ := 0.0, []int(nil)
		for f := range m.Columns {
			most := 0.0
			for other := range of {
				if other != k && of[other] >= leastOfMatches*all && there[other][f] >= leastPairs {
					most = max(most, more(other, f))
				}
			}
			if there[k][f] < leastPairs || most < telling || more(k, f) >= telling {
				continue
			}
			naming += own[f] * min(1, s.Rarity[f]/s.Naming) * (1 - max(0, more(k, f))/most)
			differ = append(differ, f)
		}
		if naming > mostNaming {
			columns = differ
		}
	}
	return columns
}
