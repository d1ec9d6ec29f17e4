package feed_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/index/feed"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func options(t testing.TB) index.Options {
	t.Helper()
	th, err := measure.ParseThreshold("jaccard>=0.8")
	if err != nil {
		t.Fatal(err)
	}
	r, err := recipe.New(recipe.Options{Threshold: th})
	if err != nil {
		t.Fatal(err)
	}
	return index.Options{Recipe: r, ByID: true, Columns: []string{"n"}}
}

// inputs makes a folder with files of several formats, empty ones and damaged ones among
// them, and finds them.
func inputs(t testing.TB) []corpus.Source {
	t.Helper()
	dir := t.TempDir()
	write := func(name, content string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 30 {
		var b strings.Builder
		for n := range i * 40 {
			fmt.Fprintf(&b, "{\"id\":\"%d-%d\",\"text\":\"text %d of file %d and some more words\",\"n\":%d}\n", i, n, n, i, n)
		}
		write(fmt.Sprintf("f%02d.jsonl", i), b.String())
		write(fmt.Sprintf("f%02d.txt", i), fmt.Sprint("a document of its own, number ", i))
	}
	write("g.jsonl", "{\"id\":\"g\",\"text\":\"good\"}\nbad\n{\"text\":\"without an id\"}\n")
	write("h.jsonl.gz", "this is not gzip")
	sources, _, err := corpus.Find(context.Background(), []string{dir}, corpus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return sources
}

// Files are read by many goroutines, and slots are in the order of the input all the same.
func TestDocumentsComeInTheOrderOfTheInput(t *testing.T) {
	sources := inputs(t)
	var first []string
	for _, threads := range []int{1, 5} {
		x, err := index.Create(filepath.Join(t.TempDir(), "x"), index.OpenOptions{Options: options(t)})
		if err != nil {
			t.Fatal(err)
		}
		var skipped []string
		c := feed.Config{Index: x, Sources: sources, Threads: threads, OnSkip: func(p *corpus.Problem) error {
			skipped = append(skipped, p.Error())
			return nil
		}}
		c.Corpus.BlockSize = 2000
		s, err := feed.Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if want := int64(29*30/2*40 + 30 + 2); s.Added != want || s.Skipped != 2 || x.Stats().Documents != want {
			t.Errorf("%+v, %d documents, want %d; skipped %q", s, x.Stats().Documents, want, skipped)
		}
		var found []string
		queries := feed.Queries{Index: x, Sources: sources, Threads: threads}
		if _, err := feed.Search(t.Context(), queries, func(f feed.Found) error {
			line := string(f.ID)
			for _, m := range f.Matches {
				line += fmt.Sprintf(" %d %s %.6f %s", m.Slot, m.ID, m.Similarity, m.Columns)
			}
			found = append(found, line)
			return f.Err
		}); err != nil {
			t.Fatal(err)
		}
		for _, line := range found {
			if id, rest, _ := strings.Cut(line, " "); !strings.Contains(rest, " "+id+" 1.000000") {
				t.Fatalf("%s does not find itself", line)
			}
		}
		if first == nil {
			first = found
		} else if strings.Join(first, "\n") != strings.Join(found, "\n") {
			t.Error("another result with more goroutines")
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A Builder is fed as an Index is.
func TestABuilderIsFedByManyGoroutines(t *testing.T) {
	dir, o := filepath.Join(t.TempDir(), "x"), options(t)
	o.Keys = index.KeysOnDisk
	b, err := index.NewBuilder(dir, index.BuildOptions{Options: o, Threads: 3})
	if err != nil {
		t.Fatal(err)
	}
	c := feed.Config{Index: b, Sources: inputs(t)[:5], Threads: 5}
	c.Corpus.BlockSize = 2000
	s, err := feed.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	documents, err := b.Finish(t.Context())
	if err := errors.Join(err, b.Close()); err != nil {
		t.Fatal(err)
	}
	x, err := index.Open(dir, index.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if n := x.Stats().Documents; n != documents || n != s.Added || n == 0 {
		t.Errorf("%d documents, %d finished, %d added", n, documents, s.Added)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
}

// What a run has added that ended early is there once when it is repeated.
func TestARunThatWasInterruptedCanBeRepeated(t *testing.T) {
	sources := inputs(t)
	x, err := index.Create(filepath.Join(t.TempDir(), "x"), index.OpenOptions{Options: options(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}()
	stop := errors.New("stop")
	c := feed.Config{Index: x, Sources: sources, OnSkip: func(*corpus.Problem) error { return stop }}
	if _, err := feed.Run(t.Context(), c); !errors.Is(err, stop) {
		t.Fatalf("%v", err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	c.OnSkip = nil
	if _, err := feed.Run(cancelled, c); !errors.Is(err, context.Canceled) {
		t.Fatalf("%v", err)
	}
	for range 2 {
		if _, err := feed.Run(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := x.Stats().Documents, int64(29*30/2*40+30+2); got != want {
		t.Errorf("%d documents, want %d", got, want)
	}
}

// What a sample lets expect is what all documents come to, whether files are compressed or not; of a stream
// nothing is known.
func TestASampleTellsHowManyDocumentsAndKeysThereAre(t *testing.T) {
	dir, o := t.TempDir(), options(t)
	var lines bytes.Buffer
	for n := range 20_000 {
		fmt.Fprintf(&lines, "{\"id\":\"%d\",\"text\":\"%s%d words of text and %d more\",\"n\":1}\n", n, strings.Repeat("some more ", n%7), n, n*n)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(lines.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"a.jsonl": lines.Bytes(), "b.jsonl.gz": packed.Bytes()} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		sources, _, err := corpus.Find(t.Context(), []string{path}, corpus.Options{})
		if err != nil {
			t.Fatal(err)
		}
		e, known, err := feed.Expect(t.Context(), o, sources, corpus.Options{})
		if keys := float64(e.Keys) / float64(e.Documents); err != nil || !known || e.Documents < 16_000 || e.Documents > 24_000 || keys < 16.9 || keys > 17.1 {
			t.Errorf("%s: %+v, %t, %v", name, e, known, err)
		}
		sources[0].Stream = true
		if _, known, err := feed.Expect(t.Context(), o, sources, corpus.Options{}); known || err != nil {
			t.Errorf("%s as a stream: %t, %v", name, known, err)
		}
	}
}

// Of many files sixteen are looked at, at most: here each second one, which has one document where the others
// of its size have two.
func TestASampleOfManyFilesIsOfSixteen(t *testing.T) {
	dir := t.TempDir()
	for n := range 31 {
		text := "{\"text\":\"some words that the file has and others\"}\n"
		if n%2 == 1 {
			text = "{\"text\":\"some words and\"}\n{\"text\":\"others in it.\"}\n"
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%02d.jsonl", n)), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	sources, _, err := corpus.Find(t.Context(), []string{dir}, corpus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if e, known, err := feed.Expect(t.Context(), options(t), sources, corpus.Options{}); len(sources) != 31 || e.Documents != 31 || !known || err != nil {
		t.Error(len(sources), e, known, err)
	}
}
