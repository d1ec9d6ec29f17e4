package linkage

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// households makes a table of people who live together: they share last name, address, place and telephone. Each person is
// in two of three registers, which write dates in ways of their own; a third of them have moved in between. named adds a
// column that names the register. It also returns the entity of each id.
func households(homes int, named bool) (table string, entity map[string]int) {
	rng := rand.New(rand.NewPCG(5, 6))
	var s strings.Builder
	s.WriteString("id,first,last,born,address,place,phone")
	if named {
		s.WriteString(",register")
	}
	s.WriteString("\n")
	entity = map[string]int{}
	home := func() []string {
		return []string{fmt.Sprintf("%d %s street", 1+rng.IntN(200), word(2000+rng.IntN(900))), word(3000 + rng.IntN(60)), fmt.Sprintf("0%d", 20000000+rng.IntN(70000000))}
	}
	typo := func(v string) string {
		if rng.IntN(10) > 0 || len(v) < 3 {
			return v
		}
		at := rng.IntN(len(v) - 1)
		return v[:at] + v[at+1:]
	}
	people := 0
	for range homes {
		last, at := word(500+rng.IntN(400)), home()
		for range 2 + rng.IntN(3) {
			people++
			first, day := word(rng.IntN(250)), [3]int{1930 + rng.IntN(90), 1 + rng.IntN(12), 1 + rng.IntN(28)}
			for i, register := range rng.Perm(3)[:2] {
				if i == 1 && rng.IntN(3) == 0 {
					at = home()
				}
				born := []string{fmt.Sprintf("%d-%02d-%02d", day[0], day[1], day[2]), fmt.Sprintf("%02d/%02d/%d", day[2], day[1], day[0]),
					fmt.Sprintf("%02d.%02d.%02d", day[2], day[1], day[0]%100)}[register]
				id := fmt.Sprintf("p%d%c", people, 'a'+rune(register))
				entity[id] = people
				row := append([]string{id, typo(first), typo(last), born}, at...)
				if named {
					row = append(row, string('a'+rune(register)))
				}
				s.WriteString(strings.Join(row, ",") + "\n")
			}
		}
	}
	return s.String(), entity
}

func TestPeopleOfOneHouseholdAreNotOnePerson(t *testing.T) {
	for _, named := range []bool{true, false} {
		table, entity := households(700, named)
		r := join(t, Config{Left: write(t, "t.csv", table)})
		right := 0.0
		for link := range r.Links.All() {
			if entity[string(link.A)] == entity[string(link.B)] {
				right++
			}
		}
		people := float64(len(entity) / 2)
		precision, recall := right/float64(r.Links.Len()), right/people
		t.Logf("registers %v: precision %.3f, recall %.3f", named, precision, recall)
		if named && (precision < 0.9 || recall < 0.85) || precision < 0.8 {
			t.Errorf("registers %v: precision %.3f, recall %.3f", named, precision, recall)
		}
		if found := slices.ContainsFunc(r.LeftOut, func(u LeftOut) bool { return u.Name == "register" }); found != named {
			t.Errorf("registers %v: not compared: %v", named, r.LeftOut)
		}
		if !named && !r.Wider {
			t.Error("nothing but the number of columns tells a person from a household, and the report does not say so")
		}
	}
}

func TestADerivedColumnChangesNothing(t *testing.T) {
	left, right := people(400, 0.5)
	derive := func(table string) string {
		var s strings.Builder
		for i, line := range strings.Split(strings.TrimSpace(table), "\n") {
			fields := strings.Split(line, ",")
			if i == 0 {
				s.WriteString(line + ",joined,again\n")
				continue
			}
			s.WriteString(line + "," + fields[1] + " " + fields[2] + "," + fields[2] + "\n")
		}
		return s.String()
	}
	plain := join(t, Config{Left: write(t, "l.csv", left), Right: write(t, "r.csv", right)})
	more := join(t, Config{Left: write(t, "l2.csv", derive(left)), Right: write(t, "r2.csv", derive(right))})
	if a, b := len(plain.Columns), len(more.Columns); a != b {
		t.Errorf("%d columns are compared, and %d with derived ones: %v", a, b, more.LeftOut)
	}
	if a, b := plain.Links.Len(), more.Links.Len(); a != b {
		t.Errorf("%d links, and %d with derived columns", a, b)
	}
}

// TestTheUserSaysWhatIsTheSame asks for persons, and for homes, of a table whose records do not name their registers.
func TestTheUserSaysWhatIsTheSame(t *testing.T) {
	table, person := households(700, false)
	home := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(table), "\n")[1:] {
		row := strings.Split(line, ",")
		home[row[0]] = row[6] // by telephone
	}
	for _, of := range []struct {
		same             []string
		is               func(a, b string) bool
		precision, found float64 // found: least number of right links
	}{
		{[]string{"first", "last", "born"}, func(a, b string) bool { return person[a] == person[b] }, 0.85, 0.75 * float64(len(person)/2)},
		{[]string{"address", "phone"}, func(a, b string) bool { return home[a] == home[b] }, 0.95, 3000},
	} {
		r := join(t, Config{Left: write(t, "t.csv", table), Same: of.same})
		right := 0.0
		for link := range r.Links.All() {
			if of.is(string(link.A), string(link.B)) {
				right++
			}
		}
		if precision := right / float64(r.Links.Len()); precision < of.precision || right < of.found || r.Disputed {
			t.Errorf("same %v: precision %.3f, %.0f right, disputed: %v", of.same, precision, right, r.Disputed)
		}
		taken := 0
		for _, k := range r.Kinds {
			if k.Taken {
				taken++
				if len(k.Examples) == 0 || k.Candidates == 0 || !slices.Contains(k.Agree, of.same[0]) {
					t.Errorf("same %v: taken is the kind %+v", of.same, k)
				}
			}
		}
		if taken == 0 {
			t.Errorf("same %v: no kind was taken of %v", of.same, r.KindLines())
		}
	}
	if _, err := Join(t.Context(), Config{Left: write(t, "t.csv", table), Same: []string{"name"}}); err == nil || !strings.Contains(err.Error(), "compared are first, last") {
		t.Errorf("a column that is not there: %v", err)
	}
}

// TestAModelKnowsTheSourcesOfItsTable decides by the model of a join what this join has decided.
func TestAModelKnowsTheSourcesOfItsTable(t *testing.T) {
	table, _ := households(400, true)
	c := Config{Left: write(t, "t.csv", table)}
	without := join(t, c)
	if c.Model = without.Model; !slices.Equal(c.Model.Sources, []string{"register"}) {
		t.Errorf("sources %q of a model", c.Model.Sources)
	}
	with := join(t, c)
	if n, all := with.Links.Len(), without.Links.Len(); n < all-all/100 || n > all+all/100 {
		t.Errorf("%d links by the model, and %d without", with.Links.Len(), without.Links.Len())
	}
}
