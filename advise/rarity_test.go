package advise

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/shingle"
)

// pages makes texts of one template, each with so many words of its own.
func (w *writer) pages(n, template, own int) (texts []string) {
	start, end := w.text(template/2), w.text(template/2)
	for range n {
		texts = append(texts, start+" "+w.text(own)+" "+end)
	}
	return texts
}

// TestPagesOfOneTemplateAreNoCopies: the default alone takes all pairs of them.
func TestPagesOfOneTemplateAreNoCopies(t *testing.T) {
	texts := newWriter(5).pages(200, 400, 25)
	want := Default
	want.Rarity = true
	if a := adviceOf(t, texts, 2); a.Chosen != want || a.Told {
		t.Errorf("%s: %s", a.Chosen, a.Reason)
	}
	if a := adviceBy(t, texts, Options{Threads: 2, Banded: true}); a.Chosen != Default {
		t.Errorf("a collection that grows cannot weigh, and has %s", a.Chosen)
	}
}

// TestRarityIsLookedAtWhereATemplateIsMostOfTheTexts, and it finds the copies there that nothing else parts from others.
func TestRarityIsLookedAtWhereATemplateIsMostOfTheTexts(t *testing.T) {
	weighed := func(r Row) bool { return r.Rarity }
	w := newWriter(6)
	texts := w.pages(240, 400, 60)
	for _, text := range texts[:80] {
		texts = append(texts, w.typed(text, 0.02))
	}
	a := adviceOf(t, texts, 2)
	if !slices.ContainsFunc(a.Rows, weighed) || a.Chosen == Default {
		t.Errorf("%s: %s", a.Chosen, a.Reason)
	}
	articles, _ := corpusOf(1, 200, 0.04, 20)
	if a := adviceOf(t, articles, 2); slices.ContainsFunc(a.Rows, weighed) {
		t.Error("articles without a template are looked at by rarity")
	}
}

// typed changes a share of the characters.
func (w *writer) typed(text string, rate float64) string {
	out := []byte(text)
	for i := range out {
		if w.random.Float64() < rate {
			out[i] = byte('a' + w.random.IntN(26))
		}
	}
	return string(out)
}

func TestWeightsAreThoseOfCountedDocuments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sets := rapid.SliceOfN(rapid.Map(rapid.SliceOfDistinct(rapid.Uint64Range(0, 20), rapid.ID[uint64]), func(s []uint64) []uint64 {
			slices.Sort(s)
			return s
		}), 1, 30).Draw(t, "sets")
		rarities, weights := shingle.NewRarities(uint64(len(sets))), weightsOfSets(sets)
		for feature := range uint64(21) {
			df := 0
			for _, set := range sets {
				if slices.Contains(set, feature) {
					df++
				}
			}
			if want := rarities.Weight(uint64(df)); df > 0 && weights.Of(feature) != want {
				t.Fatalf("%d documents of %d have %d: weight %d, want %d", df, len(sets), feature, weights.Of(feature), want)
			}
		}
	})
}
