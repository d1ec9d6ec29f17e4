package contam

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// items are made up for these tests.
func items() []Item {
	row := func(id, question, passage string, answers ...string) Item {
		i := Item{ID: id, Set: "made", Question: []byte(question)}
		if passage != "" {
			i.Passage = []byte(passage)
		}
		for _, a := range answers {
			i.Rows = append(i.Rows, Row{id, []byte(a)})
		}
		return i
	}
	return []Item{
		row("cider", "A farmer's press yields 14 litres of cider from every crate of apples. He fills 6 crates on Monday and twice as many on Tuesday. How many litres of cider does he press in the two days?", "", "252 litres"),
		row("moss", "Which property of peat moss lets a bog keep rain water far above the level of the surrounding streams?", "", "Its hollow dead cells", "Its deep roots"),
		row("licence", licence+"\nWhich of these uses does the text above forbid to a shop that resells the program?", "", "None of them"),
		row("lagrange", lagrange+" What is the index of a subgroup of order 6 in a group of order 42?", "", "7"),
		row("shell", session+"\nWhich of the two files can every user of the machine overwrite?", "", "notes.md"),
		row("theorem", "State in plain words what the following claims.\n"+theorem, "", "Orders divide"),
		row("moon", "What is the largest moon of Neptune?", "", "Triton"),
		row("harbour", "What is the main point of the text?", "The harbour master counted the lanterns of the herring fleet every evening, and rang the chapel bell when one was missing from its place.", "Care for sailors"),
		row("talk", "Retell the talk below from the point of view of the porter.\n"+talk, "", "Nobody saw the parcel"),
		row("speech", speech+"\nRewrite the scene above in the present tense.", "", "She leans over"),
		row("tides", "What is the main point of the text?", "Two high tides a day are the rule on most coasts, yet some bays of the Gulf see one alone because their basin answers to the slower beat.", "Basins differ"),
	}
}

const (
	licence  = "Everyone who holds a copy of this program may run it, read it, change it and pass it on, at a price or for nothing, as long as this notice stands at the head of every file and no other party is said to have approved of the change."
	lagrange = "Let G be a finite group and let H be a subgroup of G. Then the order of H divides the order of G."
	theorem  = "Every continuous function from a closed ball to itself leaves some point where it is. The ball may have any number of dimensions."
	speech   = "She leaned over the counter of the ticket office. \"Has anyone handed in a grey parcel with a blue ribbon since noon?\" The porter shook his head and pointed to the shelf of lost umbrellas."
	talk     = "Porter: Did you leave the parcel on the night train or here in the hall?\nGuest: On the bench by the third window, under my grey hat.\nPorter: And has nobody but you seen it there since four?\nGuest: Only the man who sells the chestnuts."
	session  = "$ ls -l\n-rw-r--r-- 1 ada staff 812 Mar  3 09:14 plan.md\n-rw-rw-rw- 1 ada staff  77 Mar  3 09:20 notes.md"
)

var prose = []string{
	"The ferry was late again, and the baker had sold his last loaf before noon.", "Nobody minded the drizzle, least of all the gulls on the pier.",
	"She painted the gate a dark green and left it open to dry.", "A brass band practised the same march behind the school until dusk.",
	"The clock in the square had stopped at ten past four some years ago.", "He sorted the nails by length and put them into old tins.",
	"Two foxes crossed the allotments every night at about the same hour.", "The library smelled of wax, rain and paper.",
}

// around puts a text among other sentences.
func around(r *rand.Rand, s string) string {
	some := func() string {
		p := r.Perm(len(prose))
		return prose[p[0]] + " " + prose[p[1]] + " " + prose[p[2]]
	}
	return some() + "\n\n" + s + "\n\n" + some()
}

// screen scans documents, and returns what it finds in each.
func screen(t *testing.T, x *Index, docs []string) [][]Finding {
	t.Helper()
	s, f := x.NewScanner(), x.NewFrequencies()
	notes := make([][]byte, len(docs))
	for i, d := range docs {
		note, _ := s.Scan([]byte(d), nil)
		notes[i] = slices.Clone(note)
		if note != nil && !f.Add(note) {
			t.Fatal("a note is not whole")
		}
	}
	f.Documents = int64(len(docs))
	j := NewJudge(x, f, 0.75)
	found := make([][]Finding, len(docs))
	for i, note := range notes {
		if note == nil {
			continue
		}
		of, ok := j.Findings(note)
		if !ok {
			t.Fatal("a note is not whole")
		}
		found[i] = slices.Clone(of)
	}
	return found
}

func words8(s string, n int) string {
	var lines []string
	for w := range slices.Chunk(strings.Fields(s), n) {
		lines = append(lines, strings.Join(w, " "))
	}
	return strings.Join(lines, "\n")
}

var leaks = map[string]func(string) string{
	"as it is":     func(s string) string { return s },
	"short lines":  func(s string) string { return words8(s, 5) },
	"quoted lines": func(s string) string { return "> " + strings.ReplaceAll(words8(s, 6), "\n", "\n> ") },
	"capitals":     strings.ToUpper,
	"other marks": func(s string) string {
		return strings.NewReplacer("'", "\u2019", "?", " ?!", ",", " -", ".", ";").Replace(s)
	},
	"no marks": func(s string) string { return regexp.MustCompile(`[^\pL\pN]+`).ReplaceAllString(s, " ") },
	"full width": func(s string) string {
		return strings.Map(func(r rune) rune {
			if r > ' ' && r < 0x7f {
				return r + 0xfee0
			}
			return r
		}, s)
	},
	"accents":      func(s string) string { return strings.NewReplacer("e", "e\u0301", "o", "ö").Replace(s) },
	"soft hyphens": func(s string) string { return regexp.MustCompile(`(\pL{3})(\pL{3})`).ReplaceAllString(s, "$1\u00ad$2") },
	"numbered lines": func(s string) string {
		lines := strings.Split(words8(s, 9), "\n")
		for n := range lines {
			lines[n] = fmt.Sprintf("%3d  %s", n+41, lines[n])
		}
		return strings.Join(lines, "\n")
	},
	"subtitles": func(s string) string {
		lines := strings.Split(words8(s, 5), "\n")
		for n := range lines {
			lines[n] = fmt.Sprintf("%d\n00:01:%02d,120 --> 00:01:%02d,480\n%s\n", n+1, 2*n, 2*n+2, lines[n])
		}
		return strings.Join(lines, "\n")
	},
	"a sentence within": func(s string) string {
		w := strings.Fields(s)
		return strings.Join(w[:len(w)/2], " ") + "\n\n" + prose[3] + "\n\n" + strings.Join(w[len(w)/2:], " ")
	},
	"tags":         func(s string) string { return regexp.MustCompile(`(\S+)`).ReplaceAllString(s, `<b class="x">$1</b>`) },
	"markdown":     func(s string) string { return regexp.MustCompile(`(\S+)`).ReplaceAllString(s, `**$1**`) },
	"entities":     func(s string) string { return strings.NewReplacer("'", "&#39;", " ", "&nbsp;").Replace(s) },
	"commands":     func(s string) string { return regexp.MustCompile(`(\pL{5,})`).ReplaceAllString(s, `\emph{$1}`) },
	"cut end":      func(s string) string { w := strings.Fields(s); return strings.Join(w[:len(w)*94/100], " ") },
	"one word new": func(s string) string { w := strings.Fields(s); w[len(w)/2] = "quite"; return strings.Join(w, " ") },
}

func TestItemsAreFoundHoweverTheyAreWritten(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	x := NewIndex(items())
	for name, leak := range leaks {
		t.Run(name, func(t *testing.T) {
			leaked := append(items()[:6:6], items()[8:10]...)
			var docs []string
			for _, i := range leaked {
				docs = append(docs, around(r, leak(string(i.Question))))
			}
			for n, found := range screen(t, x, docs) {
				if len(found) == 0 || found[0].ID != leaked[n].ID {
					t.Errorf("%s: found %v in %q", leaked[n].ID, found, docs[n])
					continue
				}
				place := docs[n][found[0].Start:found[0].End]
				if whole := leak(string(leaked[n].Question)); len(place) > len(whole)+40 || len(place) < len(whole)/2 {
					t.Errorf("%s: the place is %q", leaked[n].ID, place)
				}
			}
		})
	}
}

func TestWhatAnItemOnlyQuotesIsNotTheItem(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	x := NewIndex(items())
	for _, quoted := range []string{licence, lagrange, theorem, session, talk, speech, string(items()[7].Passage), "Triton is the largest moon of Neptune, and was found in 1846."} {
		var docs []string
		for range 5 {
			docs = append(docs, around(r, quoted))
		}
		for n, found := range screen(t, x, docs) {
			if len(found) > 0 {
				t.Errorf("%s was found in %q", found[0].ID, docs[n])
			}
		}
	}
}

func TestAnswersArePartsOfTheirOwn(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	moss, harbour := items()[1], items()[7]
	docs := []string{
		around(r, string(moss.Question)), around(r, string(moss.Question)+"\nAnswer: its deep roots"), around(r, "Its hollow dead cells. "+string(moss.Question)),
		around(r, string(harbour.Passage)+" "+string(harbour.Question)), around(r, string(harbour.Question)),
		around(r, "What is the largest moon of Neptune?\nTriton"), around(r, "What is the largest moon of Neptune?"),
	}
	want := []string{"moss question", "moss question+answer", "moss question+answer", "harbour question", "", "moon question+answer", ""}
	for n, found := range screen(t, NewIndex(items()), docs) {
		got := ""
		if len(found) > 0 {
			got = found[0].ID + " " + found[0].Part()
		}
		if got != want[n] {
			t.Errorf("%q: %q, want %q", docs[n], got, want[n])
		}
	}
}

func TestNumbersOfLinesDoNotHideShortItems(t *testing.T) {
	const item = "Which weir on the Gudena holds most eels"
	x := NewIndex([]Item{{ID: "eels", Question: []byte(item + "?")}})
	for doc, want := range map[string]bool{
		item: true, "17 " + item: true, "It rained.\n  17  " + item + "\n  18  and rained.": true, "It rained.\r\n17 18 " + item + "?": true,
		"It rained on 17 " + item + "?": false, "It rained.\nx17 " + item + "?": false, "It rained, " + item + "?": false,
	} {
		if found := screen(t, x, []string{doc})[0]; len(found) > 0 != want {
			t.Errorf("%q: %d places", doc, len(found))
		}
	}
}

func TestItemsThatSeveralSetsHaveAreFoundWithoutTheirAnswers(t *testing.T) {
	question := items()[1].Question
	const (
		bog    = "A bog is a wetland that gathers peat over many centuries of slow growth."
		cells  = "Its hollow dead cells hold twenty times their own weight of water, as a sponge does."
		fibres = "The roots of heather draw it up from the gravel that lies deep below."
	)
	row := func(set, passage string, answers ...string) Item {
		i := Item{ID: set, Set: set, Question: question, Passage: []byte(passage)}
		for _, a := range answers {
			i.Rows = append(i.Rows, Row{set, []byte(a)})
		}
		return i
	}
	for _, c := range []struct {
		a, b Item
		want bool
	}{
		{row("a", "", cells), row("b", "", cells), true},
		{row("a", "", cells), row("b", "", fibres, strings.ToUpper(cells)), true},
		{row("a", "", cells), row("b", ""), true},
		{row("a", "", cells), row("b", bog, cells), true},
		{row("a", bog+bog, cells), row("b", bog, cells), false},
		{row("a", "", cells), row("b", "", fibres), false},
	} {
		found := screen(t, NewIndex([]Item{c.a, c.b}), []string{string(question)})[0]
		if len(found) > 0 != c.want {
			t.Errorf("%s and %s: %d places", c.a.Text(), c.b.Text(), len(found))
		}
	}
}

func TestAnAnswerThatIsAPartOfTheItemMustBeThere(t *testing.T) {
	const ask = "Why did the harbour master ring the bell of the chapel?"
	story := string(items()[7].Passage) + " " + strings.Join(prose, " ")
	row := func(set, answer string) Item {
		return Item{ID: set, Set: set, Question: []byte(story + "\n" + ask), Rows: []Row{{set, []byte(answer)}}}
	}
	const one, other = "To call the herring fleet home before the storm.", "Because a lantern was not in its place that evening."
	x := NewIndex([]Item{row("a", one), row("b", other)})
	for doc, want := range map[string]string{
		story: "", story + "\n" + ask: "question", story + "\n" + one: "question+answer", story + "\n" + ask + "\n" + one: "question+answer",
	} {
		got := ""
		if found := screen(t, x, []string{doc})[0]; len(found) > 0 {
			got = found[0].Part()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", doc[len(story):], got, want)
		}
	}
}

func TestAnItemThatRepeatsItsBeginningIsOnePlace(t *testing.T) {
	item := "Going into the last race of the year Ann has nine points. Every lap that she leads brings her two. Going into the last lap of it she leads Bob by a wheel and has led for six of them. How many points does she end with?"
	x := NewIndex([]Item{{ID: "race", Question: []byte(item)}})
	doc := prose[0] + " " + item + " " + prose[1] + " " + item
	found := screen(t, x, []string{doc})[0]
	if len(found) != 2 || doc[found[0].Start:found[0].End] != strings.TrimSuffix(item, "?") {
		t.Errorf("%+v", found)
	}
}

func TestWhatManyDocumentsHaveWeighsNothing(t *testing.T) {
	const template = "Read the report below with care, then choose the one statement that follows from it and mark its letter on the sheet that you were given at the door."
	x := NewIndex([]Item{{ID: "x", Question: []byte(template + " Eels leave the ponds of Jutland in September and swim for the Sargasso.")}})
	var docs []string
	for n := range 400 {
		docs = append(docs, fmt.Sprintf("%s %s %d", prose[n%len(prose)], template, n))
	}
	docs = append(docs, template+" Eels leave the ponds of Jutland in September and swim for the Sargasso.")
	for n, found := range screen(t, x, docs) {
		if is := n == len(docs)-1; is != (len(found) > 0) {
			t.Fatalf("document %d: %v", n, found)
		}
	}
}

func TestEachCopyInADocumentIsAPlace(t *testing.T) {
	q := string(items()[0].Question)
	doc := prose[0] + " " + q + " " + prose[1] + " " + q + " " + q
	found := screen(t, NewIndex(items()), []string{doc})[0]
	if len(found) != 3 {
		t.Fatalf("found %d of 3 places", len(found))
	}
	for _, f := range found {
		if got := doc[f.Start:f.End]; got != strings.TrimSuffix(q, "?") {
			t.Errorf("the place is %q", got)
		}
	}
}

func TestMarkupIsBlankInItsPlace(t *testing.T) {
	for _, c := range [][2]string{
		{"a <b>c</b> d", "a    c     d"}, {"1 < 2 and 3 > 2", "1 < 2 and 3 > 2"}, {"if a<b or c>d", "if a        d"}, {"<", "<"}, {"</", "</"}, {"<b", "<b"},
		{"x &amp; y &#39;z&#39; &; & B", "x       y      z      &; & B"}, {`\frac{1}{2}`, `     {1}{2}`}, {`a\nB\u2019c\nu`, `a  B      c   `}, {`\u20`, `  20`}, {`\n`, `  `}, {`a\`, `a\`}, {"<a <b> c", "<a     c"},
	} {
		var buf []byte
		in := []byte(c[0])
		if got := string(plain(&buf, in)); got != c[1] {
			t.Errorf("%q: %q, want %q", c[0], got, c[1])
		}
		if string(in) != c[0] {
			t.Errorf("%q was changed", c[0])
		}
	}
}

// TestAStretchHasTheWordsOfTheDocument compares words that are cut from a few blocks with those of the whole document.
func TestAStretchHasTheWordsOfTheDocument(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	x := NewIndex(items())
	pieces := []string{"the", "quick", "Straße", "e\u0301a", "日本語", "\n\n", ". ", "<b>", "ﬁne", "\xff", "зима", strings.Repeat("w", 5000), "½", " "}
	for range 60 {
		var doc []byte
		for range 1 + r.IntN(4000) {
			doc = append(append(doc, pieces[r.IntN(len(pieces))]...), " "[:r.IntN(2)]...)
		}
		s := x.NewScanner()
		a := newAnalyst()
		all := slices.Clone(a.cut(doc))
		text := plain(&s.analyst.buf, doc)
		s.look(text)
		s.stretch.init(s.analyst, s.blocks, text)
		for range 20 {
			from := r.IntN(len(all) + 1)
			to := min(from+r.IntN(200), len(all))
			got := s.stretch.open(from, to)
			want := make([]uint64, 0, to-from)
			for _, w := range all[from:to] {
				want = append(want, w.Hash)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("words %d to %d of %d differ", from, to, len(all))
			}
			if from < to {
				if start, end, _, _ := s.stretch.bytes(from, to); start != all[from].Start || end != all[to-1].End {
					t.Fatalf("words %d to %d are at %d to %d, not %d to %d", from, to, start, end, all[from].Start, all[to-1].End)
				}
			}
		}
	}
}

func TestSharesPassesWhateverMatches(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	var m matcher
	random := func(n int) (w []uint64) {
		for range n {
			w = append(w, r.Uint64N(12))
		}
		return w
	}
	for range 3000 {
		item, doc := random(4+r.IntN(30)), random(r.IntN(60))
		got := m.match(item, doc)
		if got.words > 0 && !m.shares(item, doc, got.words) {
			t.Fatalf("%v in %v: %d words match", item, doc, got.words)
		}
		if got.words > len(item) || got.from > got.to || got.to > len(doc) {
			t.Fatalf("%v in %v: %+v", item, doc, got)
		}
	}
}

func TestDamagedNotesAreNotBelieved(t *testing.T) {
	x := NewIndex(items())
	note, _ := x.NewScanner().Scan(items()[0].Question, nil)
	note = slices.Clone(note)
	if _, ok := x.Candidates(nil, note); !ok {
		t.Fatal("a note is refused")
	}
	for n := range note {
		_, ok := x.Candidates(nil, note[:n])
		if rest, grams := EachGram(note[:n], func(uint32) {}); ok && (!grams || len(rest) > 0) {
			t.Errorf("%d of %d bytes are believed", n, len(note))
		}
		flipped := slices.Clone(note)
		flipped[n] ^= 0xff
		x.Candidates(nil, flipped) // no panic
	}
}

func TestSentencesThatAsk(t *testing.T) {
	a := newAnalyst()
	for _, c := range [][2]string{
		{"Ann has 3.5 l. Bob has more. How much is there? Explain.", "How much is there"},
		{"Ann has some. Bob has more. The sum is", "Ann has some|The sum is"},
		{"Sum it up.\nEels leave the ponds. They swim far.", "Sum it up|They swim far"},
		{"Part 2\nAnn counts the eels", "Ann counts the eels"}, {"The sum of both is", "The sum of both is"}, {"Part 2\nSum up", "Sum up"},
		{"Which is it?\nA. one\nB. two", "Which is it"},
		{"Why? It rains on the old roof. So what will he do?", "So what will he do"},
		{"Sum it up.\nAnn: Where do eels go? Is it far?\nBob: To sea.\nAnn: And how far is that?", "Sum it up|Ann: And how far is that"},
		{"Ann: Where do eels go?\nBob: To sea.\nAnn: And so far?\nWhat does Ann ask first?", "What does Ann ask first"},
		{"“Where do eels go?” asked Ann.\nSay it in your words", "Where do eels go|Say it in your words"},
		{"Q: Where do eels go?\nA: To sea.", "Q: Where do eels go"},
		{"Ann asked: \"Where do eels go?\"\nWhat did she ask?", "What did she ask"},
	} {
		var i Item
		a.complete(&i, []byte(c[0]), 0)
		tokens := slices.Clone(a.cut(i.text))
		var got []string
		for _, s := range i.asking {
			got = append(got, string(i.text[tokens[s.from].Start:tokens[s.to-1].End]))
		}
		if strings.Join(got, "|") != c[1] {
			t.Errorf("%q: %q, want %q", c[0], got, c[1])
		}
	}
}

// A place that is met again and again is one place: an item of few words met anew with each of its first ones.
func TestAShortItemIsFoundOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	x := NewIndex([]Item{{ID: "vitamins", Set: "made", Question: []byte("The vitamins that are lost most readily in cooking are:"), Rows: []Row{{"vitamins", []byte("those of the B group and C")}}}})
	for _, d := range []string{"The vitamins that are lost most readily in cooking are:\nthose of the B group and C", "The vitamins that are lost most readily in cooking are"} {
		for n, found := range screen(t, x, []string{d, around(r, d)}) {
			if len(found) != 1 {
				t.Errorf("%q, document %d: found %+v", d, n, found)
			}
		}
	}
}

func BenchmarkScan(b *testing.B) {
	doc := []byte(strings.Repeat(strings.Join(prose, " ")+"\n", 40))
	s := NewIndex(items()).NewScanner()
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		s.Scan(doc, nil)
	}
}
