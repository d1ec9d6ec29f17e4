package linkage

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// firms makes a table of firms, each once, of which those of a group share name, address and telephone. They differ in the
// day when they were founded, and in their tax number.
func firms(rng *rand.Rand) string {
	var s strings.Builder
	s.WriteString("id,name,street,town,phone,founded,tax\n")
	for g := range 500 {
		home := fmt.Sprintf("%s %d,%s,0%d", word(rng.IntN(300)), rng.IntN(200), word(1000+rng.IntN(80)), 20000000+rng.IntN(70000000))
		for k := range 1 + rng.IntN(4) {
			fmt.Fprintf(&s, "f%d.%d,%s %s,%s,%s,DE%d\n", g, k, word(2000+rng.IntN(900)), word(3000+g), home, someDay(rng, 1950, 70), rng.IntN(1e9))
		}
	}
	return s.String()
}

// persons makes a table of persons with several rows each, at random in some column, and returns the entity of each id. more
// returns the values of further columns of a row.
func persons(rng *rand.Rand, columns string, more func() string) (table string, entity map[string]int) {
	var s strings.Builder
	s.WriteString("id,first,last,born,home,phone," + columns + "\n")
	entity = map[string]int{}
	for p := range 600 {
		home, phone := fmt.Sprintf("%s %d", word(rng.IntN(300)), rng.IntN(200)), fmt.Sprint(20000000+rng.IntN(70000000))
		person := fmt.Sprintf("%s,%s,%s", word(500+rng.IntN(250)), word(1000+rng.IntN(900)), someDay(rng, 1940, 70))
		for k := range 1 + rng.IntN(4) {
			if rng.IntN(8) == 0 {
				home = fmt.Sprintf("%s %d", word(rng.IntN(300)), rng.IntN(200))
			}
			id := fmt.Sprintf("p%d.%d", p, k)
			entity[id] = p
			fmt.Fprintf(&s, "%s,%s,%s,%s,%s\n", id, person, home, phone, more())
		}
	}
	return s.String(), entity
}

func someDay(rng *rand.Rand, from, years int) string {
	return fmt.Sprintf("%d-%02d-%02d", from+rng.IntN(years), 1+rng.IntN(12), 1+rng.IntN(28))
}

// TestFirmsOfAGroupAreNotOneFirm has firms whose links would all be wrong, and persons with visits, whose dates differ too.
func TestFirmsOfAGroupAreNotOneFirm(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	r := join(t, Config{Left: write(t, "t.csv", firms(rng))})
	if r.Linked > 0 && !r.Disputed {
		t.Errorf("%d links of firms that are all in the table once, %s", r.Linked, r.Estimates())
	}
	if told := strings.Join(r.Notes, "\n"); r.Linked > 0 && !(strings.Contains(told, "differ in founded, tax:") && strings.Contains(told, "one thing agrees: name, street, town, phone")) {
		t.Errorf("notes do not say in what firms differ, and in what they agree:\n%s", told)
	}
	found := func(r *Result, entity map[string]int) (precision, recall float64) {
		right, all := 0.0, 0.0
		for link := range r.Links.All() {
			if entity[string(link.A)] == entity[string(link.B)] {
				right++
			}
		}
		count := map[int]float64{}
		for _, e := range entity {
			all += count[e]
			count[e]++
		}
		return right / float64(r.Links.Len()), right / all
	}
	visits, entity := persons(rng, "seen,reason", func() string { return someDay(rng, 2021, 3) + "," + word(rng.IntN(4)) })
	r = join(t, Config{Left: write(t, "t.csv", visits)})
	if p, rec := found(r, entity); r.Disputed || p < 0.95 || rec < 0.9 {
		t.Errorf("visits: precision %.3f, recall %.3f, disputed: %v", p, rec, r.Disputed)
	}
	// Values of their own, in three of eight columns, do not make doubles strangers.
	own := func() string {
		return fmt.Sprintf("%016x,%s 10:%02d:%02d,%016x", rng.Uint64(), someDay(rng, 2000, 25), rng.IntN(60), rng.IntN(60), rng.Uint64())
	}
	contacts, entity := persons(rng, "key,made,version", own)
	r = join(t, Config{Left: write(t, "t.csv", contacts)})
	if p, rec := found(r, entity); p < 0.95 || rec < 0.9 {
		t.Errorf("contacts: precision %.3f, recall %.3f", p, rec)
	}
}
