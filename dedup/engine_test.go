package dedup

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/reread"
	"github.com/alike-dev/alike/dedup/internal/verify"
	"github.com/alike-dev/alike/dedup/internal/write"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/simjoin"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testDoc is a document of a generated corpus.
type testDoc struct{ id, text string }

// generate returns documents of random words, among them copies, edited copies
// and chains of them, empty and very short ones.
func generate(seed uint64, n int) []testDoc {
	rng := rand.New(rand.NewPCG(seed, 7))
	word := func() string { return fmt.Sprintf("w%d", rng.IntN(5000)) }
	docs := make([]testDoc, 0, n)
	for i := range n {
		var words []string
		switch kind := rng.IntN(10); {
		case kind == 0:
			words = nil
		case kind == 1:
			words = []string{word()}
		case kind <= 5 && i > 0:
			words = strings.Fields(docs[rng.IntN(i)].text)
			for range rng.IntN(4) {
				if len(words) > 0 {
					words[rng.IntN(len(words))] = word()
				}
			}
		default:
			for range 20 + rng.IntN(120) {
				words = append(words, word())
			}
		}
		docs = append(docs, testDoc{fmt.Sprintf("doc-%d", i), strings.Join(words, " ")})
	}
	return docs
}

// writeJSONL writes documents as JSON lines, compressed if the name says so.
func writeJSONL(t testing.TB, path string, docs []testDoc) {
	t.Helper()
	var b bytes.Buffer
	for _, d := range docs {
		line, err := json.Marshal(map[string]string{"id": d.id, "text": d.text})
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	data := b.Bytes()
	if strings.HasSuffix(path, ".gz") {
		var z bytes.Buffer
		w := gzip.NewWriter(&z)
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		data = z.Bytes()
	}
	writeFile(t, path, data)
}

func writeFile(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// bruteForce returns all pairs at or above the threshold with their similarity,
// as lines of pairs output, in input order.
func bruteForce(t *testing.T, docs []testDoc, threshold float64) []string {
	t.Helper()
	limit, err := measure.NewThreshold(measure.Jaccard, threshold)
	if err != nil {
		t.Fatal(err)
	}
	s, err := shingle.New(shingle.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sets := make([][]uint64, len(docs))
	for i, d := range docs {
		sets[i] = shingle.Set(s.AppendFeatures(nil, []byte(d.text)))
	}
	var lines []string
	for i := range docs {
		for j := i + 1; j < len(docs); j++ {
			inter := simjoin.Intersection(sets[i], sets[j])
			if a, b := uint64(len(sets[i])), uint64(len(sets[j])); limit.Reached(uint64(inter), a, b) {
				lines = append(lines, fmt.Sprintf("%s,%s,%.6f", docs[i].id, docs[j].id, measure.Jaccard.Similarity(uint64(inter), a, b)))
			}
		}
	}
	return lines
}

// pairLines runs Pairs and returns its output as lines.
func pairLines(t *testing.T, c Config) ([]string, *Summary) {
	t.Helper()
	var lines []string
	summary, err := Pairs(context.Background(), c, func(p Pair) error {
		lines = append(lines, fmt.Sprintf("%s,%s,%.6f", p.A, p.B, p.Similarity))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines, summary
}

func TestExactPairsAreThoseOfBruteForce(t *testing.T) {
	for _, threshold := range []float64{0.3, 0.8, 1} {
		docs := generate(uint64(threshold*100), 400)
		path := filepath.Join(t.TempDir(), "docs.jsonl")
		writeJSONL(t, path, docs)
		got, _ := pairLines(t, Config{Inputs: []string{path}, Decide: Similarity{Threshold: threshold, Candidates: Exact{}}})
		if want := bruteForce(t, docs, threshold); !slices.Equal(got, want) {
			t.Errorf("threshold %v: %d pairs, want %d", threshold, len(got), len(want))
		}
	}
}

func TestBandedPairsAreTrueAndNearlyComplete(t *testing.T) {
	docs := generate(3, 2000)
	for _, name := range []string{"docs.jsonl", "docs.jsonl.gz"} {
		path := filepath.Join(t.TempDir(), name)
		writeJSONL(t, path, docs)
		got, s := pairLines(t, Config{
			Inputs: []string{path},
			Corpus: corpus.Options{BlockSize: 10_000},
			Decide: Similarity{Candidates: LSH{}},
		})
		want := bruteForce(t, docs, 0.8)
		for _, line := range got {
			if !slices.Contains(want, line) {
				t.Fatalf("%s: pair %s is not a true pair", name, line)
			}
		}
		if recall := float64(len(got)) / float64(len(want)); recall < 0.99 {
			t.Errorf("%s: recall %v of %d pairs", name, recall, len(want))
		}
		if s.Bands == 0 || s.ExpectedRecall.Low < 0.99 {
			t.Errorf("%s: %d bands, expected recall %v", name, s.Bands, s.ExpectedRecall.Low)
		}
	}
}

// Without the feature sets in memory the verifier reads records again, in place
// or from the spool; similarities must be the same.
func TestVerificationFromRecordsEqualsThatFromMemory(t *testing.T) {
	docs := generate(4, 600)
	dir := t.TempDir()
	writeJSONL(t, filepath.Join(dir, "a.jsonl"), docs[:200])
	writeJSONL(t, filepath.Join(dir, "b.jsonl.gz"), docs[200:400])
	for i, d := range docs[400:] {
		writeFile(t, filepath.Join(dir, "texts", fmt.Sprintf("%03d.txt", i)), []byte(d.text))
	}
	config := Config{Inputs: []string{dir}, Decide: Similarity{Candidates: LSH{}}}
	want, _ := pairLines(t, config)

	f := searched(t, config, false)
	defer func() {
		if err := f.close(true); err != nil {
			t.Error(err)
		}
	}()
	edges := entries(t, f.edges)
	for _, limit := range []int64{0, 1} { // records in memory, on disk
		f.docs.table.HasSets = false
		o := f.docs.storeOptions(f.job, f.how)
		o.Memory = limit
		f.records = reread.New(o)
		again, n, err := verify.Pairs(t.Context(), f.verifyOptions(), verify.Query{Pairs: f.edges})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(entries(t, again), edges) || n != int64(len(edges)) {
			t.Errorf("records limit %d: similarities from records differ", limit)
		}
		f.records.Close()
	}
	if len(want) == 0 || len(edges) == 0 {
		t.Error("no pairs to compare")
	}
}

// searched reads and searches as Run or Pairs do. The caller closes the job.
func searched(t testing.TB, c Config, sparse bool) *found {
	t.Helper()
	ctx := t.Context()
	s, err := settle(c)
	if err != nil {
		t.Fatal(err)
	}
	j, in, err := begin(ctx, s, "", s.Begin)
	if err != nil {
		t.Fatal(err)
	}
	docs, err := readAll(ctx, j, in, asked(s), nil)
	if err != nil {
		t.Fatal(err)
	}
	f, err := find(ctx, j, in, asked(s), docs, sparse)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// entries returns what was sorted.
func entries(t testing.TB, s *extsort.Sorted) (all []extsort.Entry) {
	t.Helper()
	err := s.Visit(func(e extsort.Entry) error {
		all = append(all, e)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// tree returns the contents of all files below dir.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// mixedCorpus writes a corpus of every format and returns its folder.
func mixedCorpus(t *testing.T, seed uint64) string {
	t.Helper()
	docs := generate(seed, 900)
	dir := filepath.Join(t.TempDir(), "in")
	writeJSONL(t, filepath.Join(dir, "a", "one.jsonl"), docs[:300])
	writeJSONL(t, filepath.Join(dir, "two.jsonl.gz"), docs[300:500])
	var table bytes.Buffer
	rows := csv.NewWriter(&table)
	if err := rows.Write([]string{"id", "title", "text"}); err != nil {
		t.Fatal(err)
	}
	for _, d := range docs[500:700] {
		if err := rows.Write([]string{d.id, "a \"title\", with\nlines", d.text}); err != nil {
			t.Fatal(err)
		}
	}
	rows.Flush()
	writeFile(t, filepath.Join(dir, "b", "table.csv"), table.Bytes())
	for i, d := range docs[700:] {
		writeFile(t, filepath.Join(dir, "texts", fmt.Sprintf("%03d.txt", i)), []byte(d.text))
	}
	return dir
}

func TestOutputIsTheSameForAnyThreadsAndBlocks(t *testing.T) {
	dir := mixedCorpus(t, 5)
	var want map[string]string
	for _, threads := range []int{1, 2, 7} {
		for _, blockSize := range []int{1 << 20, 3000} {
			for _, candidates := range []Candidates{Auto{Recall: 0.999999}, LSH{Recall: 0.999999}} {
				out := filepath.Join(t.TempDir(), "out")
				s, err := Run(context.Background(), Config{
					Inputs:  []string{dir},
					Output:  out,
					Threads: threads,
					Corpus:  corpus.Options{BlockSize: blockSize},
					Decide:  Similarity{Threshold: 0.7, Candidates: candidates},
				})
				if err != nil {
					t.Fatal(err)
				}
				if s.Read != s.Kept+s.Removed+s.Skipped || s.Read != 900 || s.Removed == 0 {
					t.Fatalf("read %d, kept %d, removed %d, skipped %d", s.Read, s.Kept, s.Removed, s.Skipped)
				}
				got := tree(t, out)
				if got[write.SummaryFile] == "" {
					t.Fatal("no summary")
				}
				delete(got, write.SummaryFile)
				if want == nil {
					want = got
				}
				if !maps.Equal(got, want) {
					t.Fatalf("threads %d, blocks of %d, candidates %s: output differs", threads, blockSize, candidates)
				}
			}
		}
	}
	for _, name := range []string{"kept/a/one.jsonl", "kept/two.jsonl.gz", "kept/b/table.csv", write.KeptList, write.RemovedFile, write.ClustersFile} {
		if _, ok := want[name]; !ok {
			t.Errorf("output has no %s", name)
		}
	}
}

// shuffler delays every step of a run by a random time, so that workers take and
// finish blocks, parts and units in another order each time.
type shuffler struct{ seed uint64 }

func (s shuffler) Stage(string, int64) {}

func (s shuffler) Advance(items, bytes int64) {
	rng := rand.New(rand.NewPCG(s.seed, rand.Uint64()))
	time.Sleep(time.Duration(rng.IntN(300)) * time.Microsecond)
}

func TestOutputIsTheSameUnderShuffledScheduling(t *testing.T) {
	dir := mixedCorpus(t, 10)
	var want map[string]string
	for seed := range uint64(6) {
		out := filepath.Join(t.TempDir(), "out")
		_, err := Run(context.Background(), Config{
			Inputs:   []string{dir},
			Output:   out,
			Threads:  5,
			Corpus:   corpus.Options{BlockSize: 2000},
			Progress: shuffler{seed},
			Decide:   Similarity{Candidates: LSH{}},
		})
		if err != nil {
			t.Fatal(err)
		}
		got := tree(t, out)
		delete(got, write.SummaryFile)
		if want == nil {
			want = got
		}
		if !maps.Equal(got, want) {
			t.Fatal("output depends on the order in which workers finish")
		}
	}
}

func TestKeptRecordsAreTheInputsWithoutTheRemovedOnes(t *testing.T) {
	dir := mixedCorpus(t, 6)
	out := filepath.Join(t.TempDir(), "out")
	if _, err := Run(context.Background(), Config{Inputs: []string{dir}, Output: out}); err != nil {
		t.Fatal(err)
	}
	files := tree(t, out)
	removed := map[string]bool{}
	for _, line := range strings.Split(strings.TrimSpace(files[write.RemovedFile]), "\n")[1:] {
		removed[strings.Split(line, ",")[0]] = true
	}
	in := tree(t, dir)
	var want strings.Builder
	for line := range strings.Lines(in["a/one.jsonl"]) {
		var record struct{ ID string }
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatal(err)
		}
		if !removed[record.ID] {
			want.WriteString(line)
		}
	}
	if files["kept/a/one.jsonl"] != want.String() {
		t.Error("kept/a/one.jsonl is not one.jsonl without the removed lines")
	}
	header, _, _ := strings.Cut(in["b/table.csv"], "\n")
	if !strings.HasPrefix(files["kept/b/table.csv"], header+"\n") {
		t.Error("kept/b/table.csv lacks the header")
	}
	if _, err := csv.NewReader(strings.NewReader(files["kept/b/table.csv"])).ReadAll(); err != nil {
		t.Errorf("kept/b/table.csv is not CSV any more: %v", err)
	}
}

// near returns text i of a family of texts, each similar to the next and to
// the one after that, but not to those further on.
func near(i int) string {
	var words []string
	for w := i * 10; w < i*10+200; w++ {
		words = append(words, fmt.Sprintf("token%d", w))
	}
	return strings.Join(words, " ")
}

func TestKeepRulesClustersAndReferences(t *testing.T) {
	dir := t.TempDir()
	chain := filepath.Join(dir, "chain.jsonl")
	writeFile(t, chain, []byte(fmt.Sprintf(`{"id":"a","text":%q,"date":"2020-01-01"}
{"id":"b","text":%q,"date":"2022-01-01"}
{"id":"c","text":%q,"date":"2021-01-01"}
{"id":"d","text":%q}
{"id":"e","text":"something else entirely, alone in the world"}
`, near(0), near(1), near(2)+" plus more words", near(3))))
	reference := filepath.Join(dir, "reference.jsonl")
	writeFile(t, reference, []byte(fmt.Sprintf("{\"id\":\"ref\",\"text\":%q}\n", near(1))))
	cases := []struct {
		name    string
		keep    string
		star    bool
		against []string
		want    string
	}{
		// Of 196 shingles, texts i steps apart share 196 − 10·i; c has three more.
		{name: "the first of a chain is kept", want: "b,a,0.902913 c,a,0.803653 d,a,0.734513"},
		{name: "the last", keep: "last", want: "a,d,0.734513 b,d,0.814815 c,d,0.889952"},
		{name: "the longest", keep: "longest", want: "a,c,0.803653 b,c,0.889952 d,c,0.889952"},
		{name: "the shortest", keep: "shortest", want: "b,a,0.902913 c,a,0.803653 d,a,0.734513"},
		{name: "the highest value of a field", keep: "max:date", want: "a,b,0.902913 c,b,0.889952 d,b,0.814815"},
		{name: "star removes only what is like the kept one", star: true, want: "b,a,0.902913 c,a,0.803653"},
		{name: "what is like a reference goes", against: []string{reference}, want: "a,ref,0.902913 b,ref,1.000000 c,ref,0.889952 d,ref,0.814815"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			keep, err := cluster.ParseKeep(cmp.Or(c.keep, "first"))
			if err != nil {
				t.Fatal(err)
			}
			out := filepath.Join(t.TempDir(), "out")
			_, err = Run(context.Background(), Config{
				Inputs:    []string{chain},
				Output:    out,
				Beside:    Against(c.against),
				Survivors: OnePerCluster{Keep: keep, Star: c.star},
			})
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Fields(tree(t, out)[write.RemovedFile])[1:]
			if got := strings.Join(lines, " "); got != c.want {
				t.Errorf("removed %s\nwant    %s", got, c.want)
			}
		})
	}
}

// Clusters found by spokes and what crosses must be those that all pairs give.
func TestSparseSearchConnectsTheSameDocuments(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	var docs []testDoc
	for family := range 30 {
		// Members of every third family differ by so many words that they are
		// similar to some members and not to others; the rest are near-copies.
		edits := 3
		if family%3 == 0 {
			edits = 12
		}
		base := strings.Fields(near(family * 1000))
		for range 1 + rng.IntN(60) {
			words := slices.Clone(base)
			for range rng.IntN(edits) {
				words[rng.IntN(len(words))] = fmt.Sprintf("other%d", rng.IntN(1000))
			}
			docs = append(docs, testDoc{fmt.Sprint(len(docs)), strings.Join(words, " ")})
		}
	}
	rng.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
	path := filepath.Join(t.TempDir(), "docs.jsonl")
	writeJSONL(t, path, docs)
	c := Config{Inputs: []string{path}, Decide: Similarity{Candidates: LSH{}}}
	want, all := connected(t, c, false)
	got, some := connected(t, c, true)
	if !slices.Equal(got, want) {
		t.Error("clusters differ")
	}
	if some.Candidates*2 > all.Candidates {
		t.Errorf("%d pairs compared, all are %d", some.Candidates, all.Candidates)
	}
}
