package simjoin

import (
	"archive/tar"
	"fmt"
	"io"
	"math/rand/v2"
	"path"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/internal/shareddata"
	"github.com/alike-dev/alike/internal/testsize"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/shingle"
)

// unequalCollection draws sets of 0 to 300 elements, most of them a part of another or a
// part with something else around it, so that sizes of a pair differ as they may.
func unequalCollection(t *rapid.T, name string, others [][]uint64) [][]uint64 {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, name+" seed"), 0))
	tokens := uint64(rapid.SampledFrom([]int{20, 400, 5000}).Draw(t, name+" tokens"))
	sets := make([][]uint64, rapid.IntRange(0, 30).Draw(t, name+" sets"))
	for i := range sets {
		var set []uint64
		if known := len(others) + i; known > 0 && r.IntN(4) > 0 {
			from := slices.Concat(others, sets[:i])[r.IntN(known)]
			keep := []float64{1, 0.95, 0.5, 0.05}[r.IntN(4)]
			for _, x := range from {
				if r.Float64() < keep {
					set = append(set, x)
				}
			}
		}
		for range []int{0, 1, 4, 30, 200}[r.IntN(5)] {
			set = append(set, r.Uint64N(tokens))
		}
		slices.Sort(set)
		set = slices.Compact(set)
		sets[i] = set[:min(len(set), 300)]
	}
	return sets
}

// allPairs is the definition of the join of two collections, or of one with itself.
func allPairs(left, right [][]uint64, t measure.Threshold, self bool) (pairs []measure.Match) {
	for a := range left {
		for b := range right {
			if self && (a == b || t.Measure().Symmetric() && a > b) {
				continue
			}
			m := measure.Match{
				A: uint64(a), B: uint64(b), Intersection: uint64(textbookMerge(left[a], right[b])),
				SizeA: uint64(len(left[a])), SizeB: uint64(len(right[b])),
			}
			if t.Reached(m.Intersection, m.SizeA, m.SizeB) {
				pairs = append(pairs, m)
			}
		}
	}
	return pairs
}

func TestJoinsOfVeryUnequalSetsEqualBruteForceByEveryMeasure(t *testing.T) {
	for _, m := range measure.All() {
		t.Run(m.String(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				value := rapid.SampledFrom([]float64{1e-9, 0.001, 0.05, 0.3, 0.5, 0.8, 0.95, 0.999999999, 1}).Draw(t, "threshold")
				if m == measure.Overlap {
					value = rapid.SampledFrom([]float64{1, 2, 5, 50, 300, 1e6}).Draw(t, "overlap")
				}
				th, err := measure.NewThreshold(m, value)
				if err != nil {
					t.Fatal(err)
				}
				left := unequalCollection(t, "left", nil)
				right := unequalCollection(t, "right", left)
				if got, want := slices.Collect(Join(left, right, th)), allPairs(left, right, th, false); !slices.Equal(got, want) {
					t.Errorf("%v of\n%v and\n%v:\n got %v\nwant %v", th, left, right, got, want)
				}
				if got, want := selfJoin(right, th), allPairs(right, right, th, true); !slices.Equal(got, want) {
					t.Errorf("%v of\n%v:\n got %v\nwant %v", th, right, got, want)
				}
			})
		})
	}
}

func TestContainmentIsReportedInEachDirectionThatReaches(t *testing.T) {
	sets := [][]uint64{{1, 2, 3, 4, 5, 6}, {2, 3, 4}, {2, 3, 4}, {1, 2, 3, 4, 5, 7}}
	inside := func(matches []measure.Match) (pairs [][2]uint64) {
		for _, m := range matches {
			pairs = append(pairs, [2]uint64{m.A, m.B})
		}
		return pairs
	}
	th := thresholdOf(t, measure.Containment, 0.8)
	want := [][2]uint64{{0, 3}, {1, 0}, {1, 2}, {1, 3}, {2, 0}, {2, 1}, {2, 3}, {3, 0}}
	if got := inside(selfJoin(sets, th)); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	// A join of two sides asks what of the left is inside the right.
	if got := inside(slices.Collect(Join(sets[:1], sets[1:], th))); !slices.Equal(got, [][2]uint64{{0, 2}}) {
		t.Errorf("of the long set: %v", got)
	}
	if got := inside(slices.Collect(Join(sets[1:], sets[:1], th))); !slices.Equal(got, [][2]uint64{{0, 0}, {1, 0}, {2, 0}}) {
		t.Errorf("of the others: %v", got)
	}
}

func TestAJoinThatIsBrokenOffCanBeRangedOverAgain(t *testing.T) {
	sets := [][]uint64{{1}, {1}, {1}}
	matches := SelfJoin(sets, threshold(t, 1))
	for m := range matches {
		if m.A != 0 || m.B != 1 {
			t.Fatalf("first %v", m)
		}
		break
	}
	if n := len(slices.Collect(matches)); n != 3 {
		t.Errorf("%d pairs", n)
	}
}

// Sets of all sizes meet every probe, but only the sizes in common postings cost it
// anything.
func TestWhatASizeAsksForIsWorkedOutOnlyForSizesThatAreMet(t *testing.T) {
	sets := make([][]uint64, 500)
	for i := range sets {
		for k := range uint64(i + 1) {
			sets[i] = append(sets[i], uint64(i)<<32+k)
		}
	}
	sets = append(sets, []uint64{5, 499<<32 + 7})
	for _, m := range []measure.Measure{measure.Containment, measure.Overlap} {
		x := NewSearchIndex(sets, thresholdOf(t, m, 1))
		var p Prober
		if found := x.Search(&p, []uint64{5, 6, 499<<32 + 7}); len(found) == 0 {
			t.Fatal("nothing found")
		}
		made := 0
		for _, c := range p.classes {
			if c.of != 0 {
				made++
			}
		}
		if made > 3 {
			t.Errorf("%v: %d classes are made", m, made)
		}
	}
}

// realSets are the sets of 5-word shingles of real collections with texts of very
// different sizes.
func realSets(t testing.TB, name string) [][]uint64 {
	t.Helper()
	shingler, err := shingle.New(shingle.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var sets [][]uint64
	for _, text := range shareddata.Texts(t, 0, name, "docs.jsonl.zst") {
		sets = append(sets, slices.Clip(shingle.Set(shingler.AppendFeatures(nil, text))))
	}
	return sets
}

// folderSets are the sets of the texts in a folder of long ones.
func folderSets(t testing.TB, folder string) [][]uint64 {
	t.Helper()
	shingler, err := shingle.New(shingle.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var sets [][]uint64
	for in := tar.NewReader(shareddata.Open(t, "wiki_folders", "folders.tar.zst")); ; {
		h, err := in.Next()
		if err == io.EOF {
			return sets
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg || path.Base(path.Dir(path.Clean(h.Name))) != folder {
			continue
		}
		text, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		sets = append(sets, slices.Clip(shingle.Set(shingler.AppendFeatures(nil, text))))
	}
}

// overlapping returns every two sets with anything in common, in both orders, counted
// feature by feature.
func overlapping(sets [][]uint64) (pairs []measure.Match) {
	holders := map[uint64][]int{}
	for i, set := range sets {
		for _, x := range set {
			holders[x] = append(holders[x], i)
		}
	}
	common := make([]uint64, len(sets)*len(sets))
	for _, of := range holders {
		for _, a := range of {
			for _, b := range of {
				common[a*len(sets)+b]++
			}
		}
	}
	for i, n := range common {
		if a, b := i/len(sets), i%len(sets); a != b && n > 0 {
			pairs = append(pairs, matchOf(sets, a, b, n))
		}
	}
	return pairs
}

func TestJoinsOfRealTextsEqualBruteForceByEveryMeasure(t *testing.T) {
	if testsize.Small() {
		t.Skip("one goroutine does it all")
	}
	for name, read := range map[string]func(t testing.TB) [][]uint64{
		"ir_plag":        func(t testing.TB) [][]uint64 { return realSets(t, "ir_plag") },
		"versioned_etcd": func(t testing.TB) [][]uint64 { return realSets(t, "versioned_etcd") },
		"wiki_folders":   func(t testing.TB) [][]uint64 { return folderSets(t, "verysmall") },
	} {
		t.Run(name, func(t *testing.T) {
			sets := read(t)
			all, half := overlapping(sets), uint64(len(sets)/2)
			for _, line := range []string{
				"containment>=0.8", "containment>=0.1", "max-containment>=0.5", "cosine>=0.6", "dice>=0.7",
				"overlap>=100", "jaccard>=0.3", "weighted-jaccard>=0.9",
			} {
				th, err := measure.ParseThreshold(line)
				if err != nil {
					t.Fatal(err)
				}
				var want, across []measure.Match
				for _, m := range all {
					if !th.Reached(m.Intersection, m.SizeA, m.SizeB) {
						continue
					}
					if m.A < m.B || !th.Measure().Symmetric() {
						want = append(want, m)
					}
					if m.A < half && m.B >= half {
						m.B -= half
						across = append(across, m)
					}
				}
				if got := selfJoin(sets, th); !slices.Equal(got, want) || len(want) == 0 {
					t.Errorf("%s: %d pairs, want %d", line, len(got), len(want))
				}
				if got := slices.Collect(Join(sets[:half], sets[half:], th)); !slices.Equal(got, across) {
					t.Errorf("%s of two halves: %d pairs, want %d", line, len(got), len(across))
				}
			}
		})
	}
}

func BenchmarkSelfJoinContainment(b *testing.B) {
	for _, name := range []string{"versioned_etcd", "reuters21578", "wiki_long_en"} {
		sets := realSets(b, name)
		for _, f := range []float64{0.5, 0.8} {
			b.Run(fmt.Sprintf("%s/%v", name, f), func(b *testing.B) {
				th := thresholdOf(b, measure.Containment, f)
				n := 0
				b.ReportAllocs()
				for b.Loop() {
					n = 0
					for range SelfJoin(sets, th) {
						n++
					}
				}
				b.ReportMetric(float64(n), "matches")
			})
		}
	}
}

// BenchmarkJoinContainment looks for passages of 40 features of one half of the texts in
// the other half, and for texts in texts.
func BenchmarkJoinContainment(b *testing.B) {
	sets := realSets(b, "wiki_long_en")
	half := len(sets) / 2
	r := rand.New(rand.NewPCG(1, 2))
	var passages [][]uint64
	for _, set := range sets {
		passage := slices.Clone(set)
		r.Shuffle(len(passage), func(i, j int) { passage[i], passage[j] = passage[j], passage[i] })
		passage = passage[:min(40, len(passage))]
		slices.Sort(passage)
		passages = append(passages, passage)
	}
	for name, left := range map[string][][]uint64{"passages": passages, "texts": sets[:half]} {
		b.Run(name, func(b *testing.B) {
			th := thresholdOf(b, measure.Containment, 0.8)
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				n = 0
				for range Join(left, sets[half:], th) {
					n++
				}
			}
			b.ReportMetric(float64(n), "matches")
		})
	}
}
