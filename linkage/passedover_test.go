package linkage

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// twice returns a table with each record once more, with one letter changed.
func twice(table string) string {
	_, rows, _ := strings.Cut(strings.TrimSpace(table), "\n")
	for i, row := range strings.Split(rows, "\n") {
		_, values, _ := strings.Cut(row, ",")
		table += fmt.Sprintf("again-%d,%s\n", i, strings.Replace(values, "a", "e", 1))
	}
	return table
}

func TestTheTablesShowWhichRecordsHaveSeveralPartners(t *testing.T) {
	left, right := people(300, 0.7)
	one := join(t, Config{Left: write(t, "l.csv", left), Right: write(t, "r.csv", right)})
	if one.Match != Mutual {
		t.Errorf("one partner each: %s", one.Match)
	}
	for _, test := range []struct {
		left, right string
		rule        Match
	}{{twice(left), right, Best}, {right, twice(left), BestRight}} {
		r := join(t, Config{Left: write(t, "l.csv", test.left), Right: write(t, "r.csv", test.right)})
		if r.Match != test.rule || r.Links.Len() < one.Links.Len()*19/10 || r.Model.Match != test.rule {
			t.Errorf("%s: %s finds %d links, and %d of each record once; the model has %s", test.rule, r.Match, r.Links.Len(), one.Links.Len(), r.Model.Match)
		}
		if !slices.ContainsFunc(r.Notes, func(note string) bool { return strings.Contains(note, "have several partners") }) {
			t.Errorf("%s is not told: %q", r.Match, r.Notes)
		}
	}
}

// TestAFewRecordsWithTwoPartnersAreFound has one record in seven of one table twice: as siblings would be, but in this table only.
func TestAFewRecordsWithTwoPartnersAreFound(t *testing.T) {
	left, right := people(600, 0.7)
	one := join(t, Config{Left: write(t, "l.csv", left), Right: write(t, "r.csv", right)})
	more := strings.TrimPrefix(twice(right), right)
	seventh := 0
	for i, row := range strings.Split(strings.TrimSpace(more), "\n") {
		if i%7 == 0 {
			right += row + "\n"
			seventh++
		}
	}
	r := join(t, Config{Left: write(t, "l.csv", left), Right: write(t, "r.csv", right)})
	if r.Match != BestRight || r.Links.Len() < one.Links.Len()+seventh/2 {
		t.Errorf("%s finds %d links, and %d of each record once, of which %d are there twice", r.Match, r.Links.Len(), one.Links.Len(), seventh)
	}
	if r.ExpectedPrecision[0] > 0.95 {
		t.Errorf("that records have two partners is said to be known: precision %v", r.ExpectedPrecision)
	}
}

func TestRecordsThatMayHaveSeveralPartnersAreNoted(t *testing.T) {
	left, right := people(300, 0.7)
	twice := twice(left)
	for _, test := range []struct {
		name, left, right string
		match             Match
		want              string
	}{
		{"one partner each", left, right, Mutual, ""},
		{"two left records of one right one", twice, right, Mutual, "of the left table would be linked"},
		{"two right records of one left one", right, twice, OneToOne, "of the right table would be linked"},
		{"a rule that allows several", twice, right, Best, ""},
	} {
		r := join(t, Config{Left: write(t, "l.csv", test.left), Right: write(t, "r.csv", test.right), Match: test.match})
		noted := slices.ContainsFunc(r.Notes, func(note string) bool { return strings.Contains(note, "several partners") })
		if noted != (test.want != "") || noted && !strings.Contains(strings.Join(r.Notes, "\n"), test.want) {
			t.Errorf("%s: %q", test.name, r.Notes)
		}
	}
}

// TestARuleThatAllowsSeveralPartnersFindsAsMuchWhereThereIsOne has tables whose records have one partner: to allow several
// is not to lose what rivals and chance tell. Where there are several, they are found.
func TestARuleThatAllowsSeveralPartnersFindsAsMuchWhereThereIsOne(t *testing.T) {
	left, right := people(300, 0.7)
	twice := twice(left)
	links := func(left string, rule Match) int {
		return join(t, Config{Left: write(t, "l.csv", left), Right: write(t, "r.csv", right), Match: rule}).Links.Len()
	}
	one := links(left, Mutual)
	for _, rule := range []Match{Best, All} {
		if n := links(left, rule); n < one*98/100 || n > one*102/100 {
			t.Errorf("%s: %d links, and %d by mutual", rule, n, one)
		}
		if n := links(twice, rule); n < one*19/10 {
			t.Errorf("%s: %d links of records of which each is there twice, and %d of each once", rule, n, one)
		}
	}
}
