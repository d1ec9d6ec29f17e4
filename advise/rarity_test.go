package advise

import (
	"fmt"
	"slices"
	"strings"
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
	want.Rare = true
	if a := adviceOf(t, texts, 2); a.Chosen != want || a.Told {
		t.Errorf("%s: %s", a.Chosen, a.Reason)
	}
	if a := adviceBy(t, texts, Options{Threads: 2, Banded: true}); a.Chosen != Default {
		t.Errorf("a collection that grows cannot weigh, and has %s", a.Chosen)
	}
}

// TestRareFeaturesAreLookedAtWhereATemplateIsMostOfTheTexts, and it finds the copies there that nothing else parts from others.
func TestRareFeaturesAreLookedAtWhereATemplateIsMostOfTheTexts(t *testing.T) {
	weighed := func(r Row) bool { return r.Rare }
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
		t.Error("articles without a template are looked at by rare features")
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

func TestRareFeaturesAreThoseOfFewDocuments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		documents := rapid.IntRange(1, 80).Draw(t, "documents")
		sets, df := make([][]uint64, documents+1), map[uint64]uint64{} // and one that is no document of the sample
		for feature := range uint64(60) {
			share := rapid.SampledFrom([]int{0, 1, 2, 4}).Draw(t, "share")
			for i := range sets {
				if rapid.IntRange(0, 3).Draw(t, "one") < share {
					sets[i] = append(sets[i], feature)
					if i < documents {
						df[feature]++
					}
				}
			}
		}
		c, most := cut{rarest: rapid.Bool().Draw(t, "rarest")}, shingle.RareMost(uint64(documents))
		if c.rarest {
			most = shingle.RarestMost
		}
		var want [][]uint64
		for _, set := range sets {
			want = append(want, slices.DeleteFunc(slices.Clone(set), func(f uint64) bool {
				return shingle.RareWeight(f, df[f], most) == 0
			}))
		}
		s := &Sample{Documents: make([]Document, documents), kept: 1}
		if err := keepRare(t.Context(), s, c, sets, 2); err != nil {
			t.Fatal(err)
		}
		for i := range sets {
			if !slices.Equal(sets[i], want[i]) {
				t.Fatalf("set %d: %v, want %v", i, sets[i], want[i])
			}
		}
	})
}

// TestATemplateIsCommonWhereASampleHasFewOfIt: of the pages of one template a sample has those that have its least feature, or
// few. By a fair sample their template is common all the same.
func TestATemplateIsCommonWhereASampleHasFewOfIt(t *testing.T) {
	w := newWriter(8)
	var templates, texts []string
	for range 20 {
		templates = append(templates, w.text(150))
	}
	for i := range 3000 {
		texts = append(texts, templates[i%len(templates)]+" "+w.text(80))
	}
	c := NewCollector(1500 << 10 * memoryEach)
	for i, text := range texts {
		c.Add(fmt.Append(nil, i), []byte(text), 0)
	}
	s := c.Sample(1)
	if s.kept > 0.7 || len(s.fair) < fairLeast {
		t.Fatalf("%v of the texts are kept, and %d are a fair sample: that tests nothing", s.kept, len(s.fair))
	}
	witness, err := newWitness(t.Context(), s, false, 2)
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range s.Documents {
		own := len(d.Text) - len(templates[0])
		if runs := len(witness.runs[i]); runs > 2*own {
			t.Errorf("%d runs of a text of %d characters of its own are rare", runs, own)
		}
	}
}

func TestAFairSampleDependsOnNoOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		digests := rapid.SliceOfNDistinct(rapid.Uint64(), 1, 300, rapid.ID[uint64]).Draw(t, "digests")
		draw := func() (texts []string) {
			f := fair{most: 900}
			for _, digest := range digests {
				f.add(digest, fmt.Append(nil, digest))
			}
			f.trim()
			for _, text := range f.texts {
				texts = append(texts, string(text.text))
			}
			return texts
		}
		first := draw()
		slices.Sort(digests)
		if again := draw(); !slices.Equal(first, again) {
			t.Fatalf("%v, in another order %v", first, again)
		}
		if bytes := len(strings.Join(first, "")); bytes > 900 || len(first) < min(len(digests), 45) {
			t.Fatalf("%d texts of %d bytes, of %d", len(first), bytes, len(digests))
		}
	})
}
