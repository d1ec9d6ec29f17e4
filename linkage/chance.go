package linkage

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/alike-dev/alike/candidates"
	"github.com/alike-dev/alike/record"
)

// chance tells how alike records are that do not belong together. Where a record has one
// partner at most, no two records of one table belong together. So the best score of a
// record among its own table's others is what it would have if the other table had no
// partner for it. Where records find no better partners in the other table than in their
// own, the model has learned from chance, and its probabilities mean nothing; the share of
// false pairs from some score on follows from the two counts (the target-decoy estimate:
// J. Elias, S. Gygi, "Target-decoy search strategy", Nature Methods 2007; the share of
// records without partner: J. Storey, "A direct approach to false discovery rates", 2002).
type chance struct {
	likely sides // what was counted
	most   sides // what may well be; decides only whether there are matches at all
}

// sides are the odds of the best pairs of the left table's records, and of the right one's; nil: not
// known.
type sides struct{ left, right *odds }

// sampledRecords is how many records of a table are looked up in it at most.
var sampledRecords = 5000 // tests take fewer

// comparable is how many records must find a partner in the other table that is as good as
// the twentieth best of those in their own, as a share of a twentieth. By chance alone it is
// about 1. It is far less where the tables describe things in different ways, so that even
// matches are less alike than strangers of one table, which then say nothing of chance.
const (
	comparable    = 0.6
	comparedShare = 0.05
)

// newChance finds it.
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
	// What a left record finds among left records is what a right one would find by chance.
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
	if !c.most.known() { // the next best records of the other table tell something still
		left, right := e.rivalries()
		c.most = sides{oddsOf(left.expected(), bestL, all[0], true), oddsOf(right.expected(), bestR, all[1], true)}
	}
	return c, nil
}

// own returns the best scores that an earlier process has found within a table, or has find find
// them. Their bits are noted, since JSON has no infinity.
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

// bound lowers probabilities to what chance allows: to 0 where no pair would be a link if chance had
// found as many as it may well have.
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

// bound lowers probabilities to what chance allows. How much that is depends on how many
// records have no partner, which depends on the probabilities again: from what the model
// says, it takes steps until nothing changes any more.
func (s *sides) bound(found *comparison, m *model, records [2]int, probability []float64) {
	if !s.known() {
		return
	}
	type shares struct{ left, right float64 } // of chance in pairs of a score
	chances := make([]shares, len(found.pairs))
	for i := range chances {
		z := m.score(found.of(i))
		chances[i] = shares{s.left.at(z), s.right.at(z)}
	}
	free := func() shares { // records that have no partner
		n := sum(probability)
		return shares{max(0, 1-n/float64(records[0])), max(0, 1-n/float64(records[1]))}
	}
	for range boundSteps {
		f := free()
		for i, by := range chances {
			by.left, by.right = by.left*min(f.left, s.left.most()), by.right*min(f.right, s.right.most())
			probability[i] = min(probability[i], max(0, 1-min(by.left, by.right)))
		}
	}
}

// boundSteps are enough that the probabilities settle.
const boundSteps = 50

// comparable tells whether the best scores of records of a table among themselves can be those that chance
// finds in another one, where they have the given ones, of so many records.
func (b bests) comparable(best bests, records int) bool {
	if len(b) == 0 {
		return false
	}
	top := b[len(b)-1-int(comparedShare*float64(len(b)))]
	return above(best, top, records) >= comparable*above(b, top, len(b))
}

// ownBests returns the best score of each of some records of a table, the left or the right
// one, with another of it.
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
	for p, err := range found.All() {
		if err != nil {
			return nil, err
		}
		if a := rows[p.A]; a != p.B {
			pairs = append(pairs, pair{a, p.B})
		}
	}
	return pairs, nil
}

// odds say, by the score of a record's best pair, how many pairs of chance there are for one
// that was found, if no record has a partner.
type odds struct {
	from      []float64 // least scores, falling
	chance    []float64 // pairs of chance from there to the score before, for one; rising
	unmatched float64   // most records that have no partner, as a share
}

// at returns the pairs of chance for one of score z.
func (o *odds) at(z float64) float64 {
	if o == nil {
		return math.Inf(1)
	}
	i, _ := slices.BinarySearchFunc(o.from, z, func(from, z float64) int { return sign(z - from) })
	return o.chance[min(i, len(o.chance)-1)]
}

func (o *odds) most() float64 {
	if o == nil {
		return 1
	}
	return o.unmatched
}

// above returns the share of so many scores that are z or more; those that are above −∞ are given,
// ascending.
func above(scores []float64, z float64, of int) float64 {
	if math.IsInf(z, -1) {
		return 1
	}
	i, _ := slices.BinarySearch(scores, z)
	return float64(len(scores)-i) / float64(of)
}

// oddsOf compares the best scores of so many records among others, of which those above −∞ are given,
// ascending, with what they would be by chance; nil if this cannot be told.
//
// Of the curve (pairs from a score on, pairs of chance from it on) it takes the largest
// convex curve below: the share of chance never rises with the score. With most it takes n + √n + 1
// pairs of chance for n that were counted: about the most that there may well be.
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
