package stage

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/alike-dev/alike/record"
)

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
	return t.in.Documents(t.ctx, wanted, func(d *Document) error {
		if d.Damaged {
			return nil
		}
		if err := t.plan.Join.check(d); err != nil {
			return err
		}
		return visit(d, c.cut(d))
	})
}

// check returns an error if a record does not have a value for each column.
func (j *Tables) check(d *Document) error {
	if want := j.values(); len(d.Fields) != want {
		return fmt.Errorf("a record of %d values, in place of %d", len(d.Fields), want)
	}
	return nil
}

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

func newTokenWeights(t *task) (*tokenWeights, error) {
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
