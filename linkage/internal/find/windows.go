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
func (t *Finder) MayHaveDistances() bool { return t.measured() > 0 }
func (t *Finder) MayHaveWindows() bool   { return t.measured() > 1 }

func (t *Finder) measured() (n int) {
	for _, kind := range t.Kinds {
		if kind.Measured() {
			n++
		}
	}
	return n
}

// UseWindows makes windows of the columns that have scales, and of texts.
func (t *Finder) UseWindows(scales []*closeness.Scale) {
	var columns []windows.Column
	for f, scale := range scales {
		if scale != nil || t.Kinds[f].OfWords() {
			columns = append(columns, windows.Column{At: f, Values: t.Numbering.Column(f), Scale: scale})
		}
	}
	t.windows = windows.New(columns, t.Records)
}

// windowKeys returns the keys by windows of the records of a table, or of the given rows of it.
func (t *Finder) windowKeys(table *record.Table, rows []uint32) candidates.OtherKeys {
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
func (t *Finder) withClose(ctx context.Context, search candidates.Config, pairs *candidates.Pairs, left, right *someRecords) (*candidates.Pairs, error) {
	if t.windows == nil || t.BySimilarity() {
		return pairs, nil
	}
	keys := candidates.KeysConfig{Threads: t.Threads, Memory: search.Memory, Dir: search.Dir, Keep: search.Keep}
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
