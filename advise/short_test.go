package advise

import (
	"testing"

	"github.com/alike-dev/alike/text"
)

// TestShortTextsAreCompared: of titles with errors and additions the copies are found, though none has six blocks. Titles
// of one template that differ in a name are none.
func TestShortTextsAreCompared(t *testing.T) {
	w := newWriter(11)
	var texts []string
	var article []int
	for i := range 300 {
		title := w.text(9 + w.random.IntN(8))
		texts, article = append(texts, title), append(article, i)
		for range w.random.IntN(3) {
			copied := w.typed(title, 0.05)
			if w.random.IntN(2) == 0 {
				copied = "seen: " + copied + " #" + w.text(1)
			}
			texts, article = append(texts, copied), append(article, i)
		}
	}
	a := adviceOf(t, texts, 2)
	pairs, right, all := found(t, texts, article, a.Chosen)
	if !a.Told || float64(right) < 0.95*float64(all) || float64(right) < 0.98*float64(pairs) {
		t.Errorf("%s finds %d of %d, and %d others: %s", a.Chosen, right, all, pairs-right, a.Reason)
	}
	var templates []string
	for range 4 {
		before, after := w.text(6), w.text(6)
		for range 80 {
			templates = append(templates, before+" "+w.text(2)+" "+after)
		}
	}
	if a := adviceOf(t, templates, 2); a.Told || a.Chosen.Measure != Default.Measure || a.Chosen.Threshold != Default.Threshold {
		t.Errorf("titles of a template: %s: %s", a.Chosen, a.Reason)
	}
}

// TestAnswersToOneLetterAreCompared by their own words alone.
func TestAnswersToOneLetterAreCompared(t *testing.T) {
	w := newWriter(12)
	e, letter := newEdits(text.Options{}), quotedLines(w.text(12))
	first, second := letter+w.text(14), letter+w.text(14)
	if cover := e.cover([]byte(first), []byte(second)); cover >= doubt {
		t.Errorf("cover %v of two answers", cover)
	}
	if cover := e.cover([]byte(first), []byte(first+" x")); cover < surely {
		t.Errorf("cover %v of an answer", cover)
	}
	if cover := e.cover([]byte("a title"), []byte(w.text(100))); cover != 0 {
		t.Errorf("cover %v of a title and a long text", cover)
	}
}
