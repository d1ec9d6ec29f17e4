package model

import (
	"context"
	"math"
	"slices"

	"github.com/alike-dev/alike/linkage/internal/compare"
)

// starts are shares of the first guess, the most similar pairs of it, from which the fit starts. If few
// candidates are matches, a start from the whole guess leads to pairs that are similar for another
// reason, such as records of one town; a start from its best pairs leads to matches.
var starts = []float64{1, 0.1, 0.02}

// clearerBy is by how much the clearness of a later start's model must exceed that of an earlier one.
const clearerBy = 0.03

// clearest finds the model of candidates: of the models that starts lead to, the one whose own probabilities
// separate matches from others best. best is nil if the matches of none are as alike as things are; then larger has the probabilities
// by the clearest of all.
func clearest(ctx context.Context, c *compare.Comparison, o *Options) (best *Model, probability, larger []float64) {
	g := Graph{Pairs: c.Pairs, Left: c.Left, Right: c.Right}
	most, wide := math.Inf(-1), math.Inf(-1)
	for _, rank := range ranks(c) {
		guess := firstGuess(c, g, rank, o.Once)
		if countPositive(guess) == 0 {
			guess = firstGuess(c, g, rank, Once{}) // nothing stands out from chance
		}
		order := make([]float64, len(guess))
		for i := range guess {
			order[i] = guess[i] * rank[i]
		}
		slices.Sort(order)
		order = order[len(order)-countPositive(guess):]
		for _, s := range starts {
			seeds := int(math.Ceil(s * float64(len(order))))
			if most+clearerBy >= 1 || s < 1 && seeds < leastSeeds {
				break
			}
			p := slices.Clone(guess)
			for i := range p {
				if seeds == 0 || p[i]*rank[i] < order[len(order)-seeds] {
					p[i] = 0
				}
			}
			m := settle(ctx, c, g, o.Once, o.Share, p)
			if (!o.Once.Any() || !standOut(c, p)) && o.Around.likeness(c, p) < mostly {
				if clear := clearness(p); clear > wide {
					larger, wide = p, clear
				}
				continue
			}
			if clear := clearness(p); clear > most+clearerBy || best == nil {
				best, probability, most = m, p, clear
			}
		}
	}
	if best != nil {
		larger = nil
	}
	return best, probability, larger
}

// standOut tells whether matches are more similar than the mean of all candidates, in the mean. Where there are none, a fit may
// follow what a few pairs have by chance, such as a rare word.
func standOut(c *compare.Comparison, probability []float64) bool {
	var matches, ofMatches, ofAll float64
	for i, p := range probability {
		w := float64(c.Wholes[i])
		matches, ofMatches, ofAll = matches+p, ofMatches+p*w, ofAll+w
	}
	return ofMatches*float64(len(probability)) > ofAll*matches
}

// ranks returns values by which candidates are ordered for first guesses: their similarity and, where values are near each
// other that share no tokens, what their agreement tells.
func ranks(c *compare.Comparison) [][]float64 {
	similarity := make([]float64, len(c.Pairs))
	for i, w := range c.Wholes {
		similarity[i] = float64(w)
	}
	if !slices.ContainsFunc(c.Levels, func(l compare.Level) bool { return compare.IsClose(l, 1) }) {
		return [][]float64{similarity}
	}
	return [][]float64{similarity, told(c)}
}

// told returns how much the agreement of each candidate tells, relative to that which tells most: the sum over columns of how
// rarely values are as alike, in nats, by chance or among all candidates.
func told(c *compare.Comparison) []float64 {
	of := make([]float64, len(c.Pairs))
	most := 0.0
	for f := range c.Width - 1 {
		var nats [compare.Levels]float64
		var count [compare.Levels]float64
		for i := range c.Pairs {
			count[c.Of(i)[f]]++
		}
		there := float64(len(c.Pairs)) - count[compare.Missing]
		for _, run := range compare.Runs(false) {
			from := 0.0
			for l := run.To - 1; l >= run.From; l-- {
				if from += count[l]; count[l] > 0 {
					nats[l] = max(compare.Told(l), -math.Log(from/there))
				}
			}
		}
		for i := range of {
			of[i] += nats[c.Of(i)[f]]
			most = max(most, of[i])
		}
	}
	for i := range of {
		of[i] /= max(most, 1e-300)
	}
	return of
}

// leastSeeds is the least number of pairs of a start.
const leastSeeds = 10

func countPositive(x []float64) (n int) {
	for _, v := range x {
		if v > 0 {
			n++
		}
	}
	return n
}

// firstGuess returns the probability of each candidate before there is a model. Only pairs that are each
// other's most similar candidate by rank are guessed to be matches, with a probability that grows with their
// similarity; where records of one table only may have several partners, it is the most similar candidate of each record of the other,
// and where all may, a record is in as many such pairs as are equally similar. If a
// record has one partner at most, its second best candidate shows how similar records
// are by chance: the guess is lower where, from this similarity on, there are as many second best
// candidates as best ones.
func firstGuess(c *compare.Comparison, g Graph, rank []float64, once Once) []float64 {
	guess := make([]float64, len(c.Pairs))
	var both []int
	switch {
	case once.Both():
		both = g.Mutual(rank, c.Wholes)
	case once.Any():
		both = g.firsts(rank, c.Wholes, once)
	default:
		both = g.closest(rank)
	}
	if len(both) == 0 {
		return guess
	}
	similarities := make([]float64, len(both))
	for i, e := range both {
		similarities[i] = rank[e]
	}
	slices.Sort(similarities)
	median := similarities[len(similarities)/2]
	var chance []float64
	if once.Any() {
		chance = secondBest(g, rank, both, once)
	}
	from := func(sorted []float64, s float64) float64 { // returns how many are s or more
		i, _ := slices.BinarySearch(sorted, s)
		return float64(len(sorted) - i)
	}
	for _, e := range both {
		s := rank[e]
		like := 1.0
		if s < median {
			like = s / median
		}
		guess[e] = 0.9 * like * max(0, 1-from(chance, s)/2/from(similarities, s))
	}
	return guess
}

// secondBest returns, ascending, the similarity of each record that has one partner at most to its best candidate that is not
// in both, a set of edges that share no records.
func secondBest(g Graph, rank []float64, both []int, once Once) []float64 {
	chosen := make([]bool, len(g.Pairs))
	for _, e := range both {
		chosen[e] = true
	}
	left, right := make([]float64, g.Left), make([]float64, g.Right)
	other := right
	if g.Right == 0 {
		other = left
	}
	for i, p := range g.Pairs {
		if !chosen[i] {
			if once.Left {
				left[p.A] = max(left[p.A], rank[i])
			}
			if once.Right {
				other[p.B] = max(other[p.B], rank[i])
			}
		}
	}
	all := slices.DeleteFunc(append(left, right...), func(s float64) bool { return s == 0 })
	slices.Sort(all)
	return all
}
