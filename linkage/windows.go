package linkage

import (
	"context"
	"errors"

	"github.com/alike-dev/alike/candidates"
	"github.com/alike-dev/alike/linkage/internal/compare"
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

// setWindows sets the windows of the compared columns, unless a table is not held whole.
func (t *tables) setWindows(c *compare.Comparer) {
	if t.sieved != nil || !t.mayHaveWindows() {
		return
	}
	var columns []windows.Column
	for f := range c.Columns {
		if kind := t.result.Columns[f].Tokens; kind.OfWords() || c.Columns[f].Scale() != nil {
			columns = append(columns, windows.Column{At: f, Values: t.numbering.Column(f), Scale: c.Columns[f].Scale()})
		}
	}
	t.windows = windows.New(columns, t.counts())
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

// nearestOrClose finds candidates by similarity and, unless similarity decides, by windows too.
func (t *tables) nearestOrClose(ctx context.Context, c *Config, whole *compare.Records, k int) (*candidates.Pairs, error) {
	pairs, err := t.nearest(ctx, c, whole, k)
	if err != nil || t.windows == nil || c.bySimilarity() {
		return pairs, err
	}
	keys := candidates.KeysConfig{Threads: c.Threads, Memory: t.memory.sorting() / 2, Dir: t.memory, Keep: t.keeper.names()}
	var right candidates.Items
	for side, table := range t.all() {
		if keys.Others[side] = t.windowKeys(table, nil); side == 1 {
			right = noItems{table}
		}
	}
	close, err := candidates.Keys(ctx, keys, noItems{t.left}, right)
	if err != nil {
		return nil, errors.Join(err, pairs.Close())
	}
	return candidates.Union(ctx, t.search(c, k), t.left.Rows(), pairs, close)
}

// noItems are records as candidates.Items of which only other keys count.
type noItems struct{ *record.Table }

func (n noItems) Len() int                            { return n.Rows() }
func (n noItems) Append(dst []uint32, _ int) []uint32 { return dst }
