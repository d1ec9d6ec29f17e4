package among_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/index/among"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func options(t *testing.T, folder, cache string) among.Options {
	t.Helper()
	th, err := measure.ParseThreshold("jaccard>=0.8")
	if err != nil {
		t.Fatal(err)
	}
	r, err := recipe.New(recipe.Options{Threshold: th})
	if err != nil {
		t.Fatal(err)
	}
	return among.Options{Inputs: []string{folder}, Cache: cache, Index: index.Options{Recipe: r, Containment: 1, ByID: true}}
}

// answers opens the index and returns what it says of texts, and how many files were read.
func answers(t *testing.T, o among.Options, texts []string) (lines []string, read int) {
	t.Helper()
	opened, err := among.Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Index.Close()
	s := opened.Index.NewSearcher()
	s.UseSizes(opened.Sizes)
	lines = append(lines, fmt.Sprint(opened.Index.Documents(), " documents, skipped ", opened.Skipped))
	for _, text := range texts {
		near, err := s.Neighbours([]byte(text), index.SearchOptions{Top: 3})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range near {
			lines = append(lines, fmt.Sprintf("%s: %s %.3f", text[:min(len(text), 20)], n.ID, n.Contained()))
		}
	}
	slices.Sort(lines[1:])
	return lines, opened.Read
}

// Whatever happens to a folder between two calls, the answers are those of an index that is made anew; and only what
// has changed is read.
func TestAnIndexFollowsItsFolder(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 5))
	folder, cache := t.TempDir(), t.TempDir()
	text := func() string {
		var words []string
		for range 8 + random.IntN(20) {
			words = append(words, fmt.Sprint("w", random.IntN(60)))
		}
		return strings.Join(words, " ")
	}
	var queries []string
	write := func(name, content string) {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		queries = append(queries, content)
	}
	for i := range 20 {
		write(fmt.Sprintf("f%d.md", i), text())
	}
	o := options(t, folder, cache)
	check := func(what string, read int) {
		t.Helper()
		queries = queries[max(0, len(queries)-12):]
		got, n := answers(t, o, queries)
		fresh := o
		fresh.Cache = t.TempDir()
		want, _ := answers(t, fresh, queries)
		if !slices.Equal(got, want) || read >= 0 && n != read {
			t.Fatalf("%s: %d files read, want %d\n%s\nwant\n%s", what, n, read, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	check("at first", 20)
	check("nothing changed", 0)
	for i := range 6 {
		write(fmt.Sprintf("f%d.md", random.IntN(20)), text()+fmt.Sprint(" round ", i))
		write(fmt.Sprintf("sub/new%d.md", i), text())
		if err := os.Remove(filepath.Join(folder, fmt.Sprintf("f%d.md", 19-i))); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		check(fmt.Sprint("round ", i), -1)
		check("nothing changed", 0)
	}
	write("records.jsonl", `{"text":"`+text()+`"}`+"\n{}\n")
	check("records, one of which has no text", -1)
	write("f0.md", text())
	check("a document beside such records", -1)
	write("records.jsonl", `{"text":"`+text()+`"}`+"\n")
	check("other records", -1)

	// What is damaged, or was begun by a process that was killed, is made again.
	for _, damage := range []func(dir string) error{
		func(dir string) error { return os.Remove(filepath.Join(dir, "files.json")) },
		func(dir string) error { return os.WriteFile(filepath.Join(dir, "files.json"), []byte("{"), 0o644) },
		func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "files.json"), []byte(`{"index":"../../x"}`), 0o644)
		},
		func(dir string) error {
			names, err := filepath.Glob(filepath.Join(dir, "*.sizes"))
			if err != nil || len(names) != 1 {
				return fmt.Errorf("%v: %w", names, err)
			}
			return os.WriteFile(names[0], []byte("0123456789abcdef"), 0o644)
		},
	} {
		dirs, err := filepath.Glob(filepath.Join(cache, "*"))
		if err != nil || len(dirs) != 1 {
			t.Fatal(dirs, err)
		}
		if err := damage(dirs[0]); err != nil {
			t.Fatal(err)
		}
		check("damaged", -1)
	}
}

// Where nothing can be kept the answers are the same.
func TestWithoutACacheTheIndexIsInMemory(t *testing.T) {
	folder, blocked := t.TempDir(), filepath.Join(t.TempDir(), "file")
	for path, content := range map[string]string{filepath.Join(folder, "a.txt"): "one two three four five six", blocked: ""} {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	o, told := options(t, folder, blocked), 0
	o.OnNotice = func(error) { told++ }
	got, _ := answers(t, o, []string{"one two three four five six seven"})
	if len(got) != 2 || told != 1 {
		t.Errorf("%v, told %d times", got, told)
	}
	var problems int
	o.OnSkip = func(*corpus.Problem) error { problems++; return nil }
	if err := os.WriteFile(filepath.Join(folder, "b.jsonl"), []byte("{}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _ = answers(t, o, nil); problems != 1 {
		t.Errorf("%d problems, want 1", problems)
	}
}

// An index that is open need not be opened again until something has changed, in a cache or in memory.
func TestAnIndexIsCurrentUntilItsFolderChanges(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, cache := range []string{t.TempDir(), blocked} {
		folder := t.TempDir()
		write := func(name, content string) {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		write("a.txt", "one two three four five six")
		for _, change := range []func(){
			func() { write("b.txt", "seven eight nine ten eleven twelve") },
			func() { write("a.txt", "one two three four five six seven") },
			func() { write("c.jsonl", `{"text":"thirteen fourteen"}`) },
			func() {
				if err := os.Remove(filepath.Join(folder, "b.txt")); err != nil {
					t.Fatal(err)
				}
			},
		} {
			opened, err := among.Open(t.Context(), options(t, folder, cache))
			if err != nil {
				t.Fatal(err)
			}
			before, err := opened.Current(t.Context())
			change()
			after, err2 := opened.Current(t.Context())
			if err := errors.Join(err, err2, opened.Index.Close()); err != nil || !before || after {
				t.Errorf("current before the change: %v, after it: %v, %v", before, after, err)
			}
		}
	}
}
