package plant

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/simjoin"
)

// makeBase returns a base of made sentences: words of a vocabulary of 3 000,
// frequent ones more often, in texts of 20 sentences.
func makeBase(texts int) *Base {
	s := newSource(1, 99, 0)
	vocabulary := make([]string, 3000)
	for i := range vocabulary {
		var w []byte
		for range 1 + s.below(4) {
			w = append(w, "bcdfghklmnprstvz"[s.below(16)], "aeiou"[s.below(5)])
		}
		vocabulary[i] = string(w)
	}
	base := new(Base)
	for range texts {
		var text strings.Builder
		for range 20 {
			for i := range 5 + s.below(20) {
				if i > 0 {
					text.WriteByte(' ')
				}
				u := s.unit()
				text.WriteString(vocabulary[int(u*u*float64(len(vocabulary)))])
			}
			text.WriteString([]string{". ", "! ", ", \"so\". ", ".\n"}[s.below(4)])
		}
		base.Add([]byte(text.String()), false)
	}
	return base
}

func mustNew(t *testing.T, base *Base, o Options) *Corpus {
	t.Helper()
	c, err := New(base, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// documents makes the whole plan.
func documents(c *Corpus) (texts [][]byte, pairs []Pair) {
	m := c.NewMaker()
	for i := range c.Len() {
		texts = append(texts, m.AppendDocument(nil, i))
		pairs = m.AppendPairs(pairs, i)
	}
	return texts, pairs
}

// slowSet is the twin of the default features: 5-word shingles as strings.
func slowSet(text []byte) map[string]bool {
	words := strings.FieldsFunc(strings.ToLower(string(text)), func(r rune) bool {
		return !unicode.In(r, unicode.L, unicode.N, unicode.M)
	})
	set := make(map[string]bool)
	for i := range max(1, len(words)-4) {
		set[strings.Join(words[i:min(i+5, len(words))], " ")] = true
	}
	return set
}

var rich = Options{
	Documents: 3000, Seed: 3, Duplicates: 0.3, Chains: 0.3, MinWords: 30, MaxWords: 200,
	Edits: Edits{MaxRate: 0.05, Move: 0.2, Truncate: 0.2, Restyle: 0.2, Exact: 0.1},
}

func TestTheTruthIsRightAndWhole(t *testing.T) {
	c := mustNew(t, makeBase(300), rich)
	texts, pairs := documents(c)
	sets := make([]map[string]bool, len(texts))
	for i, text := range texts {
		sets[i] = slowSet(text)
	}
	for i, p := range pairs {
		if i > 0 && (pairs[i-1].A > p.A || pairs[i-1].A == p.A && pairs[i-1].B >= p.B) || p.A >= p.B {
			t.Fatalf("pair %v is out of order", p)
		}
		inter := 0
		for s := range sets[p.A] {
			if sets[p.B][s] {
				inter++
			}
		}
		if union := len(sets[p.A]) + len(sets[p.B]) - inter; p.Inter != inter || p.Union != union {
			t.Fatalf("pair %v: the documents share %d of %d shingles", p, inter, union)
		}
	}
	// Every copy brings one pair or more; a family of n has n(n-1)/2.
	if copies := c.copiesBefore(c.Len()); len(pairs) <= copies {
		t.Errorf("%d pairs for %d copies", len(pairs), copies)
	}
}

func TestOriginalsAreNotAlike(t *testing.T) {
	// A base of only 6 000 sentences is drawn from 60 times over.
	c := mustNew(t, makeBase(300), rich)
	texts, pairs := documents(c)
	s, err := shingle.New(shingle.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sets := make([][]uint64, len(texts))
	for i, text := range texts {
		sets[i] = shingle.Set(s.AppendFeatures(nil, text))
	}
	planted := make(map[[2]int]bool)
	for _, p := range pairs {
		planted[[2]int{p.A, p.B}] = true
	}
	threshold, err := measure.NewThreshold(measure.Jaccard, 0.2)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for p := range simjoin.SelfJoin(sets, threshold) {
		found++
		if !planted[[2]int{int(p.A), int(p.B)}] {
			t.Errorf("documents %d and %d are of two families, and their similarity is %v", p.A, p.B, p.Similarity(measure.Jaccard))
		}
	}
	if found < len(pairs)/2 {
		t.Errorf("of %d planted pairs only %d reach 0.2", len(pairs), found)
	}
}

func TestADocumentDependsOnSeedAndPositionOnly(t *testing.T) {
	base := makeBase(50)
	c := mustNew(t, base, rich)
	texts, pairs := documents(c)
	other := mustNew(t, base, rich).NewMaker() // another maker, from back to front
	var back []Pair
	for i := c.Len() - 1; i >= 0; i-- {
		back = append(other.AppendPairs(nil, i), back...)
		if got := other.AppendDocument(nil, i); !bytes.Equal(got, texts[i]) {
			t.Fatalf("document %d is %q at first and %q later", i, texts[i], got)
		}
	}
	if !slices.Equal(pairs, back) {
		t.Error("pairs depend on the order of making")
	}
	o := rich
	o.Seed++
	if got := mustNew(t, base, o).NewMaker().AppendDocument(nil, 0); bytes.Equal(got, texts[0]) {
		t.Error("another seed makes the same document")
	}
}

func TestTheShareOfCopiesIsAsAsked(t *testing.T) {
	base := makeBase(20)
	for _, share := range []float64{0, 0.01, 0.1, 0.333, 0.9} {
		c := mustNew(t, base, Options{Documents: 10_000, Duplicates: share})
		copies, before := 0, 0
		var g group
		for i := range c.Len() {
			member := c.groupOf(i, &g)
			if int(g.parent[member]) == member {
				continue
			}
			copies++
			if c.place(i) < c.place(g.first+int(g.parent[member])) {
				before++
			}
		}
		if want := int(share * 10_000); copies < want-1 || copies > want+1 {
			t.Errorf("share %v: %d copies among 10000 documents", share, copies)
		}
		// Half of them stand before what they copy: 5 standard deviations.
		if d := 2*before - copies; d*d > 25*copies {
			t.Errorf("share %v: %d of %d copies stand before what they copy", share, before, copies)
		}
	}
}

func TestChainsAreCopiesOfCopies(t *testing.T) {
	base := makeBase(20)
	for _, chains := range []float64{0, 0.5, 1} {
		c := mustNew(t, base, Options{Documents: 64_000, Duplicates: 0.5, Chains: chains})
		copies, chained := 0, 0
		var g group
		for i := 0; i < c.Len(); i += groupSize {
			c.groupOf(i, &g)
			for m := g.originals; m < g.size; m++ {
				copies++
				if int(g.parent[m]) >= g.originals {
					chained++
				}
			}
		}
		// The first copy of a group of 32 has no copy to copy.
		if got, want := float64(chained)/float64(copies), chains*31/32; got < want-0.02 || got > want+0.02 {
			t.Errorf("chains %v: share %v of the copies are copies of copies", chains, got)
		}
	}
}

func TestTheSizeIsMet(t *testing.T) {
	base := makeBase(100)
	c := mustNew(t, base, Options{Bytes: 3_000_000})
	m := c.NewMaker()
	var size int
	for i := range c.Len() {
		size += len(m.AppendRecord(nil, i))
	}
	if size < 2_900_000 || size > 3_100_000 {
		t.Errorf("the plan has %d bytes, not 3000000", size)
	}
	// What is missing can be filled up with originals that are nowhere else.
	extra, last := m.AppendDocument(nil, c.Len()), m.AppendDocument(nil, c.Len()+1)
	if len(extra) == 0 || bytes.Equal(extra, last) {
		t.Error("beyond the plan there are no further documents")
	}
	if pairs := m.AppendPairs(nil, c.Len()); len(pairs) > 0 {
		t.Errorf("a document beyond the plan is in pairs %v", pairs)
	}
}

func TestOriginalsAreAsLongAsAsked(t *testing.T) {
	c := mustNew(t, makeBase(50), Options{Documents: 2000, MinWords: 10, MaxWords: 30})
	texts, _ := documents(c)
	counts := make(map[int]int)
	for _, text := range texts {
		counts[countWords(text)]++
	}
	for n := range counts {
		if n < 10 || n > 30 {
			t.Errorf("an original has %d words", n)
		}
	}
	if counts[10] == 0 || counts[30] == 0 || counts[10] < counts[30] {
		t.Errorf("lengths are spread as %v", counts)
	}
}

func TestTheDefaultLengthIsFilledIn(t *testing.T) {
	for o, want := range map[Options]span{
		{}:                           {100, 1600},
		{MinWords: 20}:               {20, 1600},
		{MinWords: 5000}:             {5000, 5000},
		{MaxWords: 50}:               {50, 50},
		{MaxWords: 500}:              {100, 500},
		{MinWords: 10, MaxWords: 30}: {10, 30},
	} {
		if got := o.words(); got != want {
			t.Errorf("%d-%d words are %v, not %v", o.MinWords, o.MaxWords, got, want)
		}
	}
}

func TestRecordsAreJSON(t *testing.T) {
	c := mustNew(t, makeBase(50), Options{Documents: 200})
	m := c.NewMaker()
	for i := range c.Len() {
		line := m.AppendRecord(nil, i)
		var record struct{ ID, Text string }
		if err := json.Unmarshal(line, &record); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if want := m.AppendDocument(nil, i); record.ID != fmt.Sprintf("d%08d", i) || record.Text != string(want) {
			t.Fatalf("line %q is not %d, %q", line, i, want)
		}
	}
}

func TestIDsHaveEightDigitsOrMore(t *testing.T) {
	for position, want := range map[int]string{0: "d00000000", 7: "d00000007", 99: "d00000099", 12_345_678: "d12345678", 123_456_789: "d123456789"} {
		if got := string(AppendID(nil, position)); got != want {
			t.Errorf("id of %d is %s, not %s", position, got, want)
		}
	}
}

func TestCutOriginalsAreTheBaseTexts(t *testing.T) {
	texts := []string{
		"One two three four five six. Seven eight nine ten eleven. Yes.\nTwelve thirteen fourteen.",
		"Zu kurz.",
		"吾輩は猫である。名前はまだ無い。どこで生れたか頓と見当がつかぬ。",
	}
	base := new(Base)
	for _, text := range texts {
		base.Add([]byte(text), true)
	}
	c := mustNew(t, base, Options{Cut: true, MinWords: 5, MaxWords: 9})
	all := strings.Join(texts, "")
	made, _ := documents(c)
	if len(made) != c.Len() || len(made) < 4 {
		t.Fatalf("%d documents: %q", len(made), made)
	}
	total := 0
	for _, text := range made {
		if !strings.Contains(all, string(text)) {
			t.Errorf("%q is not of the base", text)
		}
		total += len(text)
	}
	if want := len(texts[0]) + len(texts[2]); total < want-len(made) || total > want {
		t.Errorf("%d bytes of %d are used", total, want)
	}
	if _, err := New(base, Options{Cut: true, MinWords: 5, MaxWords: 9, Documents: 100}); err == nil {
		t.Error("100 documents are promised of a base of three texts")
	}
	if _, err := New(base, Options{Cut: true, MinWords: 500}); err == nil {
		t.Error("documents of 500 words are promised of a base of three short texts")
	}
}

func TestPoolsAreNotMixed(t *testing.T) {
	base := makeBase(20)
	base.NewPool()
	base.Add([]byte(strings.Repeat("吾輩は猫である。名前はまだ無い。どこで生れたか頓と見当がつかぬ。何でも薄暗いじめじめした所でニャーニャー泣いていた事だけは記憶している。", 1)), false)
	texts, _ := documents(mustNew(t, base, Options{Documents: 2000, Duplicates: 0.2, Edits: Edits{MinRate: 0.3, MaxRate: 0.3}}))
	japanese := 0
	for _, text := range texts {
		first := isSpaceless(text)
		if first {
			japanese++
		}
		for start, end := nextWord(text, 0); start < len(text); start, end = nextWord(text, end) {
			if isSpaceless(text[start:]) != first {
				t.Fatalf("languages are mixed in %q", text)
			}
		}
	}
	if japanese == 0 || japanese == len(texts) {
		t.Errorf("%d of %d documents are Japanese", japanese, len(texts))
	}
}

func TestWrongOptionsAreRefused(t *testing.T) {
	for name, o := range map[string]Options{
		"no size":           {},
		"two sizes":         {Bytes: 1, Documents: 1},
		"negative size":     {Bytes: -1},
		"only copies":       {Documents: 1, Duplicates: 1},
		"chains beyond 1":   {Documents: 1, Chains: 1.1},
		"no range of words": {Documents: 1, MinWords: 3, MaxWords: 2},
		"no range of rates": {Documents: 1, Edits: Edits{MinRate: 0.2, MaxRate: 0.1}},
		"negative rate":     {Documents: 1, Edits: Edits{Delete: -1}},
	} {
		if o.Validate() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := New(new(Base), Options{Documents: 1}); err == nil {
		t.Error("a corpus is made of no base texts")
	}
}

func TestThePermutationIsABijection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3000).Draw(t, "n")
		p := newPermutation(n, rapid.Uint64().Draw(t, "seed"))
		seen := make([]bool, n)
		for i := range n {
			j := p.at(i)
			if seen[j] || p.inverse(j) != i {
				t.Fatalf("%d goes to %d, which goes back to %d", i, j, p.inverse(j))
			}
			seen[j] = true
		}
	})
}
