package linkage

import (
	"fmt"

	"github.com/alike-dev/alike/candidates"
	"github.com/alike-dev/alike/internal/resume"
	"github.com/alike-dev/alike/record"
)

// A Column is how a pair of columns was used.
type Column struct {
	Field
	Filled      [2]float64 // share of the records that have a value, left and right
	Agreement   float64    // mean similarity of the matches' values
	Chance      float64    // mean similarity of other candidates' values
	Information float64    // nats that the column tells of a match, on average
	Share       float64    // of what it tells, how much no other column tells too
}

// A Result is what a join has found.
type Result struct {
	Left, Right int      // records
	OneTable    bool     // links are within the left table
	Columns     []Column // that were compared
	Unused      []Unused
	Match       Match
	Assignment  Assignment // of OneToOne
	Candidates  int
	Skipped     int      // records that could not be read
	Repeated    []string // ids that several records of a table have, with the table; one of each table
	Notes       []string // what else a user should know of the tables
	Considered  []Considered
	Evidence    Evidence
	Search      candidates.Summary
	Known       int // links of Config.Known of which both records are there
	Links       Links
	Matches     float64
	Precision   float64 // estimated, of the links
	Recall      float64 // estimated, of the links
	// RecallMost is what Recall would be if no pair were a match that is more likely none.
	// What many improbable pairs add up to is the least certain part of the model. In one table Recall is
	// no more than it would be if all pairs that links connect by way of others were matches too.
	RecallMost float64
	// PrecisionLeast is less than Precision in one table where links contradict each other, because
	// records that both are linked with another one are not linked. It is what Precision would be
	// if as many links were wrong as that may mean.
	PrecisionLeast float64

	Resumed bool // the join went on with what Config.Work held

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
type Unused struct{ Name, Reason string }

// unsure is how far apart two estimates are from which on both are said.
const unsure = 0.05

// Estimates says in words which share of the links is right, and which share of the matches was
// found, as far as that is known. It is empty where there are no links.
func (r *Result) Estimates() string {
	if r.Links.Len() == 0 {
		return ""
	}
	right := fmt.Sprintf("%.1f %% of the links", 100*r.Precision)
	if r.Precision-r.PrecisionLeast >= unsure {
		right = fmt.Sprintf("%.0f %% of the links or more (%.1f %% if those that contradict each other are right)", 100*r.PrecisionLeast, 100*r.Precision)
	}
	found := fmt.Sprintf("%.1f %%", 100*r.Recall)
	if r.RecallMost-r.Recall >= unsure {
		found = fmt.Sprintf("%.0f %% to %.0f %%", 100*r.Recall, 100*r.RecallMost)
	}
	return fmt.Sprintf("likely right: %s; likely found: %s of the matches", right, found)
}

// Similarity returns that of any two records of the only table by their numbers, see
// Link.RowA: the cosine of their tokens, as links have it. It is for one goroutine at a time.
func (r *Result) Similarity(a, b int) float64 {
	return r.matcher.similarity(pair{uint32(a), uint32(b)})
}

// ID returns the id of a record of the only table by its number.
func (r *Result) ID(row int) []byte { return r.only.ID(row) }
