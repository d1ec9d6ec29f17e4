// Package columns finds out which columns of tables tell records apart, which of them belong together, and how their values
// are cut.
package columns

import (
	"context"
	"fmt"
	"slices"

	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/sorting"
	"github.com/alike-dev/alike/record"
)

// A Sample is the first rows of a table.
type Sample struct {
	Names []string
	ID    string     // the column of the ids; "": there is none
	Rows  [][][]byte // values by row and column
	// Akin returns rows of which many share a value in some of the columns; nil: Rows are all.
	Akin func(columns []int) ([][][]byte, error)
}

// A Column is a pair of columns that are compared.
type Column struct {
	Left, Right string
	Kind        record.Kind // by which the values of both are cut
}

// Chosen says what is compared.
type Chosen struct {
	Columns []Column // in the order of the left table
	LeftOut []record.LeftOut
	Sources []string // the columns that name the source of a record; nil: there are none
	Doubled []string // values of the one that was found: sources that have things twice, unlike the others
}

// Choose chooses the columns to compare, from samples of two tables or, if both are the same, of one. sources are columns
// that name the source of a record; of one table such a column is found if there are none. table is a column of the only
// table that names the table which a record was in before, "" if there is none: it is not compared, and may be found to name
// sources. The error is that of Sample.Akin, or of the context. O(values, and see derivedColumns and information).
func Choose(ctx context.Context, left, right *Sample, sources []string, table string) (Chosen, error) {
	one := left == right
	l := profiles(left)
	r := l
	var pairs [][2]int
	if one {
		for i := range l {
			pairs = append(pairs, [2]int{i, i})
		}
	} else {
		r = profiles(right)
		pairs = withParts(l, r, correspond(l, r, newValueSets(left, right)), [2]string{left.ID, right.ID})
	}
	candidates := make([]columnPair, 0, len(pairs))
	for _, p := range pairs {
		if a, b := &l[p[0]], &r[p[1]]; a.name != left.ID && b.name != right.ID {
			why := useless(a, b)
			switch {
			case slices.Contains(sources, a.name):
				why = namesSource
			case len(sources) > 0 && table != "" && a.name == table:
				why = namesTable
			}
			candidates = append(candidates, columnPair{p, min(telling(a), telling(b)), why})
		}
	}
	if leaveOutDerived(ctx, candidates, left, right); ctx.Err() != nil {
		return Chosen{}, ctx.Err()
	}
	chosen := Chosen{Sources: sources}
	if one && len(sources) == 0 {
		var err error
		if chosen.Sources, chosen.Doubled, err = chooseSource(candidates, left, l); err != nil {
			return Chosen{}, err
		}
	}
	leaveOutTable(candidates, l, table)
	mostTelling(candidates, &sampledColumns{left: left.Rows, right: right.Rows, one: one})
	for _, p := range candidates {
		a, b := &l[p.at[0]], &r[p.at[1]]
		if p.useless == "" && len(chosen.Columns) == maxColumns {
			p.useless = fmt.Sprintf("tells less than %d others", maxColumns)
		}
		if p.useless != "" {
			chosen.LeftOut = append(chosen.LeftOut, record.LeftOut{Name: a.name, Reason: p.useless})
			continue
		}
		chosen.Columns = append(chosen.Columns, Column{a.name, b.name, commonKind(a, b)})
	}
	order := map[string]int{}
	for i, name := range left.Names {
		order[name] = i
	}
	sorting.Func(chosen.Columns, func(x, y Column) int { return order[x.Left] - order[y.Left] })
	return chosen, nil
}

// Kind returns the kind by which the values of a left and a right column are cut, both of which are there.
func Kind(left, right *Sample, nameL, nameR string) record.Kind {
	of := func(of *Sample, name string) *profile {
		p := profileOf(of, slices.Index(of.Names, name), record.NewCutter())
		return &p
	}
	return commonKind(of(left, nameL), of(right, nameR))
}

// commonKind returns the kind by which two columns are cut.
func commonKind(a, b *profile) record.Kind {
	switch {
	case a.kind == b.kind && a.kind != record.Text:
		return a.kind
	case ofQuantities(a, b):
		return record.Quantity
	case ofCodes(a, b):
		return record.Code
	case ofUnits(a, b):
		return record.Units
	}
	return record.Text
}

// Parts returns the kinds by which a column of a kind is compared, each as a column of its own.
func Parts(of record.Kind) []record.Kind {
	if of == record.Place {
		return []record.Kind{record.Latitude, record.Longitude}
	}
	return []record.Kind{of}
}

// leaveOutDerived marks the pairs of columns that other columns make up, in both tables.
func leaveOutDerived(ctx context.Context, columns []columnPair, left, right *Sample) {
	usable := usableOf(columns)
	var atL, atR []int
	for _, c := range usable {
		atL, atR = append(atL, c.at[0]), append(atR, c.at[1])
	}
	inLeft, inRight := derivedColumns(ctx, left.Rows, left.Names, atL), derivedColumns(ctx, right.Rows, right.Names, atR)
	for i, c := range usable {
		if inLeft[i] != "" && inRight[i] != "" {
			c.useless = inLeft[i]
		}
	}
}

// leaveOutTable marks the column that names the table of a record, if there is one and it was not found to name sources.
func leaveOutTable(columns []columnPair, profiles []profile, table string) {
	if table == "" { // also the name of a column without one
		return
	}
	for _, c := range usableOf(columns) {
		if profiles[c.at[0]].name == table {
			c.useless = namesTable
		}
	}
}

// chooseSource returns the column that names the source of a record, if there is one, and marks it.
func chooseSource(columns []columnPair, of *Sample, profiles []profile) (sources, doubled []string, err error) {
	usable := usableOf(columns)
	s := &sampledColumns{left: of.Rows, right: of.Rows, one: true}
	var others []int
	possible := false
	for _, c := range usable {
		s.pairs = append(s.pairs, c.at)
		if mayNameSource(&profiles[c.at[0]]) {
			possible = true
		} else {
			others = append(others, c.at[0])
		}
	}
	if !possible || len(others) == 0 {
		return nil, nil, nil
	}
	if of.Akin != nil {
		rows, err := of.Akin(others)
		if err != nil {
			return nil, nil, err
		}
		s.left, s.right = rows, rows
	}
	found, doubled := findSourceColumn(s, profiles)
	if found < 0 {
		return nil, nil, nil
	}
	usable[found].useless = sourceReason
	if doubled != nil {
		usable[found].useless = fmt.Sprintf(doubledReason, fault.List(doubled))
	}
	return []string{profiles[usable[found].at[0]].name}, doubled, nil
}
