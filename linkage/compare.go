package linkage

import (
	"context"
	"math"

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

// comparer compares records, column by column and as a whole.
type comparer struct {
	left, right *record.Table
	weights     []record.Weights // by column
	counts      []uint32         // how many values are the one of a number
	values      []int            // values of each column that are not missing
}

func newComparer(left, right *record.Table, n *record.Numbering) *comparer {
	tables := []*record.Table{left}
	if right != nil {
		tables = append(tables, right)
	}
	c := &comparer{left: left, right: right, counts: make([]uint32, n.Values.Len())}
	if right == nil {
		c.right = left
	}
	for f := range left.Columns {
		df, values := record.Frequencies(tables, n.Tokens.Len(), f)
		c.weights = append(c.weights, record.IDF(df, values))
		c.values = append(c.values, values)
		for _, t := range tables {
			for i := range t.Rows() {
				if w := t.Row(i).Whole(f); w > 0 {
					c.counts[w-1]++
				}
			}
		}
	}
	return c
}

// similarity returns the cosine of two lists of tokens by weight.
func similarity(a, b []uint32, weights record.Weights) float64 {
	both := common(a, b, weights)
	if both == 0 {
		return 0
	}
	var sizeA, sizeB uint64
	for _, x := range a {
		sizeA += uint64(weights[x]) * uint64(weights[x])
	}
	for _, x := range b {
		sizeB += uint64(weights[x]) * uint64(weights[x])
	}
	return cosine(both, sizeA, sizeB)
}

// common returns the sum of the squared weights of the tokens that two lists have in common.
func common(a, b []uint32, weights record.Weights) (sum uint64) {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			sum += uint64(weights[a[i]]) * uint64(weights[a[i]])
			i, j = i+1, j+1
		}
	}
	return sum
}

// cosine is measure.Cosine of what two records have in common, at most 1.
func cosine(common, sizeA, sizeB uint64) float64 {
	if common == 0 {
		return 0
	}
	return min(1, float64(common)/math.Sqrt(float64(sizeA)*float64(sizeB)))
}

// eachColumn calls visit with the similarity of each column in which both records have a
// value, −1 where one has none.
func (c *comparer) eachColumn(p pair, visit func(f int, similarity float64, a, b record.Row)) {
	a, b := c.left.Row(int(p.a)), c.right.Row(int(p.b))
	x, y := a.Tokens(), b.Tokens()
	for f := range c.weights {
		n, m := a.Length(f), b.Length(f)
		s := -1.0
		if n > 0 && m > 0 {
			s = similarity(x[:n], y[:m], c.weights[f])
		}
		visit(f, s, a, b)
		x, y = x[n:], y[m:]
	}
}

// compare makes the comparison of candidates.
func (c *comparer) compare(ctx context.Context, threads int, pairs []pair, whole *records) (*comparison, error) {
	r := &comparison{pairs: pairs, width: len(c.weights) + 1, wholes: make([]float32, len(pairs))}
	r.levels = make([]level, len(pairs)*r.width)
	err := parallel(ctx, threads, len(pairs), 1024, func() func(from, to int) {
		return func(from, to int) {
			for i := from; i < to; i++ {
				r.wholes[i] = float32(c.fill(r.of(i), pairs[i], whole))
			}
		}
	})
	return r, err
}

// fill puts the levels of a pair into dst and returns the similarity of its records. Where
// either record has one value only the record says nothing that the column has not said.
func (c *comparer) fill(dst []level, p pair, whole *records) float64 {
	several := [2]int{}
	c.eachColumn(p, func(f int, s float64, a, b record.Row) {
		if a.Length(f) > 0 {
			several[0]++
		}
		if b.Length(f) > 0 {
			several[1]++
		}
		if s < 0 {
			return
		}
		if dst[f] = levelOf(s); dst[f] == equal {
			dst[f] += c.rarity(f, a, b)
		}
	})
	s := whole.similarity(p)
	if len(c.weights) > 1 && max(several[0], several[1]) > 1 {
		dst[len(c.weights)] = wholeLevel(s)
	}
	return s
}

// rarity returns in steps of e how rare two equal values of column f are.
func (c *comparer) rarity(f int, a, b record.Row) level {
	n, m := a.Whole(f), b.Whole(f)
	if n == 0 || m == 0 {
		return 0
	}
	share := math.Sqrt(float64(c.counts[n-1])*float64(c.counts[m-1])) / float64(c.values[f])
	return level(min(rarest, -math.Log(share)))
}
