package model

import (
	"math"

	"github.com/alike-dev/alike/linkage/internal/compare"
)

// Used motorcycles of two sites, of which hardly one is on both, have as many kilometres and one colour by chance. Of two tables a
// record has its best partner, and chance hardly links one that has a match: so only records without a better partner count. Amounts
// and dates may all be near each other, and few be the same: so levels count, not whether values agree.

// mostAdded is the largest evidence that a level has, in steps.
const mostAdded = 20

// atMostAcross is atMost for two tables. O(pairs · columns² + columns² · levels · classes).
func (s *Surroundings) atMostAcross(c *compare.Comparison, probability []float64, once Once) *AtMost {
	matches, seen := levelsOf(c, matchesOf(probability)), levelsOf(s.Strangers, s.parted(-1)[0])
	scores := make([][]int, len(matches))
	for f := range scores {
		scores[f] = make([]int, compare.Levels)
		m, u := SumOf(matches[f])+1, SumOf(seen[f])+1
		for l := range scores[f] {
			scores[f][l] = min(mostAdded, max(-mostAdded, steps((matches[f][l]+1/u)/m, (seen[f][l]+1/m)/u)))
		}
	}
	l := newLadder(scores)
	found, links := counted(c, probability, l.adds, l.classes)
	free := s.free(c, links, once)
	if once.Any() {
		found = links
	}
	return &AtMost{l.adds, l.mostExplained(s.Among, found, links, free, func(by int) (portions []portion) {
		for _, part := range s.parted(by) {
			portions = append(portions, s.leastLevels(part, matches))
		}
		return portions
	})}
}

// levelsOf counts the levels of each column in some pairs.
func levelsOf(c *compare.Comparison, some []int) [][]float64 {
	count := make([][]float64, c.Width-1)
	for f := range count {
		count[f] = make([]float64, compare.Levels)
	}
	for _, i := range some {
		for f, l := range c.Of(i)[:c.Width-1] {
			count[f][l]++
		}
	}
	return count
}

// leastLevels returns a part of the random pairs, with how often they have each level at least, given the levels of the matches of a fit.
func (s *Surroundings) leastLevels(part []int, matches [][]float64) portion {
	all := float64(len(s.Strangers.Pairs))
	outcomes := levelsOf(s.Strangers, part)
	for f, count := range outcomes {
		for l, n := range count {
			count[l] = max(0, n-surelySeen*math.Sqrt(n)-unfound*matches[f][l]*all/s.Among) / float64(len(part))
		}
	}
	return portion{float64(len(part)) / all, outcomes}
}

// free returns, of each class, the share of the pairs of records that have no partner in it or in a higher one, as far as they have one
// at most.
func (s *Surroundings) free(c *compare.Comparison, links []float64, once Once) []float64 {
	left, right := float64(c.Left), float64(c.Right)
	if left <= right { // candidates may be those of a part of the smaller table
		left = s.Among / right
	} else {
		right = s.Among / left
	}
	free := make([]float64, len(links))
	linked := 0.0
	for class := len(links) - 1; class >= 0; class-- {
		linked += links[class]
		free[class] = 1
		if once.Left {
			free[class] *= max(0, 1-linked/left)
		}
		if once.Right {
			free[class] *= max(0, 1-linked/right)
		}
	}
	return free
}
