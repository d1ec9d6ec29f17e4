package linkage

import (
	"bytes"
	"encoding/csv"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/alike-dev/alike/corpus"
)

// closing is a writer that need not be closed.
type closing struct{ io.Writer }

func (closing) Close() error { return nil }

func TestTablesAreStackedByTheNamesOfTheirColumns(t *testing.T) {
	a := write(t, "a.csv", "id,name,table\n7,anna,x\n8,\"bob, jr\",y\n")
	b := write(t, "b.jsonl", `{"key":"k1","born":1970,"name":"carl"}`+"\n"+`{"key":"","name":"d\nd"}`+"\nbroken\n")
	var out bytes.Buffer
	skipped := 0
	s := &Stack{Tables: []string{a, b}, Unique: []string{b}, Corpus: corpus.Options{}, Skipped: func(*corpus.Problem) error { skipped++; return nil }}
	all, err := s.Write(t.Context(), func(int) (io.WriteCloser, error) { return closing{&out}, nil })
	if err != nil {
		t.Fatal(err)
	}
	header, _, _ := strings.Cut(out.String(), "\n")
	if n := strings.Count(out.String(), header+"\n"); n != 2 {
		t.Errorf("%d headers of two files", n)
	}
	rows, err := csv.NewReader(strings.NewReader(header + "\n" + strings.ReplaceAll(out.String(), header+"\n", ""))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		{"record", "table_", "unique", "name", "table", "born"},
		{a + ":7", a, "", "anna", "x", ""},
		{a + ":8", a, "", "bob, jr", "y", ""},
		{b + ":k1", b, b, "carl", "", "1970"},
		{b + ":2", b, b, "d\nd", "", ""},
	}
	if !slices.EqualFunc(rows, want, slices.Equal) {
		t.Errorf("got  %q\nwant %q", rows, want)
	}
	if skipped != 1 {
		t.Errorf("%d records were skipped, want 1", skipped)
	}
	if all.ID != "record" || all.Table != "table_" || all.Unique != "unique" {
		t.Errorf("columns %+v", all)
	}
	for row, want := range [][2]string{{a, "7"}, {a, "8"}, {b, "k1"}, {b, "2"}} {
		if table, id := all.Of(row, []byte(rows[row+1][0])); table != want[0] || id != want[1] {
			t.Errorf("record %d is %s of %s", row, id, table)
		}
	}
}

func TestColumnsOfOtherNamesMeetByWhatTheyHold(t *testing.T) {
	a := write(t, "a.csv", "id,name,town\n1,anna,ulm\n2,bob,bonn\n")
	b := write(t, "b.csv", "key,place,who,town\nanna,bonn,anna,\nbob,ulm,bob,\n")
	c := write(t, "c.csv", "id,person\n5,anna\n6,carl\n")
	var out bytes.Buffer
	s := &Stack{Tables: []string{a, b, c}, Corpus: corpus.Options{}}
	all, err := s.Write(t.Context(), func(int) (io.WriteCloser, error) { return closing{&out}, nil })
	if err != nil {
		t.Fatal(err)
	}
	if header, _, _ := strings.Cut(out.String(), "\n"); header != "record,table,unique,name,town,place" {
		t.Errorf("columns %s", header)
	}
	// The ids of b hold the words of names, and take no part.
	for _, row := range []string{b + ":anna," + b + ",,anna,,bonn\n", c + ":5," + c + ",,anna,,\n"} {
		if !strings.Contains(out.String(), row) {
			t.Errorf("%q is not among\n%s", row, out.String())
		}
	}
	if want := []string{b + ": column who is compared as name", c + ": column person is compared as name"}; !slices.Equal(all.Notes, want) {
		t.Errorf("notes %q, want %q", all.Notes, want)
	}
}
