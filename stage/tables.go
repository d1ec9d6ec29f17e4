package stage

import (
	"errors"
	"fmt"
	"math"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/bands"
	"github.com/alike-dev/alike/internal/linklist"
	"github.com/alike-dev/alike/internal/weighing"
	"github.com/alike-dev/alike/linkage"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/record"
)

// Tables says how a Join compares the records of two tables, or Dedup those of one. The left table has the files
// before RightFile, the right one the files from there on. If there is a Rule, it says how pairs are decided, and
// the fields from Measure to Repetitions have no meaning. Joins within one table, and Dedup, need a Rule.
type Tables struct {
	RightFile int           `json:"right_file"` // 0: there is one table
	Columns   []TableColumn `json:"columns"`
	// Others are further columns of each record, after Columns. Join copies their values to the list, from both
	// tables; Dedup uses their length for the keep rule.
	Others []string `json:"others,omitempty"`
	// Sources are columns of each record that name its source, after Others. They were found in the only table.
	Sources     []string        `json:"sources,omitempty"`
	Rule        *Rule           `json:"rule,omitempty"`
	Measure     measure.Measure `json:"measure"`   // Cosine or WeightedJaccard
	Threshold   float64         `json:"threshold"` // least similarity of a link
	Bands       int             `json:"bands"`
	Rows        int             `json:"rows"`                   // of a band
	SameWeights bool            `json:"same_weights,omitempty"` // all tokens weigh the same; else common ones weigh less
	Repetitions bool            `json:"repetitions,omitempty"`
	Format      linklist.Format `json:"format"` // of the list
	// Header names the columns of the list: ids, similarity, the similarity of each column, the probability if it
	// is asked for, and Others of either table.
	Header []string `json:"header"`
}

// TableColumn is a compared column of both tables.
type TableColumn struct {
	Tokens record.Kind `json:"tokens"`
	Weight float64     `json:"weight"`
}

// The tables.
const (
	leftTable = iota
	rightTable
	tables
)

func (j *Tables) validate(dedup bool) error {
	switch {
	case j == nil || len(j.Columns) == 0 || len(j.Columns) > maxColumns:
		return errors.New("a join without columns to compare")
	case j.Rule == nil && j.Measure != measure.Cosine && j.Measure != measure.WeightedJaccard:
		return fmt.Errorf("a join by %v", j.Measure)
	case dedup && (j.Rule == nil || j.RightFile != 0):
		return errors.New("the records of one table have a rule, and no second table")
	case !dedup && len(j.Header) != j.numbers()+2*len(j.Others):
		return fmt.Errorf("a list of %d columns", len(j.Header))
	case !dedup && j.Format != linklist.CSV && j.Format != linklist.TSV && j.Format != linklist.JSONL && j.Format != linklist.Packed:
		return fmt.Errorf("a list as %q", j.Format)
	case j.Rule == nil && j.RightFile < 1:
		return errors.New("records of one table without a rule")
	case j.Rule != nil && len(j.Rule.Fields) != len(j.Columns):
		return fmt.Errorf("a rule about %d columns, of %d", len(j.Rule.Fields), len(j.Columns))
	case j.Rule != nil:
		c := j.Rule.config()
		c.Left = "left" // any table
		return c.Validate()
	case j.Bands < 1 || j.Rows < 1 || j.Bands*j.Rows > bands.Components:
		return fmt.Errorf("a join by %d bands of %d rows", j.Bands, j.Rows)
	}
	for _, c := range j.Columns {
		if _, err := record.ParseKind(string(c.Tokens)); err != nil {
			return err
		}
		if !(c.Weight > 0) {
			return fmt.Errorf("a column of weight %v", c.Weight)
		}
	}
	_, err := j.threshold()
	return err
}

// values returns how many values of a record there are.
func (j *Tables) values() int { return len(j.Columns) + len(j.Others) + len(j.Sources) }

// maxColumns is the largest number of columns that a Join compares.
const maxColumns = math.MaxUint16

// List returns the columns of the list of links.
func (j *Tables) List() (columns []linklist.Column) {
	for i, name := range j.Header {
		columns = append(columns, linklist.Column{Name: name, Number: i >= 2 && i < j.numbers()})
	}
	return columns
}

// numbers returns how many columns of the list come before those of Others.
func (j *Tables) numbers() int { return 3 + len(j.Columns) + j.Rule.columns() }

func (j *Tables) threshold() (measure.Threshold, error) {
	return measure.NewThreshold(j.Measure, j.Threshold)
}

func (j *Tables) scale() weighing.Scale { return weighing.Scale{Measure: j.Measure} }

func (j *Tables) params() lsh.Params { return lsh.Params{Bands: j.Bands, Rows: j.Rows} }

// weight returns the weight of a token that df of n values have.
func (j *Tables) weight(df, n uint64) uint16 {
	if j.SameWeights {
		return record.WeightUnit
	}
	return record.IDF([]uint32{uint32(df)}, int(n))[0]
}

// Rule says which pairs of a Join are links. Its fields are those of linkage.Config.
type Rule struct {
	Fields      []linkage.Field `json:"fields"` // the compared fields, one for each of Tables.Columns
	Match       linkage.Match   `json:"match,omitempty"`
	Threshold   float64         `json:"threshold,omitempty"`
	Precision   float64         `json:"precision,omitempty"`
	Top         int             `json:"top,omitempty"`
	Model       *linkage.Model  `json:"model,omitempty"` // it names the Fields too
	Probability bool            `json:"probability,omitempty"`
	// Originals describe the tables that the copied records come from.
	Originals [tables]linkage.Original `json:"originals"`
	// GuessedID is the column that was chosen for the ids, for Dedup. The join fails if its values are not unique.
	GuessedID string `json:"guessed_id,omitempty"`
	// LeftOut and Notes are from the making of the plan. The report of the join repeats them.
	LeftOut []linkage.LeftOut `json:"unused,omitempty"`
	Notes   []string          `json:"notes,omitempty"`
	// Connected makes clusters for Dedup of all that links connect, in place of those that hold. Accept removes records even if
	// the data do not tell which are the same.
	Connected bool `json:"connected,omitempty"`
	Accept    bool `json:"accept,omitempty"`
	// Doubled are sources that have things twice, see linkage.Config.
	Doubled []string `json:"doubled,omitempty"`
	linkage.Weighing
	linkage.Searching
}

// columns returns how many columns the rule adds to the list of links.
func (r *Rule) columns() int {
	if r != nil && r.Probability {
		return 1
	}
	return 0
}

// config returns the configuration of the join for package linkage, without the tables.
func (r *Rule) config() linkage.Config {
	c := linkage.Config{
		Copies: r.Originals, Fields: r.Fields, Match: r.Match, Threshold: r.Threshold, Precision: r.Precision, Top: r.Top, Model: r.Model,
		Doubled: r.Doubled, Weighing: r.Weighing, Searching: r.Searching, Fail: true,
		Corpus: corpus.Options{MaxRecord: 2 * MaxBlock}, // CSV doubles quotes
	}
	if c.Model != nil {
		c.Fields = nil
	}
	return c
}

const rowMade = 1 // a flag of TableRecords

// tableRecord is a row of TableRecords. Its slices are valid during the visit only.
type tableRecord struct {
	position uint64
	made     bool // the record has no name of its own
	name     []byte
	values   [][]byte // of Tables.Columns, Others and Sources
	meta     cluster.Meta
}

// eachTableRow visits the records of all tables, in order.
func (t *task) eachTableRow(visit func(r *tableRecord) error) error {
	j := t.plan.Join
	of := tableRecord{values: make([][]byte, j.values())}
	return t.each(TableRecords, func(r row) error {
		of.position, of.made = r.words[0], r.words[1]&rowMade != 0
		name, rest, err := cutPart(r.payload)
		of.name = name
		for i := range of.values {
			if err == nil {
				of.values[i], rest, err = cutPart(rest)
			}
		}
		if err == nil && t.plan.Command == Dedup {
			var field []byte
			field, _, err = cutPart(rest)
			of.meta = cluster.Meta{Value: string(field), HasValue: r.words[1]&(cardHasField<<1) != 0}
			for _, value := range of.values[len(j.Columns) : len(j.Columns)+len(j.Others)] {
				of.meta.Length += int64(len(value))
			}
		}
		if err != nil {
			return err
		}
		return visit(&of)
	})
}
