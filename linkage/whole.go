package linkage

import (
	"context"
	"iter"
	"math"
	"slices"

	"github.com/alike-dev/alike/internal/weighing"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/record"
)

// records compares records as a whole: by their distinct tokens, in whatever column.
type records struct {
	left, right *record.Table // the same for one table
	numbering   *record.Numbering
	weights     record.Weights
	scale       weighing.Scale
	sizes       [2][]uint64 // of each left and right record: the mass of its tokens
}

// mass is what a token adds to the size of a record, and to what two have in common.
func (r *records) mass(token uint32) uint64 { return r.scale.Mass(r.weights[token]) }

// within returns the records of the left or the right table, to be compared with each other.
func (r *records) within(side int) *records {
	own := *r
	own.left = []*record.Table{r.left, r.right}[side]
	own.right, own.sizes = own.left, [2][]uint64{r.sizes[side], r.sizes[side]}
	return &own
}

// A matcher finds what records have in common, on one goroutine. Records need no sorted lists
// of tokens for that: each token carries the number of the last round in which it was met.
type matcher struct {
	*records
	marks []mark // by token
	round uint32
	a     int    // the left record whose tokens are marked; −1: none
	since uint32 // the round in which they were
}

type mark struct {
	round   uint32 // in which the token was last met
	columns uint32 // of the marked left record that have it: bit f, of the first marked ones
}

// markedColumns is how many columns have a bit in a mark.
const markedColumns = 32

func (r *records) newMatcher() *matcher {
	return &matcher{records: r, marks: make([]mark, r.numbering.Tokens()), a: -1}
}

func (r *records) newMatchers(n int) []*matcher {
	matchers := make([]*matcher, n)
	for i := range matchers {
		matchers[i] = r.newMatcher()
	}
	return matchers
}

// next begins a round.
func (m *matcher) next() uint32 {
	if m.round == math.MaxUint32 {
		clear(m.marks)
		m.round, m.a = 0, -1
	}
	m.round++
	return m.round
}

// each calls visit once for each token of a record.
func (m *matcher) each(t *record.Table, row int, visit func(token uint32)) {
	round := m.next()
	m.a = -1
	for f, cell := range t.Cells(row) {
		if cell == 0 {
			continue
		}
		for _, token := range m.numbering.Column(f).Tokens(cell - 1) {
			if at := &m.marks[token]; at.round != round {
				at.round = round
				visit(token)
			}
		}
	}
}

// mark marks the tokens of a left record.
func (m *matcher) mark(a uint32) {
	if m.round > math.MaxUint32-3 {
		m.round = math.MaxUint32 // so that rounds do not begin again before the right record's
	}
	round := m.next()
	for f, cell := range m.left.Cells(int(a)) {
		if cell == 0 {
			continue
		}
		bit := uint32(1) << f // 0 beyond markedColumns
		for _, token := range m.numbering.Column(f).Tokens(cell - 1) {
			if at := &m.marks[token]; at.round != round {
				*at = mark{round, bit}
			} else {
				at.columns |= bit
			}
		}
	}
	m.a, m.since = int(a), round
}

// common returns the mass of the tokens that two records have in
// common. It costs least where pairs of one left record follow each other.
func (m *matcher) common(p pair) uint64 { return m.meet(p, nil, nil) }

// meet returns what common does, and adds to those of columns, unless there are none, the mass
// of the tokens that two different values have in common in each. All of this takes one look
// at each token of the right record.
func (m *matcher) meet(p pair, columns []column, of []uint64) (sum uint64) {
	if m.a != int(p.a) || m.round > math.MaxUint32-2 {
		m.mark(p.a)
	}
	round := m.next()
	// Tokens of a were met since it was marked, and those that both have in this round.
	since, x := m.since, m.left.Cells(int(p.a))
	for f, cell := range m.right.Cells(int(p.b)) {
		if cell == 0 {
			continue
		}
		values := m.numbering.Column(f)
		start, end := values.Bounds(cell - 1)
		bit := uint32(1) << f
		switch {
		case columns == nil || x[f] == 0 || x[f] == cell:
			bit = 0
		case f >= markedColumns:
			of[f] = columns[f].common(x[f]-1, cell-1)
		}
		for i, token := range values.TokensAt(start, end) {
			at := &m.marks[token]
			if at.round < since {
				continue
			}
			if at.round != round {
				at.round = round
				sum += m.mass(token)
			}
			if at.columns&bit != 0 {
				of[f] += m.scale.Mass(columns[f].weights[start+i])
			}
		}
	}
	return sum
}

// part calls inA, inBoth and inB once for each token that two records have, one of them only
// or both.
func (m *matcher) part(p pair, inA, inBoth, inB func(token uint32)) {
	if m.round > math.MaxUint32-3 {
		m.round = math.MaxUint32 // so that rounds do not begin again in between
	}
	m.each(m.left, int(p.a), func(uint32) {})
	ofA := m.round
	both := m.next()
	alone := m.next()
	m.a = -1
	m.cells(m.right, int(p.b), func(token uint32) {
		switch at := &m.marks[token]; at.round {
		case ofA:
			at.round = both
			inBoth(token)
		case both, alone:
		default:
			at.round = alone
			inB(token)
		}
	})
	m.cells(m.left, int(p.a), func(token uint32) {
		if at := &m.marks[token]; at.round == ofA {
			at.round = both
			inA(token)
		}
	})
}

// cells calls visit for each token of each value of a record.
func (m *matcher) cells(t *record.Table, row int, visit func(token uint32)) {
	for f, cell := range t.Cells(row) {
		if cell == 0 {
			continue
		}
		for _, token := range m.numbering.Column(f).Tokens(cell - 1) {
			visit(token)
		}
	}
}

// similarity returns that of two records' tokens.
func (m *matcher) similarity(p pair) float64 {
	return m.scale.Similarity(m.common(p), m.sizes[0][p.a], m.sizes[1][p.b])
}

// reaches tells whether two records reach a threshold.
func (m *matcher) reaches(p pair, t measure.Threshold) bool {
	return t.Reached(m.common(p), m.sizes[0][p.a], m.sizes[1][p.b])
}

// records returns the records as sets of weighted tokens.
func (t *tables) records(ctx context.Context, c *Config) (_ *records, err error) {
	r := &records{left: t.left, right: t.left, numbering: &t.numbering, scale: c.scale()}
	if t.right != nil {
		r.right = t.right
	}
	df := make([]uint32, t.numbering.Tokens())
	n := 0
	m := r.newMatcher()
	for _, table := range t.all() {
		for i := range table.Rows() {
			filled := false
			m.each(table, i, func(token uint32) { df[token]++; filled = true })
			if filled {
				n++
			}
		}
	}
	if r.weights, err = c.weigh(df, n); err != nil {
		return nil, err
	}
	t.weighColumns(r.weights)
	for side, table := range t.all() {
		sizes := make([]uint64, table.Rows())
		if err := parallel(ctx, c.Threads, len(sizes), 1<<14, func(int) func(from, to int) {
			m := r.newMatcher()
			return func(from, to int) {
				for i := from; i < to; i++ {
					m.each(table, i, func(token uint32) { sizes[i] += r.mass(token) })
				}
			}
		}); err != nil {
			return nil, err
		}
		r.sizes[side] = sizes
	}
	if t.right == nil {
		r.sizes[1] = r.sizes[0]
	}
	return r, nil
}

// weighColumns multiplies the weight of each token by the largest weight of the columns that
// have it, where they differ: as a share of the largest of all.
func (t *tables) weighColumns(weights record.Weights) {
	columns := t.result.Columns
	heaviest, same := 0.0, true
	for _, c := range columns {
		heaviest, same = max(heaviest, c.Weight), same && c.Weight == columns[0].Weight
	}
	if same {
		return
	}
	of := make([]float64, len(weights))
	for f, c := range columns {
		values := t.numbering.Column(f)
		for v := range values.Len() {
			for _, token := range values.Tokens(uint32(v)) {
				of[token] = max(of[token], c.Weight/heaviest)
			}
		}
	}
	for i := range weights {
		weights[i] = weighing.OfColumn(weights[i], of[i])
	}
}

// addVectors adds a vector of each of some rows of a table: its tokens, but those to skip, with
// their weights.
func (r *records) addVectors(t *record.Table, rows iter.Seq[uint32], skip func(token uint32) bool, add func(features, weights []uint32) error) error {
	m := r.newMatcher()
	var features, w []uint32
	for i := range rows {
		features, w = features[:0], w[:0]
		m.each(t, int(i), func(token uint32) {
			if !skip(token) {
				features = append(features, token)
			}
		})
		slices.Sort(features)
		for _, token := range features {
			w = append(w, uint32(r.weights[token]))
		}
		if err := add(features, w); err != nil {
			return err
		}
	}
	return nil
}
