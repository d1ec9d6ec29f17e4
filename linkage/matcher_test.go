package linkage

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestOneLookAtTheTokensTellsWhatMergesDo holds matcher.meet against merging the tokens of each
// pair of values, with more columns than marks have bits, and where rounds begin again.
func TestOneLookAtTheTokensTellsWhatMergesDo(t *testing.T) {
	const columns, rows = markedColumns + 4, 40
	random := rand.New(rand.NewPCG(3, 4))
	var c Config
	var text strings.Builder
	text.WriteString("id")
	for f := range columns {
		c.Fields = append(c.Fields, Field{Left: fmt.Sprintf("c%d", f)})
		fmt.Fprintf(&text, ",c%d", f)
	}
	words := []string{"anna", "hanna", "hannah", "miller", "muller", "", "", "mill"}
	for row := range rows {
		fmt.Fprintf(&text, "\n%d", row)
		for range columns {
			fmt.Fprintf(&text, ",%s %s", words[random.IntN(len(words))], words[random.IntN(len(words))])
		}
	}
	c.Left = write(t, "t.csv", text.String()+"\n")
	tables, err := prepare(t.Context(), &c, false)
	if err != nil {
		t.Fatal(err)
	}
	tables.numbering.Finish()
	whole, err := tables.records(t.Context(), &c)
	if err != nil {
		t.Fatal(err)
	}
	compare, err := tables.newComparer(t.Context(), &c)
	if err != nil {
		t.Fatal(err)
	}
	m := whole.newMatcher()
	for a := range uint32(rows) {
		if a == rows/2 {
			m.round = math.MaxUint32 - 5 // rounds begin again in between
		}
		for b := range uint32(rows) {
			of := make([]uint64, columns)
			sum := m.meet(pair{a, b}, compare.columns, of)
			ofA, want := map[uint32]bool{}, uint64(0)
			slow := whole.newMatcher()
			slow.each(tables.left, int(a), func(token uint32) { ofA[token] = true })
			slow.each(tables.left, int(b), func(token uint32) {
				if ofA[token] {
					want += whole.mass(token)
				}
			})
			if sum != want || m.common(pair{a, b}) != want {
				t.Fatalf("records %d and %d have %d in common, want %d", a, b, sum, want)
			}
			x, y := tables.left.Cells(int(a)), tables.left.Cells(int(b))
			for f := range columns {
				if x[f] == 0 || y[f] == 0 || x[f] == y[f] {
					continue
				}
				if want := compare.columns[f].common(x[f]-1, y[f]-1); of[f] != want {
					t.Fatalf("column %d of records %d and %d has %d in common, want %d", f, a, b, of[f], want)
				}
			}
		}
	}
}
