package linkage

import (
	"github.com/alike-dev/alike/candidates"
	"github.com/alike-dev/alike/internal/resume"
	"github.com/alike-dev/alike/record"
)

// A Column is how a pair of columns was used.
type Column struct {
	Field
	Filled      [2]float64 `json:"filled"`      // share of the records that have a value, left and right
	Agreement   float64    `json:"agreement"`   // mean similarity of the matches' values
	Chance      float64    `json:"chance"`      // mean similarity of other candidates' values
	Information float64    `json:"information"` // nats that the column tells of a match, on average
	Share       float64    `json:"share"`       // of what it tells, how much no other column tells too
}

// A Result is what a join has found.
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

// Finish empties Config.Work, where there is one, of what a join would go on from, and lets other
// processes have it: it is called when the links are where they belong.
func (r *Result) Finish() error {
	log := r.log
	r.log = nil
	return log.Close(true)
}

// Considered is a pair that the rule has found, whatever the decision.
type Considered struct {
	A, B        []byte
	Probability float64
}

// Unused is a column that was not compared, and why.
type Unused struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// Similarity returns that of any two records of the only table by their numbers, see
// Link.RowA: the cosine of their tokens, as links have it. It is for one goroutine at a time.
func (r *Result) Similarity(a, b int) float64 {
	return r.matcher.similarity(pair{uint32(a), uint32(b)})
}

// ID returns the id of a record of the only table by its number.
func (r *Result) ID(row int) []byte { return r.only.ID(row) }
