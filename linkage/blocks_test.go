package linkage

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/alike-dev/alike/corpus"
)

// Whatever the order in which goroutines are done with blocks.
func TestSkippedRecordsAreReportedInTheirOrder(t *testing.T) {
	const blocks, lines = 50, 3
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		var told []int64
		skipped := teller{onSkip: func(p *corpus.Problem) error { told = append(told, p.Line); return nil }}
		held := 0
		for from := 0; from < blocks; from += 5 { // five goroutines are at most as many blocks apart
			for _, i := range random.Perm(5) {
				b := &block{}
				b.Seq, b.Lines = int64(from+i), lines
				if err := skipped.add(b, []*corpus.Problem{{Line: 1}, {Line: 3}}); err != nil {
					t.Fatal(err)
				}
				held = max(held, len(skipped.ahead))
			}
		}
		want := []int64{}
		for i := range int64(blocks) {
			want = append(want, i*lines+1, i*lines+3)
		}
		if !slices.Equal(told, want) || held >= 5 {
			t.Errorf("told %v, with %d blocks held", told, held)
		}
	}
}
