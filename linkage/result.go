package linkage

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/alike-dev/alike/candidates"
	"github.com/alike-dev/alike/internal/assignment"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/resume"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/decide"
	"github.com/alike-dev/alike/linkage/internal/held"
	"github.com/alike-dev/alike/linkage/internal/judge"
	"github.com/alike-dev/alike/record"
)

// Assignment says how the links of OneToOne were chosen: the number of connected groups of records,
// and how many of these were solved greedily.
type Assignment = assignment.Summary

// Assigned is the largest number of records in a connected component whose links are chosen together.
const Assigned = decide.Assigned

// A Result is the result of a join.
type Result struct {
	Report
	Considered []Considered
	Evidence   Evidence
	Search     candidates.Summary
	Links      Links
	Model      *Model    // by which the links were decided, for OpenMatcher; nil: a table is empty
	Audit      *Audit    // of Config.Audit; nil: none was asked for, or a table is empty
	Entities   *Entities // of Config.Clusters; nil: none were asked for

	log     *resume.Log
	matcher *compare.Matcher // nil: a table is empty
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

// Similarity returns the similarity of any two records of the only table, by their numbers (see Link.RowA), as
// Link.Similarity has it. One goroutine at a time may call it.
func (r *Result) Similarity(a, b int) float64 {
	return r.matcher.Similarity(compare.Pair{A: uint32(a), B: uint32(b)})
}

// ID returns the id of a record of the only table by its number.
func (r *Result) ID(row int) []byte { return r.only.ID(row) }

// A Report describes a join and its estimated quality. It can be written as JSON.
type Report struct {
	Left       int        `json:"left"`                // records
	Right      int        `json:"right"`               // 0: there is one table
	OneTable   bool       `json:"one_table,omitempty"` // links are within the left table
	Columns    []Column   `json:"columns"`             // that were compared
	LeftOut    []LeftOut  `json:"left_out"`
	Match      Match      `json:"match"`
	Assignment Assignment `json:"assignment,omitzero"` // of OneToOne
	Candidates int        `json:"candidates"`
	Linked     int        `json:"linked"` // links
	// LargestClusters are the sizes of the largest clusters, at most 10: those of Result.Entities or, without them, of all
	// records that links connect.
	LargestClusters []int     `json:"largest_clusters"`
	Skipped         int       `json:"skipped,omitempty"`          // records that could not be read
	Repeated        []string  `json:"repeated,omitempty"`         // ids that several records of a table have, with the table; one of each table
	Notes           []string  `json:"notes,omitempty"`            // other facts about the tables that a user should know
	Verdicts        int       `json:"verdicts,omitempty"`         // of Config.Verdicts, of which both records are there
	UnknownVerdicts int       `json:"unknown_verdicts,omitempty"` // and the others
	Refused         []Refused `json:"refused,omitempty"`          // pairs that were called one thing, against other verdicts: they are apart
	Parted          int       `json:"parted,omitempty"`           // links left out because they would connect records that were called different
	Known           int       `json:"known,omitempty"`            // links of Config.Known of which both records are there
	Matches         float64   `json:"matches"`
	Precision       float64   `json:"precision"` // estimated, of the links
	Recall          float64   `json:"recall"`    // estimated, of the links
	// ExpectedPrecision and ExpectedRecall are the least and the largest value that each is likely to have, see
	// decide.Estimate. Ranges wider than 0.3 say nothing. Those of a disputed join are from 0 to 1, and so are the precision
	// without a link, and the recall where a wider notion is not ruled out.
	ExpectedPrecision [2]float64 `json:"expected_precision"`
	ExpectedRecall    [2]float64 `json:"expected_recall"`
	// Disputed says that the data show two notions of what is the same thing, such as a person and a visit, and that links may
	// be too many by one of them. Wider says that by one of them, such as a household beside a person, there would be more
	// links, and that these here are right by either. Precision and Recall are those of the notion that links follow.
	Disputed bool `json:"disputed,omitempty"`
	Wider    bool `json:"wider,omitempty"`
	// Kinds are the kinds of pairs that the candidates show, the most frequent first. Same are the columns in which one thing agrees,
	// as the user says.
	Kinds []Kind   `json:"kinds,omitempty"`
	Same  []string `json:"same,omitempty"`
	// Measured is what an audit has shown, if there was one; the caller sets it.
	Measured *Measured `json:"audit,omitempty"`

	Resumed bool `json:"resumed,omitempty"` // the join went on with what Config.Work held
}

// A Kind is a kind of pairs that the candidates show, such as one person, people of one household, or namesakes.
type Kind struct {
	Agree      []string    `json:"agree"`      // columns in which most of its pairs agree
	Candidates int         `json:"candidates"` // about so many are of this kind
	Taken      bool        `json:"taken"`      // its pairs are taken for one thing
	Examples   [][2]string `json:"examples"`   // ids of up to three pairs
}

// placesOf returns the places of the named columns among those that are compared.
func (r *Report) placesOf(names []string) (places []int, err error) {
	for _, name := range names {
		found := len(places)
		for place, c := range r.Columns {
			left, right := c.Names()
			if slices.Contains([]string{c.Left, c.Right, left, right}, name) {
				places = append(places, place)
			}
		}
		if found == len(places) {
			var compared []string
			for _, c := range r.Columns {
				left, _ := c.Names()
				compared = append(compared, left)
			}
			return nil, setting.Errorf("%s names %s, which is not compared; compared are %s", setting.Same, fault.Shown(name), fault.List(compared))
		}
	}
	return places, nil
}

// describeKinds lists the kinds of pairs.
func (r *Report) describeKinds(e *judge.Examiner, t *held.Tables) {
	r.Kinds = nil
	for _, k := range e.Kinds {
		kind := Kind{Candidates: int(math.Round(k.Share * float64(e.Candidates))), Taken: k.Taken}
		for _, f := range k.Agree {
			name, _ := r.Columns[f].Names()
			kind.Agree = append(kind.Agree, name)
		}
		for _, p := range k.Examples {
			a, b := t.IDs(p)
			kind.Examples = append(kind.Examples, [2]string{a, b})
		}
		r.Kinds = append(r.Kinds, kind)
	}
}

// TellsKinds reports whether it matters which kinds of pairs are the same thing: the user has said it, or the data leave two notions
// of it.
func (r *Report) TellsKinds() bool { return r.Disputed || r.Wider || len(r.Same) > 0 }

// Told returns what a user should know of the tables: the kinds of pairs, where it matters, and the notes.
func (r *Report) Told() []string {
	if !r.TellsKinds() {
		return r.Notes
	}
	return slices.Concat(r.KindLines(), r.Notes)
}

// KindLines says in a line each which kinds of pairs there are, the most frequent first.
func (r *Report) KindLines() (lines []string) {
	for _, k := range r.Kinds {
		taken, agree := "kind of pairs", "no column"
		if k.Taken {
			taken += ", taken for one thing"
		}
		if len(k.Agree) > 0 {
			agree = fault.List(k.Agree)
		}
		var examples []string
		for _, p := range k.Examples {
			examples = append(examples, fault.Shown(p[0])+" and "+fault.Shown(p[1]))
		}
		lines = append(lines, fmt.Sprintf("%s: about %s candidates agree in %s, such as %s", taken, humanize.Comma(int64(k.Candidates)), agree, strings.Join(examples, "; ")))
	}
	return lines
}
