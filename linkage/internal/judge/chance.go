package judge

import (
	"context"
	"slices"

	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/model"
)

// Chance compares the best scores of records in the other table with those in their own.
func (e *Examiner) Chance(ctx context.Context) (c model.Chance, err error) {
	bestL, bestR := make(model.Bests, e.Found.Left), make(model.Bests, e.Found.Right)
	bestL.Reset()
	bestR.Reset()
	for i, p := range e.Found.Pairs {
		z := e.Model.Score(e.Found.Of(i))
		bestL.See(int(p.A), z)
		bestR.See(int(p.B), z)
	}
	bestL, bestR = bestL.Sorted(), bestR.Sorted()
	all := e.finder.Records // records that are not held have no candidates
	// The scores that left records reach among left records are those that a right record would reach by chance.
	own, err := e.finder.Steps.Scores("own-0", func() (model.Bests, error) { return e.ownBests(ctx, 0) })
	if err != nil {
		return c, err
	}
	if own.Sorted().Comparable(bestR, all[1]) {
		c.Likely.Right, c.Most.Right = model.OddsOf(own, bestR, all[1], false), model.OddsOf(own, bestR, all[1], true)
	}
	if own, err = e.finder.Steps.Scores("own-1", func() (model.Bests, error) { return e.ownBests(ctx, 1) }); err != nil {
		return c, err
	}
	if own.Sorted().Comparable(bestL, all[0]) {
		c.Likely.Left, c.Most.Left = model.OddsOf(own, bestL, all[0], false), model.OddsOf(own, bestL, all[0], true)
	}
	if !c.Most.Known() { // then the next best records of the other table serve
		left, right := model.RivalriesOf(e.Found, e.Model, e.Probability)
		c.Most = model.Sides{Left: model.OddsOf(left.Expected(), bestL, all[0], true), Right: model.OddsOf(right.Expected(), bestR, all[1], true)}
	}
	return c, nil
}

// ownBests returns, for a sample of the records of a side, the best score of each with another record of the
// same table.
func (e *Examiner) ownBests(ctx context.Context, side int) (model.Bests, error) {
	own, err := e.ownPairs(ctx, side)
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
			z := e.Model.Score(found.Of(i))
			b.See(at, z)
			if other, there := slices.BinarySearch(rows, p.B); there { // as records of the other table are found from either side
				b.See(other, z)
			}
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
func (e *Examiner) ownPairs(ctx context.Context, side int) (*ownPairs, error) {
	if e.own[side] != nil {
		return e.own[side], nil
	}
	t := e.finder
	table := t.All()[side]
	own := &ownPairs{rows: t.Some(side, e.Own)}
	var err error
	switch {
	case t.Sieved.Is(side):
		own.pairs = t.Sieved.Own
	case e.items != nil:
		own.pairs, err = t.ClosestTo(ctx, e.items, own.rows, side, side)
	default:
		own.pairs, err = t.OtherThan(ctx, e.whole, side, own.rows)
	}
	if err != nil {
		return nil, err
	}
	own.found, err = e.Within(table).Compare(ctx, e.whole.Within(side).NewMatchers(t.Threads), t.Places(own.pairs, side, side))
	e.own[side] = own
	return own, err
}
