package advise

import (
	"slices"
	"strings"
	"testing"
)

// TestTextsFilledAnewAreDoubtful: up to four texts have most of their passages in common, each with others in some places.
func TestTextsFilledAnewAreDoubtful(t *testing.T) {
	w := newWriter(5)
	var texts []string
	for range 60 {
		var passages []string
		for range 14 {
			passages = append(passages, w.text(14))
		}
		for range 1 + w.random.IntN(4) {
			own := slices.Clone(passages)
			for i := range own {
				if w.random.IntN(7) == 0 {
					own[i] = w.text(14)
				}
			}
			texts = append(texts, strings.Join(own, " "))
		}
	}
	if a := adviceOf(t, texts, 2); a.Chosen != Default || a.Doubtful < a.Copies {
		t.Errorf("%s, %d copies and %d doubtful: %s", a.Chosen, a.Copies, a.Doubtful, a.Reason)
	}
}
