package compare

import (
	"context"

	"github.com/alike-dev/alike/record"
)

// Frequencies say how many records of the left table of an Input have each token.
type Frequencies struct {
	records []uint32   // that have the token
	any     int        // that have any
	columns [][]uint32 // for each column: that have it there
	filled  []int      // for each column: that have a value
}

// NewFrequencies counts the tokens of the only table. 4 bytes a token and column.
func NewFrequencies(ctx context.Context, in *Input) (*Frequencies, error) {
	df, n, _, err := in.frequencies(ctx)
	if err != nil {
		return nil, err
	}
	q := &Frequencies{records: df, any: n}
	for f := range in.Left.Columns {
		of := make([]uint32, in.Numbering.Tokens())
		q.filled = append(q.filled, in.Numbering.Column(f).Frequencies(of))
		q.columns = append(q.columns, of)
	}
	return q, nil
}

// Weights returns the weights of tokens in records as a whole.
func (q *Frequencies) Weights(in *Input) (record.Weights, error) {
	weights, err := in.Weigh(q.records, q.any)
	if err == nil {
		in.weighColumns(weights)
	}
	return weights, err
}

// WeightedRecords returns the records of the left table with these weights of tokens, for AddVectors alone.
func WeightedRecords(in *Input, weights record.Weights) *Records {
	return &Records{left: in.Left, right: in.Left, Numbering: in.Numbering, scale: in.Scale, Weights: weights}
}

// Rest returns counts of the records that are not among the rows of an excerpt, so that its tokens and values weigh as much
// as in the table with the guest.
func (q *Frequencies) Rest(whole *record.Numbering, x *record.Excerpt) *Rest {
	r := NewRest(len(x.Tokens), len(q.columns))
	r.any = q.any
	for token, of := range x.Tokens {
		if of == 0 {
			continue
		}
		r.records[token] = q.records[of-1]
		for f := range q.columns {
			r.columns[f][token] = q.columns[f][of-1]
		}
	}
	last := -1
	newRepeatFinder(x.Numbering).find(x.Rows, 0, x.Rows.Rows(), func(row int, token uint32) {
		r.records[token]--
		if row != last {
			last = row
			r.any--
		}
	})
	for f, values := range x.Values {
		column, of := x.Numbering.Column(f), whole.Column(f)
		r.values[f], r.Filled[f] = q.filled[f], q.filled[f]
		for v, number := range values {
			if number == 0 {
				continue
			}
			n := of.Count(number - 1)
			r.values[f] -= n
			for _, token := range column.Tokens(uint32(v)) {
				r.columns[f][token] -= uint32(n)
			}
		}
	}
	return r
}
