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
	count int      // items there are, and one more that stands for all others
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

// other is the item that stands for all that have no number.
func (v *vocabulary) other() uint32 { return uint32(v.count - 1) }

// newVocabulary returns the items of the values that have numbers, without frequencies. O(distinct
// values and their tokens).
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

// vocabulary returns the items of the tables, with frequencies but for those of a table that is not held
// whole. O(cells, and distinct values and their tokens).
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

// sharing finds the pairs that share keys, unless an earlier process has.
func (t *tables) sharing(ctx context.Context, c *Config, v *vocabulary) (*candidates.Pairs, error) {
	return t.findOnce(ctx, t.search(c, 0), "pairs-0", func() (*candidates.Pairs, error) {
		k := t.byKeys(c, v)
		k.Frequencies, k.Unfiltered = v.frequencies, c.Unfiltered
		t.result.Search = candidates.Summary{Method: candidates.ByKeys, Searched: int64(t.result.Left + t.result.Right)}
		var right candidates.Items
		if t.right != nil {
			right = t.ofSide(1, v)
		}
		return candidates.Keys(ctx, k, t.ofSide(0, v), right)
	})
}

// sharingOnce is sharing, unless the pairs were found before the tables were held.
func (t *tables) sharingOnce(ctx context.Context, c *Config, v *vocabulary) (*candidates.Pairs, error) {
	if t.sieved == nil {
		return t.sharing(ctx, c, v)
	}
	if !c.Unfiltered {
		t.result.Search.Dropped = int64(t.result.Left + t.result.Right - t.left.Rows() - t.right.Rows())
	}
	pairs := t.sieved.pairs
	t.sieved.pairs = nil
	return pairs, nil
}

// manyShare is KeysConfig.Expected of the sample: so many that few records would be more similar.
const manyShare = 2

// learnedFrom is about how many records' candidates a model is learned from.
const learnedFrom = sampled / firstK

// someOf returns the numbers of about n records of a side, which a hash of these chooses.
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

// closest returns candidates of a sample of the records: of each the few that share most
// with it. What shares a key is like it in two or three values at once and often in none
// besides, and that is no picture of records that do not belong together: the most
// similar ones are. The sample is of the smaller table: of the records of a much larger one hardly any
// have a match to learn from.
func (t *tables) closest(ctx context.Context, c *Config, v *vocabulary) ([]pair, error) {
	if t.sieved != nil {
		return t.places(t.sieved.closest, 0, 1), nil
	}
	side, other := 0, len(t.all())-1
	if n := t.counts(); other == 1 && n[1] < n[0] {
		side, other = 1, 0
	}
	pairs, err := t.closestTo(ctx, c, v, t.someOf(side, learnedFrom), side, other)
	for i, p := range pairs {
		if side == 1 || other == 0 && p.a > p.b {
			pairs[i] = pair{p.b, p.a}
		}
	}
	slices.SortFunc(pairs, func(x, y pair) int { return cmp.Or(cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b)) })
	return slices.Compact(pairs), err
}

// ofSide returns the records of a side as items.
func (t *tables) ofSide(side int, v *vocabulary) candidates.Items {
	if t.stored != nil && side == t.stored.side {
		return t.stored
	}
	return &items{t.all()[side], v}
}

// closestTo returns pairs of some records of one side with the firstK records of a side, of another one or
// the same, that share most with each, all by their numbers: sorted by the first.
func (t *tables) closestTo(ctx context.Context, c *Config, v *vocabulary, numbers []uint32, side, other int) ([]pair, error) {
	table := t.all()[side]
	rows := make([]uint32, len(numbers))
	for i, number := range numbers {
		rows[i] = table.Row(number)
	}
	var some candidates.Items = &chosen{&items{table, v}, rows}
	others := t.ofSide(other, v)
	k := t.byKeys(c, v)
	k.Expected, k.Frequencies[1] = manyShare, v.frequencies[other]
	if t.right != nil && side == other {
		own := numberOwn(v.count, some, t.numbering.Hashes())
		k.Items, k.Frequencies[1] = own.count, own.frequencies(k.Frequencies[1])
		some, others = own.of(some), own.of(others)
	}
	found, err := candidates.Keys(ctx, k, some, others)
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
			pairs = append(pairs, pair{numbers[p.A], p.B})
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
		if side != other || numbers[p.A] != p.B {
			of = append(of, p)
		}
	}
	take()
	return pairs, found.Close()
}

// places returns pairs of numbers of records of two sides as pairs of their rows.
func (t *tables) places(numbers []pair, a, b int) []pair {
	all, rows := t.all(), make([]pair, len(numbers))
	for i, p := range numbers {
		rows[i] = pair{all[a].Row(p.a), all[b].Row(p.b)}
	}
	return rows
}
