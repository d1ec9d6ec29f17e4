package model

import (
	"math"

	"github.com/alike-dev/alike/linkage/internal/compare"
)

// Two persons of one name are not one person, and a fit of few matches may take them for one, as foreigners of one name and country.
// Columns that say nothing of each other give a number of such pairs by chance, and columns that do give more. So that number bounds
// how many of the pairs with as much in common are matches.

// AtMost says how likely pairs are matches at most: of each class of scores, the share that is more than chance.
type AtMost struct {
	Adds  [][]int   `json:"adds"` // of each column: what each level adds to the class
	Share []float64 `json:"share"`
}

const (
	// boundedColumns is the least number of columns that bound matches: of one column, pairs that agree in it may all be matches.
	boundedColumns = 2
	// unfound is how many matches there may be for each that a fit finds. So many of the pairs that agree in a column do not count
	// as chance, as they may be matches.
	unfound = 3
	// surelySeen is by how many standard deviations random pairs may agree more often than all pairs do.
	surelySeen = 2
)

// atMost returns the bound of the matches of a fit to candidates, once says which records have one partner at most; nil: none is known.
func (s *Surroundings) atMost(c *compare.Comparison, probability []float64, once Once) *AtMost {
	n := c.Width - 1
	switch {
	case s.Among == 0 || n < boundedColumns:
		return nil
	case c.Right > 0:
		return s.atMostAcross(c, probability, once)
	case s.Within != nil: // of one source random pairs say nothing about another one
		return nil
	}
	there, agree := agreement(c, probability)
	same := sameValues(c, probability)
	matching := make([]float64, n)
	for f := range agree {
		matching[f] = (agree[f] + independentStart) / (there[f] + 1)
	}
	l := s.ladderOf(matching)
	adds := l.byLevel(c)
	found, links := counted(c, probability, adds, l.classes)
	return &AtMost{adds, l.mostExplained(s.Among, found, links, nil, func(by int) []portion {
		strata := s.strata(by)
		for i := range strata {
			s.lower(&strata[i], agree, same, by < 0)
		}
		return portionsOf(strata)
	})}
}

// counted returns how many candidates, and how many that are more likely matches than not, are in each class.
func counted(c *compare.Comparison, probability []float64, adds [][]int, classes int) (found, links []float64) {
	found, links = make([]float64, classes), make([]float64, classes)
	for i, p := range probability {
		class := classOf(adds, c.Of(i))
		if found[class]++; p > 0.5 {
			links[class]++
		}
	}
	return found, links
}

// mostExplained returns, of each class, the share of those found that is more than chance, by the column that explains most of the links.
// Chance makes so many pairs, of which a share is free, nil for all; portions are those where a column, −1 for none, explains what others
// say of each other, nil if it cannot.
func (l *ladder) mostExplained(pairs float64, found, links, free []float64, portions func(by int) []portion) (share []float64) {
	fewest := math.Inf(1)
	for by := -1; by < len(l.adds); by++ {
		parts := portions(by)
		if parts == nil {
			continue
		}
		expected := l.byChance(parts, pairs)
		for class, of := range free {
			expected[class] *= of
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
	return share
}

// byLevel returns what each level of each column adds to the class.
func (l *ladder) byLevel(c *compare.Comparison) [][]int {
	adds := make([][]int, len(l.adds))
	for f := range adds {
		adds[f] = make([]int, compare.Levels)
		for level := range adds[f] {
			adds[f][level] = l.adds[f][outcome(gradeOf(c, f, compare.Level(level)))]
		}
	}
	return adds
}

// lower replaces how often strangers agree in a stratum by the least that may be, given in how many matches of a fit values of each
// column agree, and are the same. Of all pairs, known, it is known exactly how many have the same value.
func (s *Surroundings) lower(of *stratum, agree, same []float64, known bool) {
	const some, most = 1e-12, 1 - 1e-9 // so that logarithms are finite
	alike := make([]float64, len(agree))
	for f, share := range of.alike {
		seen := float64(len(of.grades)/len(agree)) * of.filled[f]
		pairs := max(1, s.Among*of.share*of.filled[f])
		alike[f] = share - (0.5+surelySeen*math.Sqrt(share*(1-share)*seen))/max(1, seen) - unfound*agree[f]/pairs
		if known {
			alike[f] = max(alike[f], math.Exp(-s.Rarity[f])-unfound*same[f]/pairs)
		}
		alike[f] = min(most, max(some, alike[f]))
	}
	of.alike = alike
}

// Of returns how likely each of some pairs is a match, at most and by a fit.
func (m *AtMost) Of(c *compare.Comparison, probability []float64) []float64 {
	bounded := make([]float64, len(probability))
	for i, p := range probability {
		bounded[i] = min(p, m.Share[classOf(m.Adds, c.Of(i))])
	}
	return bounded
}

// classOf returns the class of a pair by its levels.
func classOf(adds [][]int, levels []compare.Level) (class int) {
	for f, of := range adds {
		class += of[levels[f]]
	}
	return class
}
