package compare

import (
	"fmt"
	"testing"

	"github.com/alike-dev/alike/internal/weighing"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/record"
)

// Of long texts fewer random pairs are compared, so that about as many tokens are read.
func TestFewerPairsOfLongTextsAreRead(t *testing.T) {
	for words, want := range map[int]uint64{10: RandomPairs, 1500: RandomPairs / 10} {
		var numbering record.Numbering
		table, chunk := record.NewTable(1, &numbering), record.NewChunk([]record.Kind{record.Words})
		for row := range 4 {
			var text []byte
			for w := range words {
				text = fmt.Appendf(text, "word%d ", row*words/2+w)
			}
			chunk.Append(record.NewCutter(), fmt.Append(nil, row), [][]byte{text})
		}
		table.Add(chunk)
		numbering.Finish()
		c, err := NewComparer(t.Context(), &Input{
			Left: table, Numbering: &numbering, Kinds: []record.Kind{record.Words}, Columns: []float64{1}, Threads: 1, Scale: weighing.Scale{Measure: measure.Cosine},
			Weigh: func(df []uint32, n int) (record.Weights, error) { return record.IDF(df, n), nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Fewer(RandomPairs); got != want {
			t.Errorf("%d pairs of texts of %d words, want %d", got, words, want)
		}
	}
}
