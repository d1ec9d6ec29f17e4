package advise

import (
	"math"
	"testing"
)

func TestThirdTextsTellOfDoubtfulPairs(t *testing.T) {
	const a, b, c, d = 0, 1, 2, 3
	for _, test := range []struct {
		name  string
		pairs []pair // the first is the doubtful one
		want  float64
	}{
		{"nothing else is known", []pair{{a: a, b: b, cover: 0.5}}, 0.5},
		{"a third text is a copy of both", []pair{{a: a, b: b, cover: 0.5}, {a: a, b: c, cover: 0.9}, {a: b, b: c, cover: 0.9}}, 0.5 + (allCopy-0.5)*2/3},
		{"a copy of one has nothing of the other", []pair{{a: a, b: b, cover: 0.6}, {a: a, b: c, cover: 0.9}}, noCopy},
		{"a copy of one has a little of the other", []pair{{a: a, b: b, cover: 0.6}, {a: a, b: c, cover: 0.9}, {a: b, b: c, cover: 0.4}}, 0.6},
		{"the copy is of the later one", []pair{{a: a, b: b, cover: 0.6}, {a: b, b: d, cover: 0.9}}, noCopy},
		{"one third text tells this, one that", []pair{
			{a: a, b: b, cover: 0.6}, {a: a, b: c, cover: 0.9}, {a: a, b: d, cover: 0.9}, {a: b, b: c, cover: 0.9}}, noCopy},
		{"it fills a template", []pair{{a: a, b: b, cover: 0.5, template: true}, {a: a, b: c, cover: 0.9}, {a: b, b: c, cover: 0.9}}, 0.5},
		{"it is surely a copy", []pair{{a: a, b: b, cover: surely}, {a: a, b: c, cover: 0.9}}, surely},
		{"it is surely none", []pair{{a: a, b: b, cover: 0.2}, {a: a, b: c, cover: 0.9}, {a: b, b: c, cover: 0.9}}, 0.2},
	} {
		triangles(test.pairs)
		if got := test.pairs[0].cover; math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%s: cover %g, want %g", test.name, got, test.want)
		}
	}
}

// Texts that ran into one neighbour are no copies: copies that did not tell.
func TestSharedNeighboursAreToldByThirdTexts(t *testing.T) {
	w := newWriter(11)
	var texts []string
	var article []int
	neighbour := ""
	for i := range 120 {
		if i%2 == 0 {
			neighbour = w.text(90)
		}
		text := w.text(120)
		for k := range 3 {
			copied := w.noisy(text, 0.02)
			if k == 2 {
				copied = neighbour + " " + copied
			}
			texts, article = append(texts, copied), append(article, i)
		}
	}
	a := adviceOf(t, texts, 2)
	pairs, right, all := found(t, texts, article, a.Chosen)
	if p, r := float64(right)/float64(pairs), float64(right)/float64(all); p < 0.97 || r < 0.85 || !a.Chosen.ThirdTexts || math.Abs(a.Rows[0].Found-r) > 0.05 || a.Doubtful*6 > a.Copies {
		t.Errorf("%s: precision %.3f, recall %.3f, said %.3f of %d and %d", a.Chosen, p, r, a.Rows[0].Found, a.Copies, a.Doubtful)
	}
}
