package linkage

import (
	"fmt"
	"math"
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

// runners makes the lists of two races. Few names are frequent, so that many share a name and the year of their birth and are
// two persons; a club may be missing, and times and numbers say nothing. The truth is in equal ids.
func runners(n int) (first, second string, matches int) {
	rng := rand.New(rand.NewPCG(5, 77))
	common := func(from, of int) string {
		if rng.IntN(10) < 3 {
			return word(from + rng.IntN(of))
		}
		return word(from + min(int(math.Pow(rng.Float64(), -1/0.7)), of) - 1)
	}
	var a, b strings.Builder
	a.WriteString("id,runner,born,club,time,bib\n")
	b.WriteString("id,name,yob,team,result,bib\n")
	for i := range n {
		name, last, born, club := common(0, 150), common(200, 700), 1950+rng.IntN(58), common(1000, 25)
		maybe := func(most int, value string) string {
			if rng.IntN(most) == 0 {
				return ""
			}
			return value
		}
		in := rng.IntN(10)
		if in < 7 {
			fmt.Fprintf(&a, "%d,%s %s,%d,%s,%d:%02d,%d\n", i, name, last, born, maybe(5, club), 35+rng.IntN(30), rng.IntN(60), rng.IntN(5000))
		}
		if in > 2 {
			if rng.IntN(20) == 0 {
				name = name[1:]
			}
			fmt.Fprintf(&b, "%d,\"%s, %s\",%s,%s,%d:%02d,%d\n", i, strings.ToUpper(last), name, maybe(20, fmt.Sprint(born)), maybe(3, club), 70+rng.IntN(60), rng.IntN(60), rng.IntN(5000))
		}
		if 2 < in && in < 7 {
			matches++
		}
	}
	return a.String(), b.String(), matches
}

// What chance finds among frequent names is told from matches by what it finds within each list.
func TestNamesakesAreNotLinkedBecauseTheirNamesAreFrequent(t *testing.T) {
	first, second, matches := runners(3000)
	r := join(t, Config{Left: write(t, "a.csv", first), Right: write(t, "b.csv", second)})
	p, found := scores(r, matches)
	says := r.ExpectedPrecision
	t.Logf("precision %.3f, says %.2f, recall %.3f", p, says, found)
	if p < 0.85 || found < 0.6 || p < says[0]-0.05 || p > says[1]+0.05 {
		t.Errorf("precision %.3f, says %.2f, recall %.3f", p, says, found)
	}
}

// Where matches agree in one column only, the others may name the thing: each of these records is a thing of its own.
func TestOneColumnAloneDoesNotMakeRecordsOneThing(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 3))
	var houses, packs strings.Builder
	houses.WriteString("id,address,value\n")
	packs.WriteString("id,drug,maker,pack,price\n")
	numbers := rng.Perm(60 * 120)
	for i := range 2400 {
		fmt.Fprintf(&houses, "h%d,%d %s Street,%d000\n", i, 1+numbers[i]%120, word(numbers[i]/120), 80+rng.IntN(820))
	}
	for i := range 450 {
		name := word(3000 + i)
		for strength := range 1 + rng.IntN(3) {
			for range 1 + rng.IntN(2) {
				fmt.Fprintf(&packs, "p%d-%d-%d,%s %d mg,%s,%d,%d.%02d\n", i, strength, rng.Uint32(), name, 5<<strength, word(9000+rng.IntN(25)),
					10*(1+rng.IntN(9)), 2+rng.IntN(90), rng.IntN(100))
			}
		}
	}
	for name, table := range map[string]string{"houses": houses.String(), "packs": packs.String()} {
		r := join(t, Config{Left: write(t, name+".csv", table)})
		if r.Links.Len() > 20 && Tells(r.ExpectedPrecision) && r.ExpectedPrecision[1] > 0.1 {
			t.Errorf("%s: of %d links %.2f are right, it says", name, r.Links.Len(), r.ExpectedPrecision)
		}
	}
}
