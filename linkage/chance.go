package linkage

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/alike-dev/alike/candidates"
	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/model"
	"github.com/alike-dev/alike/record"
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
	all := t.counts() // records that are not held have no candidates
	// The scores that left records reach among left records are those that a right record would reach by chance.
	own, err := t.keeper.own("own-0", func() (model.Bests, error) { return t.ownBests(ctx, whole, e, 0) })
	if err != nil {
		return c, err
	}
	if own.Sorted().Comparable(bestR, all[1]) {
		c.Likely.Right, c.Most.Right = model.OddsOf(own, bestR, all[1], false), model.OddsOf(own, bestR, all[1], true)
	}
	if own, err = t.keeper.own("own-1", func() (model.Bests, error) { return t.ownBests(ctx, whole, e, 1) }); err != nil {
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

// own returns the best scores within a table: those that an earlier process has noted, else those of
// find. Their bits are noted, since JSON has no infinity.
func (k *keeper) own(kind string, find func() (model.Bests, error)) (model.Bests, error) {
	var noted []uint64
	switch found, err := k.log.Last(kind, &noted); {
	case err != nil:
		return nil, err
	case found:
		b := make(model.Bests, len(noted))
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
	table := t.all()[side]
	own := &ownPairs{rows: t.someOf(side, e.config.limits.own)}
	var err error
	switch {
	case t.sieved != nil && side == t.sieved.side:
		own.pairs = t.sieved.own
	case e.items != nil:
		own.pairs, err = t.closestTo(ctx, e.config, e.items, own.rows, side, side)
	default:
		own.pairs, err = t.otherThan(ctx, e.config, whole, table, own.rows)
	}
	if err != nil {
		return nil, err
	}
	own.found, err = e.Within(table).Compare(ctx, whole.Within(side).NewMatchers(e.config.Threads), t.places(own.pairs, side, side))
	e.own[side] = own
	return own, err
}

// otherThan returns pairs of some records of a table, of the given rows, with others of it that are similar or, unless
// similarity decides, near by windows.
func (t *tables) otherThan(ctx context.Context, c *Config, whole *compare.Records, table *record.Table, rows []uint32) (pairs []compare.Pair, err error) {
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
	if found, err = t.withClose(ctx, c, search, found, &someRecords{table, rows}, &someRecords{Table: table}); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, found.Close()) }()
	for p, err := range each(ctx, found) {
		if err != nil {
			return nil, err
		}
		if a := rows[p.A]; a != p.B {
			pairs = append(pairs, compare.Pair{A: a, B: p.B})
		}
	}
	return pairs, nil
}
