package model

import (
	"cmp"
	"math"
	"slices"

	"github.com/alike-dev/alike/linkage/internal/compare"
)

// Chance estimates which scores records reach that do not belong together. If a record has one partner
// at most, no two records of one table belong together. So the best score of a record among the others
// of its own table is a score that it would reach by chance if the other table had no partner for it. If
// records find no better partners in the other table than in their own, the model has learned from
// chance, and its probabilities mean nothing. The share of false pairs from a score on follows from the
// two counts (the target-decoy estimate: J. Elias, S. Gygi, "Target-decoy search strategy", Nature
// Methods 2007; the share of records without partner: J. Storey, "A direct approach to false discovery
// rates", 2002).
type Chance struct {
	Likely Sides // from the counts
	Most   Sides // an upper bound; decides only whether there are matches at all
}

// Known tells whether chance bounds anything.
func (c *Chance) Known() bool { return c.Likely.Known() || c.Most.Known() }

// Sides are the odds of the best pairs of the left and of the right records; nil: not known.
type Sides struct{ Left, Right *odds }

// A threshold s is chosen so that a share of comparedShare of the records find a partner with score s or
// more in their own table. In the other table at least comparable·comparedShare must find one; by chance
// alone about comparedShare do. If fewer do, the tables describe things in different ways, so that even
// matches are less similar than non-matches of one table, and these do not show what chance finds.
const (
	comparable    = 0.6
	comparedShare = 0.05
)

// hardlyAnyLeft is the least share of the likely matches that chance must leave, by the upper bound and the fewest partners, if there
// are matches at all: 0.92 and more in tables that have some, 0.72 of Abt and Buy, whose own records are alike; of halves that have
// none 0.1 and less in twelve of twenty. unclear is the same by both tables, below which the data do not tell: 0.6 of Abt and Buy.
// Of fewer matches than leastLikely shares say nothing.
const (
	hardlyAnyLeft = 0.1
	unclear       = 0.5
	leastLikely   = 10
)

// Bound lowers probabilities to those that chance allows. If no pair would be a link by the upper bound of chance, or hardly one
// with the fewest partners, it lowers them by that. sum, SumOf or LikelySum, counts the records that have a partner.
func (c *Chance) Bound(found *compare.Comparison, m *Model, records [2]int, probability []float64, sum func([]float64) float64) {
	if fewest := c.Most.allowed(found, m, records, probability, bounds{sum: LikelySum}); c.hardlyAny(probability, fewest) {
		copy(probability, fewest)
		return
	}
	most := bounds{from: sum(probability), sum: sum}
	allowed := c.Most.allowed(found, m, records, probability, most)
	if LikelySum(allowed) > 0 {
		allowed = c.Likely.allowed(found, m, records, probability, most)
	}
	copy(probability, allowed)
}

// hardlyAny tells whether chance leaves hardly one of the likely matches with the fewest partners. Where one of the tables does not
// show what chance finds, both have styles of their own, and what is left says nothing.
func (c *Chance) hardlyAny(probability, fewest []float64) bool {
	likely := LikelySum(probability)
	return c.Likely.Left != nil && c.Likely.Right != nil && likely >= leastLikely && LikelySum(fewest) < hardlyAnyLeft*likely
}

// Doubted returns what chance leaves of probabilities where both tables must allow it, with the fewest partners; nil: as good
// as all. What one table alone allows may be by chance, since its records differ more than those of both.
func (c *Chance) Doubted(found *compare.Comparison, m *Model, records [2]int, probability []float64) []float64 {
	allowed, likely := c.Most.allowed(found, m, records, probability, bounds{sum: LikelySum, both: true}), LikelySum(probability)
	if likely < leastLikely || LikelySum(allowed) >= unclear*likely {
		return nil
	}
	return allowed
}

// Alone raises the probabilities of some candidates, the best of their records, to what the counts alone say of them, whatever
// the model does.
func (c *Chance) Alone(found *compare.Comparison, m *Model, records [2]int, probability []float64, some []int) {
	bound := make([]float64, len(probability))
	for _, i := range some {
		bound[i] = 1
	}
	bound = c.Likely.allowed(found, m, records, bound, bounds{from: SumOf(bound), sum: SumOf})
	for _, i := range some {
		probability[i] = max(probability[i], bound[i])
	}
}

func (s *Sides) Known() bool { return s.Left != nil || s.Right != nil }

// bounds say how many records have a partner: first as many as from, then what sum says of the probabilities that are left. With
// both, either table must allow a probability.
type bounds struct {
	from float64
	sum  func([]float64) float64
	both bool
}

// allowed returns probabilities no higher than chance allows. These depend on the number of records without a partner, which
// depends on the probabilities. So it iterates until nothing changes: from the probabilities of the model to the most
// partners that agree with what chance leaves, and from none to the fewest.
func (s *Sides) allowed(found *compare.Comparison, m *Model, records [2]int, probability []float64, by bounds) []float64 {
	allowed := slices.Clone(probability)
	if !s.Known() {
		return allowed
	}
	type shares struct{ left, right float64 } // pairs by chance, for each pair found
	chances := make([]shares, len(found.Pairs))
	for i := range chances {
		z := m.Score(found.Of(i))
		chances[i] = shares{s.Left.at(z), s.Right.at(z)}
	}
	partners := by.from
	for range boundSteps {
		free := func(records int) float64 { return max(0, 1-partners/float64(records)) } // share of the records without one
		for i, c := range chances {
			left, right := s.Left.among(c.left, free(records[0])), s.Right.among(c.right, free(records[1]))
			least := min(left, right)
			if by.both && s.Left != nil && s.Right != nil {
				least = max(left, right)
			}
			allowed[i] = min(probability[i], max(0, 1-least))
		}
		before := partners
		if partners = by.sum(allowed); partners == before {
			break
		}
	}
	return allowed
}

// LikelySum returns the sum of the probabilities of the candidates that are more likely matches than not. What a model sees in many
// others, each improbable, is not evidence that records have a partner.
func LikelySum(probability []float64) (sum float64) {
	for _, p := range probability {
		if p > 0.5 {
			sum += p
		}
	}
	return sum
}

// boundSteps is the largest number of iterations.
const boundSteps = 50

// Comparable tells whether b, the best scores of records within their table, show what chance finds in the
// other table. best are the best scores there; records is the number of records that could have one.
func (b Bests) Comparable(best Bests, records int) bool {
	if len(b) == 0 {
		return false
	}
	top := b[len(b)-1-int(comparedShare*float64(len(b)))]
	return above(best, top, records) >= comparable*above(b, top, len(b))
}

// odds has, by the score of a record's best pair, the number of pairs that chance would give for each pair
// found, if no record had a partner.
type odds struct {
	from      []float64 // least scores of intervals, falling
	chance    []float64 // pairs by chance for each pair found, in each interval; rising
	unmatched float64   // upper bound of the share of records without a partner
}

// at returns the number of pairs by chance for each pair of score z.
func (o *odds) at(z float64) float64 {
	if o == nil {
		return math.Inf(1)
	}
	i, _ := slices.BinarySearchFunc(o.from, z, func(from, z float64) int { return cmp.Compare(z, from) })
	return o.chance[min(i, len(o.chance)-1)]
}

// among returns the number of pairs by chance for each pair found, given that for records without a partner, and a
// share of the records that has none. If the odds are not known they bound nothing, even if the share is 0: ∞·0 is no
// number.
func (o *odds) among(chance, free float64) float64 {
	if o == nil {
		return math.Inf(1)
	}
	return chance * min(free, o.unmatched)
}

// above returns the share of scores that are z or more. of is the number of all scores; scores has those above
// −∞, ascending.
func above(scores []float64, z float64, of int) float64 {
	if math.IsInf(z, -1) {
		return 1
	}
	i, _ := slices.BinarySearch(scores, z)
	return float64(len(scores)-i) / float64(of)
}

// OddsOf compares the best scores of records in the other table, best, with those within a table, own, which
// show chance. Both have the scores above −∞, ascending; records is the number of records that could be in best.
// It returns nil if there is nothing to compare with.
//
// The share of chance must not rise with the score. So it takes the largest convex curve below the curve of
// (pairs from a score on, pairs by chance from this score on). With most it takes n + √n + 1 for n counted pairs
// by chance, about an upper bound of their number.
func OddsOf(own, best []float64, records int, most bool) *odds {
	if len(own) == 0 || records == 0 {
		return nil
	}
	unmatched, all := 1.0, float64(records)
	if half := own[len(own)/2]; above(own, half, len(own)) < 1 {
		unmatched = min(1, (1-above(best, half, records))/(1-above(own, half, len(own))))
	}
	type point struct{ z, pairs, chance float64 }
	hull := []point{{z: math.Inf(1)}}
	slope := func(a, b point) float64 { return (b.chance - a.chance) / (b.pairs - a.pairs) }
	add := func(z, pairs float64) {
		share := above(own, z, len(own))
		p := point{z, pairs, share * all}
		if most {
			n := share * float64(len(own))
			p.chance += (math.Sqrt(n) + 1) * all / float64(len(own))
		}
		for n := len(hull); n > 1 && slope(hull[n-2], hull[n-1]) >= slope(hull[n-1], p); n-- {
			hull = hull[:n-1]
		}
		hull = append(hull, p)
	}
	for i := len(best) - 1; i >= 0 && !math.IsInf(best[i], -1); i-- {
		if i == 0 || best[i-1] != best[i] {
			add(best[i], float64(len(best)-i))
		}
	}
	if hull[len(hull)-1].pairs < all {
		add(math.Inf(-1), all)
	}
	o := &odds{unmatched: unmatched}
	for i, p := range hull[1:] {
		o.from = append(o.from, p.z)
		o.chance = append(o.chance, slope(hull[i], p))
	}
	return o
}

// rivalry has the three best scores of a record in the other table, falling, −∞ where there are fewer, and the
// largest probability of its pairs.
type rivalry struct {
	best    [3]float64
	matched float64
}

type rivalries []rivalry

func newRivalries(records int) rivalries {
	r := make(rivalries, records)
	for i := range r {
		r[i].best = [3]float64{math.Inf(-1), math.Inf(-1), math.Inf(-1)}
	}
	return r
}

// RivalriesOf returns the rivalries of the left and of the right records of candidates.
func RivalriesOf(found *compare.Comparison, m *Model, probability []float64) (left, right rivalries) {
	left, right = newRivalries(found.Left), newRivalries(found.Right)
	for i, p := range found.Pairs {
		z := m.Score(found.Of(i))
		left.see(int(p.A), z, probability[i])
		right.see(int(p.B), z, probability[i])
	}
	return left, right
}

func (r rivalries) see(record int, z, probability float64) {
	of := &r[record]
	for i := range of.best {
		if z > of.best[i] {
			z, of.best[i] = of.best[i], z
		}
	}
	of.matched = max(of.matched, probability)
}

// Expected returns, ascending, the best scores that chance would give to records, estimated from their next best
// scores. If the best pair of a record is a match, the second best score comes from chance. If it is not, the best
// score itself comes from chance; if scores of non-matches fall off exponentially, its distance from the second best
// is distributed as twice the distance of the second from the third (A. Rényi, "On the theory of order statistics",
// 1953).
func (r rivalries) Expected() Bests {
	var scores Bests
	for _, of := range r {
		switch there := func(i int) bool { return !math.IsInf(of.best[i], -1) }; {
		case there(1) && of.matched > 0.5:
			scores = append(scores, of.best[1])
		case there(2):
			scores = append(scores, of.best[1]+2*(of.best[1]-of.best[2]))
		}
	}
	return scores.Sorted()
}

// Bests are the best scores of records.
type Bests []float64

func (b Bests) Reset() {
	for i := range b {
		b[i] = math.Inf(-1)
	}
}

func (b Bests) See(record int, z float64) { b[record] = max(b[record], z) }

// Sorted returns the scores ascending.
func (b Bests) Sorted() Bests {
	slices.Sort(b)
	return b
}
