package linkage

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/alike-dev/alike/candidates"
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/record"
)

// items are the records of a table as candidates.Items: the words of its texts, and all other
// values as they are. The numbers of the values follow those of the tokens, column by column.
type items struct {
	*record.Table
	numbering *record.Numbering
	first     []uint32 // of each column: number of its first value; 0: it is a text
	count     int      // items there are
}

func (t *tables) items(of *record.Table) *items {
	x := &items{Table: of, numbering: &t.numbering, first: make([]uint32, of.Columns), count: t.numbering.Tokens()}
	for f, c := range t.result.Columns {
		switch c.Tokens {
		case record.Text, record.Words, record.Grams:
		default:
			x.first[f] = uint32(x.count)
			x.count += t.numbering.Column(f).Len()
		}
	}
	return x
}

// Len returns the number of records.
func (x *items) Len() int { return x.Rows() }

// Append appends the items of a record.
func (x *items) Append(dst []uint32, i int) []uint32 {
	for f, cell := range x.Cells(i) {
		switch {
		case cell == 0:
		case x.first[f] > 0:
			dst = append(dst, x.first[f]+cell-1)
		default:
			for _, token := range x.numbering.Column(f).Tokens(cell - 1) {
				if !x.numbering.IsGram(token) {
					dst = append(dst, token)
				}
			}
		}
	}
	return dst
}

// chosen are some of the records of a table.
type chosen struct {
	*items
	rows []uint32
}

func (c *chosen) Len() int                            { return len(c.rows) }
func (c *chosen) Append(dst []uint32, i int) []uint32 { return c.items.Append(dst, int(c.rows[i])) }

// sharing finds the pairs that share keys.
func (t *tables) sharing(ctx context.Context, c *Config) (*candidates.Pairs, error) {
	left := t.items(t.left)
	k := candidates.KeysConfig{Items: left.count, Threads: c.Threads, Memory: t.memory.sorting(), Dir: t.memory}
	t.result.Search = candidates.Summary{Method: candidates.ByKeys, Searched: int64(t.result.Left + t.result.Right)}
	if t.right == nil {
		return candidates.Keys(ctx, k, left, nil)
	}
	return candidates.Keys(ctx, k, left, t.items(t.right))
}

// manyShare is KeysConfig.Expected of the sample: so many that few records would be more similar.
const manyShare = 2

// closest returns candidates of a sample of the left records: of each the few that share most
// with it. What shares a key is like it in two or three values at once and often in none
// besides, and that is no picture of records that do not belong together: the most
// similar ones are.
func (t *tables) closest(ctx context.Context, c *Config) ([]pair, error) {
	left := t.items(t.left)
	other := left
	if t.right != nil {
		other = t.items(t.right)
	}
	part := uint64(t.left.Rows()*firstK+sampled-1) / sampled
	some := &chosen{items: left}
	for i := range t.left.Rows() {
		if hashing.Mix(uint64(i)+1)%part == 0 {
			some.rows = append(some.rows, uint32(i))
		}
	}
	k := candidates.KeysConfig{Items: left.count, Threads: c.Threads, Expected: manyShare, Memory: t.memory.sorting(), Dir: t.memory}
	found, err := candidates.Keys(ctx, k, some, other)
	if err != nil {
		return nil, err
	}
	var pairs []pair
	var of []candidates.Pair // of one left record
	take := func() {
		slices.SortFunc(of, func(x, y candidates.Pair) int {
			return cmp.Or(cmp.Compare(y.Score, x.Score), cmp.Compare(x.B, y.B))
		})
		for _, p := range of[:min(len(of), firstK)] {
			a, b := some.rows[p.A], p.B
			if t.right == nil {
				a, b = min(a, b), max(a, b)
			}
			pairs = append(pairs, pair{a, b})
		}
		of = of[:0]
	}
	for p, err := range found.All() {
		if err != nil {
			return nil, errors.Join(err, found.Close())
		}
		if len(of) > 0 && of[0].A != p.A {
			take()
		}
		if t.right != nil || some.rows[p.A] != p.B {
			of = append(of, p)
		}
	}
	take()
	slices.SortFunc(pairs, func(x, y pair) int { return cmp.Or(cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b)) })
	return slices.Compact(pairs), found.Close()
}
