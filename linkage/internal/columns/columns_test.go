package columns

import (
	"slices"
	"testing"
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
		return withParts(l, r, correspond(l, r), [2]string(append(ids, "", "")[:2]))
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
