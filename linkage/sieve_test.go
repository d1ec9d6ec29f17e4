package linkage

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/alike-dev/alike/corpus"
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
			c := Config{Left: small, Right: large, Threads: 1, limits: limits{many: 300, muchLarger: 20, strangers: 100}}
			change(&c)
			said := func(c Config) (string, *Result) {
				var skipped []string
				c.OnSkip = func(p *corpus.Problem) { skipped = append(skipped, p.Error()) }
				r := join(t, c)
				rivals := ""
				for i := range r.Evidence.Pairs {
					if of := &r.Evidence.Pairs[i].Rival; *of != nil { // its address differs from run to run
						rivals, *of = fmt.Sprint(rivals, **of), nil
					}
				}
				return fmt.Sprint(outcome(r), r.Left, r.Right, r.Skipped, skipped, r.Repeated, r.Notes, r.Evidence, rivals), r
			}
			got, part := said(c)
			c.limits.unfiltered = true
			unfiltered, sorted := said(c)
			c.limits.muchLarger = 1 << 40
			want, whole := said(c)
			if got != want {
				t.Errorf("%d links of %d candidates, and %d of %d if all is held\n%s\n%s", part.Links.Len(), part.Candidates, whole.Links.Len(), whole.Candidates, got, want)
			}
			if unfiltered != got || sorted.Search.Dropped != 0 {
				t.Errorf("%d links without a filter, %d with one", sorted.Links.Len(), part.Links.Len())
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

// formed makes tables of places in two columns, whose words stand apart in some rows and are tied in others, with
// a much larger one that has some of the places with another word. Many words are in many of them.
func formed(r *rand.Rand) (small, large string) {
	place := func() []string {
		words := make([]string, 2+r.IntN(3))
		for i := range words {
			words[i] = fmt.Sprintf("%c%c%d", 'a'+r.IntN(8), 'a'+r.IntN(5), r.IntN(1+r.IntN(30)))
		}
		return words
	}
	written := func(words []string) string {
		s := words[0]
		for _, w := range words[1:] {
			s += []string{" ", "-", "/", ", "}[r.IntN(4)] + w
		}
		return strconv.Quote(s)
	}
	var of [2]strings.Builder
	add := func(table, id int, place, street []string) {
		fmt.Fprintf(&of[table], "%d,%s,%s\n", id, written(place), written(street))
	}
	of[0].WriteString("id,place,street\n")
	of[1].WriteString("id,place,street\n")
	for i := range 300 {
		x, y := place(), place()
		if i%15 == 0 {
			add(0, i, x, y)
			if r.IntN(2) == 0 {
				x[r.IntN(len(x))] = "other"
			}
		}
		add(1, i, x, y)
	}
	return of[0].String(), of[1].String()
}

// TestFormsOfValuesChangeNothing holds joins of values that are written in several ways against each other: with
// a part of the larger table held, found with and without a filter, and with all of it held.
func TestFormsOfValuesChangeNothing(t *testing.T) {
	links := 0
	for seed := range uint64(12) {
		a, b := formed(rand.New(rand.NewPCG(seed, 3)))
		c := Config{Left: write(t, "a.csv", a), Right: write(t, "b.csv", b), Threads: 2, Considered: true}
		c.limits = limits{many: 100, muchLarger: 5, strangers: 30, own: 20}
		if seed%2 > 0 {
			c.Left, c.Right = c.Right, c.Left
		}
		got := join(t, c)
		c.limits.unfiltered = true
		unfiltered := join(t, c)
		c.limits.muchLarger = 1 << 40
		whole := join(t, c)
		if got.Search.Dropped == 0 || whole.Search.Dropped > 0 {
			t.Errorf("seed %d: %d records dropped, %d if all are held", seed, got.Search.Dropped, whole.Search.Dropped)
		}
		want := fmt.Sprint(outcome(whole))
		if x, y := fmt.Sprint(outcome(got)), fmt.Sprint(outcome(unfiltered)); x != want || y != want {
			t.Errorf("seed %d: a part held\n%s\nwithout a filter\n%s\nall held\n%s", seed, x, y, want)
		}
		links += got.Links.Len()
	}
	if links < 50 {
		t.Errorf("%d links", links)
	}
}

// TestATableThatChangesBetweenItsReadingsEndsTheJoin writes to the larger table when its rows are counted.
func TestATableThatChangesBetweenItsReadingsEndsTheJoin(t *testing.T) {
	small, large := unequal(t)
	path := filepath.Join(large, "a.csv")
	c := Config{Left: small, Right: large, Threads: 2, limits: limits{many: 300, muchLarger: 20}}
	c.OnSkip = func(*corpus.Problem) { // the line that is none is told of at the end of the first reading
		content, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, append(content, "x,new,row,here,2001-02-03\n"...), 0o644)
		}
		if err != nil {
			t.Error(err)
		}
	}
	_, err := Join(t.Context(), c)
	if !errors.Is(err, corpus.ErrChanged) || !strings.Contains(err.Error(), "a.csv") || !strings.Contains(err.Error(), "when nothing writes to it") {
		t.Errorf("a table that changes: %v", err)
	}
	s := &source{name: "b.csv"}
	if err := s.changed(); !errors.Is(err, corpus.ErrChanged) || !strings.Contains(err.Error(), "b.csv") {
		t.Errorf("other rows: %v", err)
	}
}
