package browsertest

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/alike-dev/alike/advise"
	"github.com/alike-dev/alike/decontaminate"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/linkage"
	"github.com/alike-dev/alike/passage"
	"github.com/alike-dev/alike/report"
)

// written writes a page, and returns its address and size.
func written(t *testing.T, write func(io.Writer) error) (address string, size int64) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := write(file); err != nil {
		t.Fatal(err)
	}
	at, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return "file://" + path, at.Size()
}

// listed has pairs whose names, sources, fields and texts are markup.
func listed(t *testing.T) *report.Found {
	f := report.NewFound(report.FoundOf{
		Title: "of similar documents", Decided: "Pairs are listed from a similarity of 0.5 on.", Value: "similarity", Of: "documents", By: "language", Texts: true,
		Header: []string{"a", "b", "match"},
	})
	hostile := markup(t)
	for i, h := range hostile {
		f.Add([]byte(h), fmt.Appendf(nil, "copy of %d", i), 0.5+float64(i)/float64(2*len(hostile)), true)
		if i%3 > 0 {
			f.Add([]byte(h), []byte(hostile[i-1]), 0.75, true)
		}
	}
	f.Settle()
	for i, h := range hostile {
		for j, name := range []string{h, fmt.Sprintf("copy of %d", i)} {
			if doc, _, ok := f.Find(false, []byte(name)); ok {
				f.Describe(doc, hostile[i%5], []byte(hostile[i%7]), fmt.Appendf(nil, "The school stays closed. %s %s %d", h, []string{"Old", "New"}[j], i))
			}
		}
	}
	return f
}

// removed is a page of a removal, all of whose names and texts are markup.
func removed(t *testing.T) func(io.Writer) error {
	r := &dedup.Report{Summary: dedup.Summary{Read: 900, Kept: 700, Removed: 200, Clusters: 150, Threshold: 0.8, CandidateMethod: "lsh", Bands: 16, Rows: 6}, Recall: []float64{0, 0.5, 1}}
	r.Similarities[45], r.Copies, r.Sizes = 150, 50, []dedup.ReportSizes{{Least: 2, Most: 3, Clusters: 150}}
	r.Sampled = 500
	for some := range slices.Chunk(markup(t), 10) {
		h := some[0]
		r.Repeated = append(r.Repeated, passage.Repeated{Text: []byte("All rights are reserved by " + h), Tokens: 12, Texts: 30})
		e := dedup.ReportExample{Removed: h, Kept: some[len(some)-1], Similarity: 0.9, RemovedText: []byte("The school stays closed. Old " + h), KeptText: []byte("The school stays closed. New " + h)}
		c := dedup.ReportSuspect{Size: 20, Least: e}
		for _, name := range some {
			c.Members = append(c.Members, dedup.ReportMember{Name: name, Similarity: 0.9})
		}
		r.Examples, r.Suspicious, r.Inputs = append(r.Examples, e), append(r.Suspicious, c), append(r.Inputs, dedup.ReportInput{Name: h, Documents: 9, Removed: 2})
	}
	return func(w io.Writer) error { return report.Dedup(w, r) }
}

// explained is the page of a join whose values are markup.
func explained(t *testing.T) func(io.Writer) error {
	dir := t.TempDir()
	var tables [2]string
	for side := range tables {
		tables[side] = filepath.Join(dir, []string{"left.csv", "right.csv"}[side])
		file, err := os.Create(tables[side])
		if err != nil {
			t.Fatal(err)
		}
		rows := [][]string{{"id", "name", "place"}}
		for i, h := range markup(t) {
			rows = append(rows, []string{fmt.Sprintf("%d %s", i, h), fmt.Sprintf("school number %d %s %s", i, []string{"old", "new"}[side], h), h})
		}
		if err := cmp.Or(csv.NewWriter(file).WriteAll(rows), file.Close()); err != nil {
			t.Fatal(err)
		}
	}
	r, err := linkage.Join(t.Context(), linkage.Config{Left: tables[0], Right: tables[1], Evidence: 100})
	if err != nil {
		t.Fatal(err)
	}
	return func(w io.Writer) error {
		return report.Pairs(w, r, []string{"left.csv", markup(t)[0]}, []string{"left_id", "right_id", "match"})
	}
}

// contaminated is the page of a decontamination, all of whose names and texts are markup.
func contaminated(t *testing.T) func(io.Writer) error {
	p := &decontaminate.Page{Summary: decontaminate.Summary{Read: 900, Kept: 700}}
	for i, h := range markup(t) {
		p.Details.Sets = append(p.Details.Sets, decontaminate.Set{Set: h, Items: 9, Found: i % 9})
		e := decontaminate.Example{Document: h, Item: h, Set: h, Part: "question", Score: 0.9, ItemText: []byte("The school stays closed. Old " + h), Excerpt: []byte(h + "The school stays closed. New " + h), Lead: len(h)}
		p.Examples = append(p.Examples, e)
	}
	return func(w io.Writer) error { return report.Contamination(w, p) }
}

// advised is the page of an advice about texts with markup.
func advised(t *testing.T) func(io.Writer) error {
	random, hostile, c := rand.New(rand.NewPCG(1, 2)), markup(t), advise.NewCollector(0)
	for i := range 80 {
		text := make([]byte, 700)
		for j := range text {
			text[j] = "etaoin shrdlu"[random.IntN(13)]
		}
		for copies := range 2 {
			c.Add(fmt.Appendf(nil, "%d-%d%s", i, copies, hostile[i]), append([]byte(hostile[2*i]+" "), text...), 0)
			for range 40 {
				text[random.IntN(len(text))] = 'x'
			}
		}
	}
	a, err := advise.Of(t.Context(), c.Sample(1), advise.Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	return func(w io.Writer) error { return report.Advice(w, a, "--tokens chars") }
}

// Pages that are one file fit every window, and do nothing that their policies forbid, whatever they show.
func TestPagesOfResultsCanBeSeenAndHeard(t *testing.T) {
	b := open(t)
	axe, err := os.ReadFile(os.Getenv("ALIKE_AXE"))
	if err != nil {
		t.Log("axe-core is not asked: ALIKE_AXE does not name its axe.min.js")
	}
	for name, write := range map[string]func(io.Writer) error{"pairs": listed(t).Write, "removal": removed(t), "explained": explained(t), "contaminated": contaminated(t), "advised": advised(t)} {
		address, _ := written(t, write)
		for _, l := range append(looks, look{name: "print", width: 800, print: true}) {
			b.as(l)
			b.do(chromedp.Navigate(address), chromedp.WaitReady("details summary"), chromedp.Click("details summary"))
			what := name + "-" + l.name
			if over := value[int](b, `document.documentElement.scrollWidth - window.innerWidth`); over > 0 {
				t.Errorf("%s: %d pixels too wide", what, over)
			}
			if n := value[int](b, `document.querySelectorAll('details[open] mark, #pair mark').length`); n == 0 {
				t.Errorf("%s: what was opened shows no difference", what)
			}
			b.quiet(what)
			b.picture(what)
			if len(axe) > 0 {
				b.accessible(what, string(axe))
			}
		}
	}
}

// The slider moves by keys, and verdicts are saved as a table that serves as truth.
func TestThePageOfPairsTakesVerdicts(t *testing.T) {
	address, _ := written(t, listed(t).Write)
	least, n := 0, len(markup(t))
	for i := range n {
		if 0.5+float64(i)/float64(2*n) >= 0.6 {
			least++
		}
		if i%3 > 0 {
			least++
		}
	}
	b := open(t)
	downloads := t.TempDir()
	b.do(browser.SetDownloadBehavior(browser.SetDownloadBehaviorBehaviorAllow).WithDownloadPath(downloads).WithEventsEnabled(true))
	b.do(chromedp.Navigate(address), chromedp.WaitReady("#rows tr"), chromedp.Focus("#least"))
	before := value[string](b, `document.querySelector('#says').textContent`)
	for range 20 {
		b.do(chromedp.KeyEvent(kb.ArrowRight))
	}
	if after := value[string](b, `document.querySelector('#says').textContent`); after == before || !strings.HasPrefix(after, fmt.Sprintf("0.600: %d pairs", least)) {
		t.Errorf("the slider says %q after %q", after, before)
	}
	b.do(chromedp.Click(`#rows tr:first-child button`), chromedp.Click("#save"))
	want := value[string](b, `data.header + data.rows.flatMap((r, i) => verdicts[i] ? [r.row + '1\n'] : []).join('')`)
	var saved []byte
	for range 100 {
		if saved, _ = os.ReadFile(filepath.Join(downloads, "labels.csv")); len(saved) > 0 {
			break
		}
		b.do(chromedp.Evaluate(`new Promise(r => setTimeout(r, 50))`, nil))
	}
	if string(saved) != want || !strings.HasPrefix(want, "a,b,match\n") || strings.Count(want, "\n") < 2 {
		t.Errorf("saved is %q, not %q", saved, want)
	}
	b.quiet("verdicts")
}

// A page of a million pairs stays below 5 MB.
func TestThePageOfAMillionPairsIsSmall(t *testing.T) {
	f := report.NewFound(report.FoundOf{Title: "of similar documents", Value: "similarity", Of: "documents", Header: []string{"a", "b", "match"}})
	for i := range 1_000_000 {
		f.Add(fmt.Appendf(nil, "old/part-%05d.jsonl:%d", i%1000, i/3), fmt.Appendf(nil, "new/part-%05d.jsonl:%d", i%997, i/2), 0.5+float64(i%50_000)/100_000, true)
	}
	f.Settle()
	address, size := written(t, f.Write)
	if size > 5<<20 {
		t.Errorf("it has %d bytes", size)
	}
	b := open(t)
	b.do(chromedp.Navigate(address), chromedp.WaitReady("#rows tr"))
	opened := value[float64](b, `performance.getEntriesByType('navigation')[0].loadEventEnd`)
	t.Logf("%d bytes, loaded after %.0f ms", size, opened)
	if says := value[string](b, `document.querySelector('#says').textContent`); !strings.Contains(says, ": 1,000,000 pairs") {
		t.Errorf("it says %q", says)
	}
}
