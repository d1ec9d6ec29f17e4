package linkage

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// rightOf counts the links whose records have the same number at the head of their ids.
func rightOf(r *Result) (right int) {
	for l := range r.Links.All() {
		a, _, _ := strings.Cut(string(l.A), "-")
		if b, _, _ := strings.Cut(string(l.B), "-"); a == b {
			right++
		}
	}
	return right
}

// wrong changes a letter of one text in ten.
func wrong(rng *rand.Rand, s string) string {
	if rng.IntN(10) > 0 {
		return s
	}
	at := rng.IntN(len(s))
	return s[:at] + string(rune('a'+rng.IntN(26))) + s[at+1:]
}

// editions makes a table of papers of four columns, of which some came out again in another year and at another venue. Some are there
// twice.
func editions(n int) string {
	rng := rand.New(rand.NewPCG(7, 8))
	var b strings.Builder
	b.WriteString("id,title,authors,venue,year\n")
	for i := 0; i < n; {
		title, authors := word(rng.IntN(3000)), word(rng.IntN(500))
		for range 5 {
			title += " " + word(rng.IntN(3000))
		}
		for range rng.IntN(3) {
			authors += "; " + word(rng.IntN(500))
		}
		year := 1990 + rng.IntN(30)
		for range 1 + rng.IntN(2) {
			venue := word(rng.IntN(40)) + " Letters"
			for c := range []int{1, 1, 2}[rng.IntN(3)] {
				fmt.Fprintf(&b, "%d-%d,%s,%s,%s,%d\n", i, c, wrong(rng, title), wrong(rng, authors), wrong(rng, venue), year)
			}
			year += 1 + rng.IntN(2)
			i++
		}
	}
	return b.String()
}

// phones makes a table of three columns: the name of a product has its size and colour, and most products come in several. Some
// are there twice, a few of these with a word missing.
func phones(n int) string {
	rng := rand.New(rand.NewPCG(9, 10))
	var b strings.Builder
	b.WriteString("id,name,brand,price\n")
	for i := 0; i < n; {
		brand, series, price := word(rng.IntN(12)), word(20+rng.IntN(40)), 100+rng.IntN(900)
		model := fmt.Sprintf("%s %d", series, 3+rng.IntN(12))
		variants := rng.Perm(16)
		for _, v := range variants[:1+rng.IntN(6)] {
			size, colour := 64<<(v%4), []string{"Black", "White", "Blue", "Gold"}[v/4]
			for c := range []int{1, 1, 2}[rng.IntN(3)] {
				name := fmt.Sprintf("%s %s %dGB %s", brand, model, size, colour)
				if rng.IntN(10) == 0 {
					name = fmt.Sprintf("%s %dGB %s", model, size, colour)
				}
				fmt.Fprintf(&b, "%d-%d,%s,%s,%.2f\n", i, c, name, brand, float64(price+size)*(0.95+0.1*rng.Float64()))
			}
			i++
		}
	}
	return b.String()
}

// TestThingsOfOneSeriesAreNotSaidToBeCopies has tables most of whose likeliest pairs are versions of a paper, or sizes of a product.
func TestThingsOfOneSeriesAreNotSaidToBeCopies(t *testing.T) {
	for name, table := range map[string]string{"papers": editions(1200), "phones": phones(1200)} {
		r := join(t, Config{Left: write(t, name+".csv", table)})
		if p := float64(rightOf(r)) / float64(r.Links.Len()); r.Links.Len() < 100 || p < 0.9 {
			t.Errorf("%s: precision %.3f of %d links", name, p, r.Links.Len())
		}
		if !r.Wider || Tells(r.ExpectedRecall) {
			t.Errorf("%s: what is one thing is said to be known: %v", name, r.ExpectedRecall)
		}
	}
}

// offers makes a table of offers of things, each from 5 to 30 times. Their titles have brand and model in common, and else what a shop
// says of the thing.
func offers(things int) (table string, pairs int) {
	rng := rand.New(rand.NewPCG(15, 16))
	var b strings.Builder
	b.WriteString("id,title,brand,price\n")
	for i := range things {
		brand, model, price := word(rng.IntN(6)), fmt.Sprintf("%s%d", word(50+rng.IntN(30)), 100+rng.IntN(900)), 100+rng.IntN(500)
		of, said := 5+rng.IntN(26), rng.Perm(60)[:8]
		for c := range of {
			title := brand + " " + model
			for _, k := range rng.Perm(len(said))[:2+rng.IntN(4)] {
				title += " " + word(200+said[k])
			}
			for range rng.IntN(3) {
				title += " " + word(200+rng.IntN(60))
			}
			fmt.Fprintf(&b, "%d-%d,%s,%s,%.2f\n", i, c, title, brand, float64(price)*(0.8+0.4*rng.Float64()))
		}
		pairs += of * (of - 1) / 2
	}
	return b.String(), pairs
}

// TestShopsSayOfAThingWhatTheyLike has titles in which words that come and go stand in each other's place.
func TestShopsSayOfAThingWhatTheyLike(t *testing.T) {
	table, pairs := offers(60)
	r := join(t, Config{Left: write(t, "offers.csv", table)})
	if f1 := 2 * float64(rightOf(r)) / float64(r.Links.Len()+pairs); f1 < 0.9 || !r.Disputed {
		t.Errorf("F1 %.3f, %d links of %d pairs; disputed: %v %q", f1, r.Links.Len(), pairs, r.Disputed, r.Notes)
	}
	if again := join(t, Config{Left: write(t, "offers.csv", table), Model: r.Model}); again.Links.Len() != r.Links.Len() {
		t.Errorf("%d links, by the model of the same table %d", r.Links.Len(), again.Links.Len())
	}
}

// movers makes a table of people, each there twice. A sixth have moved in between: to another street, town and postcode, which say
// nothing of each other. Some share a home.
func movers(n int) string {
	rng := rand.New(rand.NewPCG(11, 12))
	var b strings.Builder
	b.WriteString("id,first,last,born,street,town,postcode\n")
	home := func() string {
		return fmt.Sprintf("%d %s Road,%s,%05d", 1+rng.IntN(90), word(rng.IntN(300)), word(5000+rng.IntN(40)), 10_000+997*rng.IntN(60))
	}
	for i := range n {
		last, first, of := word(rng.IntN(600)), word(2000+rng.IntN(200)), home()
		born := fmt.Sprintf("%d-%02d-%02d", 1930+rng.IntN(80), 1+rng.IntN(12), 1+rng.IntN(28))
		for c := range 2 {
			if c == 1 && rng.IntN(6) == 0 {
				of = home()
			}
			fmt.Fprintf(&b, "%d-%d,%s,%s,%s,%s\n", i, c, wrong(rng, first), wrong(rng, last), born, of)
		}
	}
	return b.String()
}

// TestPeopleWhoHaveMovedAreTheSame has columns that differ together in a minority of the matches. What is expected reaches down to
// where these are other people.
func TestPeopleWhoHaveMovedAreTheSame(t *testing.T) {
	const people = 1000
	r := join(t, Config{Left: write(t, "people.csv", movers(people))})
	right := rightOf(r)
	if f1 := 2 * float64(right) / float64(r.Links.Len()+people); f1 < 0.93 || r.Disputed {
		t.Errorf("F1 %.3f: %d of %d links are right; disputed: %v %q", f1, right, r.Links.Len(), r.Disputed, r.Notes)
	}
	taken := map[string]int{}
	for _, k := range r.Kinds {
		for _, column := range k.Agree {
			if k.Taken {
				taken[column]++
			}
		}
	}
	if taken["born"] == 0 || len(r.KindLines()) < 2 || len(r.Told()) != len(r.Notes) {
		t.Errorf("kinds %q, of which those taken agree in %v; told is %q", r.KindLines(), taken, r.Told())
	}
	if of := r.ExpectedPrecision; of[0] > 0.9 || of[0] < 0.75 || of[1] < 0.95 {
		t.Errorf("expected precision %v", of)
	}
}

// voters makes a table of people, each there twice. Nearly half have moved in between, to a street and postcode of their own town.
// Households share their name and home.
func voters(n int) string {
	rng := rand.New(rand.NewPCG(13, 14))
	var b strings.Builder
	b.WriteString("id,last,first,middle,sex,age,street,town,postcode,party\n")
	home := func() string { return fmt.Sprintf("%d %s Road", 1+rng.IntN(900), word(rng.IntN(120))) }
	for i := 0; i < n; {
		last, of, code, town := word(1000+rng.IntN(250)), home(), 27_000+rng.IntN(1000), word(5000+rng.IntN(10))
		for range min(n-i, 1+rng.IntN(4)) {
			first, middle, age := word(2000+rng.IntN(120)), word(2000+rng.IntN(120)), 18+rng.IntN(70)
			sex, party := "MF"[rng.IntN(2)], []string{"red", "blue", "none"}[rng.IntN(3)]
			for c := range 2 {
				street, code, middle := of, code, middle
				if rng.IntN(4) == 0 {
					street, code = home(), 27_000+rng.IntN(1000)
				}
				if rng.IntN(3) == 0 {
					middle = ""
				}
				fmt.Fprintf(&b, "%d-%d,%s,%s,%s,%c,%d,%s,%s,%d,%s\n", i, c, wrong(rng, last), wrong(rng, first), middle, sex, age, street, town, code, party)
			}
			i++
		}
	}
	return b.String()
}

// TestWhoMovesChangesOneThing has street and postcode, which say the same: to differ in both is to differ in one.
func TestWhoMovesChangesOneThing(t *testing.T) {
	const people = 800
	r := join(t, Config{Left: write(t, "voters.csv", voters(people))})
	right := rightOf(r)
	if f1 := 2 * float64(right) / float64(r.Links.Len()+people); f1 < 0.9 {
		t.Errorf("F1 %.3f: %d of %d links are right; %q", f1, right, r.Links.Len(), r.Notes)
	}
}
