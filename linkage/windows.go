package linkage

import (
	"context"
	"errors"
	"math"

	"github.com/alike-dev/alike/candidates"
	"github.com/alike-dev/alike/linkage/internal/closeness"
	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/model"
	"github.com/alike-dev/alike/linkage/internal/windows"
	"github.com/alike-dev/alike/record"
)

// mayHaveWindows tells whether two columns or more are of numbers or dates, so that records may be near each other in both.
func (t *tables) mayHaveWindows() bool {
	n := 0
	for _, c := range t.result.Columns {
		if c.Tokens.Measured() {
			n++
		}
	}
	return n > 1
}

const (
	// probed is about the number of records whose most similar partners show which distances tell.
	probed = 3000
	// tellingStep is the step of closeness by which it is measured whether distances in a column tell, and tellingRate by how
	// much more often than by chance the most similar pairs have different values that near.
	tellingStep = 3
	tellingRate = 2
	// leastProbed is the least number of pairs with values that say so.
	leastProbed = 30
)

// useDistances compares numbers and dates by their distances, and makes windows of them, if distances in two columns or more
// tell. They do if the most similar pairs are near each other without being equal, as an amount and the same less a fee, twice
// as often as chance explains: most of those are near because they are the same. Birth dates, which are either equal or
// wrong, do not tell. Of a table that is not held whole distances are not known.
func (t *tables) useDistances(ctx context.Context, e *examiner) error {
	// With so many columns kinds of pairs are fitted. Homes with two coordinates would then show in more columns than people.
	if len(e.Columns) >= model.LeastColumns {
		return nil
	}
	if t.sieved != nil || !t.mayHaveWindows() || e.config.bySimilarity() {
		return nil
	}
	scales := make([]*closeness.Scale, len(e.Columns))
	for f := range scales {
		column := t.numbering.Column(f)
		scales[f] = closeness.NewScale(column.Points(), column.Counts())
	}
	e.UseScales(scales)
	if err := t.keepTelling(ctx, e, scales); err != nil {
		return err
	}
	e.UseScales(scales)
	var columns []windows.Column
	for f, scale := range scales {
		if scale != nil || t.result.Columns[f].Tokens.OfWords() {
			columns = append(columns, windows.Column{At: f, Values: t.numbering.Column(f), Scale: scale})
		}
	}
	t.windows = windows.New(columns, t.counts())
	return nil
}

// keepTelling sets the scales whose distances do not tell to nil: all, unless those of two columns tell.
func (t *tables) keepTelling(ctx context.Context, e *examiner, scales []*closeness.Scale) error {
	v, err := t.vocabulary(ctx, e.config.Threads)
	if err != nil {
		return err
	}
	pairs, err := t.closest(ctx, e.config, v, probed)
	if err != nil {
		return err
	}
	found, err := e.Compare(ctx, e.matchers, pairs)
	if err != nil {
		return err
	}
	rank := make([]float64, len(pairs))
	for i, w := range found.Wholes {
		rank[i] = float64(w)
	}
	best := model.Graph{Pairs: pairs, Left: found.Left, Right: found.Right}.Mutual(rank, found.Wholes)
	telling := 0
	for f := range scales {
		if scales[f] != nil && tells(found, best, f) {
			telling++
		} else {
			scales[f] = nil
		}
	}
	if telling < 2 {
		clear(scales)
	}
	return nil
}

// tells tells whether the values of the best pairs in a column are near each other, without being equal, more often than
// those of random pairs and of the other pairs are. Others, such as offers of one brand, may be near for their own reasons.
func tells(c *compare.Comparison, best []int, f int) bool {
	isBest := make([]bool, len(c.Pairs))
	for _, i := range best {
		isBest[i] = true
	}
	var there, close [2]float64 // of the other pairs, of the best ones
	for i, of := range isBest {
		k := 0
		if of {
			k = 1
		}
		l := c.Of(i)[f]
		if l != compare.Missing {
			there[k]++
		}
		if compare.IsClose(l, tellingStep) {
			close[k]++
		}
	}
	chance := there[1] * max(closeness.Share(tellingStep), close[0]/max(there[0], 1))
	return there[1] >= leastProbed && close[1] >= tellingRate*chance && close[1] >= chance+beyond*math.Sqrt(chance)
}

// windowKeys returns the keys by windows of the records of a table, or of the given rows of it.
func (t *tables) windowKeys(table *record.Table, rows []uint32) candidates.OtherKeys {
	if t.windows == nil {
		return nil
	}
	return func() func([]candidates.Key, int) []candidates.Key {
		keys := t.windows.Keys(table)
		if rows == nil {
			return keys
		}
		return func(dst []candidates.Key, i int) []candidates.Key { return keys(dst, int(rows[i])) }
	}
}

// withClose adds pairs by windows to the pairs that a search has found, unless similarity decides; right is nil for one
// table. It closes the pairs.
func (t *tables) withClose(ctx context.Context, c *Config, search candidates.Config, pairs *candidates.Pairs, left, right *someRecords) (*candidates.Pairs, error) {
	if t.windows == nil || c.bySimilarity() {
		return pairs, nil
	}
	keys := candidates.KeysConfig{Threads: c.Threads, Memory: search.Memory, Dir: search.Dir, Keep: search.Keep}
	keys.Others[0] = t.windowKeys(left.Table, left.rows)
	var others candidates.Items
	if right != nil {
		keys.Others[1], others = t.windowKeys(right.Table, right.rows), right
	}
	near, err := candidates.Keys(ctx, keys, left, others)
	if err != nil {
		return nil, errors.Join(err, pairs.Close())
	}
	return candidates.Union(ctx, search, left.Len(), pairs, near)
}

// someRecords are some rows of a table, nil: all, as candidates.Items that have no items: only other keys count.
type someRecords struct {
	*record.Table
	rows []uint32
}

func (s *someRecords) Append(dst []uint32, _ int) []uint32 { return dst }

func (s *someRecords) Len() int {
	if s.rows != nil {
		return len(s.rows)
	}
	return s.Rows()
}
