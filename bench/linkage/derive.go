package main

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// A derivation makes a column of others of the same record.
type derivation struct {
	name string
	from []string // names of columns
	made func(values []string) string
}

var year = regexp.MustCompile(`\b(1[5-9]|20)\d\d\b`)

// derivations returns columns that say again what those of a table say: each column twice and in capitals, its first word, its
// first three letters, its initials and its year, and each two neighbours joined.
func derivations(header []string) (all []derivation) {
	if len(header) < 4 { // two columns and both joined are one table of one column
		return nil
	}
	columns := header[1:]
	for i, name := range columns {
		for what, of := range parts {
			all = append(all, derivation{name + " " + what, []string{name}, func(values []string) string { return of(values[0]) }})
		}
		if i > 0 {
			joined := func(values []string) string { return strings.TrimSpace(strings.Join(values, " ")) }
			all = append(all, derivation{columns[i-1] + " and " + name, columns[i-1 : i+1], joined})
		}
	}
	slices.SortFunc(all, func(x, y derivation) int { return strings.Compare(x.name, y.name) })
	return all
}

// parts make a value of another one.
var parts = map[string]func(string) string{
	"twice":         func(s string) string { return s },
	"in capitals":   strings.ToUpper,
	"first word":    func(s string) string { first, _, _ := strings.Cut(s, " "); return first },
	"three letters": func(s string) string { return string([]rune(s)[:min(3, utf8.RuneCountInString(s))]) },
	"initials": func(s string) (first string) {
		for _, word := range strings.Fields(s) {
			r, _ := utf8.DecodeRuneInString(word)
			first += string(r)
		}
		return first
	},
	"year": year.FindString,
}

// missing tells whether a table lacks a column that the derivation is made from.
func (d *derivation) missing(header []string) bool {
	return slices.ContainsFunc(d.from, func(name string) bool { return !slices.Contains(header, name) })
}

// with adds the column of a derivation.
func (t table) with(d derivation) (rows table) {
	for i, row := range t {
		value := "derived"
		if i > 0 {
			var values []string
			for _, name := range d.from {
				values = append(values, row[slices.Index(t[0], name)])
			}
			value = d.made(values)
		}
		rows = append(rows, append(slices.Clone(row), value))
	}
	return rows
}
