package overview

import (
	"cmp"
	"slices"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/sorting"
)

// mostGroups is how many groups a table of groups has in rows and columns.
const mostGroups = 12

// Across counts removed documents by the group that they belong to, and by the group of what was kept in their place.
type Across struct {
	Of      string   // the field whose values are groups; "": groups are files
	Rows    []string // groups of removed documents, those with the most first
	Columns []string // groups of kept ones, as well
	// Removed has a row and a column more than there are names, of all other groups.
	Removed [][]int64
}

// group is a group with the documents that count for its place.
type group struct {
	number int
	count  int64
}

// largest returns the numbers of the groups that count for most, those with the most first.
func largest(counts []int64) []int {
	var all []group
	for number, count := range counts {
		if count > 0 {
			all = append(all, group{number, count})
		}
	}
	sorting.Stable(all, func(a, b group) int { return cmp.Compare(b.count, a.count) })
	all = all[:min(len(all), mostGroups)]
	numbers := make([]int, len(all))
	for i, g := range all {
		numbers[i] = g.number
	}
	return numbers
}

// newAcross returns an empty table.
func newAcross(of string, rows, columns []string) *Across {
	a := &Across{Of: of, Rows: rows, Columns: columns}
	for range len(rows) + 1 {
		a.Removed = append(a.Removed, make([]int64, len(columns)+1))
	}
	return a
}

// place returns where a group stands among those that are named; that of all others is behind them.
func place[G comparable](named []G, group G) int {
	if i := slices.Index(named, group); i >= 0 {
		return i
	}
	return len(named)
}

// isGroup tells whether a file holds documents; else it is one.
func isGroup(s corpus.Source) bool { return s.Format != corpus.Text }

// acrossFiles counts by files; nil: there are no two.
func acrossFiles(o Options) (*Across, error) {
	t := o.Table
	if len(t.Sources) == 1 || !slices.ContainsFunc(t.Sources, isGroup) {
		return nil, nil
	}
	removed, kept := make([]int64, len(t.Sources)), make([]int64, len(t.Sources))
	err := o.Clusters.Removed.Visit(func(e extsort.Entry) error {
		removed[t.FileOf(uint32(e.Key))]++
		kept[t.FileOf(uint32(e.Value))]++
		return nil
	})
	for file := range t.Sources {
		if !isGroup(t.Sources[file]) {
			removed[file], kept[file] = 0, 0
		}
	}
	rows, columns := largest(removed), largest(kept)
	if err != nil || len(rows) == 0 || len(columns) == 0 || len(rows)+len(columns) == 2 && rows[0] == columns[0] {
		return nil, err // all is of one file
	}
	labels := func(files []int) (labels []string) {
		for _, file := range files {
			labels = append(labels, t.Sources[file].Label())
		}
		return labels
	}
	a := newAcross("", labels(rows), labels(columns))
	return a, o.Clusters.Removed.Visit(func(e extsort.Entry) error {
		a.Removed[place(rows, t.FileOf(uint32(e.Key)))][place(columns, t.FileOf(uint32(e.Value)))]++
		return nil
	})
}

// acrossValues counts by the values of a field, of which some are named.
func acrossValues(o Options) (*Across, error) {
	if o.By == "" || len(o.Values) == 0 {
		return nil, nil
	}
	values := o.Values[:min(len(o.Values), mostGroups)]
	a := newAcross(o.By, values, values)
	of, by := o.Table.Scanner(), o.Table.Cursor()
	err := o.Clusters.Removed.Visit(func(e extsort.Entry) error {
		a.Removed[place(values, string(of.Within(uint32(e.Key))))][place(values, string(by.Within(uint32(e.Value))))]++
		return cmp.Or(of.Err, by.Err)
	})
	return a, err
}
