package linkage

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestTwoRegistersInOneTableGiveEachRecordOnePartner has papers of two registers without a column that names these. Half of the
// values stand in the column of another one, so that papers of one volume and one group of authors agree in much of what copies do.
func TestTwoRegistersInOneTableGiveEachRecordOnePartner(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 7))
	some := func(n, from, of int) string {
		words := make([]string, n)
		for i := range words {
			words[i] = word(from + rng.IntN(of))
		}
		return strings.Join(words, " ")
	}
	var groups [60]string
	for i := range groups {
		groups[i] = some(4, 300, 200)
	}
	var rows []string
	add := func(id, title, authors, venue string, year int) {
		cells := []string{title, authors, venue, fmt.Sprint(year)}
		for from := 1; from < 4; from++ {
			if rng.IntN(2) == 0 {
				cells[0], cells[from] = strings.TrimSpace(cells[0]+" "+cells[from]), ""
			}
		}
		rows = append(rows, id+","+strings.Join(cells, ","))
	}
	both := 0
	for i := range 900 {
		title, authors, volume := some(3+rng.IntN(3), 0, 150), groups[rng.IntN(len(groups))], rng.IntN(20)
		in := rng.IntN(3)
		if in != 1 {
			add(fmt.Sprintf("a%d", i), title, authors, word(600+volume/4), 1990+volume)
		}
		if in != 0 {
			words := strings.Fields(title)
			add(fmt.Sprintf("b%d", i), strings.Join(words[:len(words)-rng.IntN(2)], " "), wrong(rng, authors), word(600+volume/4)+" conference", 1990+volume)
		}
		both += in / 2
	}
	rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	r := join(t, Config{Left: write(t, "papers.csv", "id,title,authors,venue,year\n"+strings.Join(rows, "\n"))})
	right, n := 0, r.Links.Len()
	for l := range r.Links.All() {
		if string(l.A[1:]) == string(l.B[1:]) {
			right++
		}
	}
	if f1 := 2 * float64(right) / float64(n+both); f1 < 0.97 || r.Match != Mutual {
		t.Errorf("F1 %.3f of %d links by the rule %s, %d of them right", f1, n, r.Match, right)
	}
}

// TestKindsDoNotBlurWhichRecordIsThePartner has few persons with one error in each copy. The kinds of pairs that agree in most hide which
// record is the copy of which.
func TestKindsDoNotBlurWhichRecordIsThePartner(t *testing.T) {
	for _, n := range []int{500, 600} {
		r := join(t, Config{Left: write(t, "register.csv", register(n, 1))})
		right := 0
		for l := range r.Links.All() {
			if strings.TrimPrefix(string(l.A), "copy") == strings.TrimPrefix(string(l.B), "copy") {
				right++
			}
		}
		if r.Match != Mutual || r.Links.Len() != n/10 || right != n/10 {
			t.Errorf("%d persons: by the rule %s %d links, of which %d are right, of %d", n, r.Match, r.Links.Len(), right, n/10)
		}
	}
}
