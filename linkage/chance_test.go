package linkage

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
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

func normal(r *rand.Rand, n int, mean float64) []float64 {
	scores := make([]float64, n)
	for i := range scores {
		scores[i] = mean + r.NormFloat64()
	}
	slices.Sort(scores)
	return scores
}

func TestPairsOfChanceAreToldByOwnTables(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	own := normal(r, 2000, 0)
	chanceOnly := oddsOf(own, normal(r, 1000, 0), 1000, false)
	for _, z := range []float64{-1, 0, 1} {
		if got := chanceOnly.at(z); got < 0.8 || got > 1.2 {
			t.Errorf("%.2f pairs of chance for one of score %v, where all are of chance", got, z)
		}
	}
	half := append(normal(r, 500, 0), normal(r, 500, 6)...)
	slices.Sort(half)
	mixed := oddsOf(own, half, len(half), false)
	if got := mixed.unmatched; got < 0.45 || got > 0.55 {
		t.Errorf("%.2f of the records have no partner, want 0.5", got)
	}
	if top, low := mixed.at(5), mixed.at(-1); top > 0.01 || low < 1.6 {
		t.Errorf("%.2f pairs of chance for one at the top, %.2f at the bottom: want 0 and 2", top, low)
	}
	if at, most := mixed.at(5), oddsOf(own, half, len(half), true).at(5); most <= at || most > 0.05 {
		t.Errorf("up to %.3f pairs of chance for one at the top, where %.3f were counted", most, at)
	}
	if bests(own).comparable(normal(r, 1000, -2), 1000) {
		t.Error("strangers within a table that are more alike than all pairs across are taken for chance")
	}
	if !bests(own).comparable(half, len(half)) || bests(nil).comparable(own, len(own)) {
		t.Error("what chance finds is not seen, or seen where there is nothing")
	}
	if oddsOf(nil, own, len(own), true) != nil || oddsOf(own, nil, 0, true) != nil {
		t.Error("there are odds without a record")
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

func TestStrangersOfWhomTheBestIsNotAheadAreNoMatches(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	tables := func(matches int) (rivalries, bests) {
		of, best := newRivalries(500), make(bests, 500)
		for i := range of {
			for range 40 { // strangers' scores fall off exponentially
				of.see(i, r.ExpFloat64()-8, 0.1)
			}
			if i < matches {
				of.see(i, 6+r.NormFloat64(), 0.99)
			}
			best[i] = of[i].best[0]
		}
		return of, best.sorted()
	}
	for matches, least := range map[int]float64{0: 0.7, 400: 0} {
		of, best := tables(matches)
		top := best[len(best)-20]
		if at := oddsOf(of.expected(), best, len(best), true).at(top); at < least || matches > 0 && at > 0.2 {
			t.Errorf("%d matches: %.2f pairs of chance for one at the top", matches, at)
		}
	}
}

// TestASideThatIsNotKnownBoundsNothing has a partner for every record of that side.
func TestASideThatIsNotKnownBoundsNothing(t *testing.T) {
	c := &comparison{pairs: []pair{{0, 0}, {1, 1}}, levels: make([]level, 4), width: 2, left: 2, right: 3}
	m := &model{width: 2, share: []float64{1, 1}, evidence: make([]float64, 2*levels), prior: 40}
	probability := []float64{1, 1}
	known := sides{right: &odds{from: []float64{math.Inf(-1)}, chance: []float64{0.3}, unmatched: 1}}
	known.bound(c, m, [2]int{2, 3}, probability)
	for _, p := range probability {
		if !(math.Abs(p-0.9) <= 0.03) { // 0.3 by chance for each pair, if no record had a partner; a third of the right ones has none
			t.Errorf("probability %v, want 0.9", p)
		}
	}
}
