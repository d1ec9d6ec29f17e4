package columns

import (
	"fmt"
	"testing"
)

// registers returns rows of a table in which each of so many things stands once in each of three registers, far from each
// other.
func registers(things int) (rows [][][]byte) {
	for _, register := range []string{"north", "south", "west"} {
		for i := range things {
			rows = append(rows, [][]byte{[]byte(register), fmt.Appendf(nil, "name%d of", i), fmt.Appendf(nil, "%d", 100_000+7*i), fmt.Appendf(nil, "town%d", i%40)})
		}
	}
	return rows
}

func TestAkinTakesAllRowsOfAValue(t *testing.T) {
	const things, most = 20_000, 1000
	a := NewAkin([]int{1}, most)
	for _, row := range registers(things) {
		a.See(row)
	}
	count := map[string]int{}
	for _, row := range a.Rows() {
		count[string(row[1])]++
	}
	if n := 3 * len(count); n < most/3 || n > most {
		t.Errorf("%d rows, want about %d", n, most)
	}
	for value, n := range count {
		if n != 3 {
			t.Errorf("%d of three rows of %s", n, value)
		}
	}
}

func TestTheColumnOfSourcesIsFoundInALargeTable(t *testing.T) {
	all := registers(20_000)
	sample := &Sample{Names: []string{"register", "name", "number", "town"}}
	for i := 0; i < len(all); i += 12 {
		sample.Rows = append(sample.Rows, all[i])
	}
	find := func() []string {
		chosen, err := Choose(t.Context(), sample, sample, nil, "")
		if err != nil {
			t.Fatal(err)
		}
		return chosen.Sources
	}
	sample.Rows = sample.Rows[:len(sample.Rows)/3+1] // as if the others stood in other places: no two are of one thing
	sample.Rows = append(sample.Rows, all[len(all)-1])
	if found := find(); found != nil {
		t.Errorf("%v found in rows that have nothing in common", found)
	}
	sample.Akin = func(columns []int) ([][][]byte, error) {
		a := NewAkin(columns, 5000)
		for _, row := range all {
			a.See(row)
		}
		return a.Rows(), nil
	}
	if found := find(); len(found) != 1 || found[0] != "register" {
		t.Errorf("sources %v, want register", found)
	}
}
