package advise

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// obituaries returns texts of one template, with names, numbers and words of their own, and of each so many copies, all of them with noise.
func (w *writer) obituaries(n, copies int, rate float64) (texts []string, article []int) {
	word := func() string { return w.words[w.random.IntN(len(w.words))] + w.words[w.random.IntN(len(w.words))] }
	for i := range n {
		text := fmt.Sprintf("%s, %s, aged %d, of %s, passed away peacefully at home on the %d of March %d after a short illness, "+
			"bravely borne. Beloved parent of %s and %s. Funeral service at the parish church at %d.30, followed by interment. "+
			"Family flowers only please, donations to %s, page %d. Will be sadly missed by all the family and friends.",
			word(), word(), 40+w.random.IntN(60), word(), 1+w.random.IntN(28), 1950+w.random.IntN(50), word(), word(), 9+w.random.IntN(7), word(), w.random.IntN(10000))
		for range 1 + copies {
			texts, article = append(texts, w.typed(text, rate*w.random.Float64())), append(article, i)
		}
	}
	return texts, article
}

func TestCopiesOfShortTextsInATemplateAreFound(t *testing.T) {
	texts, article := newWriter(3).obituaries(250, 1, 0.09)
	a := adviceOf(t, texts, 2)
	pairs, right, all := found(t, texts, article, a.Chosen)
	if !a.Told || float64(right) < 0.95*float64(pairs) || float64(right) < 0.7*float64(all) {
		t.Errorf("%s: %d pairs, %d right of %d: %s", a.Chosen, pairs, right, all, a.Reason)
	}
}

func TestASeriesInATemplateHasNoCopies(t *testing.T) {
	own := strings.Fields(newWriter(4).text(300))
	var texts []string
	for i := range 60 {
		for range 5 { // the same words, each with numbers of its own
			r := newWriter(uint64(len(texts))).random
			texts = append(texts, fmt.Sprintf("Add to your basket today: %s for only %d.%02d pounds, model %d of the year, rated by %d customers. "+
				"You may return this item within thirty days. Order before noon for same day dispatch.",
				strings.Join(own[i*5:i*5+5], " "), r.IntN(900), r.IntN(100), r.IntN(1_000_000), r.IntN(1000)))
		}
	}
	if a := adviceOf(t, texts, 2); a.Copies > 3 {
		t.Errorf("%d pairs of a series look like copies: %s", a.Copies, a.Reason)
	}
}

func TestWhatAShortTextSharesWithManyIsMarked(t *testing.T) {
	w := newWriter(5)
	texts, _ := w.obituaries(100, 0, 0)
	var s [][]byte
	for _, text := range texts {
		s = append(s, []byte(text))
	}
	wit, err := newWitness(context.Background(), sampleOfTexts(s), false, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, of := range wit.framed {
		text := string(wit.texts[i])
		if len(of) != len(text) {
			t.Fatalf("%d of %d characters", len(of), len(text))
		}
		if template := strings.Index(text, "peacefully"); of[template] != ofMany|ofMost || of[0] != 0 {
			t.Fatalf("%v of the template, %v of a name: %s", of[template], of[0], text)
		}
	}
}

// Copies in the frames of several shops are told by what is between them, as in one frame.
func TestCopiesInFramesOfShopsAreFound(t *testing.T) {
	w := newWriter(6)
	words := func(n int) string {
		all := make([]string, n)
		for i := range all {
			all[i] = w.words[w.random.IntN(len(w.words))]
		}
		return strings.Join(all, " ")
	}
	var frames [12][2]string
	for i := range frames {
		frames[i] = [2]string{words(30), words(60)}
	}
	var texts []string
	var article []int
	for i := range 300 {
		own := words(50)
		for range 2 {
			frame := frames[w.random.IntN(len(frames))]
			texts, article = append(texts, frame[0]+"\n"+w.typed(own, 0.08*w.random.Float64())+"\n"+frame[1]), append(article, i)
		}
	}
	a := adviceOf(t, texts, 2)
	pairs, right, all := found(t, texts, article, a.Chosen)
	if !a.Told || float64(right) < 0.97*float64(pairs) || float64(right) < 0.9*float64(all) {
		t.Errorf("%s: %d pairs, %d right of %d: %s", a.Chosen, pairs, right, all, a.Reason)
	}
}
