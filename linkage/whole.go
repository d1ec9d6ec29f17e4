package linkage

import (
	"math"
	"slices"

	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/record"
	"github.com/alike-dev/alike/simjoin"
)

// sets are the distinct tokens of each record, in all columns, ascending.
type sets struct {
	ends   []int
	tokens []uint32
	sizes  []uint64 // sums of squared weights
}

func (s *sets) at(i uint32) []uint32 {
	start := 0
	if i > 0 {
		start = s.ends[i-1]
	}
	return s.tokens[start:s.ends[i]]
}

// setsOf makes the sets of a table, and counts the records that have each token.
func setsOf(t *record.Table, df []uint32) (s *sets, filled int) {
	s = &sets{ends: make([]int, t.Rows())}
	for i := range s.ends {
		start := len(s.tokens)
		s.tokens = append(s.tokens, t.Row(i).Tokens()...)
		set := s.tokens[start:]
		slices.Sort(set)
		set = slices.Compact(set)
		s.tokens = s.tokens[:start+len(set)]
		s.ends[i] = len(s.tokens)
		for _, token := range set {
			df[token]++
		}
		if len(set) > 0 {
			filled++
		}
	}
	return s, filled
}

// weigh sets the sizes.
func (s *sets) weigh(weights record.Weights) {
	s.sizes = make([]uint64, len(s.ends))
	for i := range s.ends {
		for _, token := range s.at(uint32(i)) {
			s.sizes[i] += uint64(weights[token]) * uint64(weights[token])
		}
	}
}

// records compares records as a whole.
type records struct {
	left, right *sets // the same for one table
	weights     record.Weights
}

// similarity returns the cosine of two records' tokens.
func (r *records) similarity(p pair) float64 {
	return cosine(common(r.left.at(p.a), r.right.at(p.b), r.weights), r.left.sizes[p.a], r.right.sizes[p.b])
}

// reaches tells whether two records reach a threshold of cosine similarity.
func (r *records) reaches(p pair, t measure.Threshold) bool {
	return t.Reached(common(r.left.at(p.a), r.right.at(p.b), r.weights), r.left.sizes[p.a], r.right.sizes[p.b])
}

// vectorsOf makes a vector of each record: its tokens, or its words only, with their weights.
func (s *sets) vectorsOf(weights record.Weights, skip func(token uint32) bool) (*simjoin.Vectors, error) {
	v := &simjoin.Vectors{}
	var features, w []uint32
	for i := range s.ends {
		features, w = features[:0], w[:0]
		for _, token := range s.at(uint32(i)) {
			if !skip(token) {
				features, w = append(features, token), append(w, uint32(weights[token]))
			}
		}
		if err := v.Append(features, w); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// records returns the records as sets of weighted tokens.
func (t *tables) records() *records {
	df := make([]uint32, t.numbering.Tokens.Len())
	r := &records{}
	var n, m int
	r.left, n = setsOf(t.left, df)
	if r.right = r.left; t.right != nil {
		r.right, m = setsOf(t.right, df)
	}
	r.weights = record.IDF(df, n+m)
	t.weighColumns(r.weights)
	r.left.weigh(r.weights)
	if t.right != nil {
		r.right.weigh(r.weights)
	}
	return r
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
	for _, table := range []*record.Table{t.left, t.right} {
		if table == nil {
			continue
		}
		for i := range table.Rows() {
			row := table.Row(i)
			tokens := row.Tokens()
			for f, c := range columns {
				n := row.Length(f)
				for _, token := range tokens[:n] {
					of[token] = max(of[token], c.Weight/heaviest)
				}
				tokens = tokens[n:]
			}
		}
	}
	for i := range weights {
		weights[i] = uint16(max(1, math.Round(float64(weights[i])*of[i])))
	}
}

// manyRecords is from how many records on candidates are looked for by their words alone: of
// so many there are ones that share a word, and grams cost ten times as much.
const manyRecords = 30_000

// vectors returns what candidates are looked for by.
func (t *tables) vectors(r *records) (left, right *simjoin.Vectors, err error) {
	skip := func(uint32) bool { return false }
	if t.result.Left+t.result.Right > manyRecords {
		skip = t.numbering.IsGram
	}
	if left, err = r.left.vectorsOf(r.weights, skip); err == nil && t.right != nil {
		right, err = r.right.vectorsOf(r.weights, skip)
	}
	return left, right, err
}
