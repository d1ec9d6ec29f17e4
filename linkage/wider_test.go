package linkage

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// models makes a table of offers: each of some models comes in four sizes, and several shops offer each, with words of their own. said
// makes these words, and the names.
func models(count int, said func(i int) string) (table string, pairs int) {
	rng := rand.New(rand.NewPCG(17, 18))
	var b strings.Builder
	b.WriteString("id,title,price\n")
	for m := range count {
		model := fmt.Sprintf("%s %s %d", said(rng.IntN(8)), said(100+rng.IntN(600)), 2+rng.IntN(12))
		for size := range 4 {
			of, price := 6+rng.IntN(9), 60+(37*m)%400+8*size
			pairs += of * (of - 1) / 2
			for c := range of {
				title := fmt.Sprintf("%s %dGB", model, 16<<size)
				if rng.IntN(10) == 0 {
					title = model
				}
				for range rng.IntN(5) {
					title += " " + said(900+rng.IntN(40))
				}
				fmt.Fprintf(&b, "%d-%d,%s,%.2f\n", 4*m+size, c, title, float64(price)*(0.8+0.4*rng.Float64()))
			}
		}
	}
	return b.String(), pairs
}

// syllables makes words that have much in common.
func syllables(i int) (s string) {
	const all = "bakelimonurasetivozupade"
	for range 3 {
		s += all[2*(i%12) : 2*(i%12)+2]
		i /= 12
	}
	return s
}

// TestAFitToFewerCandidatesStays has records with more matches than there are candidates at first. Among more candidates there are so
// many other sizes that no fit is found whose matches are as alike as things are.
func TestAFitToFewerCandidatesStays(t *testing.T) {
	table, pairs := models(40, syllables)
	r := join(t, Config{Left: write(t, "offers.csv", table)})
	f1 := 2 * float64(rightOf(r)) / float64(r.Links.Len()+pairs)
	if f1 < 0.25 || !r.Disputed {
		t.Errorf("F1 %.3f, %d links of %d pairs; disputed: %v %q", f1, r.Links.Len(), pairs, r.Disputed, r.Notes)
	}
}

// TestTwinsThatDifferAreNotSaidToBeCopies has offers that no fit finds: of the few that are very similar most are of other sizes.
func TestTwinsThatDifferAreNotSaidToBeCopies(t *testing.T) {
	table, _ := models(20, word)
	r := join(t, Config{Left: write(t, "offers.csv", table)})
	if right := rightOf(r); 2*right > r.Links.Len() || r.Links.Len() < 10 || !r.Disputed {
		t.Errorf("%d links, %d of them right; disputed: %v %q", r.Links.Len(), right, r.Disputed, r.Notes)
	}
}

// TestSpellingsOfFewNamesFindTheirName has records of one table only that have several partners, so many that hardly a pair is each
// other's best.
func TestSpellingsOfFewNamesFindTheirName(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 20))
	var names, spellings strings.Builder
	names.WriteString("id,name\n")
	spellings.WriteString("id,name\n")
	const towns, each = 20, 30
	for i := range towns {
		name := word(rng.IntN(1700)) + word(rng.IntN(1700)) + " " + word(rng.IntN(1700))
		fmt.Fprintf(&names, "%d-name,%s\n", i, name)
		for c := range each {
			spelling := []byte(name)
			for range 1 + rng.IntN(3) {
				spelling[rng.IntN(len(spelling))] = byte('a' + rng.IntN(26))
			}
			fmt.Fprintf(&spellings, "%d-%d,%s\n", i, c, spelling)
		}
	}
	r := join(t, Config{Left: write(t, "spellings.csv", spellings.String()), Right: write(t, "names.csv", names.String())})
	if f1 := 2 * float64(rightOf(r)) / float64(r.Links.Len()+towns*each); f1 < 0.9 || r.Match != Best {
		t.Errorf("F1 %.3f, %d links by %s of %d: %q", f1, r.Links.Len(), r.Match, towns*each, r.Notes)
	}
}
