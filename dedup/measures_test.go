package dedup

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alike-dev/alike/internal/testsize"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/simjoin"
)

// nested returns documents of which many are parts of others: runs of words of a
// document before, alone or among words of their own, with repeats and copies.
func nested(seed uint64, n int) []testDoc {
	rng := rand.New(rand.NewPCG(seed, 11))
	fresh := func(n int) (words []string) {
		for range n {
			words = append(words, fmt.Sprintf("w%d", rng.IntN(3000)))
		}
		return words
	}
	var docs []testDoc
	for i := range n {
		var words []string
		if i > 0 {
			words = strings.Fields(docs[rng.IntN(i)].text)
		}
		from := rng.IntN(len(words) + 1)
		part := words[from:][:rng.IntN(len(words)-from+1)]
		switch rng.IntN(7) {
		case 0:
			words = nil
		case 1: // a copy
		case 2:
			words = part
		case 3:
			words = slices.Concat(fresh(rng.IntN(12)), part, fresh(rng.IntN(12)))
		case 4:
			words = slices.Concat(words, part) // with repeats
		default:
			words = fresh(5 + rng.IntN(60))
		}
		docs = append(docs, testDoc{fmt.Sprintf("doc-%d", i), strings.Join(words, " ")})
	}
	return docs
}

// weightedSet is a set of features and how often each occurs.
type weightedSet struct {
	features []uint64
	counts   map[uint64]uint64
}

// common returns how often features occur in both.
func (a weightedSet) common(b weightedSet) (n uint64) {
	for f, count := range a.counts {
		n += min(count, b.counts[f])
	}
	return n
}

// weighted returns the features of texts with how often they occur.
func weighted(t testing.TB, docs []testDoc) []weightedSet {
	t.Helper()
	s, err := shingle.New(shingle.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sets := make([]weightedSet, len(docs))
	for i, d := range docs {
		features := s.AppendFeatures(nil, []byte(d.text))
		counts := map[uint64]uint64{}
		for _, f := range features {
			counts[f]++
		}
		features = shingle.Set(features)
		sets[i] = weightedSet{features, counts}
	}
	return sets
}

// match returns the counts of a pair as the measure takes them.
func match(m measure.Measure, a, b weightedSet) measure.Match {
	if m == measure.WeightedJaccard {
		return measure.Match{Intersection: a.common(b), SizeA: a.common(a), SizeB: b.common(b)}
	}
	inter := simjoin.Intersection(a.features, b.features)
	return measure.Match{Intersection: uint64(inter), SizeA: uint64(len(a.features)), SizeB: uint64(len(b.features))}
}

// pairsByDefinition returns the lines that Pairs is to make: every pair is compared.
func pairsByDefinition(docs []testDoc, sets []weightedSet, limit measure.Threshold) (lines []string) {
	for i := range docs {
		for j := range docs {
			if i == j || j < i && limit.Measure().Symmetric() {
				continue
			}
			if m := match(limit.Measure(), sets[i], sets[j]); limit.Reached(m.Intersection, m.SizeA, m.SizeB) {
				lines = append(lines, fmt.Sprintf("%s,%s,%.6f", docs[i].id, docs[j].id, m.Similarity(limit.Measure())))
			}
		}
	}
	return lines
}

// thresholdsOf are values to try a measure with.
func thresholdsOf(m measure.Measure) []float64 {
	if m == measure.Overlap {
		return []float64{1, 7, 40}
	}
	return []float64{0.2, 0.7, 1}
}

func mustThreshold(t testing.TB, m measure.Measure, value float64) measure.Threshold {
	t.Helper()
	limit, err := measure.NewThreshold(m, value)
	if err != nil {
		t.Fatal(err)
	}
	return limit
}

func TestPairsOfEveryMeasureAreThoseOfBruteForce(t *testing.T) {
	docs := nested(1, 250)
	sets := weighted(t, docs)
	path := filepath.Join(t.TempDir(), "docs.jsonl")
	writeJSONL(t, path, docs)
	for _, m := range measure.All() {
		for _, value := range thresholdsOf(m) {
			want := pairsByDefinition(docs, sets, mustThreshold(t, m, value))
			if len(want) == 0 {
				t.Errorf("%v %v: no pairs to be found", m, value)
			}
			for name, set := range map[string]func(c *Config){
				"one thread":    func(c *Config) { c.Threads = 1 },
				"three threads": func(c *Config) { c.Threads = 3 },
				"on disk":       tiny,
				"by chunks":     func(c *Config) { c.limits.index = 500 },
				"auto": func(c *Config) {
					c.BucketCap = MaxBucketCap
					bySimilarity(c, func(s *Similarity) { s.Candidates = Auto{} })
				},
			} {
				c := Config{Inputs: []string{path}, Decide: Similarity{Measure: m, Threshold: value, Candidates: Exact{}}}
				set(&c)
				got, s := pairLines(t, c)
				if name == "auto" && s.CandidateMethod != MethodExact {
					continue // recall is another test's
				}
				if !slices.Equal(got, want) {
					t.Errorf("%v %v, %s: %d pairs, want %d, or others", m, value, name, len(got), len(want))
				}
				if name := s.Measure; (name == "") != (m == measure.Jaccard) || name != "" && name != m.String() {
					t.Errorf("%v: the summary says %q", m, name)
				}
			}
		}
	}
}

// Bands and samples may miss pairs, but never make one up, and miss no more than was
// allowed.
func TestEveryMeasureWithoutTheSetsKeepsItsRecall(t *testing.T) {
	docs := nested(2, 1500)
	sets := weighted(t, docs)
	path := filepath.Join(t.TempDir(), "docs.jsonl")
	writeJSONL(t, path, docs)
	for _, m := range measure.All() {
		if m == measure.Overlap { // has neither
			continue
		}
		want := pairsByDefinition(docs, sets, mustThreshold(t, m, 0.8))
		c := Config{Inputs: []string{path}, BucketCap: MaxBucketCap, Decide: Similarity{Measure: m, Threshold: 0.8, Candidates: LSH{}}}
		c.limits.retain = 1
		got, s := pairLines(t, c)
		if i := slices.IndexFunc(got, func(line string) bool { return !slices.Contains(want, line) }); i >= 0 {
			t.Errorf("%v: %s is no pair", m, got[i])
		}
		if recall := float64(len(got)) / float64(len(want)); recall < 0.99 || s.ExpectedRecall.Low < 0.99 || (s.Bands == 0) == (s.Sample == 0) {
			t.Errorf("%v: recall %v of %d pairs, %v expected", m, recall, len(want), s.ExpectedRecall.Low)
		}
	}
}

// removalByDefinition says who is removed for whom, and how much of it is in there: from
// the largest set on, ties by the number, a document is kept unless it is inside a
// reference or a document kept before. A copy of one of these goes for it.
func removalByDefinition(docs []testDoc, refs int, sets []weightedSet, limit measure.Threshold) (lines []string) {
	order := make([]int, len(docs)-refs)
	for i := range order {
		order[i] = refs + i
	}
	size := func(i int) int { return len(sets[i].features) }
	slices.SortStableFunc(order, func(i, j int) int { return size(j) - size(i) })
	var kept []int
	for i := range refs {
		kept = append(kept, i)
	}
	removed := make([]string, len(docs))
	for _, i := range order {
		in := slices.IndexFunc(kept, func(k int) bool { return size(i) > 0 && slices.Equal(sets[i].features, sets[k].features) })
		if in < 0 {
			in = slices.IndexFunc(kept, func(k int) bool {
				m := match(measure.Containment, sets[i], sets[k])
				return limit.Reached(m.Intersection, m.SizeA, m.SizeB)
			})
		}
		if in < 0 {
			kept = append(kept, i)
			continue
		}
		m := match(measure.Containment, sets[i], sets[kept[in]])
		removed[i] = fmt.Sprintf("%s,%s,%.6f\n", docs[i].id, docs[kept[in]].id, m.Similarity(measure.Containment))
	}
	for _, line := range removed {
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

func TestRemovalByContainmentKeepsTheLargerDocument(t *testing.T) {
	seeds := uint64(6)
	if testsize.Small() {
		seeds = 1
	}
	for seed := range seeds {
		docs := nested(20+seed, 220)
		for _, refs := range []int{0, 60} {
			dir := t.TempDir()
			inputs, references := filepath.Join(dir, "in.jsonl"), filepath.Join(dir, "refs.jsonl")
			writeJSONL(t, references, docs[:refs])
			writeJSONL(t, inputs, docs[refs:])
			sets := weighted(t, docs)
			for _, value := range []float64{0.3, 0.8, 1} {
				want := "id,kept_id,similarity\n" + strings.Join(removalByDefinition(docs, refs, sets, mustThreshold(t, measure.Containment, value)), "")
				for i, m := range []measure.Measure{measure.Containment, measure.MaxContainment, measure.Containment, measure.MaxContainment} {
					c := Config{Inputs: []string{inputs}, Threads: 1 + 2*i, Output: filepath.Join(dir, fmt.Sprint("out", value, i)), Decide: Similarity{Measure: m, Threshold: value}}
					if refs > 0 {
						c.Beside = Against{references}
					}
					switch {
					case i == 1:
						tiny(&c)
					case i == 2 && value < 1: // recall is another test's
						continue
					case i == 2:
						c.limits.retain = 1
					case i == 3: // sets are made again
						c.limits.retain = 1
						c.Decide = Similarity{Measure: m, Threshold: value, Candidates: Exact{}}
					}
					if _, err := Run(context.Background(), c); err != nil {
						t.Fatal(err)
					}
					got, err := os.ReadFile(filepath.Join(c.Output, "removed.csv"))
					if err != nil {
						t.Fatal(err)
					}
					if string(got) != want {
						t.Errorf("seed %d, %d references, %v %v:\n%swant\n%s", seed, refs, m, value, got, want)
					}
				}
			}
		}
	}
}

// Of measures, one says what signatures are made of.
func TestARecipeNamesMultisets(t *testing.T) {
	for _, m := range measure.All() {
		r, err := Config{Decide: Similarity{Measure: m, Threshold: 1}}.Recipe()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(r.String(), " multiset ") != (m == measure.WeightedJaccard) {
			t.Errorf("%v: %s", m, r)
		}
	}
}
