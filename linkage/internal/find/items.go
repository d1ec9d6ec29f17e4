package find

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/alike-dev/alike/candidates"
	"github.com/alike-dev/alike/internal/sorting"
	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/model"
	"github.com/alike-dev/alike/record"
)

// items are the records of a table as candidates.Items. The items of a record are the words of its texts and
// its other values as a whole. Values are numbered after the tokens, column by column.
type items struct {
	*record.Table
	*Vocabulary
}

// A Vocabulary numbers the items of both tables.
type Vocabulary struct {
	first []uint32 // for each column: number of its first value; 0: it is a text
	words []words  // for each column that is a text
	count int      // number of items, including one that stands for all unknown items
	skip  []bool   // columns without items; nil: there are none
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
func (v *Vocabulary) other() uint32 { return uint32(v.count - 1) }

// newVocabulary returns the items of the numbered values, without frequencies. O(distinct values and their
// tokens).
func (t *Finder) newVocabulary() *Vocabulary {
	v := &Vocabulary{first: make([]uint32, len(t.Kinds)), words: make([]words, len(t.Kinds)), count: t.Numbering.Tokens()}
	for f, kind := range t.Kinds {
		values := t.Numbering.Column(f)
		if !kind.OfWords() {
			v.first[f] = uint32(v.count)
			v.count += values.Len()
			continue
		}
		w := &v.words[f]
		w.ends = make([]uint32, values.Len())
		for value := range w.ends {
			for _, token := range values.Tokens(uint32(value)) {
				if !t.Numbering.IsGram(token) {
					w.tokens = append(w.tokens, token)
				}
			}
			w.ends[value] = uint32(len(w.tokens))
		}
	}
	v.count++
	return v
}

// Vocabulary returns the items of the tables, with the frequencies of each table that is held whole. O(cells,
// and distinct values and their tokens).
func (t *Finder) Vocabulary(ctx context.Context) (v *Vocabulary, err error) {
	v = t.newVocabulary()
	for side, table := range t.All() {
		if t.Sieved != nil && side == t.Sieved.Side {
			continue
		}
		if v.frequencies[side], err = candidates.Frequencies(ctx, t.Threads, v.count, &items{table, v}); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// Unmeasured returns the items of all columns but numbers and dates, so that records do not share these because they were
// found by them.
func (v *Vocabulary) Unmeasured(kinds []record.Kind) *Vocabulary {
	of := *v
	of.skip = make([]bool, len(kinds))
	for f, kind := range kinds {
		of.skip[f] = kind.Measured()
	}
	return &of
}

// Len returns the number of records.
func (x *items) Len() int { return x.Rows() }

func (x *items) Append(dst []uint32, i int) []uint32 {
	for f, cell := range x.Cells(i) {
		switch {
		case cell == 0:
		case x.first[f] > 0:
			if x.skip == nil || !x.skip[f] {
				dst = append(dst, x.first[f]+cell-1)
			}
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
func (t *Finder) byKeys(v *Vocabulary) candidates.KeysConfig {
	return candidates.KeysConfig{Items: v.count, Threads: t.Threads, Memory: t.Memory.Sorting(), Dir: t.Memory, Keep: t.Steps.Names()}
}

// sharing returns the pairs that share keys, which so many records are expected to have by chance; 0: the default. An
// earlier process may have found them.
func (t *Finder) sharing(ctx context.Context, v *Vocabulary, expected float64) (*candidates.Pairs, error) {
	return t.once(ctx, t.search(0), "pairs-0", func() (*candidates.Pairs, error) {
		t.Summary = candidates.Summary{Method: candidates.ByKeys, Searched: int64(t.Records[0] + t.Records[1])}
		return t.byKeysOfAll(ctx, v, expected)
	})
}

// byKeysOfAll finds the pairs that share keys, among all records.
func (t *Finder) byKeysOfAll(ctx context.Context, v *Vocabulary, expected float64) (*candidates.Pairs, error) {
	k := t.byKeys(v)
	k.Expected, k.Frequencies, k.Unfiltered = expected, v.frequencies, t.Method.Unfiltered
	for side := range t.All() {
		k.Others[side] = t.windowKeys(side, nil)
	}
	var right candidates.Items
	if t.Right != nil {
		right = t.ofSide(1, v)
	}
	return candidates.Keys(ctx, k, t.ofSide(0, v), right)
}

// Sharing returns the pairs that share keys, which so many records are expected to have by chance; 0: the default. They are
// known already if a table is not held whole.
func (t *Finder) Sharing(ctx context.Context, v *Vocabulary, expected float64) (*candidates.Pairs, error) {
	if t.Sieved == nil {
		return t.sharing(ctx, v, expected)
	}
	if !t.Method.Unfiltered {
		t.Summary.Dropped = int64(t.Records[0] + t.Records[1] - t.Left.Rows() - t.Right.Rows())
	}
	pairs := t.Sieved.pairs
	t.Sieved.pairs = nil
	return pairs, nil
}

// manyShare is KeysConfig.Expected for the sample. It is so large that hardly any closer record is missed.
const manyShare = 2

// LearnedFrom is about the number of records from whose candidates a model is learned.
const LearnedFrom = model.MostSampled / FirstK

// Closest returns candidates to learn from: for each of about so many records, the few records that share most
// with it. All pairs that share a key would not do: most of them agree in just the two or three values of the key, so
// they do not show how similar non-matches can be. The sample is from the smaller table, because hardly any
// record of a much larger one has a match.
func (t *Finder) Closest(ctx context.Context, v *Vocabulary, records int) ([]compare.Pair, error) {
	if t.Sieved != nil {
		return t.Places(t.Sieved.Closest, 0, 1), nil
	}
	side, other := 0, len(t.All())-1
	if n := t.Records; other == 1 && n[1] < n[0] {
		side, other = 1, 0
	}
	pairs, err := t.ClosestTo(ctx, v, t.Some(side, records), side, other)
	for i, p := range pairs {
		if side == 1 || other == 0 && p.A > p.B {
			pairs[i] = compare.Pair{A: p.B, B: p.A}
		}
	}
	slices.SortFunc(pairs, compare.Order)
	return slices.Compact(pairs), err
}

// ofSide returns the records of a side as items.
func (t *Finder) ofSide(side int, v *Vocabulary) candidates.Items {
	if t.stored != nil && side == t.stored.side {
		return t.stored
	}
	return &items{t.All()[side], v}
}

// ClosestTo returns, for each of some records of one side, its pairs with the FirstK records of the other side (or
// of the same) that share most with it. Pairs have the numbers of records and are sorted by the first.
func (t *Finder) ClosestTo(ctx context.Context, v *Vocabulary, numbers []uint32, side, other int) ([]compare.Pair, error) {
	table := t.All()[side]
	rows := make([]uint32, len(numbers))
	for i, number := range numbers {
		rows[i] = table.Row(number)
	}
	var some candidates.Items = &chosen{&items{table, v}, rows}
	others := t.ofSide(other, v)
	k := t.byKeys(v)
	k.Expected, k.Frequencies[1] = manyShare, v.frequencies[other]
	k.Others = [2]candidates.OtherKeys{t.windowKeys(side, rows), t.windowKeys(other, nil)}
	if t.Right != nil && side == other {
		own := numberOwn(v.count, some, t.Numbering.Hashes())
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
		sorting.Func(of, func(x, y candidates.Pair) int {
			return cmp.Or(cmp.Compare(y.Score, x.Score), cmp.Compare(x.B, y.B))
		})
		for _, p := range of[:min(len(of), FirstK)] {
			pairs = append(pairs, compare.Pair{A: numbers[p.A], B: p.B})
		}
		of = of[:0]
	}
	for p, err := range Each(ctx, found) {
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

// ownNumbers renumber the items of some records of a table, in the order of these records. Then the choice among
// equally rare items for keys does not depend on the other records that are held.
type ownNumbers struct {
	numbers []uint32 // for each item of the vocabulary; count−1: none of the records has it
	count   int
}

// numberOwn numbers the items of some records. count is the number of items of the vocabulary; hashes has the hash
// of each token, which orders the items of a record.
func numberOwn(count int, some candidates.Items, hashes []uint64) *ownNumbers {
	o := &ownNumbers{numbers: make([]uint32, count)}
	var of []uint32
	for i := range some.Len() {
		of = some.Append(of[:0], i)
		slices.SortFunc(of, func(x, y uint32) int {
			if int(max(x, y)) < len(hashes) {
				return cmp.Compare(hashes[x], hashes[y])
			}
			return cmp.Compare(x, y)
		})
		for _, x := range of {
			if o.numbers[x] == 0 {
				o.count++
				o.numbers[x] = uint32(o.count)
			}
		}
	}
	for x, number := range o.numbers {
		o.numbers[x] = number - 1
		if number == 0 {
			o.numbers[x] = uint32(o.count)
		}
	}
	o.count++
	return o
}

// frequencies returns frequencies of items by their new numbers.
func (o *ownNumbers) frequencies(of []uint32) []uint32 {
	df := make([]uint32, o.count)
	for x, n := range of {
		df[o.numbers[x]] = n
	}
	df[o.count-1] = 0
	return df
}

// renumber replaces items by their new numbers.
func (o *ownNumbers) renumber(items []uint32) {
	for i, x := range items {
		items[i] = o.numbers[x]
	}
}

func (o *ownNumbers) of(records candidates.Items) candidates.Items {
	if s, ok := records.(candidates.Streamed); ok {
		return &renumberedStream{renumbered{records, o}, s}
	}
	return &renumbered{records, o}
}

// renumbered are records with renumbered items.
type renumbered struct {
	candidates.Items
	own *ownNumbers
}

func (r *renumbered) Append(dst []uint32, i int) []uint32 {
	start := len(dst)
	dst = r.Items.Append(dst, i)
	r.own.renumber(dst[start:])
	return dst
}

// renumberedStream is the same for records that are read from front to back.
type renumberedStream struct {
	renumbered
	stream candidates.Streamed
}

func (r *renumberedStream) Each(ctx context.Context, threads int, newVisit candidates.NewVisit) error {
	return r.stream.Each(ctx, threads, func() (func(int, []uint32) error, func() error) {
		visit, end := newVisit()
		return func(i int, items []uint32) error {
			r.own.renumber(items)
			slices.Sort(items)
			return visit(i, slices.Compact(items))
		}, end
	})
}
