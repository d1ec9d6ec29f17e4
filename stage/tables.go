package stage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/alike-dev/alike/internal/bands"
	"github.com/alike-dev/alike/internal/linklist"
	"github.com/alike-dev/alike/internal/weighing"
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
	Others      []string        `json:"others,omitempty"`
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
	case j == nil || len(j.Columns) == 0 || len(j.Columns) > MaxColumns:
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

// MaxColumns is the largest number of columns that a Join compares.
const MaxColumns = math.MaxUint16

// List returns the columns of the list of links.
func (j *Tables) List() (columns []linklist.Column) {
	for i, name := range j.Header {
		columns = append(columns, linklist.Column{Name: name, Number: i >= 2 && i < j.numbers()})
	}
	return columns
}

// numbers returns how many columns of the list come before those of Others.
func (j *Tables) numbers() int { return 3 + len(j.Columns) + j.Rule.columns() }

// tableOf returns the table whose files a task reads.
func (p *Plan) tableOf(task int) int {
	if p.FirstFiles[task] < p.Join.RightFile {
		return leftTable
	}
	return rightTable
}

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

// tableRow is a record that was cut into tokens.
type tableRow struct {
	values  []bool     // whether each column has a value
	columns [][]uint64 // distinct tokens of each column, ascending
	all     []uint64   // distinct tokens of all columns, ascending
}

// rowCutter cuts records into tokens.
type rowCutter struct {
	plan   *Tables
	cutter *record.Cutter
	row    tableRow
}

func newRowCutter(p *Tables) *rowCutter {
	c := &rowCutter{plan: p, cutter: record.NewCutter()}
	c.cutter.Repetitions = p.Repetitions
	c.row.values, c.row.columns = make([]bool, len(p.Columns)), make([][]uint64, len(p.Columns))
	return c
}

// cut cuts a record. The row is valid until the next call.
func (c *rowCutter) cut(d *Document) *tableRow {
	r := &c.row
	r.all = r.all[:0]
	for f, value := range d.Fields[:len(c.plan.Columns)] {
		r.values[f], r.columns[f] = false, r.columns[f][:0]
		if len(value) == 0 {
			continue
		}
		tokens, whole := c.cutter.Cut(r.columns[f], value, c.plan.Columns[f].Tokens)
		if r.columns[f] = tokens; whole.Words == 0 {
			r.columns[f] = tokens[:0]
			continue
		}
		slices.Sort(tokens)
		r.values[f], r.columns[f] = true, slices.Compact(tokens)
		r.all = append(r.all, r.columns[f]...)
	}
	slices.Sort(r.all)
	r.all = slices.Compact(r.all)
	return r
}

// eachRecord visits the usable wanted records of a task, cut into tokens.
func (t *task) eachRecord(c *rowCutter, wanted func(position uint64) bool, visit func(d *Document, r *tableRow) error) (DocumentCounts, error) {
	return t.eachUsable(wanted, func(d *Document) error { return visit(d, c.cut(d)) })
}

// eachUsable visits the usable wanted records of a task.
func (t *task) eachUsable(wanted func(position uint64) bool, visit func(d *Document) error) (DocumentCounts, error) {
	return t.in.Documents(t.ctx, wanted, func(d *Document) error {
		if d.Damaged {
			return nil
		}
		if err := t.plan.Join.check(d); err != nil {
			return err
		}
		return visit(d)
	})
}

// check returns an error if a record does not have a value for each column.
func (j *Tables) check(d *Document) error {
	if want := len(j.Columns) + len(j.Others); len(d.Fields) != want {
		return fmt.Errorf("a record of %d values, in place of %d", len(d.Fields), want)
	}
	return nil
}

func everything(uint64) bool { return true }

// tokenWeights has the weights of a table's tokens, by their numbers. It takes some 60 bytes for each token.
type tokenWeights struct {
	numbers record.Dictionary
	record  []uint16       // weight in the similarity of records
	shared  []bool         // the table with fewer tokens has the token
	columns []columnWeight // weights in columns, those of token n from first[n] on
	first   []int
	large   bool // the task's table is the one with more tokens
}

// columnWeight is the weight of a token in a column.
type columnWeight struct{ column, weight uint16 }

// Flags of TokenWeights.
const (
	weightShared = 1 << 16 // the table with fewer tokens has the token
	weightLarge  = 1 << 17 // the reader's table is the one with more tokens
)

func (t *task) tokenWeights() (*tokenWeights, error) {
	w := &tokenWeights{}
	return w, t.each(TokenWeights, func(r row) error {
		if int(w.numbers.Number(r.words[0])) != len(w.record) {
			return errParts
		}
		w.record, w.shared = append(w.record, uint16(r.words[1])), append(w.shared, r.words[1]&weightShared != 0)
		w.large = w.large || r.words[1]&weightLarge != 0
		w.first = append(w.first, len(w.columns))
		for b := r.payload; len(b) >= 4; b = b[4:] {
			w.columns = append(w.columns, columnWeight{binary.LittleEndian.Uint16(b), binary.LittleEndian.Uint16(b[2:])})
		}
		return nil
	})
}

// number returns the number of a token.
func (w *tokenWeights) number(token uint64) (uint32, error) {
	if n := w.numbers.Number(token); int(n) < len(w.record) {
		return n, nil
	}
	return 0, fmt.Errorf("token %#x has no weight: the input has changed", token)
}

// inColumn returns the weight of a token, by its number, in a column.
func (w *tokenWeights) inColumn(number uint32, column int) uint16 {
	end := len(w.columns)
	if int(number)+1 < len(w.first) {
		end = w.first[number+1]
	}
	for _, c := range w.columns[w.first[number]:end] {
		if int(c.column) == column {
			return c.weight
		}
	}
	return 0
}
