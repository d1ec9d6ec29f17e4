package advise

import (
	"fmt"
	"testing"
)

// TestTemplatesOfAFewShortTextsMakeNoCopies: no more than 20 texts have one of these templates, too few for these to be what many
// texts have. Six copies of each of some titles have nothing of a template.
func TestTemplatesOfAFewShortTextsMakeNoCopies(t *testing.T) {
	w := newWriter(31)
	var texts []string
	article := map[string]int{}
	thing := 0
	word := func() string { return w.words[w.random.IntN(len(w.words))] }
	add := func(text string) {
		texts = append(texts, text)
		article[text] = thing
	}
	for range 6 {
		before, middle, behind := w.text(5), w.text(4), w.text(6)
		for range 20 {
			name := word() + word()
			add(fmt.Sprintf("# %s\n\n> %s `%s` %s.\n\n- %s:\n\n`see %s`\n", word(), before, name, middle, behind, name))
			thing++
		}
	}
	for range 30 {
		title := w.text(14)
		for range 6 {
			add(w.typed(title, 0.05))
		}
		thing++
	}
	a := adviceOf(t, texts, 2)
	of := func(doc uint32) int { return article[string(a.sample.Documents[doc].Text)] }
	wrong, missed := 0, 0
	for _, p := range a.pairs {
		switch copies := of(p.a) == of(p.b); {
		case copies && p.cover < perhaps:
			missed++
		case !copies && p.cover >= perhaps:
			wrong++
		}
	}
	if wrong > 20 || missed > 20 {
		t.Errorf("%d pairs of one template look like copies, and %d of copies do not", wrong, missed)
	}
}
