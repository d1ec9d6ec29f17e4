package model

import (
	"context"
	"math"
	"slices"

	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/kinds"
)

// Where no column says what another one says, it is known how many pairs agree in some columns by chance: the number of all pairs
// times how often random pairs agree in each of these, and differ in the others. So it is where one column explains what others say of
// each other, as a country explains names, which are then counted for pairs that agree in it and for the others. Pairs that are more than these are matches, by
// whichever column they differ. A fit of classes may take the matches of one column only: copies that have one error each, such as a
// typing error in the name or a wrong month of birth, are several classes, and none has the mean of them.

const (
	// scoreStep is the width of the classes of scores, in nats.
	scoreStep = 0.5
	// independentSteps is the number of steps in which it is learned how often matches agree, from independentStart.
	independentSteps = 5
	independentStart = 0.9
)

// followIndependent replaces a fit that contradicts what is more than chance.
func (f *Fitted) followIndependent(ctx context.Context, c *compare.Comparison, o *Options) {
	strata := o.Around.explained()
	if strata == nil {
		return
	}
	likely := o.Around.beyondChance(c, strata)
	if SumOf(likely) < leastPairs || agree(f.Probability, likely, mostDisagreementWithin) {
		return
	}
	if left := o.Around.leftToChance(c, likely); left.columns != nil { // what all candidates have in common no random pairs show
		return
	}
	f.BeyondChance = true
	f.follow(ctx, c, o, distil(ctx, c, likely, freely))
}

// beyondChance returns how likely each candidate is a match, if columns are independent within strata: by the score of Fellegi and Sunter, how many
// pairs there are with it and how many random pairs would have it. O(steps · candidates · columns).
func (s *Surroundings) beyondChance(c *compare.Comparison, strata []stratum) []float64 {
	grades := Grades(c, nil)
	n := c.Width - 1
	agreement := slices.Repeat([]float64{independentStart}, n)
	likely := make([]float64, len(c.Pairs))
	classes := make([]int, len(c.Pairs))
	for range independentSteps {
		l := s.ladderOf(agreement)
		found := make([]float64, l.classes)
		for i := range classes {
			classes[i] = l.of(grades[i*n : (i+1)*n])
			found[classes[i]]++
		}
		matches := moreThan(found, l.byChance(portionsOf(strata), s.Among))
		there, agree := make([]float64, n), make([]float64, n)
		for i, class := range classes {
			likely[i] = matches[class]
			for f, g := range grades[i*n : (i+1)*n] {
				if g != kinds.Missing {
					there[f] += likely[i]
				}
				if g >= kinds.Near {
					agree[f] += likely[i]
				}
			}
		}
		for f := range agreement { // one more of either, so that no evidence is infinite
			agreement[f] = (agree[f] + independentStart) / (there[f] + 1)
		}
	}
	return likely
}

// A ladder has the classes of scores, and what each outcome of a column adds to them.
type ladder struct {
	adds    [][]int
	classes int
}

// newLadder returns the classes of the sums of what outcomes score, of each column. It takes the scores over.
func newLadder(scores [][]int) ladder {
	l := ladder{scores, 1}
	for _, of := range scores {
		least := slices.Min(of)
		for o := range of {
			of[o] -= least
		}
		l.classes += slices.Max(of)
	}
	return l
}

// ladderOf returns the classes of scores, by how often matches agree in each column.
func (s *Surroundings) ladderOf(agreement []float64) ladder {
	scores := make([][]int, len(agreement))
	for f, m := range agreement {
		u := s.Alike[f]
		scores[f] = []int{agrees: steps(m, u), differs: steps(1-m, 1-u), missing: 0}
	}
	return newLadder(scores)
}

// steps returns the logarithm of a ratio in whole steps.
func steps(match, chance float64) int {
	return int(math.Round(math.Log(match/chance) / scoreStep))
}

// of returns the class of a pair by its grades.
func (l *ladder) of(grades []uint8) (class int) {
	for f, g := range grades {
		class += l.adds[f][outcome(g)]
	}
	return class
}

// The outcomes of a column, by grades.
const (
	agrees = iota
	differs
	missing
)

func outcome(grade uint8) int {
	switch {
	case grade == kinds.Missing:
		return missing
	case grade >= kinds.Near:
		return agrees
	}
	return differs
}

// A portion is a part of the random pairs: its share of them and, of each column, how often its pairs have each outcome.
type portion struct {
	share    float64
	outcomes [][]float64
}

func portionsOf(strata []stratum) (portions []portion) {
	for _, of := range strata {
		outcomes := make([][]float64, len(of.alike))
		for f, alike := range of.alike {
			filled := of.filled[f]
			outcomes[f] = []float64{agrees: filled * alike, differs: filled * (1 - alike), missing: 1 - filled}
		}
		portions = append(portions, portion{of.share, outcomes})
	}
	return portions
}

// byChance returns how many of so many pairs are in each class by chance, if no column says what another one does in any portion.
func (l *ladder) byChance(portions []portion, pairs float64) []float64 {
	all := make([]float64, l.classes)
	for _, of := range portions {
		expected := make([]float64, l.classes)
		expected[0] = pairs * of.share
		for f, adds := range l.adds {
			next := make([]float64, l.classes)
			for o, share := range of.outcomes[f] {
				if share == 0 {
					continue
				}
				for class, n := range expected[:l.classes-adds[o]] {
					next[class+adds[o]] += n * share
				}
			}
			expected = next
		}
		for class, n := range expected {
			all[class] += n
		}
	}
	return all
}

// moreThan returns the share of the pairs in each class that are more than by chance. It does not fall with the score: classes
// in which it would are taken together. One pair more than expected is no match.
func moreThan(found, expected []float64) []float64 {
	type block struct {
		from            int
		found, expected float64
	}
	var blocks []block
	share := func(b block) float64 {
		if b.found == 0 {
			return 0
		}
		return max(0, 1-(b.expected+1)/b.found)
	}
	for class := range found {
		b := block{class, found[class], expected[class]}
		for n := len(blocks); n > 0 && share(blocks[n-1]) >= share(b); n-- {
			last := blocks[n-1]
			b = block{last.from, last.found + b.found, last.expected + b.expected}
			blocks = blocks[:n-1]
		}
		blocks = append(blocks, b)
	}
	shares := make([]float64, len(found))
	for i, b := range blocks {
		to := len(found)
		if i+1 < len(blocks) {
			to = blocks[i+1].from
		}
		for class := b.from; class < to; class++ {
			shares[class] = share(b)
		}
	}
	return shares
}
