package index

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/simhash"
)

func threshold(t testing.TB, line string) measure.Threshold {
	t.Helper()
	th, err := measure.ParseThreshold(line)
	if err != nil {
		t.Fatal(err)
	}
	return th
}

// recipes that decide in different ways, of short shingles that suit short texts.
func recipes(t testing.TB) map[string]recipe.Recipe {
	t.Helper()
	all := map[string]recipe.Recipe{}
	for name, o := range map[string]recipe.Options{
		"sets":     {Threshold: threshold(t, "jaccard>=0.6")},
		"estimate": {Threshold: threshold(t, "jaccard>=0.6"), Verify: recipe.Sketch},
		"votes":    {Threshold: threshold(t, "jaccard>=0.6"), Banding: lsh.Params{Bands: 30, Rows: 3, MinBands: 3}},
		"distance": {Sketch: recipe.SimHash(simhash.Default()), Distance: new(5)},
	} {
		o.Features = shingle.Options{N: 2}
		r, err := recipe.New(o)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = r
	}
	return all
}

func made(t testing.TB, o Options) *Index {
	t.Helper()
	x, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

// texter makes texts of which many are like an earlier one.
type texter struct {
	random *rand.Rand
	made   []string
}

func newTexter(seed uint64) *texter { return &texter{random: rand.New(rand.NewPCG(seed, 9))} }

func (m *texter) next() string {
	var words []string
	if n := len(m.made); n > 0 && m.random.IntN(3) > 0 {
		words = strings.Fields(m.made[m.random.IntN(n)])
		for range m.random.IntN(len(words)/3 + 1) {
			words[m.random.IntN(len(words))] = fmt.Sprint("w", m.random.IntN(500))
		}
	} else {
		for range m.random.IntN(40) {
			words = append(words, fmt.Sprint("w", m.random.IntN(500)))
		}
	}
	if len(words) == 0 {
		return ""
	}
	m.made = append(m.made, strings.Join(words, " "))
	return m.made[len(m.made)-1]
}

// twin is a slow index: it compares with every document.
type twin struct {
	options Options
	clock   int64
	docs    []twinDoc // that are kept, in order
	maker   *recipe.Maker
	sets    *recipe.SetMaker
	apart   int
	judge   judge
}

type twinDoc struct {
	id        string
	slot      uint64
	keys      []uint64
	set       []uint64
	signature []uint32
	time      int64
}

func newTwin(o Options) *twin {
	w := &twin{options: o.withDefaults(), clock: -1 << 62, maker: o.Recipe.NewMaker(recipe.MakerOptions{Signature: true}), sets: o.Recipe.NewSetMaker(), judge: newJudge(o.Recipe)}
	w.apart = w.judge.mostApart(o.Recipe, o.Recipe.Threshold())
	return w
}

func (w *twin) doc(d Document) twinDoc {
	w.maker.Make(d.Text)
	return twinDoc{
		id: string(d.ID), keys: w.maker.AppendKeys(nil), set: w.sets.AppendSet(nil, d.Text),
		signature: slices.Clone(w.maker.Signature()), time: d.Time.UnixNano(),
	}
}

// like tells whether documents share keys and are alike.
func (w *twin) like(a, b twinDoc) bool {
	if len(a.set) == 0 || len(b.set) == 0 || lsh.Agree(a.keys, b.keys) < w.options.Recipe.MinKeys() {
		return false
	}
	if age := int64(w.options.Window.Age); age > 0 && max(a.time-b.time, b.time-a.time) > age {
		return false
	}
	alike := false
	if w.options.Recipe.BySets() {
		_, alike = w.judge.comparer.Sets(a.set, b.set)
	} else {
		_, alike = w.judge.comparer.Signatures(a.signature, b.signature)
	}
	return alike
}

func (w *twin) check(d Document, slot uint64) (of string, isNew, added bool) {
	doc := w.doc(d)
	w.clock = max(w.clock, doc.time)
	late := w.options.Window.Age > 0 && w.clock-doc.time > int64(w.options.Window.Age+w.options.Window.Late)
	for i, k := range w.docs {
		if w.options.Window.Age > 0 && w.clock-k.time > int64(w.options.Window.Age+w.options.Window.Late) || !w.like(doc, k) {
			continue
		}
		if w.options.Window.Refresh && !late {
			w.docs = slices.Delete(w.docs, i, i+1)
			k.time, k.slot = max(k.time, doc.time), slot
			w.add(k)
		}
		return k.id, false, w.options.Window.Refresh && !late
	}
	if !late {
		doc.slot = slot
		w.add(doc)
	}
	return "", true, !late
}

func (w *twin) add(doc twinDoc) {
	w.docs = append(w.docs, doc)
	if most := w.options.Window.Docs; most > 0 && len(w.docs) > most {
		w.docs = w.docs[len(w.docs)-most:]
	}
}

func TestCheckDecidesAsComparingWithEveryDocumentDoes(t *testing.T) {
	windows := map[string]Window{
		"all":     {},
		"docs":    {Docs: 30},
		"refresh": {Docs: 30, Refresh: true},
		"age":     {Age: 40 * time.Second, Late: 10 * time.Second},
		"both":    {Age: 40 * time.Second, Late: 10 * time.Second, Docs: 25, Refresh: true},
	}
	for rname, r := range recipes(t) {
		for wname, w := range windows {
			t.Run(rname+" "+wname, func(t *testing.T) {
				t.Parallel()
				rapid.Check(t, func(t *rapid.T) {
					o := Options{Recipe: r, Window: w}
					x, err := New(o)
					if err != nil {
						t.Fatal(err)
					}
					twin, texts := newTwin(o), newTexter(rapid.Uint64().Draw(t, "seed"))
					b := x.NewCheck()
					now := int64(1_000_000)
					for range rapid.IntRange(1, 6).Draw(t, "batches") {
						b.Reset()
						var docs []Document
						for range rapid.IntRange(0, 20).Draw(t, "documents") {
							now += int64(texts.random.IntN(4))
							late := max(int64(texts.random.IntN(80))-20, 0) // some within what is allowed, some not
							d := Document{ID: fmt.Append(nil, len(docs), " of ", now), Text: []byte(texts.next()), Time: time.Unix(now-late, 0)}
							docs = append(docs, d)
							b.Add(d)
						}
						slot := x.view.Load().Next
						verdicts, err := x.Check(b, nil)
						if err != nil {
							t.Fatal(err)
						}
						for i, v := range verdicts {
							of, isNew, added := twin.check(docs[i], slot)
							if v.New != isNew || string(v.Of) != of {
								t.Fatalf("document %d %q: new %v of %q, want %v of %q", i, docs[i].Text, v.New, v.Of, isNew, of)
							}
							if added {
								slot++
							}
						}
						if got := x.view.Load().Next; got != slot {
							t.Fatalf("next slot is %d, want %d", got, slot)
						}
						if n := x.Stats().Documents; w.Age == 0 && n != int64(len(twin.docs)) || n != x.view.Load().live() {
							t.Fatalf("%d documents, want %d", n, len(twin.docs))
						}
					}
				})
			})
		}
	}
}

func TestSearchFindsWhatComparingWithEveryDocumentFinds(t *testing.T) {
	for rname, r := range recipes(t) {
		t.Run(rname, func(t *testing.T) {
			o := Options{Recipe: r, ByID: true, Keep: KeepText}
			x, twin, texts := made(t, o), newTwin(o), newTexter(7)
			b := x.NewBatch()
			for i := range 600 {
				if i%7 == 0 {
					b.Reset()
				}
				d := Document{ID: fmt.Append(nil, texts.random.IntN(500)), Text: []byte(texts.next())}
				if i%5 == 0 && i > 0 { // copies
					d.Text = []byte(texts.made[texts.random.IntN(min(4, len(texts.made)))])
				}
				b.Add(d)
				doc := twin.doc(d)
				twin.docs = slices.DeleteFunc(twin.docs, func(k twinDoc) bool { return k.id == doc.id })
				doc.slot = uint64(i)
				twin.docs = append(twin.docs, doc)
				if i%7 == 6 || i == 599 {
					if err := x.Add(b); err != nil {
						t.Fatal(err)
					}
				}
				if i%11 == 0 && i%7 == 6 {
					gone := twin.docs[texts.random.IntN(len(twin.docs))].id
					if n, err := x.Delete([]byte(gone)); n != 1 || err != nil {
						t.Fatalf("%d deleted: %v", n, err)
					}
					twin.docs = slices.DeleteFunc(twin.docs, func(k twinDoc) bool { return k.id == gone })
				}
			}
			if got := x.Stats().Documents; got != int64(len(twin.docs)) {
				t.Errorf("%d documents, want %d", got, len(twin.docs))
			}
			s, matches := x.NewSearcher(), 0
			for range 600 {
				text := []byte(texts.next())
				q := twin.doc(Document{Text: text})
				var want []string
				type hit struct {
					id         string
					slot       uint64
					similarity float64
				}
				var hits []hit
				for _, k := range twin.docs {
					if twin.like(q, k) {
						similarity := 0.0
						if r.BySets() {
							similarity, _ = twin.judge.comparer.Sets(q.set, k.set)
						} else {
							similarity, _ = twin.judge.comparer.Signatures(q.signature, k.signature)
						}
						hits = append(hits, hit{k.id, k.slot, similarity})
					}
				}
				slices.SortFunc(hits, func(a, b hit) int {
					return cmp.Or(cmp.Compare(b.similarity, a.similarity), cmp.Compare(a.slot, b.slot))
				})
				for _, h := range hits {
					want = append(want, fmt.Sprintf("%s %.6f", h.id, h.similarity))
				}
				found, err := s.Search(text, SearchOptions{})
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, m := range found {
					got = append(got, fmt.Sprintf("%s %.6f", m.ID, m.Similarity))
				}
				if !slices.Equal(got, want) {
					t.Errorf("%q:\n%q, want\n%q", text, got, want)
				}
				matches += len(want)
			}
			if matches < 100 {
				t.Errorf("only %d matches: the test does not look at enough", matches)
			}
		})
	}
}

func TestAPassageIsFoundInALongTextWithTheRecallPromised(t *testing.T) {
	r := recipes(t)["sets"]
	x := made(t, Options{Recipe: r, Containment: 16})
	random := rand.New(rand.NewPCG(1, 1))
	words := func(n int) string {
		var b strings.Builder
		for range n {
			fmt.Fprint(&b, "w", random.IntN(20_000), " ")
		}
		return b.String()
	}
	b := x.NewBatch()
	var texts []string
	for i := range 400 {
		texts = append(texts, words(2000))
		b.Add(Document{ID: fmt.Append(nil, i), Text: []byte(texts[i])})
	}
	if err := x.Add(b); err != nil {
		t.Fatal(err)
	}
	s, found := x.NewSearcher(), 0
	for i, text := range texts {
		w := strings.Fields(text)
		passage := strings.Join(w[500:600], " ") + " " + words(10) // 99 of 110 shingles
		matches, err := s.Search([]byte(passage), SearchOptions{Threshold: threshold(t, "containment>=0.8"), Passages: true})
		if err != nil && !errors.Is(err, ErrRecall) { // a query without any key, which is one in a thousand
			t.Fatal(err)
		}
		if len(matches) == 1 && string(matches[0].ID) == fmt.Sprint(i) {
			found++
			p := matches[0].Passages[0]
			if got, want := text[p.StartB:p.EndB], strings.Join(w[500:600], " "); !strings.Contains(got, want) || p.Tokens < 100 {
				t.Errorf("passage %q", got)
			}
		}
	}
	// 88 common shingles at the threshold, 99 here: 1 − (15/16)⁹⁹ = 0.998.
	if found < 396 {
		t.Errorf("found %d of 400", found)
	}
	if _, err := s.Search([]byte(words(20)), SearchOptions{Threshold: threshold(t, "containment>=0.8")}); err == nil || !strings.Contains(err.Error(), "longer query") {
		t.Errorf("a short query is not refused: %v", err)
	}
}

func TestBatchesOfManyGoroutinesDecideAsOneDoes(t *testing.T) {
	r := recipes(t)["sets"]
	texts := newTexter(3)
	var docs []Document
	for i := range 3000 {
		docs = append(docs, Document{ID: fmt.Append(nil, i), Text: []byte(texts.next())})
	}
	o := Options{Recipe: r, Window: Window{Docs: 500}}
	run := func(workers, size int) (lines []string) {
		x := made(t, o)
		var turn sync.Mutex
		ready := sync.NewCond(&turn)
		next, taken := 0, 0
		var group sync.WaitGroup
		for range workers {
			group.Go(func() {
				b := x.NewCheck()
				for {
					turn.Lock()
					from := taken
					taken = min(taken+size, len(docs))
					to := taken
					turn.Unlock()
					if from == to {
						return
					}
					b.Reset()
					for _, d := range docs[from:to] {
						b.Add(d)
					}
					turn.Lock()
					for next != from {
						ready.Wait()
					}
					verdicts, err := x.Check(b, nil)
					if err != nil {
						t.Error(err)
					}
					for _, v := range verdicts {
						lines = append(lines, fmt.Sprintf("%v %s %.6f", v.New, bytes.Clone(v.Of), v.Similarity))
					}
					next = to
					ready.Broadcast()
					turn.Unlock()
				}
			})
		}
		// Others search meanwhile.
		stop := make(chan struct{})
		var searchers sync.WaitGroup
		searchers.Go(func() {
			s := x.NewSearcher()
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := s.Search(docs[i%len(docs)].Text, SearchOptions{}); err != nil {
					t.Error(err)
				}
			}
		})
		group.Wait()
		close(stop)
		searchers.Wait()
		return lines
	}
	want := run(1, 1)
	if got := run(4, 17); !slices.Equal(got, want) {
		t.Error("verdicts differ")
	}
}

func TestAVerdictHasTheColumnsOfWhatItIsLike(t *testing.T) {
	for name, r := range recipes(t) {
		x := made(t, Options{Recipe: r, Columns: []string{"a", "b"}, Window: Window{Docs: 10, Refresh: true}})
		text := []byte("one two three four five six seven eight nine ten")
		b := x.NewCheck()
		b.Add(Document{ID: []byte("1"), Text: text, Columns: [][]byte{nil, []byte("first")}})
		b.Add(Document{ID: []byte("2"), Text: text, Columns: [][]byte{[]byte("second"), nil}}) // moves the first one
		verdicts, err := x.Check(b, nil)
		if err != nil {
			t.Fatal(err)
		}
		after, err := x.CheckOne(Document{ID: []byte("3"), Text: text})
		if err != nil {
			t.Fatal(err)
		}
		if verdicts[0].Columns != nil {
			t.Errorf("%s: a new document is like one with columns %q", name, verdicts[0].Columns)
		}
		for _, v := range []Verdict{verdicts[1], after} {
			if len(v.Columns) != 2 || v.Columns[0] != nil || string(v.Columns[1]) != "first" {
				t.Errorf("%s: like %s with columns %q", name, v.Of, v.Columns)
			}
		}
	}
}
