package judge

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/find"
	"github.com/alike-dev/alike/linkage/internal/model"
	"github.com/alike-dev/alike/record"
)

// randomPairs is the number of random pairs that show how often values agree by chance.
const randomPairs = 50_000

// surroundings returns what the tables show besides the candidates c: how often random pairs agree and, where a source or
// one of two tables has a thing once, pairs of records that it has. Of one table these are the candidates within.
// It returns nil if candidates are too few for that.
func (e *Examiner) surroundings(ctx context.Context, c *compare.Comparison, within []compare.Pair) (*model.Surroundings, error) {
	if !model.HasSurroundings(c) {
		return nil, nil
	}
	s := &model.Surroundings{Told: e.Told, Naming: math.Log(float64(e.Left.Rows()))}
	if err := e.randomAgreement(ctx, s); err != nil {
		return nil, err
	}
	sourced := e.finder.Right == nil && e.Sources != nil
	if sourced { // also if columns are too few to show kinds: within sources are decoys
		var err error
		s.Within, err = e.Compare(ctx, e.Matchers, within)
		s.Possible = [2]float64{1 - e.Sources.Within, e.Sources.Within}
		return s, err
	}
	if e.finder.Right == nil || !e.Once.Any() || !model.MayShowKinds(c, false) {
		return s, nil
	}
	side := 0 // whose records have candidates
	n := e.finder.Records
	if n[1] < n[0] {
		side = 1
	}
	var records int
	s.Across, records = closestOf(c, side)
	s.Possible[0] = float64(records) * float64(n[1-side])
	s.Within = c.Without()
	for side := range e.finder.All() {
		if once := [2]bool{e.Once.Right, e.Once.Left}; !once[side] { // its records that share a partner may be one thing
			continue
		}
		own, err := e.ownPairs(ctx, side)
		if err != nil {
			return nil, err
		}
		for i := range own.found.Pairs {
			s.Within.Take(own.found, i)
		}
		s.Possible[1] += float64(len(own.rows)) * float64(n[side]-1)
	}
	return s, nil
}

// randomAgreement sets how often random pairs have values, and agree, in each column.
func (e *Examiner) randomAgreement(ctx context.Context, s *model.Surroundings) error {
	var pairs []compare.Pair
	for p := range compare.Strangers([2]int{e.Left.Rows(), e.rightRows()}, e.Fewer(randomPairs)) {
		pairs = append(pairs, p)
	}
	s.Apart = func(f int, p compare.Pair) float64 { return apart(e.finder.Tables, f, p) }
	s.Close = closest(e.finder.Tables, pairs)
	s.Held = func() []float64 { return wordsWithin(e.finder.Tables) }
	s.Exchanged = func(f int, pairs []compare.Pair) ([]bool, int) { return exchanged(e.Comparer, f, pairs) }
	c, err := e.Compare(ctx, e.Matchers, pairs)
	if err != nil {
		return err
	}
	columns := c.Width - 1
	s.Random = model.Grades(c, nil)
	s.Strangers = c
	s.Filled, s.Alike = model.Agreeing(s.Random, columns)
	for f := range columns {
		s.Alike[f] = (s.Alike[f] + 0.5) / (s.Filled[f] + 1)
		s.Filled[f] /= max(1, float64(len(pairs)))
		s.Rarity = append(s.Rarity, rarity(e.finder.CountsOf(f)))
		s.Worded = append(s.Worded, e.Columns[f].Worded())
		s.Timed = append(s.Timed, e.finder.Kinds[f] == record.Date)
	}
	return nil
}

// rightRows returns the number of rows of the right table that are held; 0: there is none.
func (e *Examiner) rightRows() int {
	if e.finder.Right == nil {
		return 0
	}
	return e.finder.Right.Rows()
}

// closestOf returns the candidates of each record of a side that are most similar to it, find.FirstK of each, ascending,
// and the number of records that have any.
func closestOf(c *compare.Comparison, side int) (some []int, records int) {
	record := func(i int) uint32 {
		if side == 0 {
			return c.Pairs[i].A
		}
		return c.Pairs[i].B
	}
	order := make([]int, len(c.Pairs))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(record(i), record(j)), cmp.Compare(c.Wholes[j], c.Wholes[i]), cmp.Compare(i, j))
	})
	taken := 0
	for place, i := range order {
		if place == 0 || record(i) != record(order[place-1]) {
			taken, records = 0, records+1
		}
		if taken++; taken <= find.FirstK {
			some = append(some, i)
		}
	}
	slices.Sort(some)
	return some, records
}
