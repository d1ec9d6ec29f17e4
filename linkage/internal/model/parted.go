package model

import (
	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/linkage/internal/compare"
)

// A narrower notion of what is one thing must hold: where a and b are one by it, and b and c, so are a and c. Of sizes and colours that
// is so. But shops say of a thing what they like: two offers of it differ in words, or in the price, and a third one differs from
// neither in that way. Where things have many records, such chains tie together much that the notion parts.

// mostParted is the largest share of matches that are none by a narrower notion, of those whose records it ties together: 0 in tables
// of variants, and 0.2 where one record of ten lacks the word that tells them apart; 0.3 to 0.7 where shops say what they like.
const mostParted = 0.25

// parted returns the share of matches that are none by a narrower notion, of those whose records it ties together. c are the matches of
// one table; likely has how likely each is one by the notion. O(matches).
func parted(c *compare.Comparison, likely []float64) float64 {
	sets := cluster.New(c.Left)
	for i, p := range c.Pairs {
		if likely[i] > 0.5 {
			sets.Union(p.A, p.B)
		}
	}
	tied, apart := 0.0, 0.0
	for i, p := range c.Pairs {
		if sets.Find(p.A) != sets.Find(p.B) {
			continue
		}
		if tied++; likely[i] <= 0.5 {
			apart++
		}
	}
	return apart / max(tied, 1)
}
