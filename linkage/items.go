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
	*vocabulary
}

// vocabulary is the items that there are in both tables.
type vocabulary struct {
	first []uint32 // of each column: number of its first value; 0: it is a text
	words []words  // of each column that is a text
	count int      // items there are
	// frequencies are how many records of either table have each item.
	frequencies [2][]uint32
}

// words are those of each value of a column, one after the other.
type words struct {
	ends   []uint32
	tokens []uint32
}

func (w *words) of(value uint32) []uint32 {
	start := uint32(0)
	if value > 0 {
		start = w.ends[value-1]
	}
	return w.tokens[start:w.ends[value]]
}

// vocabulary returns the items of the tables. O(cells, and distinct values and their tokens).
func (t *tables) vocabulary(ctx context.Context, threads int) (v *vocabulary, err error) {
	columns := t.result.Columns
	v = &vocabulary{first: make([]uint32, len(columns)), words: make([]words, len(columns)), count: t.numbering.Tokens()}
	for f, c := range columns {
		values := t.numbering.Column(f)
		switch c.Tokens {
		case record.Text, record.Words, record.Grams:
		default:
			v.first[f] = uint32(v.count)
			v.count += values.Len()
			continue
		}
		w := &v.words[f]
		w.ends = make([]uint32, values.Len())
		for value := range w.ends {
			for _, token := range values.Tokens(uint32(value)) {
				if !t.numbering.IsGram(token) {
					w.tokens = append(w.tokens, token)
				}
			}
			w.ends[value] = uint32(len(w.tokens))
		}
	}
	for side, table := range t.all() {
		if v.frequencies[side], err = candidates.Frequencies(ctx, threads, v.count, &items{table, v}); err != nil {
			return nil, err
		}
	}
	return v, nil
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
			dst = append(dst, x.words[f].of(cell-1)...)
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

// byKeys returns how pairs that share keys are found, of records whose frequencies are not known.
func (t *tables) byKeys(c *Config, v *vocabulary) candidates.KeysConfig {
	return candidates.KeysConfig{Items: v.count, Threads: c.Threads, Memory: t.memory.sorting(), Dir: t.memory, Keep: t.keeper.names()}
}

// sharing finds the pairs that share keys.
func (t *tables) sharing(ctx context.Context, c *Config, v *vocabulary) (*candidates.Pairs, error) {
	k := t.byKeys(c, v)
	k.Frequencies = v.frequencies
	t.result.Search = candidates.Summary{Method: candidates.ByKeys, Searched: int64(t.result.Left + t.result.Right)}
	if t.right == nil {
		return candidates.Keys(ctx, k, &items{t.left, v}, nil)
	}
	return candidates.Keys(ctx, k, &items{t.left, v}, &items{t.right, v})
}

// manyShare is KeysConfig.Expected of the sample: so many that few records would be more similar.
const manyShare = 2

// someOf returns about n rows of a table, which a hash of their numbers chooses.
func someOf(table *record.Table, n int) (rows []uint32) {
	part := uint64(table.Rows()+n-1) / uint64(n)
	for i := range table.Rows() {
		if hashing.Mix(uint64(i)+1)%part == 0 {
			rows = append(rows, uint32(i))
		}
	}
	return rows
}

// closest returns candidates of a sample of the left records: of each the few that share most
// with it. What shares a key is like it in two or three values at once and often in none
// besides, and that is no picture of records that do not belong together: the most
// similar ones are.
func (t *tables) closest(ctx context.Context, c *Config, v *vocabulary) ([]pair, error) {
	all := t.all()
	pairs, err := t.closestTo(ctx, c, v, 0, someOf(t.left, sampled/firstK), len(all)-1)
	if len(all) == 1 {
		for i, p := range pairs {
			pairs[i] = pair{min(p.a, p.b), max(p.a, p.b)}
		}
	}
	slices.SortFunc(pairs, func(x, y pair) int { return cmp.Or(cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b)) })
	return slices.Compact(pairs), err
}

// closestTo returns pairs of rows of one side with the firstK records of a side, of another one or the
// same, that share most with each: sorted by row.
func (t *tables) closestTo(ctx context.Context, c *Config, v *vocabulary, side int, rows []uint32, other int) ([]pair, error) {
	all := t.all()
	some := &chosen{&items{all[side], v}, rows}
	k := t.byKeys(c, v)
	k.Expected, k.Frequencies[1] = manyShare, v.frequencies[other]
	found, err := candidates.Keys(ctx, k, some, &items{all[other], v})
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
			pairs = append(pairs, pair{rows[p.A], p.B})
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
		if side != other || rows[p.A] != p.B {
			of = append(of, p)
		}
	}
	take()
	return pairs, found.Close()
}
