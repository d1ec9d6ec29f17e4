package linkage

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/alike-dev/alike/candidates"
	"github.com/alike-dev/alike/record"
)

// chance estimates which scores records reach that do not belong together. If a record has one partner
// at most, no two records of one table belong together. So the best score of a record among the others
// of its own table is a score that it would reach by chance if the other table had no partner for it. If
// records find no better partners in the other table than in their own, the model has learned from
// chance, and its probabilities mean nothing. The share of false pairs from a score on follows from the
// two counts (the target-decoy estimate: J. Elias, S. Gygi, "Target-decoy search strategy", Nature
// Methods 2007; the share of records without partner: J. Storey, "A direct approach to false discovery
// rates", 2002).
type chance struct {
	likely sides // from the counts
	most   sides // an upper bound; decides only whether there are matches at all
}

// sides are the odds of the best pairs of the left and of the right records; nil: not known.
type sides struct{ left, right *odds }

// sampledRecords is the largest number of records of a table that are searched for in their own table.
var sampledRecords = 5000 // tests take fewer

// A threshold s is chosen so that a share of comparedShare of the records find a partner with score s or
// more in their own table. In the other table at least comparable·comparedShare must find one; by chance
// alone about comparedShare do. If fewer do, the tables describe things in different ways, so that even
// matches are less similar than non-matches of one table, and these do not show what chance finds.
const (
	comparable    = 0.6
	comparedShare = 0.05
)

// newChance compares the best scores of records in the other table with those in their own.
func (t *tables) newChance(ctx context.Context, whole *records, e *examiner) (c chance, err error) {
	bestL, bestR := make(bests, e.found.left), make(bests, e.found.right)
	bestL.reset()
	bestR.reset()
	for i, p := range e.found.pairs {
		z := e.model.score(e.found.of(i))
		bestL.see(int(p.a), z)
		bestR.see(int(p.b), z)
	}
	bestL, bestR = bestL.sorted(), bestR.sorted()
	all := t.counts() // records that are not held have no candidates
	// The scores that left records reach among left records are those that a right record would reach by chance.
	own, err := t.keeper.own("own-0", func() (bests, error) { return t.ownBests(ctx, whole, e, 0) })
	if err != nil {
		return c, err
	}
	if own.sorted().comparable(bestR, all[1]) {
		c.likely.right, c.most.right = oddsOf(own, bestR, all[1], false), oddsOf(own, bestR, all[1], true)
	}
	if own, err = t.keeper.own("own-1", func() (bests, error) { return t.ownBests(ctx, whole, e, 1) }); err != nil {
		return c, err
	}
	if own.sorted().comparable(bestL, all[0]) {
		c.likely.left, c.most.left = oddsOf(own, bestL, all[0], false), oddsOf(own, bestL, all[0], true)
	}
	if !c.most.known() { // then the next best records of the other table serve
		left, right := e.rivalries()
		c.most = sides{oddsOf(left.expected(), bestL, all[0], true), oddsOf(right.expected(), bestR, all[1], true)}
	}
	return c, nil
}

// own returns the best scores within a table: those that an earlier process has noted, else those of
// find. Their bits are noted, since JSON has no infinity.
func (k *keeper) own(kind string, find func() (bests, error)) (bests, error) {
	var noted []uint64
	switch found, err := k.log.Last(kind, &noted); {
	case err != nil:
		return nil, err
	case found:
		b := make(bests, len(noted))
		for i, x := range noted {
			b[i] = math.Float64frombits(x)
		}
		return b, nil
	}
	b, err := find()
	if err != nil {
		return nil, err
	}
	for _, z := range b {
		noted = append(noted, math.Float64bits(z))
	}
	return b, k.note(kind, noted)
}

// bound lowers probabilities to those that chance allows. If no pair would be a link by the upper bound
// of chance, it lowers them by that bound.
func (c *chance) bound(found *comparison, m *model, records [2]int, probability []float64) {
	at := slices.Clone(probability)
	c.most.bound(found, m, records, at)
	if slices.ContainsFunc(at, func(p float64) bool { return p > 0.5 }) {
		c.likely.bound(found, m, records, probability)
	} else {
		copy(probability, at)
	}
}

func (s *sides) known() bool { return s.left != nil || s.right != nil }

// bound lowers probabilities to those that chance allows. These depend on the number of records without
// a partner, which depends on the probabilities. So it starts with the probabilities of the model, and
// iterates until nothing changes.
func (s *sides) bound(found *comparison, m *model, records [2]int, probability []float64) {
	if !s.known() {
		return
	}
	type shares struct{ left, right float64 } // pairs by chance, for each pair found
	chances := make([]shares, len(found.pairs))
	for i := range chances {
		z := m.score(found.of(i))
		chances[i] = shares{s.left.at(z), s.right.at(z)}
	}
	free := func() shares { // share of the records that have no partner
		n := sumOf(probability)
		return shares{max(0, 1-n/float64(records[0])), max(0, 1-n/float64(records[1]))}
	}
	for range boundSteps {
		f := free()
		for i, by := range chances {
			least := min(s.left.among(by.left, f.left), s.right.among(by.right, f.right))
			probability[i] = min(probability[i], max(0, 1-least))
		}
	}
}

// boundSteps is the number of iterations; the probabilities converge earlier.
const boundSteps = 50

// comparable tells whether b, the best scores of records within their table, show what chance finds in the
// other table. best are the best scores there; records is the number of records that could have one.
func (b bests) comparable(best bests, records int) bool {
	if len(b) == 0 {
		return false
	}
	top := b[len(b)-1-int(comparedShare*float64(len(b)))]
	return above(best, top, records) >= comparable*above(b, top, len(b))
}

// ownBests returns, for a sample of the records of a side, the best score of each with another record of the
// same table.
func (t *tables) ownBests(ctx context.Context, whole *records, e *examiner, side int) (bests, error) {
	table := t.all()[side]
	rows := t.someOf(side, sampledRecords)
	var pairs []pair
	var err error
	switch {
	case t.sieved != nil && side == t.sieved.side:
		pairs = t.sieved.own
	case e.items != nil:
		pairs, err = t.closestTo(ctx, e.config, e.items, rows, side, side)
	default:
		pairs, err = t.otherThan(ctx, e.config, whole, table, rows)
	}
	if err != nil {
		return nil, err
	}
	found, err := e.within(table).compare(ctx, whole.within(side).newMatchers(e.config.Threads), t.places(pairs, side, side))
	if err != nil {
		return nil, err
	}
	b := make(bests, len(rows))
	b.reset()
	at := 0
	for i, p := range pairs {
		for rows[at] != p.a {
			at++
		}
		if found.wholes[i] < duplicate || found.agreement(i) < duplicate {
			b.see(at, e.model.score(found.of(i)))
		}
	}
	return b, nil
}

// otherThan returns pairs of some records of a table, of the given rows, with others of it
// that are similar.
func (t *tables) otherThan(ctx context.Context, c *Config, whole *records, table *record.Table, rows []uint32) (pairs []pair, err error) {
	some, err := t.vectors(c, whole, table, slices.Values(rows))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, some.Close()) }()
	every, err := t.vectors(c, whole, table, everyRow(table))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, every.Close()) }()
	search := t.search(c, firstK+1) // one of them is the record itself
	search.Both = false
	found, _, err := candidates.Find(ctx, search, some, every)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, found.Close()) }()
	for p, err := range each(ctx, found) {
		if err != nil {
			return nil, err
		}
		if a := rows[p.A]; a != p.B {
			pairs = append(pairs, pair{a, p.B})
		}
	}
	return pairs, nil
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
	i, _ := slices.BinarySearchFunc(o.from, z, func(from, z float64) int { return sign(z - from) })
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

// oddsOf compares the best scores of records in the other table, best, with those within a table, own, which
// show chance. Both have the scores above −∞, ascending; records is the number of records that could be in best.
// It returns nil if there is nothing to compare with.
//
// The share of chance must not rise with the score. So it takes the largest convex curve below the curve of
// (pairs from a score on, pairs by chance from this score on). With most it takes n + √n + 1 for n counted pairs
// by chance, about an upper bound of their number.
func oddsOf(own, best []float64, records int, most bool) *odds {
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
