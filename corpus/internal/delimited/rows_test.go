package delimited

import (
	"bytes"
	"encoding/csv"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// TestAllRowsAreThoseThatWereWritten holds All against rows that encoding/csv writes, of any numbers of cells.
func TestAllRowsAreThoseThatWereWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cell := rapid.StringMatching(`[ab",;|\t\n é]{0,4}`)
		rows := rapid.SliceOf(rapid.SliceOfN(cell, 1, 4)).Draw(t, "rows")
		if len(rows) > 0 {
			rows[0] = append(rows[0], "x") // a comma in the first row settles what separates columns
		}
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		w.UseCRLF = rapid.Bool().Draw(t, "CRLF")
		var want [][]string
		for _, row := range rows {
			if len(row) == 1 && row[0] == "" {
				continue // a blank line, which encoding/csv writes in quotes
			}
			if err := w.Write(row); err != nil {
				t.Fatal(err)
			}
			want = append(want, row)
		}
		w.Flush()
		text := b.Bytes()
		if rapid.Bool().Draw(t, "cut") {
			text = bytes.TrimRight(text, "\r\n")
		}
		got, line, err := All(text, false)
		if w.UseCRLF {
			for _, row := range got {
				for i, c := range row {
					row[i] = string(bytes.ReplaceAll([]byte(c), []byte("\r\n"), []byte("\n")))
				}
			}
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: rows %q, want %q, line %d, error %v", text, got, want, line, err)
		}
	})
}

func TestAllRowsOfOtherSeparators(t *testing.T) {
	for _, c := range []struct {
		text string
		tabs bool
		want [][]string
		line int
	}{
		{"a;b\n1;2\n", false, [][]string{{"a", "b"}, {"1", "2"}}, 0},
		{"a\tb\n\"1\t2\n", true, [][]string{{"a", "b"}, {`"1`, "2"}}, 0},
		{"a,b\n\n\"1\n2\",3\n\"4,5\n", false, nil, 5},
		{"", false, nil, 0},
		{"sep=;\r\n1,5;2\r\n", false, [][]string{{"1,5", "2"}}, 0},
		{"sep=;\n1;2\n\"3;4\n", false, nil, 3},
		{"sep=;\n1;2\n", true, [][]string{{"sep=;"}, {"1;2"}}, 0},
		{"a,b", true, [][]string{{"a,b"}}, 0},
	} {
		rows, line, err := All([]byte(c.text), c.tabs)
		if !reflect.DeepEqual(rows, c.want) || line != c.line || (err != nil) != (c.line > 0) {
			t.Errorf("%q: rows %q, line %d, error %v, want %q, line %d", c.text, rows, line, err, c.want, c.line)
		}
	}
}
