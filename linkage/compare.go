package linkage

import (
	"context"
	"math"
	"slices"

	"github.com/alike-dev/alike/internal/weighing"
	"github.com/alike-dev/alike/record"
)

// level is how alike two values are, or two records, in steps: 0 where either is missing,
// 1…10 for tenths of the similarity from 0 on, and equal for the same tokens in any order.
// Equal values of a column take, by rarity, equal to equal+rarest.
type level = uint8

const (
	missing level = 0
	equal   level = 11
	rarest        = 15
	levels        = int(equal) + rarest + 1
)

// levelOf returns the level of a similarity.
func levelOf(similarity float64) level {
	if similarity >= 0.9999 {
		return equal
	}
	return 1 + level(similarity*10)
}

// wholeLevel returns the level of the similarity of two records, in steps of a twentieth.
func wholeLevel(similarity float64) level { return 1 + level(similarity*20) }

// pair is a candidate: record a of the left table and b of the right one, or a < b of the
// only one.
type pair struct{ a, b uint32 }

// comparison is what is known of the candidates.
type comparison struct {
	pairs  []pair
	levels []level   // of each pair: of each column, then of the records as a whole
	wholes []float32 // similarity of the records
	width  int       // columns + 1
	left   int       // records of the left table, of the only one
	right  int       // of the right table; 0: there is none
}

func (c *comparison) of(i int) []level { return c.levels[i*c.width : (i+1)*c.width] }

// without returns a comparison of the same tables that has no candidates yet.
func (c *comparison) without() *comparison {
	return &comparison{width: c.width, left: c.left, right: c.right}
}

// take appends candidate i of another comparison of the same tables.
func (c *comparison) take(from *comparison, i int) {
	c.pairs = append(c.pairs, from.pairs[i])
	c.levels = append(c.levels, from.of(i)...)
	c.wholes = append(c.wholes, from.wholes[i])
}

// comparer compares records, column by column and as a whole.
type comparer struct {
	left, right *record.Table // the same for one table
	numbering   *record.Numbering
	columns     []column
}

// column is what is known of the values of a column.
type column struct {
	*record.Column
	weights []uint16 // of each token of each value, where it stands in there
	sizes   []uint64 // of each value: the mass of its tokens
	rarity  []level  // of each value, as rarity has it for two that are the same
	values  int      // how many rows have one
	scale   weighing.Scale
}

func newComparer(config *Config, left, right *record.Table, n *record.Numbering) (*comparer, error) {
	c := &comparer{left: left, right: right, numbering: n}
	if right == nil {
		c.right = left
	}
	for f := range left.Columns {
		values := n.Column(f)
		df, filled := values.Frequencies(n.Tokens())
		col := column{values, nil, make([]uint64, values.Len()), make([]level, values.Len()), filled, config.scale()}
		idf, err := config.weigh(df, filled)
		if err != nil {
			return nil, err
		}
		for v := range col.sizes {
			for _, token := range values.Tokens(uint32(v)) {
				w := idf[token]
				col.weights = append(col.weights, w)
				col.sizes[v] += col.scale.Mass(w)
			}
			col.rarity[v] = col.rarityOf(uint32(v), uint32(v))
		}
		c.columns = append(c.columns, col)
	}
	return c, nil
}

// within returns a comparer of records of one table.
func (c *comparer) within(table *record.Table) *comparer {
	return &comparer{left: table, right: table, numbering: c.numbering, columns: c.columns}
}

// similarity returns that of two values by the weights of their tokens.
func (c *column) similarity(a, b uint32) float64 {
	if a == b {
		return 1
	}
	return c.scale.Similarity(c.common(a, b), c.sizes[a], c.sizes[b])
}

// common returns the mass of the tokens that two values have in common.
func (c *column) common(a, b uint32) (sum uint64) {
	i, endA := c.Bounds(a)
	x := c.Tokens(a)
	y := c.Tokens(b)
	weights := c.weights[i:endA]
	for i, j := 0, 0; i < len(x) && j < len(y); {
		switch s, t := x[i], y[j]; {
		case s < t:
			i++
		case s > t:
			j++
		default:
			sum += c.scale.Mass(weights[i])
			i, j = i+1, j+1
		}
	}
	return sum
}

// massOf returns the mass of a token of a value, 0 if the value does not have it.
func (c *column) massOf(value, token uint32) uint64 {
	at, ok := slices.BinarySearch(c.Tokens(value), token)
	if !ok {
		return 0
	}
	start, _ := c.Bounds(value)
	return c.scale.Mass(c.weights[start+at])
}

// eachColumn calls visit with the similarity of each column in which both records have a
// value, −1 where one has none, and with 1 + the numbers of the values, 0 for none.
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

// none returns the comparison of no candidates.
func (c *comparer) none() *comparison {
	r := &comparison{width: len(c.columns) + 1, left: c.left.Rows()}
	if c.right != c.left {
		r.right = c.right.Rows()
	}
	return r
}

// compare makes the comparison of candidates, each goroutine with one of the matchers.
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

// fill puts the levels of a pair into dst and returns the similarity of its records; common is
// scratch. Where both records have one value at most they say nothing that the column has not said.
func (c *comparer) fill(dst []level, p pair, whole *matcher, common []uint64) float64 {
	clear(common)
	s := whole.scale.Similarity(whole.meet(p, c.columns, common), whole.sizes[0][p.a], whole.sizes[1][p.b])
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

// level returns that of two values with so much in common.
func (c *column) level(a, b uint32, common uint64) level {
	switch {
	case a == b:
		return equal + c.rarity[a]
	case common == 0:
		return levelOf(0)
	}
	l := levelOf(c.scale.Similarity(common, c.sizes[a], c.sizes[b]))
	if l == equal {
		l += c.rarityOf(a, b)
	}
	return l
}

// rarityOf returns in steps of e how rare two values are that have the same tokens.
func (c *column) rarityOf(a, b uint32) level {
	share := math.Sqrt(float64(c.Count(a))*float64(c.Count(b))) / float64(c.values)
	return level(min(rarest, -math.Log(share)))
}
