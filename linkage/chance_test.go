package linkage

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// papers makes two tables of papers, of which the first shared are the same up to a word.
// Papers of one subject share words, so that strangers are alike too.
func papers(n, shared int) (left, right string) {
	r := rand.New(rand.NewPCG(5, 6))
	paper := func() []string {
		subject := r.IntN(40)
		var words []string
		for range 5 {
			words = append(words, fmt.Sprintf("s%dw%d", subject, r.IntN(12)))
		}
		return append(words, fmt.Sprintf("word%d", r.IntN(300)))
	}
	var tables [2]strings.Builder
	for side := range tables {
		tables[side].WriteString("id,title,venue,year\n")
	}
	row := func(side, id int, words []string, venue, year int) {
		fmt.Fprintf(&tables[side], "%d,%s,venue%d,%d\n", id, strings.Join(words, " "), venue, year)
	}
	for id := range n {
		words, venue, year := paper(), r.IntN(5), 1990+r.IntN(15)
		row(0, id, words, venue, year)
		if id < shared {
			words[r.IntN(len(words))] = "other"
			row(1, id, words, venue, year)
		} else {
			row(1, n+id, paper(), r.IntN(5), 1990+r.IntN(15))
		}
	}
	return tables[0].String(), tables[1].String()
}

func TestTablesWithoutAMatchHaveHardlyAnyLinks(t *testing.T) {
	for shared, most := range map[int]int{0: 12, 300: 10} {
		left, right := papers(500, shared)
		r := join(t, Config{Left: write(t, "l.csv", left), Right: write(t, "r.csv", right)})
		precision, recall := scores(r, shared)
		if wrong := int((1-precision)*float64(r.Links.Len()) + 0.5); wrong > most {
			t.Errorf("%d of 500 papers are in both tables: %d of %d links are wrong, want %d at most", shared, wrong, r.Links.Len(), most)
		}
		if shared > 0 && recall < 0.8 {
			t.Errorf("%d of 500 papers are in both tables: recall %.3f, want 0.8", shared, recall)
		}
	}
}

func TestATableWithoutDuplicatesHasHardlyAnyLinks(t *testing.T) {
	left, _ := papers(500, 0)
	people, _ := people(500, 0)
	for name, table := range map[string]string{"papers": left, "people": people, "two people": "id,name,town\n1,anna berg,kiel\n2,otto dahl,ulm\n"} {
		r := join(t, Config{Left: write(t, "l.csv", table)})
		if r.Links.Len() > 2 {
			t.Errorf("%s: %d links", name, r.Links.Len())
		}
	}
}

func TestCopiesAreFoundAmongRecordsThatAreOtherwiseAllDifferent(t *testing.T) {
	left, _ := papers(500, 0)
	lines := strings.SplitAfter(left, "\n")
	for i := range 5 {
		_, values, _ := strings.Cut(lines[1+10*i], ",")
		left += fmt.Sprintf("copy%d,%s", i, values)
	}
	r := join(t, Config{Left: write(t, "l.csv", left)})
	found := 0
	for l := range r.Links.All() {
		if strings.HasPrefix(string(l.B), "copy") {
			found++
		}
	}
	if found < 5 || r.Links.Len() > 10 {
		t.Errorf("%d of 5 copies are found, with %d links", found, r.Links.Len())
	}
}

func TestDuplicatesWithinBothTablesDoNotHideMatches(t *testing.T) {
	left, right := people(400, 0.5)
	again := func(table string) string {
		lines := strings.SplitAfter(table, "\n")
		for _, line := range lines[1 : len(lines)-1] {
			if id, values, _ := strings.Cut(line, ","); strings.HasSuffix(id, "1") || strings.HasSuffix(id, "2") {
				table += "again" + id + "," + values
			}
		}
		return table
	}
	r := join(t, Config{Left: write(t, "l.csv", again(left)), Right: write(t, "r.csv", again(right))})
	if precision, recall := scores(r, 200); precision < 0.7 || recall < 0.7 {
		t.Errorf("precision %.3f, recall %.3f", precision, recall)
	}
}
