package judge

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/alike-dev/alike/internal/weighing"
	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/held"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/record"
)

func TestRarityIsThatOfTheTableWithMoreEqualValues(t *testing.T) {
	for _, of := range []struct {
		counts [2][]uint32
		want   float64
	}{
		{[2][]uint32{{1, 1, 1}, nil}, math.Inf(1)},
		{[2][]uint32{{2, 2}, nil}, math.Log(3)}, // 2 of 6 pairs
		{[2][]uint32{{1, 1, 0}, {0, 2, 2}}, math.Log(3)},
		{[2][]uint32{{1}, nil}, math.Inf(1)},
	} {
		if got := rarity(of.counts); math.Abs(got-of.want) > 1e-12 {
			t.Errorf("counts %v: %v nats, want %v", of.counts, got, of.want)
		}
	}
}

// TestWordsThatStandForEachOtherAreNoExchange has pairs of records that differ in one word.
func TestWordsThatStandForEachOtherAreNoExchange(t *testing.T) {
	tables := &held.Tables{Kinds: []record.Kind{record.Text}}
	tables.Left = record.NewTable(1, &tables.Numbering)
	chunk, cutter := record.NewChunk(tables.Kinds), record.NewCutter()
	var pairs []compare.Pair
	var want []bool
	add := func(exchanged bool, values ...string) {
		pairs, want = append(pairs, compare.Pair{A: uint32(2 * len(pairs)), B: uint32(2*len(pairs) + 1)}), append(want, exchanged)
		for _, value := range values {
			chunk.Append(cutter, fmt.Append(nil, len(pairs)), [][]byte{[]byte(value)})
		}
	}
	sizes := []string{"small", "medium", "large"}
	for i := range 30 {
		name := fmt.Sprintf("thing%d", i)
		add(true, name+" "+sizes[i%3], name+" "+sizes[(i+1)%3])
		add(false, name+" Street", name+" St")
		add(false, name+" Proceedings Conference", name+" Proc Conf")
		add(false, name+" small", name)
		add(false, name+" small", fmt.Sprintf("%s smal%d", name, i)) // an error that no other record has
	}
	tables.Left.Add(chunk)
	tables.Numbering.Finish()
	comparer, err := compare.NewComparer(t.Context(), &compare.Input{
		Left: tables.Left, Numbering: &tables.Numbering, Kinds: tables.Kinds, Columns: []float64{1}, Threads: 1,
		Scale: weighing.Scale{Measure: measure.Cosine},
		Weigh: func(df []uint32, n int) (record.Weights, error) { return record.IDF(df, n), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	got, there := exchanged(comparer, 0, pairs)
	if there != len(pairs) || !slices.Equal(got, want) {
		t.Errorf("of %d pairs with values: %v, want %v", there, got, want)
	}
}
