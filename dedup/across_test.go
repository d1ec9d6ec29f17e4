package dedup

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

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/journal"
	"github.com/alike-dev/alike/internal/shareddata"
	"github.com/alike-dev/alike/internal/testsize"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
)

// twoSides are documents of two collections.
type twoSides struct{ left, right []testDoc }

// generateSides returns documents as generate does, dealt out to two collections, with
// copies within and across. Both number their documents from 0.
func generateSides(seed uint64, n int, share float64) (s twoSides) {
	rng := rand.New(rand.NewPCG(seed, 8))
	docs := generate(seed, n)
	for range n / 4 {
		docs = append(docs, docs[rng.IntN(n)])
	}
	for _, d := range docs {
		side := &s.right
		if rng.Float64() < share {
			side = &s.left
		}
		*side = append(*side, testDoc{fmt.Sprint("doc-", len(*side)), d.text})
	}
	return s
}

// write writes the collections and returns a configuration that compares them.
func (s twoSides) write(t testing.TB, left, right string) Config {
	t.Helper()
	dir := t.TempDir()
	left, right = filepath.Join(dir, left), filepath.Join(dir, right)
	writeJSONL(t, left, s.left)
	writeJSONL(t, right, s.right)
	return Config{Inputs: []string{left}, Beside: With{right}}
}

// bruteForce returns the pairs across as lines of pairs output.
func (s twoSides) bruteForce(t *testing.T, threshold float64) (lines []string) {
	t.Helper()
	var all []testDoc
	for _, d := range s.left {
		all = append(all, testDoc{"L" + d.id, d.text})
	}
	for _, d := range s.right {
		all = append(all, testDoc{"R" + d.id, d.text})
	}
	for _, line := range bruteForce(t, all, threshold) {
		if row := strings.Split(line, ","); row[0][0] == 'L' && row[1][0] == 'R' {
			lines = append(lines, row[0][1:]+","+row[1][1:]+","+row[2])
		}
	}
	return lines
}

// sizes are the ways in which the engine holds what it works with.
func sizes() map[string]func(c *Config) {
	return map[string]func(c *Config){
		"in memory":    func(*Config) {},
		"from records": func(c *Config) { c.limits.retain = 1 },
		"spilled": func(c *Config) {
			c.limits.memory, c.limits.segment, c.limits.index, c.limits.members = 1, 300, 2000, lsh.Hubs
		},
		"from records, spilled": func(c *Config) {
			c.limits.memory, c.limits.retain, c.limits.index, c.limits.members = 1, 1, 2000, lsh.Hubs
		},
	}
}

func TestPairsAcrossAreThoseOfBruteForce(t *testing.T) {
	for seed, share := range []float64{0.5, 0.9, 0.06} {
		threshold := []float64{0.3, 0.8, 1}[seed]
		docs := generateSides(uint64(seed), 300, share)
		want := docs.bruteForce(t, threshold)
		if len(want) == 0 {
			t.Fatal("no pairs")
		}
		base := docs.write(t, "left.jsonl", "right.jsonl.gz")
		base.Corpus = corpus.Options{BlockSize: 3000}
		bySimilarity(&base, func(s *Similarity) { s.Threshold, s.Candidates = threshold, Exact{} })
		for name, size := range sizes() {
			for _, threads := range []int{1, 2, 7} {
				c := base
				c.Threads = threads
				size(&c)
				got, s := pairLines(t, c)
				if !slices.Equal(got, want) {
					t.Errorf("%v, %s, %d threads: %d pairs, want %d", threshold, name, threads, len(got), len(want))
				}
				if s.Left != int64(len(docs.left)) || s.Right != int64(len(docs.right)) || s.Read != s.Left+s.Right {
					t.Errorf("%d × %d of %d documents", s.Left, s.Right, s.Read)
				}
				if s.Candidates != s.Verified+s.Rejected {
					t.Errorf("%d candidates, %d verified, %d rejected", s.Candidates, s.Verified, s.Rejected)
				}
			}
		}
	}
}

// Bands decide for themselves which pairs they find, so the pairs across are those that
// one collection of both sides has.
func TestBandedPairsAcrossAreThoseOfBothTogether(t *testing.T) {
	docs := generateSides(5, 600, 0.4)
	base := docs.write(t, "left.jsonl", "right.jsonl")
	base.Corpus = corpus.Options{BlockSize: 3000, IDField: corpus.NoID}
	bySimilarity(&base, func(s *Similarity) { s.Candidates = LSH{} })
	together := base
	together.Inputs, together.Beside = slices.Concat(base.Inputs, base.modes().With), nil
	all, _ := pairLines(t, together)
	var want []string
	for _, line := range all {
		if row := strings.Split(line, ","); strings.Contains(row[0], "left.jsonl") && strings.Contains(row[1], "right.jsonl") {
			want = append(want, line)
		}
	}
	if len(want) == 0 || len(want) == len(all) {
		t.Fatalf("%d pairs, %d across", len(all), len(want))
	}
	for name, size := range sizes() {
		for _, threads := range []int{1, 2, 7} {
			c := base
			c.Threads = threads
			size(&c)
			if got, _ := pairLines(t, c); !slices.Equal(got, want) {
				t.Errorf("%s, %d threads: %d pairs, want %d", name, threads, len(got), len(want))
			}
		}
	}
}

// dealt returns documents in turn.
func dealt(path string, t testing.TB) (s twoSides) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		_, text, _ := strings.Cut(line, `"text":"`)
		side := &s.left
		if i%4 >= 2 {
			side = &s.right
		}
		*side = append(*side, testDoc{fmt.Sprint(len(*side)), strings.TrimSuffix(text, `"}`)})
	}
	return s
}

// As TestHotBucketsOfDocumentsReallyAlikeKeepTheirPairs.
func TestHotBucketsKeepTheirPairsAcross(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hot.jsonl")
	writeHot(t, path, 150)
	docs := dealt(path, t)
	want := docs.bruteForce(t, 0.7)
	base := docs.write(t, "left.jsonl", "right.jsonl")
	base.BucketCap = 40
	bySimilarity(&base, func(s *Similarity) { s.Threshold, s.Candidates = 0.7, LSH{} })
	var first []string
	for name, size := range sizes() {
		for _, threads := range []int{1, 7} {
			if testsize.Small() && threads == 1 {
				continue
			}
			var notices []string
			c := base
			c.Threads, c.OnNotice = threads, func(notice Notice) { notices = append(notices, notice.String()) }
			size(&c)
			got, s := pairLines(t, c)
			if first == nil {
				first = got
			}
			if !slices.Equal(got, first) {
				t.Errorf("%s, %d threads: %d pairs, %d before", name, threads, len(got), len(first))
			}
			if float64(len(got)) < DefaultRecall*float64(len(want)) || s.BucketsCapped == 0 || len(notices) > 0 {
				t.Errorf("%s: %d of %d pairs, %d buckets capped, notices %q", name, len(got), len(want), s.BucketsCapped, notices)
			}
		}
	}
}

// A bucket of one side is no work, however large, and few on one side are compared with
// very many on the other.
func TestAHotBucketOfOneSideCostsNothing(t *testing.T) {
	const cap, n = 40, 600
	for _, few := range []int{0, 1, cap * (cap - 1) / 2 / n} {
		for _, swapped := range []bool{false, true} {
			var docs twoSides
			for i := range n {
				docs.left = append(docs.left, testDoc{fmt.Sprint(i), fmt.Sprintf("%s serial%d", near(0)[:200], i)})
			}
			for i := range few {
				docs.right = append(docs.right, testDoc{fmt.Sprint(i), fmt.Sprintf("%s serial%d", near(0)[:200], -i)})
			}
			docs.right = append(docs.right, testDoc{"other", "quite another text than any of the others, of which there is one alone"})
			if swapped {
				docs.left, docs.right = docs.right, docs.left
			}
			c := docs.write(t, "left.jsonl", "right.jsonl")
			c.BucketCap = cap
			bySimilarity(&c, func(s *Similarity) { s.Candidates = Bands{Bands: 20, Rows: 5, MinBands: 1} })
			c.OnNotice = func(notice Notice) { t.Errorf("%d: notice %q", few, notice) }
			got, s := pairLines(t, c)
			if want := docs.bruteForce(t, 0.8); !slices.Equal(got, want) {
				t.Errorf("%d against %d: %d pairs, want %d", few, n, len(got), len(want))
			}
			if s.Candidates > int64(few)*n || s.BucketsCapped != 0 {
				t.Errorf("%d against %d: %d candidates, %d buckets capped", few, n, s.Candidates, s.BucketsCapped)
			}
		}
	}
}

// Of a class with very many copies only the pairs with the first copies of each side are
// listed, and a notice says so; who asks for exact candidates has all.
func TestCopiesOnBothSidesArePairs(t *testing.T) {
	for _, c := range []struct {
		left, right int
		hidden      bool // some pairs are, under the cap
	}{{5, 0, false}, {3, 4, false}, {100, 8, false}, {8, 100, false}, {30, 40, true}} {
		var docs twoSides
		for i := range c.left {
			docs.left = append(docs.left, testDoc{fmt.Sprint(i), near(1)})
		}
		docs.left = append(docs.left, testDoc{"empty", ""})
		for i := range c.right {
			docs.right = append(docs.right, testDoc{fmt.Sprint(i), near(1)})
		}
		docs.right = append(docs.right, testDoc{"empty", ""}, testDoc{"other", near(2)})
		for name, size := range sizes() {
			for _, candidates := range []Candidates{Auto{}, Exact{}} {
				var want []string
				hides := false
				for i := range c.left {
					for j := range c.right {
						if candidates == (Exact{}) || !c.hidden || i < lsh.Hubs || j < lsh.Hubs {
							want = append(want, fmt.Sprintf("%d,%d,1.000000", i, j))
						} else {
							hides = true
						}
					}
				}
				var notices []string
				config := docs.write(t, "left.jsonl", "right.jsonl")
				config.BucketCap = 50
				bySimilarity(&config, func(s *Similarity) { s.Threshold, s.Candidates = 0.95, candidates })
				config.OnNotice = func(notice Notice) {
					if strings.Contains(notice.String(), "copies") {
						notices = append(notices, notice.String())
					}
				}
				size(&config)
				got, s := pairLines(t, config)
				if !slices.Equal(got, want) {
					t.Errorf("%d × %d copies, %s, %T: %d pairs, want %d", c.left, c.right, name, candidates, len(got), len(want))
				}
				if hides != (len(notices) == 1) || hides != (s.BucketsCapped == 1) {
					t.Errorf("%d × %d copies, %s, %T: notices %q, %d buckets capped", c.left, c.right, name, candidates, notices, s.BucketsCapped)
				}
			}
		}
	}
}

// Copies of one text on the left and of a similar one on the right.
func TestPairsOfTwoCrowdsAreTold(t *testing.T) {
	words := strings.Fields(near(3))
	other := strings.Join(append(slices.Clone(words[:len(words)-1]), "changed"), " ")
	var docs twoSides
	for i := range 30 {
		docs.left = append(docs.left, testDoc{fmt.Sprint(i), near(3)})
		docs.right = append(docs.right, testDoc{fmt.Sprint(i), other})
	}
	for _, limit := range []int{20, 40} {
		c := docs.write(t, "left.jsonl", "right.jsonl")
		var notices []string
		c.BucketCap, c.OnNotice = limit, func(notice Notice) { notices = append(notices, notice.String()) }
		got, _ := pairLines(t, c)
		want, told := 30*30, 0
		if limit < 30 {
			want, told = 30*30-(30-lsh.Hubs)*(30-lsh.Hubs), 1
		}
		if len(got) != want || len(notices) != told {
			t.Errorf("cap %d: %d pairs, want %d; notices %q", limit, len(got), want, notices)
		}
	}
}

func TestASecondSideIsForPairsOnly(t *testing.T) {
	docs := twoSides{left: []testDoc{{"1", near(1)}}, right: []testDoc{{"1", near(1)}}}
	c := docs.write(t, "left.jsonl", "right.jsonl")
	ctx := context.Background()
	out := c
	out.Output = filepath.Join(t.TempDir(), "out")
	if _, err := Run(ctx, out); !errors.Is(err, ErrUsage) {
		t.Errorf("Run: %v", err)
	}
	if _, err := os.Stat(out.Output); err == nil {
		t.Error("Run has made its output folder")
	}
	if _, err := Sketch(ctx, c, func(Fingerprint) error { return nil }); !errors.Is(err, ErrUsage) {
		t.Errorf("Sketch: %v", err)
	}
	for what, change := range map[string]func(c *Config){
		"standard input on both":  func(c *Config) { c.Inputs, c.Beside = []string{"-"}, With{"-"} },
		"nothing before --with":   func(c *Config) { c.Inputs = nil },
		"an output that is input": func(c *Config) { c.Outputs = c.modes().With },
	} {
		other := c
		change(&other)
		if _, err := Pairs(ctx, other, func(Pair) error { return nil }); !errors.Is(err, ErrUsage) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A run that was killed goes on only with the same files on the same sides.
func TestARunWithAnotherSecondSideIsRefused(t *testing.T) {
	dir := t.TempDir()
	var names []string
	docs := generate(1, 150)
	for i := range 3 {
		names = append(names, filepath.Join(dir, fmt.Sprint(i, ".jsonl")))
		writeJSONL(t, names[i], docs[50*i:][:50])
	}
	config := func(left, right []string) Config {
		c := Config{Inputs: left, Threads: 2, Beside: With(right), Work: WorkFolder{Path: workFolder}}
		tiny(&c)
		return c
	}
	left := commands[1].stopAtRecord(t, config(names[:1], names[1:]), 6)
	for _, sides := range [][2][]string{{names[:2], names[2:]}, {names, nil}, {names[1:], names[:1]}} {
		_, err := commands[1].on(t, context.Background(), copyOf(t, left), config(sides[0], sides[1]))
		var other *journal.MismatchError
		if !errors.As(err, &other) {
			t.Errorf("%d files with %d: error %v", len(sides[0]), len(sides[1]), err)
		}
	}
	want := commands[1].undisturbed(t, Config{Inputs: names[:1], Beside: With(names[1:])})
	commands[1].goesOn(t, config(names[:1], names[1:]), left, want)
}

// The pairs across of two halves of a real corpus are those of all of it that cross.
func TestPairsAcrossHalvesOfNewsAreThoseOfAllNewsThatCross(t *testing.T) {
	if testsize.Small() {
		t.Skip("it goes through all news six times, which takes long under the race detector")
	}
	var docs []testDoc
	for i, text := range shareddata.Texts(t, 0, "reuters21578", "docs.jsonl.zst") {
		docs = append(docs, testDoc{fmt.Sprint(i), string(text)})
	}
	dir := t.TempDir()
	left, right := filepath.Join(dir, "left.jsonl"), filepath.Join(dir, "right.jsonl")
	writeJSONL(t, left, docs[:len(docs)/2])
	writeJSONL(t, right, docs[len(docs)/2:])
	for _, candidates := range []Candidates{LSH{}, Exact{}} {
		c := Config{Inputs: []string{left, right}, Corpus: corpus.Options{IDField: corpus.NoID}, Decide: Similarity{Threshold: 0.5, Candidates: candidates}}
		all, _ := pairLines(t, c)
		want := slices.DeleteFunc(all, func(line string) bool {
			return strings.Count(line, "left.jsonl") != 1
		})
		c.Inputs, c.Beside = []string{left}, With{right}
		if got, _ := pairLines(t, c); len(want) < 10 || !slices.Equal(got, want) {
			t.Errorf("%T: %d pairs, want %d", candidates, len(got), len(want))
		}
	}
}

// Of all pairs of both collections together those are listed whose first document is on
// the left and whose second one is on the right: by a directed measure what is inside
// documents of the right.
func TestPairsAcrossByEveryMeasureAreThoseOfBothTogetherThatCross(t *testing.T) {
	docs := nested(3, 240)
	rand.New(rand.NewPCG(3, 3)).Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
	sides := twoSides{docs[:100], docs[100:]}
	isLeft := map[string]bool{}
	for _, d := range sides.left {
		isLeft[d.id] = true
	}
	across := sides.write(t, "left.jsonl", "right.jsonl")
	for _, m := range measure.All() {
		value := 0.6
		if m == measure.Overlap {
			value = 8
		}
		together := Config{Inputs: append(slices.Clone(across.Inputs), across.modes().With...), Decide: Similarity{Measure: m, Threshold: value, Candidates: Exact{}}}
		all, _ := pairLines(t, together)
		var want []string
		for _, line := range all {
			if row := strings.Split(line, ","); isLeft[row[0]] && !isLeft[row[1]] {
				want = append(want, line)
			}
		}
		if len(want) == 0 || len(want) == len(all) {
			t.Errorf("%v: %d of %d pairs cross", m, len(want), len(all))
		}
		for name, size := range sizes() {
			c := across
			bySimilarity(&c, func(s *Similarity) { s.Measure, s.Threshold, s.Candidates = m, value, Exact{} })
			size(&c)
			if got, _ := pairLines(t, c); !slices.Equal(got, want) {
				t.Errorf("%v, %s: %d pairs, want %d, or others", m, name, len(got), len(want))
			}
		}
	}
}
