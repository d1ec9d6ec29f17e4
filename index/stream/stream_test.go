package stream_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/index/stream"
	"github.com/alike-dev/alike/internal/shareddata"
	"github.com/alike-dev/alike/internal/testsize"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/simjoin"
)

func newIndex(t testing.TB, o recipe.Options, w index.Window) *index.Index {
	t.Helper()
	var err error
	if o.Threshold, err = measure.ParseThreshold("jaccard>=0.8"); err != nil {
		t.Fatal(err)
	}
	r, err := recipe.New(o)
	if err != nil {
		t.Fatal(err)
	}
	x, err := index.New(index.Options{Recipe: r, Window: w})
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

// source returns standard input that reads from r.
func source(t testing.TB, r io.Reader, format corpus.Format) (corpus.Source, corpus.Options) {
	t.Helper()
	o := corpus.Options{Format: format, Stdin: r}
	sources, _, err := corpus.Find(context.Background(), []string{"-"}, o)
	if err != nil {
		t.Fatal(err)
	}
	return sources[0], o
}

// result is what a stream has written.
type result struct {
	stream.Summary
	out, dropped string
	skipped      []string
}

func run(t testing.TB, in string, format corpus.Format, c stream.Config) result {
	t.Helper()
	var out, dropped bytes.Buffer
	var r result
	c.Out, c.Duplicates = &out, &dropped
	c.Source, c.Corpus = source(t, strings.NewReader(in), format)
	c.OnSkip = func(p *corpus.Problem) error { r.skipped = append(r.skipped, p.Error()); return nil }
	var err error
	if r.Summary, err = stream.Run(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	r.out, r.dropped = out.String(), dropped.String()
	return r
}

// words is a text of n words from the i-th on.
func words(i, n int) string {
	var b strings.Builder
	for w := range n {
		fmt.Fprint(&b, "w", i+w, " ")
	}
	return b.String()
}

func TestWhatIsLikeAKeptRecordIsDropped(t *testing.T) {
	line := func(id, text, more string) string {
		return fmt.Sprintf("{\"id\": %q,  \"text\":%q%s}\r\n", id, text, more)
	}
	in := line("a", words(0, 50), "") +
		line("b", words(100, 50), `, "n":1`) +
		line("c", words(1, 50), "") + // 46 shingles each, 45 in common
		"\n" +
		"{broken\n" +
		line("d", words(100, 50)+"end", `,"n" : [1, {}] `) +
		line("e", "", "") +
		`{"id":"f","text":"` + words(200, 50) + `"}` // without a line end
	kept := line("a", words(0, 50), "") + line("b", words(100, 50), `, "n":1`) + line("e", "", "") + `{"id":"f","text":"` + words(200, 50) + `"}`
	r := run(t, in, corpus.JSONL, stream.Config{Index: newIndex(t, recipe.Options{}, index.Window{})})
	if r.out != kept {
		t.Errorf("kept\n%q, want\n%q", r.out, kept)
	}
	want := `{"id":"c","duplicate_of":"a","similarity":0.957447}` + "\n" + `{"id":"d","duplicate_of":"b","similarity":0.978723}` + "\n"
	if r.dropped != want {
		t.Errorf("dropped\n%s, want\n%s", r.dropped, want)
	}
	if want := (stream.Summary{Read: 7, Kept: 4, Dropped: 2, Skipped: 1}); r.Summary != want {
		t.Errorf("%+v, want %+v", r.Summary, want)
	}
	if len(r.skipped) != 1 || !strings.HasPrefix(r.skipped[0], "stdin.jsonl:5: ") {
		t.Errorf("skipped %q", r.skipped)
	}

	tagged := run(t, in, corpus.JSONL, stream.Config{Index: newIndex(t, recipe.Options{}, index.Window{}), Tag: true})
	var lines []map[string]any
	for _, l := range strings.Split(strings.TrimSpace(tagged.out), "\n") {
		var object map[string]any
		if err := json.Unmarshal([]byte(l), &object); err != nil {
			t.Fatalf("%s: %v", l, err)
		}
		lines = append(lines, object)
	}
	if len(lines) != 6 || lines[2]["duplicate_of"] != "a" || lines[3]["duplicate_of"] != "b" || lines[3]["n"] == nil || lines[0]["duplicate_of"] != nil {
		t.Errorf("tagged %v", lines)
	}
}

func TestTablesAndLinesPassToo(t *testing.T) {
	text := words(0, 30)
	for _, c := range []struct {
		format   corpus.Format
		in, want string
	}{
		{corpus.CSV, "id,text\n1,\"a \"\"b\"\"\n" + text + "\"\n2,\"a \"\"b\"\"\n" + text + "\"\n3,c d e f g\n", "id,text\n1,\"a \"\"b\"\"\n" + text + "\"\n3,c d e f g\n"},
		{corpus.TSV, "text\tid\n" + text + "\t1\n" + text + "\t2\n", "text\tid\n" + text + "\t1\n"},
		{corpus.Lines, text + "\n" + text + "\nother\n", text + "\nother\n"},
		{corpus.CSV, "id,text\n", "id,text\n"},
	} {
		r := run(t, c.in, c.format, stream.Config{Index: newIndex(t, recipe.Options{}, index.Window{})})
		if r.out != c.want {
			t.Errorf("%s: %q, want %q", c.format, r.out, c.want)
		}
	}
}

// A record is written before the next one has come.
func TestAKeptRecordIsThereAtOnce(t *testing.T) {
	in, feed := io.Pipe()
	result, out := io.Pipe()
	c := stream.Config{Index: newIndex(t, recipe.Options{}, index.Window{}), Out: out}
	c.Source, c.Corpus = source(t, in, corpus.Lines)
	done := make(chan error, 1)
	go func() {
		_, err := stream.Run(context.Background(), c)
		done <- err
	}()
	buffer := make([]byte, 100)
	for i := range 20 {
		line := fmt.Sprintf("line %d of a few words\n", i)
		if _, err := feed.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
		n, err := result.Read(buffer)
		if err != nil || string(buffer[:n]) != line {
			t.Fatalf("%q, %v", buffer[:n], err)
		}
	}
	_ = feed.Close()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestACancelledStreamEndsWhileItsProducerPauses(t *testing.T) {
	in, feed := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	written := make(chan struct{})
	c := stream.Config{Index: newIndex(t, recipe.Options{}, index.Window{}), Out: writerFunc(func(p []byte) (int, error) {
		close(written)
		return len(p), nil
	})}
	c.Source, c.Corpus = source(t, in, corpus.Lines)
	done := make(chan error, 1)
	go func() {
		_, err := stream.Run(ctx, c)
		done <- err
	}()
	if _, err := feed.Write([]byte("a line\n")); err != nil {
		t.Fatal(err)
	}
	<-written
	cancel()
	if err := <-done; err == nil {
		t.Error("no error")
	}
	_ = feed.Close() // ends the read that was left to itself
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestAnOutputThatFailsEndsTheStream(t *testing.T) {
	x := newIndex(t, recipe.Options{}, index.Window{})
	c := stream.Config{Index: x, Out: writerFunc(func([]byte) (int, error) { return 0, io.ErrClosedPipe })}
	c.Source, c.Corpus = source(t, strings.NewReader("a\nb\n"), corpus.Lines)
	if _, err := stream.Run(context.Background(), c); err == nil || !strings.Contains(err.Error(), "output") {
		t.Errorf("%v", err)
	}
	if n := x.Stats().Next; n != 0 {
		t.Errorf("%d documents were remembered that were not written", n)
	}
}

func TestTheResultDoesNotDependOnThreadsOrBlocks(t *testing.T) {
	var in strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&in, "{\"id\":%d,\"text\":%q,\"at\":%d}\n", i, words(i*i%900*3, 30), 1_000_000+i*7%5000)
	}
	window := index.Window{Age: 900 * time.Second, Late: 5000 * time.Second, Docs: 200, Refresh: true}
	var first result
	for i, threads := range []int{1, 3, 8} {
		c := stream.Config{Index: newIndex(t, recipe.Options{}, window), TimeField: "at", Threads: threads}
		c.Corpus.BlockSize = []int{0, 1000, 10_000}[i]
		r := run(t, in.String(), corpus.JSONL, c)
		if i == 0 {
			first = r
			if r.Dropped < 300 || r.Kept < 300 {
				t.Errorf("%+v: the test does not look at enough", r.Summary)
			}
		} else if r.out != first.out || r.dropped != first.dropped || r.Summary != first.Summary {
			t.Errorf("%d threads: %+v, want %+v", threads, r.Summary, first.Summary)
		}
	}
}

// The stories of 1987, one after the other by date, in a window of a week: what is dropped is
// what an exact join within the window would drop.
func TestNewsOfAWeekAgreeWithTheExactJoin(t *testing.T) {
	data, err := io.ReadAll(shareddata.Open(t, "reuters21578", "docs.jsonl.zst"))
	if err != nil {
		t.Fatal(err)
	}
	type story struct {
		ID, Text, Date string
		at             time.Time
		set            []uint64
		raw            []byte
	}
	var stories []story
	o := recipe.Options{Features: shingle.Options{}}
	x := newIndex(t, o, index.Window{Age: 7 * 24 * time.Hour})
	sets := x.Options().Recipe.NewSetMaker()
	for _, raw := range bytes.SplitAfter(data, []byte("\n")) {
		if len(raw) == 0 || testsize.Small() && len(stories) == 3000 {
			continue
		}
		s := story{raw: raw}
		if err := json.Unmarshal(raw, &s); err != nil {
			t.Fatal(err)
		}
		var err error
		if s.at, err = stream.ParseTime([]byte(s.Date)); err != nil {
			continue // some dates have remarks behind them
		}
		s.set = sets.AppendSet(nil, []byte(s.Text))
		stories = append(stories, s)
	}
	slices.SortStableFunc(stories, func(a, b story) int { return a.at.Compare(b.at) })
	var in strings.Builder
	all := make([][]uint64, len(stories))
	for i, s := range stories {
		in.Write(s.raw)
		all[i] = s.set
	}
	th, _ := measure.ParseThreshold("jaccard>=0.8")
	like := make([][]int, len(stories)) // earlier ones, within a week
	for m := range simjoin.SelfJoin(all, th) {
		if stories[m.B].at.Sub(stories[m.A].at) <= 7*24*time.Hour {
			like[m.B] = append(like[m.B], int(m.A))
		}
	}
	kept := make([]bool, len(stories))
	dropped := map[string]bool{}
	for i := range stories {
		kept[i] = !slices.ContainsFunc(like[i], func(j int) bool { return kept[j] })
		if !kept[i] {
			dropped[stories[i].ID] = true
		}
	}
	c := stream.Config{Index: x, TimeField: "date"}
	r := run(t, in.String(), corpus.JSONL, c)
	found := 0
	for _, l := range strings.Split(strings.TrimSpace(r.dropped), "\n") {
		var d struct{ ID string }
		if err := json.Unmarshal([]byte(l), &d); err != nil {
			t.Fatal(err)
		}
		if dropped[d.ID] {
			found++
		}
	}
	t.Logf("%d stories, %d dropped, %d by the exact join, %d by both", len(stories), r.Dropped, len(dropped), found)
	if found < len(dropped)*99/100 || int(r.Dropped) > len(dropped)*101/100 {
		t.Errorf("dropped %d, %d of them rightly, of %d", r.Dropped, found, len(dropped))
	}
}

// A stream drops within each value what a stream of the value alone would drop.
func TestAStreamDropsWithinValues(t *testing.T) {
	var all strings.Builder
	alone := map[string]*strings.Builder{"": {}, "de": {}, "en": {}}
	for i := range 60 {
		value := []string{"", "de", "en"}[i*7%3]
		line := fmt.Sprintf("{\"id\":%d,\"text\":%q}\n", i, words(i/5*40, 30))
		if value != "" {
			line = fmt.Sprintf("{\"id\":%d,\"lang\":%q,\"text\":%q}\n", i, value, words(i/5*40, 30))
		}
		all.WriteString(line)
		alone[value].WriteString(line)
	}
	o := recipe.Options{Within: "lang"}
	var err error
	if o.Threshold, err = measure.ParseThreshold("jaccard>=0.8"); err != nil {
		t.Fatal(err)
	}
	r, err := recipe.New(o)
	if err != nil {
		t.Fatal(err)
	}
	x, err := index.New(index.Options{Recipe: r, Columns: []string{"lang"}})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	got := run(t, all.String(), corpus.JSONL, stream.Config{Index: x})
	var out, dropped []string
	for _, in := range alone {
		r := run(t, in.String(), corpus.JSONL, stream.Config{Index: newIndex(t, recipe.Options{}, index.Window{})})
		out = append(out, strings.SplitAfter(r.out, "\n")...)
		dropped = append(dropped, strings.SplitAfter(r.dropped, "\n")...)
	}
	sorted := func(lines []string) string {
		slices.Sort(lines)
		return strings.Join(lines, "")
	}
	if sorted(strings.SplitAfter(got.out, "\n")) != sorted(out) || sorted(strings.SplitAfter(got.dropped, "\n")) != sorted(dropped) || got.Kept != 36 {
		t.Errorf("%+v; dropped\n%s, want\n%s", got.Summary, got.dropped, sorted(dropped))
	}
}
