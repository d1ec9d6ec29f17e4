package record

import "cmp"

// Field is a column of the left table and the column of the right table to compare it with.
type Field struct {
	Left   string  `json:"left"`
	Right  string  `json:"right,omitempty"`  // "": the same as Left
	Weight float64 `json:"weight,omitempty"` // of its tokens in the similarity of records, relative to other columns; 0: 1
	Tokens Kind    `json:"tokens,omitempty"` // "": chosen by the column's values
}

// Names returns the names of both columns, with the coordinate that is compared: two of a column of places are.
func (f Field) Names() (left, right string) {
	left, right = f.Left, cmp.Or(f.Right, f.Left)
	if f.Tokens == Latitude || f.Tokens == Longitude {
		left, right = left+" "+string(f.Tokens), right+" "+string(f.Tokens)
	}
	return left, right
}

// Compared says how a pair of columns was used.
type Compared struct {
	Field
	Filled      [2]float64 `json:"filled"`      // share of the records that have a value, left and right
	Agreement   float64    `json:"agreement"`   // mean similarity of the matches' values
	Chance      float64    `json:"chance"`      // mean similarity of other candidates' values
	Information float64    `json:"information"` // mean evidence of the column for a match, in nats
	Share       float64    `json:"share"`       // share of this that no other column has too
}

// LeftOut is a column that was not compared, and why.
type LeftOut struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}
