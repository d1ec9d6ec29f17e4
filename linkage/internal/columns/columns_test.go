package columns

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/alike-dev/alike/record"
)

// TestColumnsThatAnotherOneHoldsCorrespondToIt has a first and a last name that the other table has in one column, either way
// round, and a column of words that no other one holds.
func TestColumnsThatAnotherOneHoldsCorrespondToIt(t *testing.T) {
	apart := &Sample{Names: []string{"first", "last", "town"}}
	whole := &Sample{Names: []string{"place", "person"}}
	first, last, town := []string{"ann", "bob", "cid"}, []string{"smith", "jones", "brown", "green"}, []string{"york", "leeds"}
	for i := range 60 {
		f, l := first[i%len(first)], last[i%len(last)]
		apart.Rows = append(apart.Rows, [][]byte{[]byte(f), []byte(l), []byte(town[i%2])})
		whole.Rows = append(whole.Rows, [][]byte{[]byte("north"), []byte(l + ", " + f)})
	}
	pairs := func(left, right *Sample, ids ...string) [][2]int {
		l, r := profiles(left), profiles(right)
		return withParts(l, r, correspond(l, r, nil), [2]string(append(ids, "", "")[:2]))
	}
	if got := pairs(apart, whole); !slices.Equal(got, [][2]int{{0, 1}, {1, 1}}) {
		t.Errorf("parts on the left: %v", got)
	}
	if got := pairs(whole, apart); !slices.Equal(got, [][2]int{{1, 0}, {1, 1}}) {
		t.Errorf("parts on the right: %v", got)
	}
	// What is in the column of ids says nothing.
	if got := pairs(apart, whole, "", "person"); len(got) != 1 {
		t.Errorf("ids: %v", got)
	}
	// A copy of what has a partner says nothing that the partner does not.
	again := &Sample{Names: []string{"first", "nick"}}
	for _, row := range apart.Rows {
		again.Rows = append(again.Rows, [][]byte{row[0], row[0]})
	}
	if got := pairs(again, apart); !slices.Equal(got, [][2]int{{0, 0}}) {
		t.Errorf("copies: %v", got)
	}
}

// TestTextsOfFewCommonThingsCorrespond has the members of a parliament in one table, and terms of many more in the other one:
// few words are as frequent in both. A letter for a party is in many names, but names are no parties.
func TestTextsOfFewCommonThingsCorrespond(t *testing.T) {
	members := &Sample{Names: []string{"member", "side"}}
	terms := &Sample{Names: []string{"forename", "surname"}}
	forename := func(i int) string { return fmt.Sprintf("f%c%c", 'a'+i%10, 'a'+i/10%3) }
	surname := func(i int) string { return fmt.Sprintf("s%c%c%c", 'a'+i%23, 'a'+i/23%19, 'a'+i/437) }
	for i := range 200 {
		members.Rows = append(members.Rows, [][]byte{[]byte(forename(i) + " " + surname(i)), []byte("r")})
	}
	for person := 90; person < 590; person++ {
		for i := range 1 + 7*(person%2) { // terms
			second := ""
			if person%20 == i {
				second = " r"
			}
			terms.Rows = append(terms.Rows, [][]byte{[]byte(forename(person) + second), []byte(surname(person))})
		}
	}
	l, r := profiles(members), profiles(terms)
	if got := withParts(l, r, correspond(l, r, nil), [2]string{}); !slices.Equal(got, [][2]int{{0, 0}, {0, 1}}) {
		t.Errorf("%v", got)
	}
}

// TestCodesAreThoseThatAreWrittenInSeveralWays has plates with and without spaces, in one column or in two, and pages, which
// now and then lack their hyphen.
func TestCodesAreThoseThatAreWrittenInSeveralWays(t *testing.T) {
	of := func(value func(i int) string) *profile {
		s := &Sample{Names: []string{"code"}}
		for i := range 300 {
			s.Rows = append(s.Rows, [][]byte{[]byte(value(i))})
		}
		return &profiles(s)[0]
	}
	spaced := func(i int) string { return fmt.Sprintf("BT %04d D", i/2) }
	joined := func(i int) string { return strings.ReplaceAll(spaced(i), " ", "") }
	mixed := func(i int) string { return []string{spaced(i), joined(i)}[i%2] }
	pages := func(i int) string {
		if i%20 == 1 {
			return fmt.Sprintf("pp %d%d", 100+i/2, 120+i/2)
		}
		return fmt.Sprintf("pp %d-%d", 100+i/2, 120+i/2)
	}
	number := func(i int) string { return strconv.Itoa(30_000_000 + i) }
	parted := func(i int) string { return "30 000 " + number(i)[5:] }
	for name, test := range map[string]struct {
		a, b func(i int) string
		want record.Kind
	}{
		"in both ways":         {mixed, nil, record.Code},
		"in one way":           {spaced, nil, record.Text},
		"two ways, two tables": {spaced, joined, record.Code},
		"one way, two tables":  {spaced, spaced, record.Text},
		"pages":                {pages, nil, record.Text},
		"telephones":           {number, parted, record.Code},
		"numbers":              {number, number, record.Number},
	} {
		a := of(test.a)
		b := a
		if test.b != nil {
			b = of(test.b)
		}
		if got := commonKind(a, b); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// TestQuantitiesAreNumbersWithOneUnit has weights with their unit and without, house numbers with letters, and flats.
func TestQuantitiesAreNumbersWithOneUnit(t *testing.T) {
	table := func(forms ...string) *Sample {
		s := &Sample{Names: []string{"value"}}
		for i := range 300 {
			s.Rows = append(s.Rows, [][]byte{fmt.Appendf(nil, forms[i%len(forms)], 5+i)})
		}
		return s
	}
	grams, bare := table("%d.5 g"), table("%d.5")
	for _, of := range []struct {
		why         string
		left, right *Sample
		want        record.Kind
	}{
		{"all have it", grams, grams, record.Quantity},
		{"some have it", table("%d g", "%d", "%dg"), nil, record.Quantity},
		{"in one of two tables", grams, bare, record.Quantity},
		{"other units", table("%d kg", "%d lb"), nil, record.Text},
		{"before it", table("EUR %d", "%d"), nil, record.Quantity},
		{"house numbers", table("%d", "%d", "%da", "%db", "%dc"), nil, record.Text},
		{"ranges", table("%d-900 g"), nil, record.Text},
		{"none has it", bare, bare, record.Number},
	} {
		if of.right == nil {
			of.right = of.left
		}
		if got := Kind(of.left, of.right, "value", "value"); got != of.want {
			t.Errorf("%s: %s, want %s", of.why, got, of.want)
		}
	}
}

// TestUnitsAreThoseThatAreWrittenInTwoWays has sizes with a space before the unit, and some without.
func TestUnitsAreThoseThatAreWrittenInTwoWays(t *testing.T) {
	table := func(n, together int, form string) *Sample {
		s := &Sample{Names: []string{"name"}}
		for i := range n {
			value := fmt.Sprintf(form, i, 1<<(i%5))
			if i < together {
				value = strings.Replace(value, " GB", "GB", 1)
			}
			s.Rows = append(s.Rows, [][]byte{[]byte(value)})
		}
		return s
	}
	for _, of := range []struct {
		why         string
		left, right *Sample
		want        record.Kind
	}{
		{"some are written together", table(100, 40, "phone %d (%d GB) blue"), nil, record.Units},
		{"none is", table(100, 0, "phone %d (%d GB) blue"), nil, record.Text},
		{"all are", table(100, 100, "phone %d (%d GB) blue"), nil, record.Text},
		{"the other table writes them together", table(100, 0, "phone %d (%d GB) blue"), table(100, 100, "%d phone %d GB"), record.Units},
		{"houses in short streets", table(100, 0, "%d Elm %d St"), nil, record.Text},
	} {
		if of.right == nil {
			of.right = of.left
		}
		if got := Kind(of.left, of.right, "name", "name"); got != of.want {
			t.Errorf("%s: %s, want %s", of.why, got, of.want)
		}
	}
}

// TestColumnsOfAPlaceDoNotPushOutThoseOfAPerson has voters of whom a sixth have moved and are there twice: 30 columns of districts,
// larger and smaller ones, say where they live, with an error now and then, and three columns who they are.
func TestColumnsOfAPlaceDoNotPushOutThoseOfAPerson(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 7))
	voters := &Sample{Names: []string{"first", "last", "phone"}}
	for d := range 30 {
		voters.Names = append(voters.Names, fmt.Sprint("district", d))
	}
	for i := range 1500 {
		who := []string{fmt.Sprint("f", rng.IntN(300)), fmt.Sprint("l", rng.IntN(700)), fmt.Sprint(rng.IntN(10_000_000))}
		for range 1 + max(0, 1-i%6) {
			place, row := rng.IntN(300), [][]byte{}
			for _, value := range who {
				row = append(row, []byte(value))
			}
			for d := range 30 {
				at := place
				if rng.IntN(15) == 0 {
					at = rng.IntN(300)
				}
				row = append(row, fmt.Appendf(nil, "d%d-%d", d, at/(1+d)))
			}
			voters.Rows = append(voters.Rows, row)
		}
	}
	chosen, err := Choose(t.Context(), voters, voters, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range voters.Names[:3] {
		if !slices.ContainsFunc(chosen.Columns, func(c Column) bool { return c.Left == name }) {
			t.Errorf("%s is not compared, but %v", name, chosen.Columns)
		}
	}
}
