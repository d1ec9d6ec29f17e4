package find

import (
	"context"
	"errors"

	"github.com/alike-dev/alike/candidates"
	"github.com/alike-dev/alike/linkage/internal/closeness"
	"github.com/alike-dev/alike/linkage/internal/windows"
	"github.com/alike-dev/alike/record"
)

// MayHaveDistances tells whether a column is of numbers or dates, and MayHaveWindows whether two are, so that records may be
// near each other in both.
func (t *Finder) MayHaveDistances() bool { return measured(t.Kinds) > 0 }
func (t *Finder) MayHaveWindows() bool   { return measured(t.Kinds) > 1 }

func measured(kinds []record.Kind) (n int) {
	for _, kind := range kinds {
		if kind.Measured() {
			n++
		}
	}
	return n
}

// UseWindows makes windows of the columns that have scales, with the shifts between the tables, and of texts.
func (t *Finder) UseWindows(scales []*closeness.Scale, shifts []closeness.Shift) {
	var columns []windows.Column
	for f, scale := range scales {
		if scale == nil && !t.Kinds[f].OfWords() {
			continue
		}
		c := windows.Column{At: f, Values: t.Numbering.Column(f), Scale: scale, Shift: shifts[f].By}
		if c.Counts[0] = c.Values.Counts(); c.Shift != 0 {
			c.Counts = t.CountsOf(f)
		}
		columns = append(columns, c)
	}
	t.windows = windows.New(columns, t.Records)
}

// windowKeys returns the keys by windows of the records of a side, or of the given rows of it.
func (t *Finder) windowKeys(side int, rows []uint32) candidates.OtherKeys {
	if t.windows == nil {
		return nil
	}
	return func() func([]candidates.Key, int) []candidates.Key {
		keys := t.windows.Keys(t.All()[side], side)
		if rows == nil {
			return keys
		}
		return func(dst []candidates.Key, i int) []candidates.Key { return keys(dst, int(rows[i])) }
	}
}

// withClose adds pairs by windows to the pairs that a search has found, unless similarity decides; right is nil for one
// table. It closes the pairs.
func (t *Finder) withClose(ctx context.Context, search candidates.Config, pairs *candidates.Pairs, left, right *someRecords) (*candidates.Pairs, error) {
	if t.windows == nil || t.BySimilarity() {
		return pairs, nil
	}
	keys := candidates.KeysConfig{Threads: t.Threads, Memory: search.Memory, Dir: search.Dir, Keep: search.Keep}
	keys.Others[0] = t.windowKeys(left.side, left.rows)
	var others candidates.Items
	if right != nil {
		keys.Others[1], others = t.windowKeys(right.side, right.rows), right
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
	side int
	rows []uint32
}

func (s *someRecords) Append(dst []uint32, _ int) []uint32 { return dst }

func (s *someRecords) Len() int {
	if s.rows != nil {
		return len(s.rows)
	}
	return s.Rows()
}
