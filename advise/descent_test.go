package advise

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/internal/places"
)

// filled makes texts of templates, in which one word in so many is each text's own.
func (w *writer) filled(templates, each, oneIn int) (texts []string) {
	for range templates {
		template := strings.Fields(w.text(150))
		slot := make([]bool, len(template))
		for i := range slot {
			slot[i] = w.random.IntN(oneIn) == 0
		}
		for range each {
			text := slices.Clone(template)
			for i := range text {
				if slot[i] {
					text[i] = w.words[w.random.IntN(len(w.words))]
				}
			}
			texts = append(texts, strings.Join(text, " "))
		}
	}
	return texts
}

// framed makes texts of their own within the beginning and the end that all texts of a template have.
func (w *writer) framed(templates, each int) (texts []string) {
	for range templates {
		start, end := w.text(100), w.text(100)
		for range each {
			texts = append(texts, start+" "+w.text(50)+" "+end)
		}
	}
	return texts
}

func TestTextsOfSmallTemplatesAreNoCopies(t *testing.T) {
	for _, each := range []int{2, 3, 8} {
		for name, texts := range map[string][]string{"words": newWriter(3).filled(120/each, each, 12), "passages": newWriter(4).framed(120/each, each)} {
			if name == "passages" && each == 2 { // which two articles that quote a third have too: see the rule for twos
				continue
			}
			if a := adviceOf(t, texts, 2); a.Chosen != Default {
				t.Errorf("%s of %d: %s: %s", name, each, a.Chosen, a.Reason)
			}
		}
	}
}

// Copies whose words were replaced look like texts of templates, but where there are three each has changes of its own.
func TestEditedCopiesAreNoTemplates(t *testing.T) {
	w := newWriter(8)
	var texts []string
	for i := range 150 {
		text := strings.Fields(w.text(150))
		for range 1 + i%4 {
			copied := slices.Clone(text)
			for k := range copied {
				if w.random.IntN(12) == 0 {
					copied[k] = w.words[w.random.IntN(len(w.words))]
				}
			}
			texts = append(texts, strings.Join(copied, " "))
		}
	}
	if a := adviceOf(t, texts, 2); a.Chosen == Default || a.Filled > 0 {
		t.Errorf("%s: %d filled: %s", a.Chosen, a.Filled, a.Reason)
	}
}

// slowGaps counts gaps from one run of all three texts to the next, by looking for each run in lists.
func slowGaps(texts [3][]uint64) (g gaps) {
	for i := range 2 {
		own, next, last := texts[i], texts[(i+1)%3], texts[(i+2)%3]
		shared := func(at int) bool { return slices.Contains(next, own[at]) && slices.Contains(last, own[at]) }
		goesOn := func(at int) bool {
			return at+1 < len(own) && shared(at) && shared(at+1) && slices.Index(next, own[at+1]) == slices.Index(next, own[at])+1
		}
		from, elsewhere := -1, 0
		for to, feature := range own {
			if !shared(to) || !goesOn(to) && (to == 0 || !goesOn(to-1)) {
				continue
			}
			inOrder := false
			if from >= 0 {
				a, b := slices.Index(next, own[from]), slices.Index(next, feature)
				inOrder = b > a && b-a <= to-from+gapMost
				if elsewhere++; !inOrder && elsewhere <= elsewhereMost {
					continue
				}
			}
			if elsewhere = 0; inOrder {
				alone := 0
				for _, f := range own[from+1 : to] {
					if !slices.Contains(next, f) && !slices.Contains(last, f) {
						alone++
					}
				}
				a, b := slices.Index(next, own[from]), slices.Index(next, feature)
				if alone > 0 {
					both := 0
					for _, f := range next[a+1 : b] {
						if slices.Contains(last, f) && !slices.Contains(own, f) {
							both++
						}
					}
					g.all += 1 + alone*gapLong/len(own)
					if places.HitShare*both >= b-a {
						g.bridged += 1 + alone*gapLong/len(own)
					}
				}
			}
			from = to
		}
	}
	return g
}

func TestGapsAreThoseOfASlowCount(t *testing.T) {
	var three triple
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		var texts [3][]uint64
		var runs [3][]run
		length, noise := rapid.IntRange(1, 300).Draw(t, "length"), rapid.IntRange(2, 20).Draw(t, "noise")
		for i := range texts {
			for k := range length {
				feature := uint64(k)
				switch random.IntN(noise) {
				case 0:
					feature = uint64(random.IntN(4 * length)) // a run of its own, or one from elsewhere
				case 1:
					continue
				}
				texts[i] = append(texts[i], feature)
				runs[i] = append(runs[i], run{feature, uint32(len(texts[i]) - 1), 0})
			}
			slices.SortFunc(runs[i], func(a, b run) int { return cmp.Or(cmp.Compare(a.feature, b.feature), cmp.Compare(a.at, b.at)) })
		}
		if got, want := three.compare(runs), slowGaps(texts); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	})
}

func TestWordsThatStandForOthersAreReplaced(t *testing.T) {
	words := strings.Fields(newWriter(2).text(200))
	change := func(every int, to func(string) string) string {
		changed := slices.Clone(words)
		for i := every; i < len(changed); i += every {
			changed[i] = to(changed[i])
		}
		return strings.Join(changed, " ")
	}
	text := strings.Join(words, " ")
	for _, c := range []struct {
		name string
		text string
		want bool
	}{
		{"the same", text, false},
		{"other words", change(15, func(string) string { return "elsewhere" }), true},
		{"other numbers", change(15, func(s string) string { return fmt.Sprint(len(s), "417") }), true},
		{"a letter wrong", change(15, func(s string) string { return s + "x" }), false},
		{"few others", change(90, func(string) string { return "elsewhere" }), false},
		{"cut", strings.Join(words[:90], " "), false},
	} {
		if got := newContexts(reading(false)).replaced([]byte(text), []byte(c.text)); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
