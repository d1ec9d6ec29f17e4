package linkage

import (
	"context"

	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/model"
)

// newChance compares the best scores of records in the other table with those in their own.
func (t *tables) newChance(ctx context.Context, whole *compare.Records, e *examiner) (c model.Chance, err error) {
	bestL, bestR := make(model.Bests, e.found.Left), make(model.Bests, e.found.Right)
	bestL.Reset()
	bestR.Reset()
	for i, p := range e.found.Pairs {
		z := e.model.Score(e.found.Of(i))
		bestL.See(int(p.A), z)
		bestR.See(int(p.B), z)
	}
	bestL, bestR = bestL.Sorted(), bestR.Sorted()
	all := t.Records // records that are not held have no candidates
	// The scores that left records reach among left records are those that a right record would reach by chance.
	own, err := t.Steps.Scores("own-0", func() (model.Bests, error) { return t.ownBests(ctx, whole, e, 0) })
	if err != nil {
		return c, err
	}
	if own.Sorted().Comparable(bestR, all[1]) {
		c.Likely.Right, c.Most.Right = model.OddsOf(own, bestR, all[1], false), model.OddsOf(own, bestR, all[1], true)
	}
	if own, err = t.Steps.Scores("own-1", func() (model.Bests, error) { return t.ownBests(ctx, whole, e, 1) }); err != nil {
		return c, err
	}
	if own.Sorted().Comparable(bestL, all[0]) {
		c.Likely.Left, c.Most.Left = model.OddsOf(own, bestL, all[0], false), model.OddsOf(own, bestL, all[0], true)
	}
	if !c.Most.Known() { // then the next best records of the other table serve
		left, right := model.RivalriesOf(e.found, e.model, e.probability)
		c.Most = model.Sides{Left: model.OddsOf(left.Expected(), bestL, all[0], true), Right: model.OddsOf(right.Expected(), bestR, all[1], true)}
	}
	return c, nil
}

// ownBests returns, for a sample of the records of a side, the best score of each with another record of the
// same table.
func (t *tables) ownBests(ctx context.Context, whole *compare.Records, e *examiner, side int) (model.Bests, error) {
	own, err := t.ownPairs(ctx, whole, e, side)
	if err != nil {
		return nil, err
	}
	rows, pairs, found := own.rows, own.pairs, own.found
	b := make(model.Bests, len(rows))
	b.Reset()
	at := 0
	for i, p := range pairs {
		for rows[at] != p.A {
			at++
		}
		if found.Wholes[i] < model.Duplicate || found.Agreement(i) < model.Duplicate {
			b.See(at, e.model.Score(found.Of(i)))
		}
	}
	return b, nil
}

// ownPairs are pairs of records of one table.
type ownPairs struct {
	rows  []uint32            // a sample of the records
	pairs []compare.Pair      // of each of them with similar ones, by their numbers
	found *compare.Comparison // of these pairs
}

// ownPairs returns, for a sample of the records of a side, pairs with similar records of the same table. They show what is
// alike by chance, to the fit and to the bound of its probabilities.
func (t *tables) ownPairs(ctx context.Context, whole *compare.Records, e *examiner, side int) (*ownPairs, error) {
	if e.own[side] != nil {
		return e.own[side], nil
	}
	table := t.All()[side]
	own := &ownPairs{rows: t.Some(side, e.config.limits.own)}
	var err error
	switch {
	case t.Sieved.Is(side):
		own.pairs = t.Sieved.Own
	case e.items != nil:
		own.pairs, err = t.ClosestTo(ctx, e.items, own.rows, side, side)
	default:
		own.pairs, err = t.OtherThan(ctx, whole, table, own.rows)
	}
	if err != nil {
		return nil, err
	}
	own.found, err = e.Within(table).Compare(ctx, whole.Within(side).NewMatchers(e.config.Threads), t.Places(own.pairs, side, side))
	e.own[side] = own
	return own, err
}
