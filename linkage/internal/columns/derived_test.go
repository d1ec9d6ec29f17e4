package columns

import (
	"fmt"
	"slices"
	"testing"
)

func TestDerivedColumns(t *testing.T) {
	names := []string{"first", "last", "name", "born", "year", "again", "sex", "title", "note", "city", "code"}
	var rows [][][]byte
	cities := []string{"Aachen", "Bonn", "Coburg", "Dresden", "Erfurt", "Fulda"}
	for i := range 400 {
		first, last := fmt.Sprintf("First%d", i%37), fmt.Sprintf("Last%d", i%53)
		year := 1900 + i%90
		row := []string{first, last, first + " " + last, fmt.Sprintf("%d-0%d-1%d", year, 1+i%9, i%10), fmt.Sprint(year), last,
			[]string{"m", "f"}[i%2], fmt.Sprintf("a long title of thing %d", i), fmt.Sprintf("thing %d", i*7), cities[i%6], cities[i%6][:3]}
		var values [][]byte
		for _, v := range row {
			values = append(values, []byte(v))
		}
		if i%10 == 0 { // some are missing, and some say something else
			values[1], values[2] = nil, []byte("somebody")
		}
		rows = append(rows, values)
	}
	columns := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	got := derivedColumns(t.Context(), rows, names, columns)
	// The name in a tenth of the rows is not that of its parts: it says something of its own.
	want := []string{"", "", "", "", "is a part of born", "is a part of last", "", "", "", "", "is a part of city"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	for i, row := range rows {
		if i%10 == 0 {
			row[2] = row[0]
		}
	}
	if got = derivedColumns(t.Context(), rows, names, columns); got[2] != "is made of first, last" {
		t.Errorf("the name is derived: %q", got[2])
	}
	if got = derivedColumns(t.Context(), rows[:40], names, columns); slices.ContainsFunc(got, func(s string) bool { return s != "" }) {
		t.Errorf("forty rows do not show it: %q", got)
	}
}
