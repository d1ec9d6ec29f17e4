package advise

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// mistyped changes one in so many characters.
func mistyped(rng *rand.Rand, text string, one int) string {
	out := []byte(text)
	for i := range out {
		if rng.IntN(one) == 0 {
			out[i] = byte('a' + rng.IntN(26))
		}
	}
	return string(out)
}

// coverBySlots returns how much cover pairs of texts that share much have at most, by slots.
func coverBySlots(t *testing.T, texts []string) (most map[[2]string]float64) {
	t.Helper()
	c := NewCollector(0)
	for _, text := range texts {
		c.Add([]byte(text), []byte(text), 0)
	}
	s := c.Sample(1)
	w, pairs, err := witnessBy(t.Context(), s, false, 2)
	if err != nil {
		t.Fatal(err)
	}
	var likely []int
	for i, p := range pairs {
		if p.cover >= perhaps {
			likely = append(likely, i)
		}
	}
	slots, err := newThirds(w, pairs, likely).findSlots(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	judged, err := slots.judge(t.Context(), pairs, likely, 2)
	if err != nil {
		t.Fatal(err)
	}
	most = map[[2]string]float64{}
	for i, at := range likely {
		a, b := s.Documents[pairs[at].a].ID, s.Documents[pairs[at].b].ID
		most[[2]string{min(a, b), max(a, b)}] = judged[i]
	}
	return most
}

// Of texts that fill the slots of a template and have a noisy copy each, pairs of two texts are apart, and those of a text
// and its copy are not.
func TestSlotsTellTextsOfATemplateFromCopies(t *testing.T) {
	w, rng := newWriter(5), rand.New(rand.NewPCG(5, 5))
	var texts []string
	copyOf := map[string]string{}
	for _, text := range w.filled(1, 12, 9) {
		copied := mistyped(rng, text, 60)
		texts = append(texts, text, copied)
		copyOf[text], copyOf[copied] = copied, text
	}
	apart, others, copies := 0, 0, 0
	for p, most := range coverBySlots(t, texts) {
		if copyOf[p[0]] == p[1] {
			if copies++; most < 1 {
				t.Errorf("a copy is apart:\n%s\n%s", p[0], p[1])
			}
			continue
		}
		if others++; most < 1 {
			apart++
		}
	}
	if copies < 10 || others < 100 || apart < others*9/10 {
		t.Errorf("%d of %d pairs of texts are apart, and %d copies are not", apart, others, copies)
	}
}

// Where many copies of a text have much noise, next to none of their pairs are apart.
func TestSlotsDoNotTellCopiesFromCopies(t *testing.T) {
	w, rng := newWriter(6), rand.New(rand.NewPCG(6, 6))
	var texts []string
	for range 4 {
		text := w.text(150)
		for range 25 {
			texts = append(texts, mistyped(rng, text, 14))
		}
	}
	covers := coverBySlots(t, texts)
	apart := 0
	for _, most := range covers {
		if most < 1 {
			apart++
		}
	}
	if len(covers) < 1000 || apart*50 > len(covers) {
		t.Errorf("%d of %d pairs of copies are apart", apart, len(covers))
	}
}

// slowSharedPlaces compares each run with each.
func slowSharedPlaces(a, b []run) (has []uint32) {
	for _, x := range a {
		for int(x.at) >= len(has) {
			has = append(has, 0)
		}
		for _, y := range b {
			if x.feature == y.feature && (has[x.at] == 0 || has[x.at] > y.at+1) {
				has[x.at] = y.at + 1
			}
		}
	}
	return has
}

func TestSharedPlacesAreThoseOfEqualRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) (runs []run) {
			for at, c := range rapid.StringOfN(rapid.RuneFrom([]rune("abcdef")), 0, 30, -1).Draw(t, name) {
				runs = append(runs, run{feature: uint64(c), at: uint32(at)})
			}
			return sortedRuns(runs)
		}
		a, b := draw("a"), draw("b")
		got, want := sharedPlaces(a, b, []uint32{9, 9, 9}), slowSharedPlaces(a, b)
		if len(got) != len(want) {
			t.Fatalf("%v, want %v", got, want)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%v, want %v", got, want)
			}
		}
	})
}

func sortedRuns(runs []run) (sorted []run) {
	for f := uint64('a'); f <= 'f'; f++ {
		for _, r := range runs {
			if r.feature == f {
				sorted = append(sorted, r)
			}
		}
	}
	return sorted
}

// Of templates of a few texts each, some of which have copies, what few texts have finds the copies.
func TestTemplatesOfAFewTextsArePartedByWhatIsRarest(t *testing.T) {
	w, rng := newWriter(7), rand.New(rand.NewPCG(7, 7))
	own := w.filled(5, 16, 9)
	for range 80 {
		own = append(own, w.text(120))
	}
	var texts []string
	var article []int
	for i, text := range own {
		for range 1 + rng.IntN(3) {
			texts, article = append(texts, mistyped(rng, text, 50)), append(article, i)
		}
	}
	a := adviceOf(t, texts, 2)
	if !a.Chosen.Rarest {
		t.Fatalf("%s: %s", a.Chosen, a.Reason)
	}
	pairs, right, all := found(t, texts, article, a.Chosen)
	if right*100 < pairs*95 || 2*right < all {
		t.Errorf("%s finds %d pairs, of which %d are copies, of %d", a.Chosen, pairs, right, all)
	}
}

// Of eight copies with much noise, places where some differ from each other are no slots.
func TestNoiseInOnePlaceIsNoSlot(t *testing.T) {
	w, rng := newWriter(9), rand.New(rand.NewPCG(9, 9))
	var texts []string
	for range 40 {
		text := w.text(150)
		for range 8 {
			texts = append(texts, mistyped(rng, text, 11+rng.IntN(30)))
		}
	}
	apart, most := 0, coverBySlots(t, texts)
	for _, cover := range most {
		if cover < 1 {
			apart++
		}
	}
	if 100*apart > len(most) {
		t.Errorf("%d of %d pairs of copies look like texts of a template", apart, len(most))
	}
}
