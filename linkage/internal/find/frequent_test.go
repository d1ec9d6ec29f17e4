package find

import (
	"fmt"
	"testing"

	"github.com/alike-dev/alike/candidates"
	"github.com/alike-dev/alike/linkage/internal/held"
	"github.com/alike-dev/alike/record"
)

// What is left of long texts for a search is their rarest tokens, which meet no more records than is allowed. Of short texts
// all is left.
func TestFrequentTokensOfLongTextsAreLeftOut(t *testing.T) {
	const rows = 400
	for words, cut := range map[int]bool{10: false, 1000: true} {
		f := &Finder{Tables: &held.Tables{Kinds: []record.Kind{record.Words}}, Method: candidates.Config{Method: candidates.TopK}}
		table, chunk := record.NewTable(1, &f.Numbering), record.NewChunk(f.Kinds)
		for row := range rows {
			var text []byte
			for w := range words {
				text = fmt.Appendf(text, "word%d ", w+row%20*(w%2)*words) // every second one is in a twentieth of the texts
			}
			chunk.Append(record.NewCutter(), fmt.Append(nil, row), [][]byte{text})
		}
		table.Add(chunk)
		f.Numbering.Finish()
		f.Set(0, table)
		f.Records[0] = rows
		skip, values := f.frequent(), f.Numbering.Column(0)
		count := map[uint32]float64{}
		for v := range values.Len() {
			for _, token := range values.Tokens(uint32(v)) {
				count[token] += float64(values.Count(uint32(v)))
			}
		}
		met, most, least := 0.0, 0.0, float64(rows+1)
		for token, n := range count {
			if skip(token) {
				least = min(least, n)
			} else {
				met, most = met+n*n/rows, max(most, n)
			}
		}
		if cut != (least <= rows) || met > mostMet || most >= least || most == 0 {
			t.Errorf("texts of %d words: tokens of up to %v records are left, which meet %v; those of %v and more are not", words, most, met, least)
		}
	}
}
