package windows

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/candidates"
	"github.com/alike-dev/alike/linkage/internal/closeness"
	"github.com/alike-dev/alike/record"
)

var kinds = []record.Kind{record.Date, record.Number, record.Text}

// tableOf returns a table of a date, a number and a text.
func tableOf(rows [][]string, n *record.Numbering) *record.Table {
	chunk, cutter := record.NewChunk(kinds), record.NewCutter()
	for _, row := range rows {
		var values [][]byte
		for _, v := range row {
			values = append(values, []byte(v))
		}
		chunk.Append(cutter, nil, values)
	}
	table := record.NewTable(len(kinds), n)
	table.Add(chunk)
	return table
}

// windowsOf returns a table and its windows.
func windowsOf(rows [][]string) (*record.Table, *Windows) {
	n := &record.Numbering{Openings: true}
	table := tableOf(rows, n)
	var columns []Column
	for f, kind := range kinds {
		c := Column{At: f, Values: n.Column(f), Counts: [2][]uint32{n.Column(f).Counts()}}
		if kind.Measured() {
			c.Scale = closeness.NewScale(c.Values.Points(), c.Values.Counts())
		}
		if c.Scale != nil || kind.OfWords() {
			columns = append(columns, c)
		}
	}
	return table, New(columns, [2]int{table.Rows(), 0})
}

func drawRows(t *rapid.T) (rows [][]string) {
	for range rapid.IntRange(20, 60).Draw(t, "rows") {
		day, cents := rapid.IntRange(1, 28).Draw(t, "day"), rapid.IntRange(1, 4000).Draw(t, "cents")
		text := ""
		for range rapid.IntRange(0, 4).Draw(t, "words") {
			text += rapid.SampledFrom([]string{"j ", "f ", "donovan ", "payment "}).Draw(t, "word")
		}
		rows = append(rows, []string{fmt.Sprintf("2022-03-%02d", day), fmt.Sprintf("%d.%02d", cents/100, cents%100), text})
	}
	return rows
}

// have returns, for each row, what it has in a column: its value, the cells that it is in, or how it begins.
func have(w *Windows, table *record.Table, column int) (rows []map[choice]bool) {
	c := &w.columns[column]
	for i := range table.Rows() {
		of := map[choice]bool{}
		if cell := table.Cells(i)[c.At]; cell > 0 {
			for _, x := range c.choices(nil, cell-1, 0) {
				of[choice{hash: x.hash}] = true
			}
		}
		rows = append(rows, of)
	}
	return rows
}

// TestRecordsShareAKeyIfTheyShareEnough enumerates, as a slow twin, what every pair of records have in common.
func TestRecordsShareAKeyIfTheyShareEnough(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table, w := windowsOf(drawRows(t))
		if w == nil {
			t.Skip("too few dates or amounts")
		}
		var rows [][]map[choice]bool
		for k := range w.columns {
			rows = append(rows, have(w, table, k))
		}
		info := func(k int, x choice) float64 {
			n, filled := 0.0, 0.0
			for _, of := range rows[k] {
				if of[x] {
					n++
				}
				if len(of) > 0 {
					filled++
				}
			}
			return math.Log(filled / n)
		}
		keys := w.Keys(table, 0)
		var of []map[uint64]bool
		for i := range table.Rows() {
			own := map[uint64]bool{}
			for _, key := range keys(nil, i) {
				own[key.Hash] = true
			}
			if len(own) > most {
				t.Fatalf("record %d has %d keys", i, len(own))
			}
			of = append(of, own)
		}
		for i := range table.Rows() {
			for j := range i {
				shared := false
				for hash := range of[i] {
					shared = shared || of[j][hash]
				}
				if want := enough(w, rows, info, i, j); want != shared && (shared || max(len(of[i]), len(of[j])) < most) {
					t.Fatalf("records %d and %d share a key: %v, want %v", i, j, shared, want)
				}
			}
		}
	})
}

// enough tells whether records i and j have something in two or three columns that is as rare as a key must be.
func enough(w *Windows, rows [][]map[choice]bool, info func(k int, x choice) float64, i, j int) bool {
	var try func(from int, sum, least float64, columns int, measured bool) bool
	try = func(from int, sum, least float64, columns int, measured bool) bool {
		if columns > 1 && measured && sum >= w.need && sum < w.need+band && sum-least < w.need {
			return true
		}
		for k := from; columns < mostJoint && k < len(rows); k++ {
			for x := range rows[k][i] {
				if !rows[k][j][x] {
					continue
				}
				of := info(k, x)
				if try(k+1, sum+of, min(least, of), columns+1, measured || w.columns[k].Scale != nil) {
					return true
				}
			}
		}
		return false
	}
	return try(0, 0, math.Inf(1), 0, false)
}

// TestFrequentValuesMakeNoSquareOfPairs has half of the records on one day, of one amount and one text.
func TestFrequentValuesMakeNoSquareOfPairs(t *testing.T) {
	const n = 6000
	var rows [][]string
	for i := range n {
		row := []string{"2022-03-24", "20.00", "monthly fee"}
		if i%2 == 0 {
			row = []string{fmt.Sprintf("2022-%02d-%02d", 1+i%12, 1+i/12%28), fmt.Sprintf("%d.%02d", i*31%977, i%100), fmt.Sprintf("w%d", i*13%501)}
		}
		rows = append(rows, row)
	}
	table, w := windowsOf(rows)
	others := [2]candidates.OtherKeys{func() func([]candidates.Key, int) []candidates.Key { return w.Keys(table, 0) }}
	found, err := candidates.Keys(t.Context(), candidates.KeysConfig{Others: others, Threads: 2}, nothing(n), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	pairs, frequent := 0, 0
	for p, err := range found.All() {
		if err != nil {
			t.Fatal(err)
		}
		if pairs++; p.A%2 == 1 && p.B%2 == 1 {
			frequent++
		}
	}
	if pairs == 0 || pairs > 30*n || frequent > 0 {
		t.Errorf("%d pairs of %d records, %d of them of frequent values", pairs, n, frequent)
	}
}

// nothing is records that have no items.
type nothing int

func (n nothing) Len() int                            { return int(n) }
func (n nothing) Append(dst []uint32, _ int) []uint32 { return dst }

func TestOneColumnMakesNoWindow(t *testing.T) {
	if w := New([]Column{{At: 0, Values: &record.Column{}, Scale: &closeness.Scale{}}, {At: 1, Values: &record.Column{}}}, [2]int{100, 100}); w != nil {
		t.Error("a date and a text make windows")
	}
}
