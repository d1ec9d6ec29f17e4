package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/alike-dev/alike/internal/weighing"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/record"
)

// TestOneLookAtTheTokensTellsWhatMergesDo holds matcher.meet against merging the tokens of each
// pair of values, with more columns than marks have bits, and where rounds begin again. Some words stand in two records, in any
// of their columns.
func TestOneLookAtTheTokensTellsWhatMergesDo(t *testing.T) {
	const columns, rows = markedColumns + 4, 40
	random := rand.New(rand.NewPCG(3, 4))
	words := []string{"anna", "hanna", "hannah", "miller", "muller", "", "", "mill"}
	var numbering record.Numbering
	table, kinds := record.NewTable(columns, &numbering), slices.Repeat([]record.Kind{record.Text}, columns)
	chunk := record.NewChunk(kinds)
	for row := range rows {
		var values [][]byte
		for range columns {
			values = append(values, fmt.Appendf(nil, "%s %s", words[random.IntN(len(words))], words[random.IntN(len(words))]))
		}
		for range random.IntN(4) {
			f := random.IntN(columns)
			values[f] = fmt.Appendf(values[f], " code%d", random.IntN(rows/2))
		}
		chunk.Append(record.NewCutter(), fmt.Append(nil, row), values)
	}
	table.Add(chunk)
	numbering.Finish()
	in := &Input{
		Left: table, Numbering: &numbering, Kinds: kinds, Columns: slices.Repeat([]float64{1}, columns), Threads: 1,
		Scale: weighing.Scale{Measure: measure.Cosine},
		Weigh: func(df []uint32, n int) (record.Weights, error) { return record.IDF(df, n), nil },
	}
	whole, err := NewRecords(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	comparer, err := NewComparer(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	holders := map[uint32]int{}
	for row := range rows {
		whole.newMatcher().each(table, row, func(token uint32) { holders[token]++ })
	}
	m, pairsOfRare := whole.newMatcher(), 0
	for a := range uint32(rows) {
		if a == rows/2 {
			m.round = math.MaxUint32 - 5 // rounds begin again in between
		}
		for b := range uint32(rows) {
			of := make([]uint64, columns)
			sum, rare := m.meet(Pair{a, b}, comparer.Columns, of)
			ofA, want, shared := map[uint32]bool{}, uint64(0), false
			slow := whole.newMatcher()
			slow.each(table, int(a), func(token uint32) { ofA[token] = true })
			slow.each(table, int(b), func(token uint32) {
				if ofA[token] {
					want += whole.Mass(token)
					shared = shared || holders[token] == 2
				}
			})
			if sum != want || m.common(Pair{a, b}) != want {
				t.Fatalf("records %d and %d have %d in common, want %d", a, b, sum, want)
			}
			if rare != shared {
				t.Fatalf("records %d and %d have a word that no third one has: %v, want %v", a, b, rare, shared)
			}
			if shared && a != b {
				pairsOfRare++
			}
			x, y := table.Cells(int(a)), table.Cells(int(b))
			for f := range columns {
				if x[f] == 0 || y[f] == 0 || x[f] == y[f] {
					continue
				}
				if want := comparer.Columns[f].Common(x[f]-1, y[f]-1); of[f] != want {
					t.Fatalf("column %d of records %d and %d has %d in common, want %d", f, a, b, of[f], want)
				}
			}
		}
	}
	if pairsOfRare == 0 {
		t.Error("no two records have a word that no third one has")
	}
}
