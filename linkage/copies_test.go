package linkage

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// houses makes a table of houses with their owners, some of whom have several, and of each so many houses a share twice, with
// one letter changed in some addresses and owners. The truth is in the number at the head of ids.
func houses(n int, share float64) (table string, matches int) {
	rng := rand.New(rand.NewPCG(3, 4))
	changed := func(s string) string {
		if rng.Float64() > 0.3 {
			return s
		}
		at := rng.IntN(len(s))
		return s[:at] + string(rune('a'+rng.IntN(26))) + s[at+1:]
	}
	var b strings.Builder
	b.WriteString("id,address,owner\n")
	for i := 0; i < n; {
		owner := word(rng.IntN(150)) + " " + word(200+rng.IntN(600))
		for range []int{1, 1, 1, 2, 3, 5}[rng.IntN(6)] {
			address := fmt.Sprintf("%d %s Street", 1+rng.IntN(250), word(1000+rng.IntN(150)))
			fmt.Fprintf(&b, "%d-a,%s,%s\n", i, address, owner)
			if rng.Float64() < share {
				fmt.Fprintf(&b, "%d-b,%s,%s\n", i, changed(address), changed(owner))
				matches++
			}
			i++
		}
	}
	return b.String(), matches
}

// TestCopiesAreFoundAmongThingsThatHaveMuchInCommon has houses of which most pairs that agree strongly are of one owner.
func TestCopiesAreFoundAmongThingsThatHaveMuchInCommon(t *testing.T) {
	table, matches := houses(1200, 0.25)
	r := join(t, Config{Left: write(t, "houses.csv", table)})
	right := 0
	for l := range r.Links.All() {
		a, _, _ := strings.Cut(string(l.A), "-")
		if b, _, _ := strings.Cut(string(l.B), "-"); a == b {
			right++
		}
	}
	if f1 := 2 * float64(right) / float64(r.Links.Len()+matches); f1 < 0.85 {
		t.Errorf("F1 %.3f: %d of %d links are right, of %d matches", f1, right, r.Links.Len(), matches)
	}
	if !r.Disputed {
		t.Error("that these are the things, and not their owners, is said to be known")
	}
}

// sisters makes a table of firms, of which those of one group share much of the name, address and telephone. Each is there up to
// three times, with errors in some values. The truth is in the number at the head of ids.
func sisters(n int) (table string, matches int) {
	rng := rand.New(rand.NewPCG(5, 6))
	maybe := func(p float64, s string) string {
		if rng.Float64() < p {
			return s
		}
		return ""
	}
	trades := []string{"Holding", "Logistics", "Property", "Energy", "Service"}
	var b strings.Builder
	b.WriteString("id,name,street,town,phone,founded,tax\n")
	for i := 0; i < n; {
		group, street, town := word(rng.IntN(900)), fmt.Sprintf("%s Street %d", word(rng.IntN(90)), rng.IntN(150)), word(5000+rng.IntN(40))
		phone := fmt.Sprintf("0%08d", rng.IntN(1e8))
		for _, trade := range trades[:[]int{1, 1, 1, 2, 3, 4}[rng.IntN(6)]] {
			founded, tax := fmt.Sprintf("%d-%02d-%02d", 1950+rng.IntN(70), 1+rng.IntN(12), 1+rng.IntN(28)), fmt.Sprintf("DE%09d", rng.IntN(1e9))
			form := []string{"Ltd", "Limited", "Inc"}[rng.IntN(3)]
			copies := []int{1, 1, 1, 1, 2, 2, 3, 6}[rng.IntN(8)]
			for c := range copies {
				name := group + " " + trade
				if rng.Float64() < 0.2 {
					name = strings.Replace(name, "e", "a", 1)
				}
				fmt.Fprintf(&b, "%d-%d,%s %s,%s,%s,%s,%s,%s\n", i, c, name, form, maybe(0.9, street), town, maybe(0.5, phone), maybe(0.75, founded), maybe(0.35, tax))
			}
			matches += copies * (copies - 1) / 2
			i++
		}
	}
	return b.String(), matches
}

// TestFirmsOfOneGroupAreNotTakenForCopies has pairs of one group among the matches in a minority: in each column most of all
// matches agree, and only the same pairs differ in the date and the number.
func TestFirmsOfOneGroupAreNotTakenForCopies(t *testing.T) {
	table, matches := sisters(1500)
	r := join(t, Config{Left: write(t, "firms.csv", table)})
	right := 0
	for l := range r.Links.All() {
		a, _, _ := strings.Cut(string(l.A), "-")
		if b, _, _ := strings.Cut(string(l.B), "-"); a == b {
			right++
		}
	}
	t.Logf("%d of %d links are right, of %d matches, wider %v, %v %v", right, r.Links.Len(), matches, r.Wider, r.ExpectedPrecision, r.ExpectedRecall)
	if p := float64(right) / float64(r.Links.Len()); p < 0.9 {
		t.Errorf("precision %.3f: %d of %d links are right, of %d matches", p, right, r.Links.Len(), matches)
	}
	if !r.Wider || Tells(r.ExpectedRecall) {
		t.Error("that these are the firms, and not their groups, is said to be known")
	}
}

// TestManyEqualRecordsAreFoundBesidePairs has persons of ten equal records each, of whom each other one is as near, and persons of two.
func TestManyEqualRecordsAreFoundBesidePairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(43, 7))
	var rows strings.Builder
	rows.WriteString("id,name,town,born\n")
	n, links := 0, 0
	for person := range 70 {
		records := 10
		if person >= 40 {
			records = 2
		}
		links += records * (records - 1) / 2
		row := fmt.Sprintf("%s %s,%s,%d", word(person), word(300+rng.IntN(500)), word(900+rng.IntN(500)), 1940+rng.IntN(65))
		for range records {
			fmt.Fprintf(&rows, "%d,%s\n", n, row)
			n++
		}
	}
	r := join(t, Config{Left: write(t, "table.csv", rows.String())})
	if r.Links.Len() != links {
		t.Errorf("%d links, want %d", r.Links.Len(), links)
	}
}
