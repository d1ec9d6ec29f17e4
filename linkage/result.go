package linkage

import (
	"github.com/alike-dev/alike/candidates"
	"github.com/alike-dev/alike/internal/resume"
	"github.com/alike-dev/alike/record"
)

// A Column says how a pair of columns was used.
type Column struct {
	Field
	Filled      [2]float64 `json:"filled"`      // share of the records that have a value, left and right
	Agreement   float64    `json:"agreement"`   // mean similarity of the matches' values
	Chance      float64    `json:"chance"`      // mean similarity of other candidates' values
	Information float64    `json:"information"` // mean evidence of the column for a match, in nats
	Share       float64    `json:"share"`       // share of this that no other column has too
}

// A Result is the result of a join.
type Result struct {
	Report
	Considered []Considered
	Evidence   Evidence
	Search     candidates.Summary
	Links      Links

	log     *resume.Log
	matcher *matcher // nil: a table is empty
	only    *record.Table
}

// Finish removes the finished steps from Config.Work, if there is one, and unlocks it. Call it when the links
// have been written.
func (r *Result) Finish() error {
	log := r.log
	r.log = nil
	return log.Close(true)
}

// Considered is a pair that the match rule allows, whether it became a link or not.
type Considered struct {
	A, B        []byte
	Probability float64
}

// Unused is a column that was not compared, and why.
type Unused struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// Similarity returns the similarity of any two records of the only table, by their numbers (see Link.RowA), as
// Link.Similarity has it. One goroutine at a time may call it.
func (r *Result) Similarity(a, b int) float64 {
	return r.matcher.similarity(pair{uint32(a), uint32(b)})
}

// ID returns the id of a record of the only table by its number.
func (r *Result) ID(row int) []byte { return r.only.ID(row) }
