package advise

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/alike-dev/alike/internal/places"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/simjoin"
)

// writer makes texts of words that are as frequent as words are.
type writer struct {
	random *rand.Rand
	zipf   *rand.Zipf
	words  []string
}

func newWriter(seed uint64) *writer {
	r := rand.New(rand.NewPCG(seed, 1))
	w := &writer{random: r, zipf: rand.NewZipf(r, 1.1, 3, 4999)}
	for range 5000 {
		word := make([]byte, 2+r.IntN(8))
		for i := range word {
			word[i] = "etaoinshrdlucmfwypvbgkqjxz"[min(r.IntN(26), r.IntN(26))]
		}
		w.words = append(w.words, string(word))
	}
	return w
}

func (w *writer) text(words int) string {
	picked := make([]string, words)
	for i := range picked {
		picked[i] = w.words[w.zipf.Uint64()]
	}
	return strings.Join(picked, " ")
}

// noisy changes a share of the characters, and may cut the end.
func (w *writer) noisy(text string, rate float64) string {
	out := []byte(text)
	if w.random.IntN(2) == 0 {
		out = out[:len(out)*(6+w.random.IntN(4))/10]
	}
	for i := range out {
		if w.random.Float64() < rate {
			out[i] = byte('a' + w.random.IntN(26))
		}
	}
	return string(out)
}

// shares makes texts of which each has so many per cent of one of them.
func (w *writer) shares(kept []int) (texts []string) {
	base := strings.Fields(w.text(150))
	for _, share := range kept {
		own := strings.Fields(w.text(150))
		texts = append(texts, strings.Join(slices.Concat(base[:150*share/100], own[150*share/100:]), " "))
	}
	return texts
}

// corpusOf makes articles, a third of which have copies, after a beginning that all have.
func corpusOf(seed uint64, articles int, rate float64, boilerplate int) (texts []string, article []int) {
	w := newWriter(seed)
	start := w.text(boilerplate)
	for i := range articles {
		text := w.text(60 + w.random.IntN(120))
		copies := 1
		if i%3 == 0 && rate >= 0 {
			copies = 2 + i%2
		}
		for range copies {
			texts, article = append(texts, start+" "+w.noisy(text, max(rate, 0)*w.random.Float64())), append(article, i)
		}
	}
	return texts, article
}

func adviceOf(t testing.TB, texts []string, threads int) *Advice {
	t.Helper()
	full := adviceBy(t, texts, Options{Threads: threads})
	if brief := adviceBy(t, texts, Options{Threads: threads, Brief: true}); brief.Chosen != full.Chosen || brief.Reason != full.Reason {
		t.Errorf("in brief %s: %s; in full %s: %s", brief.Chosen, brief.Reason, full.Chosen, full.Reason)
	}
	return full
}

func adviceBy(t testing.TB, texts []string, o Options) *Advice {
	t.Helper()
	c := NewCollector(0)
	for i, text := range texts {
		c.Add(fmt.Append(nil, i), []byte(text), uint64(i))
	}
	a, err := Of(context.Background(), c.Sample(1), o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// sampleOfTexts returns a sample of all texts, in their order.
func sampleOfTexts(texts [][]byte) *Sample {
	s := &Sample{kept: 1, scanned: 1, Whole: float64(len(texts)), Distinct: float64(len(texts))}
	for _, text := range texts {
		s.Documents = append(s.Documents, Document{Text: text})
	}
	return s
}

// found returns how many pairs a recipe finds, how many of them are of one article, and how many there are.
func found(t testing.TB, texts []string, article []int, r Recipe) (pairs, right, all int) {
	t.Helper()
	as := make([][]byte, len(texts))
	for i, text := range texts {
		as[i] = []byte(text)
	}
	sets, err := setsOf(context.Background(), as, cut{tokens: r.Tokens, n: r.N, strip: r.StripDiacritics}, 2)
	if err == nil && (r.Rare || r.Rarest) {
		err = keepRare(context.Background(), sampleOfTexts(as), cut{tokens: r.Tokens, n: r.N, rare: r.Rare, rarest: r.Rarest, strip: r.StripDiacritics}, sets, 2)
	}
	if err != nil {
		t.Fatal(err)
	}
	limit, err := measure.NewThreshold(r.Measure, r.Threshold)
	if err != nil {
		t.Fatal(err)
	}
	matches := slices.Collect(simjoin.SelfJoin(sets, limit))
	if r.ThirdTexts {
		matches = leftByThirds(texts, matches, r.Measure)
	}
	for _, m := range matches {
		pairs++
		if article[m.A] == article[m.B] {
			right++
		}
	}
	for i, a := range article {
		for _, b := range article[i+1:] {
			if a == b {
				all++
			}
		}
	}
	return pairs, right, all
}

// leftByThirds asks third texts about all pairs, as a run does.
func leftByThirds(texts []string, matches []measure.Match, by measure.Measure) (left []measure.Match) {
	related := map[uint64][]measure.Match{}
	for _, m := range matches {
		related[m.A], related[m.B] = append(related[m.A], m), append(related[m.B], m)
	}
	alike := func(m measure.Match) float64 { return by.Similarity(m.Intersection, m.SizeA, m.SizeB) }
	for _, of := range related {
		slices.SortStableFunc(of, func(m, n measure.Match) int { return cmp.Compare(alike(n), alike(m)) })
	}
	reader := places.NewReader(shingle.Options{})
	read := make([]*places.Text, len(texts))
	for i, text := range texts {
		read[i] = reader.Read([]byte(text))
	}
	var judge places.Judge
	for _, m := range matches {
		more := 0
		if judge.Doubts(read[m.A], read[m.B]) {
			for _, of := range []uint64{m.A, m.B} {
				n := 0
				for _, k := range related[of] {
					third := k.A + k.B - of
					if third == m.A+m.B-of || n == places.ThirdsMost {
						continue
					}
					n++
					if more--; judge.Contradicts(read[of], read[third]) {
						more += 2
					}
				}
			}
		}
		if more <= 0 {
			left = append(left, m)
		}
	}
	return left
}

// TestTextsOfTemplatesAreNoCopies has reports that fill sentences of their subject with other names and numbers: most
// sentences of a report are in many others of the subject.
func TestTextsOfTemplatesAreNoCopies(t *testing.T) {
	for subjects, each := range map[int]int{6: 36, 24: 25} {
		if a := adviceOf(t, reports(subjects, each*subjects), 2); a.Chosen != Default {
			t.Errorf("%d subjects of %d reports: %s: %s", subjects, each, a.Chosen, a.Reason)
		}
	}
}

// reports fills the sentences of subjects.
func reports(subjects, n int) (texts []string) {
	w := newWriter(11)
	sentences := make([][]string, subjects) // by subject; %s is a word of the report's own
	for subject := range sentences {
		for range 10 {
			sentences[subject] = append(sentences[subject], strings.Replace(w.text(14), " ", " %s ", 2))
		}
	}
	for i := range n {
		var parts []string
		for _, s := range sentences[i%subjects] {
			if w.random.IntN(10) < 8 {
				parts = append(parts, fmt.Sprintf(s, w.text(1), fmt.Sprint(w.random.IntN(10_000))))
			}
		}
		texts = append(texts, strings.Join(parts, ". "))
	}
	return texts
}

func TestNoisyCopiesAreFoundAndEstimatesHold(t *testing.T) {
	for _, c := range []struct {
		name        string
		rate        float64
		boilerplate int
		recall      float64
	}{{"noise", 0.12, 0, 0.9}, {"boilerplate", 0.06, 150, 0.85}} {
		t.Run(c.name, func(t *testing.T) {
			texts, article := corpusOf(7, 180, c.rate, c.boilerplate)
			a := adviceOf(t, texts, 2)
			if !a.Told || a.Chosen == Default {
				t.Fatalf("%s: %s", a.Chosen, a.Reason)
			}
			pairs, right, all := found(t, texts, article, a.Chosen)
			precision, recall := float64(right)/float64(pairs), float64(right)/float64(all)
			if precision < 0.97 || recall < c.recall {
				t.Errorf("%s: precision %.3f, recall %.3f", a.Chosen, precision, recall)
			}
			row := a.Rows[0]
			if wrong := 1 - precision; wrong < row.WrongFrom || wrong > row.WrongTo {
				t.Errorf("%.3f are wrong, %.3f to %.3f expected", wrong, row.WrongFrom, row.WrongTo)
			}
			if n := float64(pairs); row.Pairs < 0.95*n || row.Pairs > 1.05*n {
				t.Errorf("%d pairs, %.0f expected", pairs, row.Pairs)
			}
		})
	}
}

func TestWhereNothingIsCopiedTheDefaultStays(t *testing.T) {
	for _, boilerplate := range []int{0, 150} {
		texts, _ := corpusOf(3, 250, -1, boilerplate)
		if a := adviceOf(t, texts, 2); a.Told || a.Chosen != Default || !strings.Contains(a.Reason, "too few") {
			t.Errorf("%s: %s", a.Chosen, a.Reason)
		}
	}
	for _, texts := range [][]string{nil, {"one text"}, {"", ""}, {"short", "shore"}} {
		if a := adviceOf(t, texts, 1); a.Told || a.Chosen != Default {
			t.Errorf("%q: %s: %s", texts, a.Chosen, a.Reason)
		}
	}
}

// Texts that share anything between nothing and all with others have no threshold that parts copies from others.
func TestWhereTextsShareMoreAndLessTheDefaultStays(t *testing.T) {
	w := newWriter(5)
	var texts []string
	for range 60 {
		texts = append(texts, w.shares([]int{100, 80, 60, 50, 40})...)
	}
	if a := adviceOf(t, texts, 2); a.Told || a.Chosen != Default || !strings.Contains(a.Reason, "no threshold parts them") {
		t.Errorf("%s: %s", a.Chosen, a.Reason)
	}
}

// TestLessIsRemovedThanListed has noisy copies, and texts of which a half is that of another one: some are expected to be taken
// for copies.
func TestLessIsRemovedThanListed(t *testing.T) {
	texts, _ := corpusOf(7, 120, 0.08, 0)
	w := newWriter(5)
	for range 60 {
		texts = append(texts, w.shares([]int{100, 50})...)
	}
	listed, removed := adviceBy(t, texts, Options{Threads: 2}), adviceBy(t, texts, Options{Threads: 2, Removes: true})
	if first := listed.Rows[0]; listed.Chosen == Default || first.Wrong <= wrongRemoved {
		t.Fatalf("%s, of whose pairs %.3f are wrong: that says nothing of what is removed", listed.Chosen, first.Wrong)
	}
	first := removed.Rows[0]
	if removed.Chosen == Default || removed.Chosen != first.Recipe || first.Wrong > wrongRemoved || !strings.Contains(removed.Reason, "lost") {
		t.Errorf("%s, of whose pairs %.3f are wrong: %s", removed.Chosen, first.Wrong, removed.Reason)
	}
}

func TestTheAdviceDependsOnTextsAlone(t *testing.T) {
	texts, _ := corpusOf(11, 100, 0.1, 0)
	want := adviceOf(t, texts, 1)
	slices.Reverse(texts)
	got := adviceOf(t, append(texts, texts[:20]...), 3)
	if got.Chosen != want.Chosen || got.Copies != want.Copies || got.Doubtful != want.Doubtful || !reflect.DeepEqual(got.Rows, want.Rows) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

func TestPairsNearTheThresholdAreShown(t *testing.T) {
	texts, _ := corpusOf(7, 150, 0.12, 0)
	a := adviceOf(t, texts, 2)
	above, below := a.Near(3)
	if len(above) == 0 {
		t.Fatalf("%d above, %d below", len(above), len(below))
	}
	for _, p := range above {
		if p.Similarity < a.Chosen.Threshold || p.Similarity > a.Chosen.Threshold+nearBy || string(p.TextA) != texts[atoi(p.A)] {
			t.Errorf("%+v", p)
		}
	}
	for _, p := range below {
		if p.Similarity >= a.Chosen.Threshold {
			t.Errorf("%+v", p)
		}
	}
}

func atoi(s string) (n int) {
	_, _ = fmt.Sscan(s, &n)
	return n
}

// A sample of a larger corpus has the same texts in whatever order they come, and stands for about as many pairs.
func TestALargeCorpusIsJudgedByASample(t *testing.T) {
	texts, _ := corpusOf(13, 700, 0.05, 0)
	whole := adviceOf(t, texts, 2)
	sample := func(texts []string) *Sample {
		c := NewCollector(bytesLeast * memoryEach)
		for i, text := range texts {
			c.Add(fmt.Append(nil, i), []byte(text), uint64(i))
		}
		return c.Sample(1)
	}
	s := sample(texts)
	if len(s.Documents) == 0 || len(s.Documents) > len(texts)*2/3 {
		t.Fatalf("%d documents of %d", len(s.Documents), len(texts))
	}
	slices.Reverse(texts)
	for i, d := range sample(texts).Documents {
		if string(d.Text) != string(s.Documents[i].Text) {
			t.Fatal("the order of the input changes the sample")
		}
	}
	a, err := Of(context.Background(), s, Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	if a.Told != whole.Told || a.Rows[0].Pairs < 0.7*whole.Rows[0].Pairs || a.Rows[0].Pairs > 1.4*whole.Rows[0].Pairs {
		t.Errorf("%v: %.0f pairs; of the whole %v: %.0f", a.Told, a.Rows[0].Pairs, whole.Told, whole.Rows[0].Pairs)
	}
}

// TestARecipeThatIsSurelyRightNeedNotFindMost, if it finds much more than the default; nor one as right as somebody asked for.
func TestARecipeThatIsSurelyRightNeedNotFindMost(t *testing.T) {
	some := weights{copies: 100, allCopies: 100, doubtful: 50, allDoubtful: 50}
	for name, c := range map[string]struct {
		first, byDefault Row
		chosen           bool
		precision        float64
	}{
		"sure":                         {Row{Wrong: 0.01, unsure: 0.03, Found: 0.5}, Row{Found: 0.1}, true, 0},
		"no better":                    {Row{Wrong: 0.01, unsure: 0.03, Found: 0.5}, Row{Found: 0.4}, false, 0},
		"perhaps wrong":                {Row{Wrong: 0.01, unsure: 0.09, Found: 0.5}, Row{Found: 0.1}, false, 0},
		"perhaps wrong, and asked for": {Row{Wrong: 0.01, unsure: 0.09, Found: 0.5}, Row{Found: 0.1}, true, 0.98},
		"perhaps wrong, and finds all": {Row{Wrong: 0.05, unsure: 0.09, Found: 0.9}, Row{Found: 0.1}, true, 0},
	} {
		of := [2]Row{c.first, c.byDefault}
		for i := range of {
			of[i].F1, of[i].allowed = fMeasure(1-of[i].Wrong, of[i].Found, 1), true
			chosenBy(&of[i], Options{Precision: c.precision})
		}
		of[0].Recipe = Recipe{Tokens: Default.Tokens, N: 2}
		a := &Advice{Chosen: Default, Rows: of[:]}
		if a.decide(some, Options{Precision: c.precision}, c.precision > 0); a.Told != c.chosen {
			t.Errorf("%s: %v: %s", name, a.Told, a.Reason)
		}
	}
}

// TestOfFewPairsLittleIsKnown: three right pairs do not say that all are right, and no pairs say nothing.
func TestOfFewPairsLittleIsKnown(t *testing.T) {
	for _, c := range []struct{ pairs, from, to, least, most float64 }{
		{0, 1, 1, 0, 1}, {3, 0, 0, 0, 0.4}, {3, 1, 1, 0.6, 1}, {1000, 0, 0, 0, unseen + 0.002}, {1000, 1, 1, 1 - unseen - 0.002, 1},
	} {
		least, most := widened(c.from, c.to, c.pairs)
		if wide := most >= c.most && least <= c.least; wide == (c.pairs == 1000) {
			t.Errorf("%v pairs, wrong by %v to %v: %.3f to %.3f", c.pairs, c.from, c.to, least, most)
		}
	}
}
