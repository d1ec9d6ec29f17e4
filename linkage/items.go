package linkage

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/alike-dev/alike/candidates"
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/model"
	"github.com/alike-dev/alike/record"
)

// items are the records of a table as candidates.Items. The items of a record are the words of its texts and
// its other values as a whole. Values are numbered after the tokens, column by column.
type items struct {
	*record.Table
	*vocabulary
}

// vocabulary numbers the items of both tables.
type vocabulary struct {
	first []uint32 // for each column: number of its first value; 0: it is a text
	words []words  // for each column that is a text
	count int      // number of items, including one that stands for all unknown items
	// frequencies has, for either table, the number of records with each item.
	frequencies [2][]uint32
}

// words are the words of each value of a column, one value after the other.
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

// other returns the item that stands for all items without a number.
func (v *vocabulary) other() uint32 { return uint32(v.count - 1) }

// newVocabulary returns the items of the numbered values, without frequencies. O(distinct values and their
// tokens).
func (t *tables) newVocabulary() *vocabulary {
	columns := t.result.Columns
	v := &vocabulary{first: make([]uint32, len(columns)), words: make([]words, len(columns)), count: t.numbering.Tokens()}
	for f, c := range columns {
		values := t.numbering.Column(f)
		if !c.Tokens.OfWords() {
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
	v.count++
	return v
}

// vocabulary returns the items of the tables, with the frequencies of each table that is held whole. O(cells,
// and distinct values and their tokens).
func (t *tables) vocabulary(ctx context.Context, threads int) (v *vocabulary, err error) {
	v = t.newVocabulary()
	for side, table := range t.all() {
		if t.sieved != nil && side == t.sieved.side {
			continue
		}
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

// chosen are items of some records of a table.
type chosen struct {
	*items
	rows []uint32
}

func (c *chosen) Len() int                            { return len(c.rows) }
func (c *chosen) Append(dst []uint32, i int) []uint32 { return c.items.Append(dst, int(c.rows[i])) }

// byKeys returns the configuration to find pairs that share keys, without frequencies.
func (t *tables) byKeys(c *Config, v *vocabulary) candidates.KeysConfig {
	return candidates.KeysConfig{Items: v.count, Threads: c.Threads, Memory: t.memory.sorting(), Dir: t.memory, Keep: t.keeper.names()}
}

// sharing returns the pairs that share keys. An earlier process may have found them.
func (t *tables) sharing(ctx context.Context, c *Config, v *vocabulary) (*candidates.Pairs, error) {
	return t.findOnce(ctx, t.search(c, 0), "pairs-0", func() (*candidates.Pairs, error) {
		k := t.byKeys(c, v)
		k.Frequencies, k.Unfiltered = v.frequencies, c.limits.unfiltered
		for side, table := range t.all() {
			k.Others[side] = t.windowKeys(table, nil)
		}
		t.result.Search = candidates.Summary{Method: candidates.ByKeys, Searched: int64(t.result.Left + t.result.Right)}
		var right candidates.Items
		if t.right != nil {
			right = t.ofSide(1, v)
		}
		return candidates.Keys(ctx, k, t.ofSide(0, v), right)
	})
}

// sharingOnce returns the pairs of sharing, which are known already if a table is not held whole.
func (t *tables) sharingOnce(ctx context.Context, c *Config, v *vocabulary) (*candidates.Pairs, error) {
	if t.sieved == nil {
		return t.sharing(ctx, c, v)
	}
	if !c.limits.unfiltered {
		t.result.Search.Dropped = int64(t.result.Left + t.result.Right - t.left.Rows() - t.right.Rows())
	}
	pairs := t.sieved.pairs
	t.sieved.pairs = nil
	return pairs, nil
}

// manyShare is KeysConfig.Expected for the sample. It is so large that hardly any closer record is missed.
const manyShare = 2

// learnedFrom is about the number of records from whose candidates a model is learned.
const learnedFrom = model.MostSampled / firstK

// someOf returns the numbers of about n records of a side, chosen by a hash of the number.
func (t *tables) someOf(side, n int) (numbers []uint32) {
	records := t.counts()[side]
	part := uint64(records+n-1) / uint64(n)
	for i := range uint32(records) {
		if hashing.Mix(uint64(i)+1)%part == 0 {
			numbers = append(numbers, i)
		}
	}
	return numbers
}

// closest returns candidates to learn from: for each of about so many records, the few records that share most
// with it. All pairs that share a key would not do: most of them agree in just the two or three values of the key, so
// they do not show how similar non-matches can be. The sample is from the smaller table, because hardly any
// record of a much larger one has a match.
func (t *tables) closest(ctx context.Context, c *Config, v *vocabulary, records int) ([]compare.Pair, error) {
	if t.sieved != nil {
		return t.places(t.sieved.closest, 0, 1), nil
	}
	side, other := 0, len(t.all())-1
	if n := t.counts(); other == 1 && n[1] < n[0] {
		side, other = 1, 0
	}
	pairs, err := t.closestTo(ctx, c, v, t.someOf(side, records), side, other)
	for i, p := range pairs {
		if side == 1 || other == 0 && p.A > p.B {
			pairs[i] = compare.Pair{A: p.B, B: p.A}
		}
	}
	slices.SortFunc(pairs, func(x, y compare.Pair) int { return cmp.Or(cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B)) })
	return slices.Compact(pairs), err
}

// ofSide returns the records of a side as items.
func (t *tables) ofSide(side int, v *vocabulary) candidates.Items {
	if t.stored != nil && side == t.stored.side {
		return t.stored
	}
	return &items{t.all()[side], v}
}

// closestTo returns, for each of some records of one side, its pairs with the firstK records of the other side (or
// of the same) that share most with it. Pairs have the numbers of records and are sorted by the first.
func (t *tables) closestTo(ctx context.Context, c *Config, v *vocabulary, numbers []uint32, side, other int) ([]compare.Pair, error) {
	table := t.all()[side]
	rows := make([]uint32, len(numbers))
	for i, number := range numbers {
		rows[i] = table.Row(number)
	}
	var some candidates.Items = &chosen{&items{table, v}, rows}
	others := t.ofSide(other, v)
	k := t.byKeys(c, v)
	k.Expected, k.Frequencies[1] = manyShare, v.frequencies[other]
	k.Others = [2]candidates.OtherKeys{t.windowKeys(table, rows), t.windowKeys(t.all()[other], nil)}
	if t.right != nil && side == other {
		own := numberOwn(v.count, some, t.numbering.Hashes())
		k.Items, k.Frequencies[1] = own.count, own.frequencies(k.Frequencies[1])
		some, others = own.of(some), own.of(others)
	}
	found, err := candidates.Keys(ctx, k, some, others)
	if err != nil {
		return nil, err
	}
	var pairs []compare.Pair
	var of []candidates.Pair // the pairs of one record
	take := func() {
		slices.SortFunc(of, func(x, y candidates.Pair) int {
			return cmp.Or(cmp.Compare(y.Score, x.Score), cmp.Compare(x.B, y.B))
		})
		for _, p := range of[:min(len(of), firstK)] {
			pairs = append(pairs, compare.Pair{A: numbers[p.A], B: p.B})
		}
		of = of[:0]
	}
	for p, err := range each(ctx, found) {
		if err != nil {
			return nil, errors.Join(err, found.Close())
		}
		if len(of) > 0 && of[0].A != p.A {
			take()
		}
		if side != other || numbers[p.A] != p.B {
			of = append(of, p)
		}
	}
	take()
	return pairs, found.Close()
}

// places turns pairs of record numbers, of sides a and b, into pairs of rows.
func (t *tables) places(numbers []compare.Pair, a, b int) []compare.Pair {
	all, rows := t.all(), make([]compare.Pair, len(numbers))
	for i, p := range numbers {
		rows[i] = compare.Pair{A: all[a].Row(p.A), B: all[b].Row(p.B)}
	}
	return rows
}
