package model

import (
	"math"

	"github.com/alike-dev/alike/linkage/internal/compare"
)

// Records may have much in common without being one thing: people a home, firms of a group their name, address and
// telephone. The columns in which such pairs differ would then be those of the thing, such as the date when a firm was
// founded and its tax number. So might they be of something that happened to it, such as a visit. Where much of what
// columns could tell is in columns in which matches differ, the data do not tell which of the two it is.

const (
	// mostAtRandom is the largest share of what columns of two tables could tell that matches may leave to chance, without a
	// doubt about what is the same thing; mostAtRandomAcross is the same where pairs within sources show what is not.
	mostAtRandom, mostAtRandomAcross = 0.4, 0.6
	// mostNaming is how often what matches leave to chance may name each record of the only table. Once is a key, or the time of
	// what happened; a number and a date of its own make a record another thing.
	mostNaming = 1.5
	// mostNamingByOne is the same where most matches agree in one column at most: then the others may as well be those of the
	// thing, such as the pack and the price of a drug. A column in which they are alike, and never the same, is not enough:
	// so are titles with an error each.
	mostNamingByOne = 0.9
	// mostRepeated is the same for columns that are no key and no time, see left.siblings.
	mostRepeated = 0.75
	// seldom is the agreement, more than by chance, that a minority of matches has in a column. Where copies make the fit take
	// something larger, such as all packs of a drug, these few are the copies: 0.09 to 0.15 there. In tables of copies it was
	// 0.28 and more, or less than hardly; once 0.17, in a column of common values, which names few records.
	hardly, seldom = 0.02, 0.25
	// farLess is the share of the matches that agree in a column by chance below which records that have much in common differ in it
	// by a rule: houses of one street in their numbers, a couple in their sex. Copies of one thing do not. surelyLess is how many
	// standard deviations below chance that must be.
	farLess, surelyLess = 0.6, 4
	// fewThere is the least share of the matches with values in a column that counts, if they are fewer than leastPairs.
	fewThere = 0.25
	// rarest is the most nats that a column counts. That values are rarer than one in a thousand says nothing new.
	rarest = 7
)

// doubts returns the columns in which candidates that are more likely matches than not leave too much to chance; nil: they do
// not.
func (s *Surroundings) doubts(c *compare.Comparison, probability []float64) []int {
	if left := s.leftToChance(c, probability); s.doubted(c, &left) {
		return left.columns
	}
	return nil
}

// doubted tells whether matches leave too much to chance.
func (s *Surroundings) doubted(c *compare.Comparison, left *left) bool {
	switch {
	case len(left.below) > 0:
		return true
	case c.Right == 0 && (s.Within == nil || !s.Told): // sources that were found may be anything that differs
		doubted := left.naming+left.seldom > mostNaming || left.worded > mostNamingByOne || left.seldom > mostNamingByOne
		if left.agreeing <= 1 || s.Within != nil { // a track or a floor looks like a source, too
			doubted = doubted || left.naming > mostNamingByOne
		}
		return doubted
	case s.Within != nil:
		return left.share > mostAtRandomAcross
	}
	return left.share > mostAtRandom
}

// siblings returns the columns in which matches of one table agree no more often than random pairs, if these would nearly name each
// record and are neither keys nor times: then records that agree in all else may be editions of a book, which differ in their pages,
// or children of one couple, who differ in their names. nil: there are no such columns.
func (l *left) siblings() []int {
	if l.repeated > mostRepeated {
		return l.columns
	}
	return nil
}

// left is what matches leave to chance.
type left struct {
	columns  []int   // in which they agree no more often than random pairs
	agreeing int     // in how many others most of them agree
	share    float64 // of what columns could tell that is in these
	naming   float64 // how often these would name each record of the only table
	worded   float64 // the same by columns of words alone: a number may be a key, or a time, a title is the thing's own
	seldom   float64 // how often columns would name each record in which a minority of matches agrees
	repeated float64 // the same by columns that are no time, and whose values several records have: these are no keys
	below    []int   // columns in which they agree far less often than random pairs: these tell records of a group apart
	partly   []int   // columns that would name a record, in which less than half of them agree: no doubt by themselves
}

// leftToChance returns what matches leave to chance. A column counts by how rare its values are, even if few records have one. In one table it counts half
// if matches have values that are alike, and hardly ever the same: these hold a part that differs, such as the branch of a
// firm beside the name of its group. Two tables, or sources, may write the same in other ways.
func (s *Surroundings) leftToChance(c *compare.Comparison, probability []float64) (of left) {
	there, agree := agreement(c, probability)
	same := sameValues(c, probability)
	matches := 0.0
	for _, p := range probability {
		if p > 0.5 {
			matches++
		}
	}
	all := 0.0
	coded := c.Right == 0 && s.Within != nil // random pairs may be of one source, which has words of its own
	for f, chance := range s.Alike {
		if there[f] == 0 || there[f] < min(leastPairs, fewThere*matches) {
			continue
		}
		tells, differs, names := min(rarest, s.Rarity[f]), 0.0, min(1, s.Rarity[f]/s.Naming)
		more, closer := (agree[f]/there[f]-chance)/(1-chance), s.closer(c, probability, f)
		switch {
		case closer:
		case more < noMore:
			differs = 1
		case c.Right == 0 && s.Within == nil && same[f] < noMore*agree[f]:
			differs = 0.5
		}
		if expected := chance * there[f]; !coded && agree[f] < farLess*expected && 2*(math.Sqrt(expected)-math.Sqrt(agree[f])) > surelyLess { // of Poisson's counts
			of.below = append(of.below, f)
		}
		all += tells
		of.share += differs * tells
		of.naming += differs * names
		few := c.Right == 0 && more > hardly && more < seldom && !closer
		if c.Right == 0 && more > hardly && more < telling && names > mostNamingByOne && !closer {
			of.partly = append(of.partly, f)
		}
		if few {
			of.seldom += names
		}
		switch {
		case differs > 0 || few:
			of.columns = append(of.columns, f)
			if names < 1 && !s.Timed[f] {
				of.repeated += differs * names
			}
			if s.Worded[f] && differs == 1 {
				of.worded += names
			}
		case more > 0.5:
			of.agreeing++
		}
	}
	of.share /= max(all, 1e-300)
	return of
}

// closer tells whether the numbers or dates of most matches in a column are among the nearest tenth: what was measured twice is
// seldom the same.
func (s *Surroundings) closer(c *compare.Comparison, probability []float64, f int) bool {
	if s.Apart == nil {
		return false
	}
	most, chance := s.Close[f][0], s.Close[f][1]
	there, close := 0.0, 0.0
	for i, p := range probability {
		if p <= 0.5 {
			continue
		}
		if apart := s.Apart(f, c.Pairs[i]); apart >= 0 { // not if it is no number
			there++
			if apart <= most {
				close++
			}
		}
	}
	return there > 0 && close/there-chance >= telling*(1-chance)
}

// sameValues returns, of each column, in how many of the candidates that are more likely matches than not the values are
// equal, or near each other by distance: of what was measured more is not to be expected.
func sameValues(c *compare.Comparison, probability []float64) []float64 {
	same := make([]float64, c.Width-1)
	for i, p := range probability {
		if p <= 0.5 {
			continue
		}
		for f, l := range c.Of(i)[:c.Width-1] {
			if l >= compare.Equal {
				same[f]++
			}
		}
	}
	return same
}
