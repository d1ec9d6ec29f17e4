package model

import (
	"math"
	"slices"

	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/kinds"
)

// Used motorcycles of two sites, of which hardly one is on both, have as many kilometres and one colour by chance. Of two tables a
// record has its best partner, and chance hardly links one that has a match: so only records without a better partner count. Amounts
// and dates may all be near each other, and few be the same: so levels count, not whether values agree.

// mostAdded is the largest evidence that a level has, in steps.
const mostAdded = 20

// atMostAcross is atMost for two tables. O(pairs · columns + columns² · levels · classes).
func (s *Surroundings) atMostAcross(c *compare.Comparison, probability []float64, once Once) *AtMost {
	n := c.Width - 1
	matches, seen := levelsOf(c, matchesOf(probability)), levelsOf(s.Strangers, s.parted(-1)[0])
	adds, classes := make([][]int, n), 1
	for f := range adds {
		adds[f] = make([]int, compare.Levels)
		m, u := SumOf(matches[f])+1, SumOf(seen[f])+1
		for l := range adds[f] {
			adds[f][l] = min(mostAdded, max(-mostAdded, steps((matches[f][l]+1/u)/m, (seen[f][l]+1/m)/u)))
		}
		least := slices.Min(adds[f])
		for l := range adds[f] {
			adds[f][l] -= least
		}
		classes += slices.Max(adds[f])
	}
	found, links := make([]float64, classes), make([]float64, classes)
	for i, p := range probability {
		class := classOf(adds, c.Of(i))
		if found[class]++; p > 0.5 {
			links[class]++
		}
	}
	free := s.free(c, links, once)
	if once.Any() {
		found = links
	}
	var share []float64
	fewest := math.Inf(1)
	for by := -1; by < n; by++ { // the column that explains most
		parts := s.parted(by)
		if parts == nil {
			continue
		}
		expected := make([]float64, classes)
		for _, part := range parts {
			for class, n := range s.byChanceAcross(adds, classes, matches, part) {
				expected[class] += n * free[class]
			}
		}
		beyond := moreThan(found, expected)
		right := 0.0
		for class, n := range links {
			right += n * beyond[class]
		}
		if right < fewest {
			fewest, share = right, beyond
		}
	}
	return &AtMost{adds, share}
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

// parted returns the random pairs, as strata does.
func (s *Surroundings) parted(by int) [][]int {
	n := s.Strangers.Width - 1
	parts := make([][]int, 2)
	for i := range s.Strangers.Pairs {
		part := 0
		if by >= 0 && s.Random[i*n+by] >= kinds.Near {
			part = 1
		}
		parts[part] = append(parts[part], i)
	}
	switch least := leastStratum * float64(len(s.Strangers.Pairs)); {
	case by < 0:
		return parts[:1]
	case float64(min(len(parts[0]), len(parts[1]))) < least:
		return nil
	}
	return parts
}

// byChanceAcross returns how many pairs of two tables are in each class at least, if columns say nothing of each other in a part of the
// random pairs, given the levels of the matches of a fit.
func (s *Surroundings) byChanceAcross(adds [][]int, classes int, matches [][]float64, part []int) []float64 {
	all := float64(len(s.Strangers.Pairs))
	expected := make([]float64, classes)
	expected[0] = s.Among * float64(len(part)) / all
	for f, count := range levelsOf(s.Strangers, part) {
		next := make([]float64, classes)
		for l, n := range count {
			n -= surelySeen*math.Sqrt(n) + unfound*matches[f][l]*all/s.Among
			if n <= 0 {
				continue
			}
			add := adds[f][l]
			for class, pairs := range expected[:classes-add] {
				next[class+add] += pairs * n / float64(len(part))
			}
		}
		expected = next
	}
	return expected
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
