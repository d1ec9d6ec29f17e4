package linkage

import (
	"context"

	"github.com/alike-dev/alike/record"
)

// comparer compares records, column by column and as a whole.
type comparer struct {
	left, right *record.Table // the same for one table
	numbering   *record.Numbering
	columns     []column
}

func (t *tables) newComparer(ctx context.Context, config *Config) (*comparer, error) {
	c := &comparer{left: t.left, right: t.other(), numbering: &t.numbering}
	for f := range t.left.Columns {
		values := t.numbering.Column(f)
		df, filled := t.sieved.ofColumn(f, t.numbering.Tokens())
		filled += values.Frequencies(df)
		n, tokens := values.Sizes()
		col := column{values, make([]uint16, tokens), make([]level, n), filled, config.scale()}
		idf, err := config.weigh(df, filled)
		if err != nil {
			return nil, err
		}
		if err := parallel(ctx, config.Threads, n, 1<<12, func(int) func(from, to int) {
			return func(from, to int) {
				for v := from; v < to; v++ {
					col.weigh(uint32(v), idf)
				}
			}
		}); err != nil {
			return nil, err
		}
		c.columns = append(c.columns, col)
	}
	return c, nil
}

// within returns a comparer of records of one table.
func (c *comparer) within(table *record.Table) *comparer {
	return &comparer{left: table, right: table, numbering: c.numbering, columns: c.columns}
}

// eachColumn calls visit for each column with its similarity, −1 if a value is missing, and with the numbers of both
// values plus 1, 0 for a missing value.
func (c *comparer) eachColumn(p pair, visit func(f int, similarity float64, a, b uint32)) {
	x, y := c.left.Cells(int(p.a)), c.right.Cells(int(p.b))
	for f, a := range x {
		s := -1.0
		if a > 0 && y[f] > 0 {
			s = c.columns[f].similarity(a-1, y[f]-1)
		}
		visit(f, s, a, y[f])
	}
}

// similarities returns the similarity of each column, as eachColumn does, and the similarity of the records. It reads
// their tokens once; common is scratch.
func (c *comparer) similarities(p pair, whole *matcher, common []uint64) (of []float64, similarity float64) {
	similarity = c.meet(p, whole, common)
	of = make([]float64, len(c.columns))
	x, y := c.left.Cells(int(p.a)), c.right.Cells(int(p.b))
	for f, a := range x {
		switch b := y[f]; {
		case a == 0 || b == 0:
			of[f] = -1
		case a == b:
			of[f] = 1
		default:
			of[f] = c.columns[f].shared(a-1, b-1, common[f])
		}
	}
	return of, similarity
}

// meet returns the similarity of two records. For each column in which they have two different values, it puts the
// mass of the values' common tokens into common.
func (c *comparer) meet(p pair, whole *matcher, common []uint64) float64 {
	clear(common)
	return whole.scale.Similarity(whole.meet(p, c.columns, common), whole.sizes[0][p.a], whole.sizes[1][p.b])
}

// none returns an empty comparison.
func (c *comparer) none() *comparison {
	r := &comparison{width: len(c.columns) + 1, left: c.left.Rows()}
	if c.right != c.left {
		r.right = c.right.Rows()
	}
	return r
}

// compare compares candidates, each goroutine with one of the matchers.
func (c *comparer) compare(ctx context.Context, matchers []*matcher, pairs []pair) (*comparison, error) {
	r := c.none()
	r.pairs, r.wholes, r.levels = pairs, make([]float32, len(pairs)), make([]level, len(pairs)*r.width)
	err := parallel(ctx, len(matchers), len(pairs), 1024, func(worker int) func(from, to int) {
		common, near := make([]uint64, len(c.columns)), nearer{of: c.numbering}
		return func(from, to int) {
			for i := from; i < to; i++ {
				if (i-from)%nearRows == 0 {
					near.fetch(min(nearRows, to-i), func(k int) []uint32 { return c.right.Cells(int(pairs[i+k].b)) })
				}
				r.wholes[i] = float32(c.fill(r.of(i), pairs[i], matchers[worker], common))
			}
		}
	})
	return r, err
}

// fill puts the levels of a pair into dst and returns the similarity of its records; common is scratch. If both
// records have at most one value, the record as a whole has no level, since it would repeat that of the column.
func (c *comparer) fill(dst []level, p pair, whole *matcher, common []uint64) float64 {
	s := c.meet(p, whole, common)
	x, y := c.left.Cells(int(p.a)), c.right.Cells(int(p.b))
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
			dst[f] = c.columns[f].level(a-1, b-1, common[f])
		}
	}
	if len(c.columns) > 1 && max(several[0], several[1]) > 1 {
		dst[len(c.columns)] = wholeLevel(s)
	}
	return s
}
