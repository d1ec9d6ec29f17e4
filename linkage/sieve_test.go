package linkage

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/scratch"
)

// unequal makes a table of some people, and a much larger one in two files that has some of them, with errors,
// values that nobody of the others has, an id that is there twice, none, and a line that is none.
func unequal(t *testing.T) (small, large string) {
	t.Helper()
	l, x := people(1200, 0.5)
	rows := strings.SplitAfter(l, "\n")
	small = write(t, "small.csv", rows[0]+strings.Join(rows[100:140], ""))
	others := strings.SplitAfter(x, "\n")
	first := write(t, "a.csv", strings.Join(others[:700], "")+"1,2,3,4,5,6,7\n")
	folder := filepath.Dir(first)
	more := strings.Join(others[700:], "") + others[900] + ",nobody knows,here and there,nowhere,1800-01-01\n"
	writeInto(t, folder, "b.csv", others[0]+more)
	return small, folder
}

// TestRowsThatAreNotHeldChangeNothing holds a join that holds a part of the larger table against one that
// holds all of it.
func TestRowsThatAreNotHeldChangeNothing(t *testing.T) {
	manyRecords, muchLarger, randomPairs = 300, 20, 100
	t.Cleanup(func() { manyRecords, muchLarger, randomPairs = 30_000, 50, 200_000 })
	small, large := unequal(t)
	for name, change := range map[string]func(*Config){
		"as it is":            func(c *Config) {},
		"the larger one left": func(c *Config) { c.Left, c.Right = c.Right, c.Left },
		"with all there is": func(c *Config) {
			c.Considered, c.WithAll, c.Match, c.Evidence = true, true, Best, 10
			c.Threads, c.Memory = 2, 64<<20
		},
		"columns of other kinds": func(c *Config) {
			c.Repetitions = true
			c.Fields = []Field{{Left: "name", Tokens: "grams"}, {Left: "street", Tokens: "value"}, {Left: "town", Tokens: "words", Weight: 2}, {Left: "born", Tokens: "text"}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := Config{Left: small, Right: large, Threads: 1}
			change(&c)
			said := func(c Config) (string, *Result) {
				var skipped []string
				c.OnSkip = func(p *corpus.Problem) { skipped = append(skipped, p.Error()) }
				r := join(t, c)
				return fmt.Sprint(outcome(r), r.Left, r.Right, r.Skipped, skipped, r.Repeated, r.Notes, r.Evidence), r
			}
			got, part := said(c)
			c.Unfiltered = true
			want, whole := said(c)
			if got != want {
				t.Errorf("%d links of %d candidates, and %d of %d if all is held\n%s\n%s", part.Links.Len(), part.Candidates, whole.Links.Len(), whole.Candidates, got, want)
			}
			if part.Links.Len() == 0 || part.Skipped != 1 || len(part.Repeated) != 1 {
				t.Errorf("%d links, %d lines skipped, ids %v", part.Links.Len(), part.Skipped, part.Repeated)
			}
			if part.Search.Dropped == 0 || whole.Search.Dropped != 0 {
				t.Errorf("dropped %d records, and %d if all are held", part.Search.Dropped, whole.Search.Dropped)
			}
		})
	}
}

func TestItemsComeBackFromTheirFile(t *testing.T) {
	space := scratch.New(scratch.Options{FS: newMemory(&Config{}).FS, Parent: t.TempDir()})
	s, err := newStoredItems(space, 0, 5)
	if err != nil {
		t.Fatal(err)
	}
	want := map[int][]uint32{0: {0, 1, 1 << 31}, 1: {}, 3: {7}, 4: slices.Repeat([]uint32{5}, 1)}
	w := itemWriter{to: s}
	for _, row := range []int{3, 4, 0, 1} {
		w.add(uint32(row), want[row])
	}
	w.flush()
	if err := errors.Join(w.err, s.finish()); err != nil {
		t.Fatal(err)
	}
	var met atomic.Int64
	if err := s.Each(t.Context(), 2, func() (func(int, []uint32) error, func() error) {
		return func(i int, items []uint32) error {
			met.Add(int64(i + 1))
			if !slices.Equal(items, want[i]) {
				return fmt.Errorf("row %d has %v, want %v", i, items, want[i])
			}
			return nil
		}, func() error { return nil }
	}); err != nil || met.Load() != 12 {
		t.Errorf("%v after rows of the sum %d", err, met.Load())
	}
	s.frames[0].rows++
	if err := s.Each(t.Context(), 1, func() (func(int, []uint32) error, func() error) {
		return func(int, []uint32) error { return nil }, func() error { return nil }
	}); !errors.Is(err, scratch.ErrDamaged) {
		t.Errorf("a frame with too few rows: %v", err)
	}
	if err := errors.Join(s.close(), space.Close()); err != nil {
		t.Fatal(err)
	}
}
