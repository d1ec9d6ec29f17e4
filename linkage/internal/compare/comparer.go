package compare

import (
	"context"
	"slices"

	"github.com/alike-dev/alike/linkage/internal/parallel"
	"github.com/alike-dev/alike/record"
)

// Comparer compares records, column by column and as a whole.
type Comparer struct {
	Left, Right *record.Table // the same for one table
	numbering   *record.Numbering
	Columns     []column
	Passing     [][]uint64 // of each column, the hashes of words that tell nothing by standing in each other's place; nil: there are none
}

func NewComparer(ctx context.Context, in *Input) (*Comparer, error) {
	c := &Comparer{Left: in.Left, Right: in.Left, numbering: in.Numbering}
	if in.Right != nil {
		c.Right = in.Right
	}
	for f := range in.Left.Columns {
		values := in.Numbering.Column(f)
		df, filled := in.Rest.ofColumn(f, in.Numbering.Tokens())
		filled += values.Frequencies(df)
		n, tokens := values.Sizes()
		col := column{Column: values, weights: make([]uint16, tokens), rarity: make([]Level, n), values: filled, scale: in.Scale, sided: in.Right != nil && !in.OneKind}
		idf, err := in.Weigh(df, filled)
		if err != nil {
			return nil, err
		}
		if err := parallel.Ranges(ctx, in.Threads, n, 1<<12, func(int) func(from, to int) {
			return func(from, to int) {
				for v := from; v < to; v++ {
					col.weigh(uint32(v), idf)
				}
			}
		}); err != nil {
			return nil, err
		}
		if in.Kinds[f].OfWords() {
			col.useWords(in.Numbering, df)
		}
		c.Columns = append(c.Columns, col)
	}
	c.Leave(in.Passing)
	return c, nil
}

func (c *Comparer) Within(table *record.Table) *Comparer {
	columns := slices.Clone(c.Columns)
	for f := range columns {
		columns[f].shift = 0
	}
	return &Comparer{Left: table, Right: table, numbering: c.numbering, Columns: columns}
}

// EachColumn calls visit for each column with its similarity, −1 if a value is missing, and with the numbers of both
// values plus 1, 0 for a missing value.
func (c *Comparer) EachColumn(p Pair, visit func(f int, similarity float64, a, b uint32)) {
	x, y := c.Left.Cells(int(p.A)), c.Right.Cells(int(p.B))
	for f, a := range x {
		s := -1.0
		if a > 0 && y[f] > 0 {
			s = c.Columns[f].Similarity(a-1, y[f]-1)
		}
		visit(f, s, a, y[f])
	}
}

// similarities returns the similarity of each column, as eachColumn does, and the similarity of the records. It reads
// their tokens once; common is scratch.
func (c *Comparer) similarities(p Pair, whole *Matcher, common []uint64) (of []float64, similarity float64) {
	similarity, _ = c.meet(p, whole, common)
	of = make([]float64, len(c.Columns))
	x, y := c.Left.Cells(int(p.A)), c.Right.Cells(int(p.B))
	for f, a := range x {
		switch b := y[f]; {
		case a == 0 || b == 0:
			of[f] = -1
		case a == b:
			of[f] = 1
		default:
			of[f] = c.Columns[f].shared(a-1, b-1, common[f])
		}
	}
	return of, similarity
}

// meet returns the similarity of two records, and whether both have a rare word. For each column in which they have two different
// values, it puts the mass of the values' common tokens into common.
func (c *Comparer) meet(p Pair, whole *Matcher, common []uint64) (similarity float64, rare bool) {
	clear(common)
	sum, rare := whole.meet(p, c.Columns, common)
	return whole.scale.Similarity(sum, whole.Sizes[0][p.A], whole.Sizes[1][p.B]), rare
}

func (c *Comparer) None() *Comparison {
	r := &Comparison{Width: len(c.Columns) + 1, Left: c.Left.Rows(), Agreeing: make([]int, len(c.Columns))}
	for f := range c.Columns {
		if scale := c.Columns[f].near; scale != nil {
			r.Agreeing[f] = scale.Agreeing()
		}
	}
	if c.Right != c.Left {
		r.Right = c.Right.Rows()
	}
	return r
}

// Compare compares candidates, each goroutine with one of the matchers.
func (c *Comparer) Compare(ctx context.Context, matchers []*Matcher, pairs []Pair) (*Comparison, error) {
	r := c.None()
	r.Pairs, r.Wholes, r.Levels = pairs, make([]float32, len(pairs)), make([]Level, len(pairs)*r.Width)
	err := parallel.Ranges(ctx, len(matchers), len(pairs), 1024, func(worker int) func(from, to int) {
		common, near := make([]uint64, len(c.Columns)), nearer{of: c.numbering}
		return func(from, to int) {
			for i := from; i < to; i++ {
				c.fetch(&near, pairs[i:to], i-from)
				r.Wholes[i] = float32(c.fill(r.Of(i), pairs[i], matchers[worker], common))
			}
		}
	})
	return r, err
}

// EachSimilarities calls visit with what similarities returns for each pair, each goroutine with one of the matchers.
func (c *Comparer) EachSimilarities(ctx context.Context, matchers []*Matcher, pairs []Pair, visit func(i int, of []float64, similarity float64)) error {
	return parallel.Ranges(ctx, len(matchers), len(pairs), 256, func(worker int) func(from, to int) {
		common, near := make([]uint64, len(c.Columns)), nearer{of: c.numbering}
		return func(from, to int) {
			for i := from; i < to; i++ {
				c.fetch(&near, pairs[i:to], i-from)
				of, similarity := c.similarities(pairs[i], matchers[worker], common)
				visit(i, of, similarity)
			}
		}
	})
}

// fetch prefetches the right records of the next pairs whenever the first of them, the n-th of a run, was not
// prefetched yet.
func (c *Comparer) fetch(near *nearer, pairs []Pair, n int) {
	if n%nearRows == 0 {
		near.fetch(min(nearRows, len(pairs)), func(k int) []uint32 { return c.Right.Cells(int(pairs[k].B)) })
	}
}

// fill puts the levels of a pair into dst and returns the similarity of its records; common is scratch. If both
// records have at most one value, the record as a whole has no level, since it would repeat that of the column.
func (c *Comparer) fill(dst []Level, p Pair, whole *Matcher, common []uint64) float64 {
	s, rare := c.meet(p, whole, common)
	x, y := c.Left.Cells(int(p.A)), c.Right.Cells(int(p.B))
	several := [2]int{}
	for f, a := range x {
		b := y[f]
		if a > 0 {
			several[0]++
		}
		if b > 0 {
			several[1]++
		}
		if a > 0 && b > 0 {
			dst[f] = c.Columns[f].level(a-1, b-1, common[f])
		}
	}
	if len(c.Columns) > 1 && max(several[0], several[1]) > 1 {
		dst[len(c.Columns)] = wholeLevel(s, rare)
	}
	return s
}

// nearRows is the number of rows that are fetched together. Their values fit in a near cache.
const nearRows = 16

// A nearer prefetches the values of the next rows into the processor's caches, on one goroutine.
type nearer struct {
	of   *record.Numbering
	rows [][]uint32
	read uint32 // has no meaning; it prevents the compiler from removing the reads
}

// fetch fetches n rows. cells returns the values of each.
func (x *nearer) fetch(n int, cells func(i int) []uint32) {
	x.rows = x.rows[:0]
	for i := range n {
		x.rows = append(x.rows, cells(i))
	}
	x.read += x.of.Touch(x.rows)
}

// atRow prefetches the next nearRows rows of a table whenever row is the first that was not prefetched yet.
func (x *nearer) atRow(t *record.Table, row, from, to int) {
	if (row-from)%nearRows == 0 {
		x.fetch(min(nearRows, to-row), func(i int) []uint32 { return t.Cells(row + i) })
	}
}
