package dedup

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/write"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/recipe"
)

const badLines = `{"id":"1","text":"a perfectly good first record of more than five words"}
{"id":"2","text":
{"id":"3","text":"a perfectly good first record of more than five words"}

{"id":"4"}
{"id":"1","text":"another text under an id that is taken"}
{"id":"5","text":""}
`

func TestBadRecordsAreNamedCountedAndLeftOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bad.jsonl")
	writeFile(t, path, []byte(badLines))
	for _, blockSize := range []int{1 << 20, 16} {
		var skipped []string
		out := filepath.Join(t.TempDir(), "out")
		s, err := Run(context.Background(), Config{
			Inputs: []string{path}, Output: out, Corpus: corpus.Options{BlockSize: blockSize},
			OnSkip: func(p *corpus.Problem) { skipped = append(skipped, p.Error()) },
		})
		if err != nil {
			t.Fatal(err)
		}
		if s.Read != 6 || s.Kept != 2 || s.Removed != 1 || s.Skipped != 3 || s.Empty != 1 {
			t.Errorf("read %d kept %d removed %d skipped %d empty %d", s.Read, s.Kept, s.Removed, s.Skipped, s.Empty)
		}
		if want := map[string]int64{"malformed record": 1, "missing field": 1, "repeated id": 1}; !maps.Equal(s.SkippedKinds, want) {
			t.Errorf("skipped by kind: %v, want %v", s.SkippedKinds, want)
		}
		for i, place := range []string{path + ":2: ", path + ":5: ", path + ":6: "} {
			if i >= len(skipped) || !strings.HasPrefix(skipped[i], place) {
				t.Errorf("problem %d of %q does not name %s", i, skipped, place)
			}
		}
		lines := strings.SplitAfter(badLines, "\n")
		if kept := tree(t, out)["kept/bad.jsonl"]; kept != lines[0]+lines[6] {
			t.Errorf("kept %q", kept)
		}
	}
}

func TestFailStopsAtTheFirstBadRecordForAnyThreads(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "in")
	for i := range 20 {
		lines := strings.Repeat(fmt.Sprintf("{\"text\":\"text number %d of many\"}\n", i), 50)
		if i >= 3 {
			lines += "broken\n"
		}
		writeFile(t, filepath.Join(dir, fmt.Sprintf("%02d.jsonl", i)), []byte(lines))
	}
	for _, threads := range []int{1, 2, 8} {
		out := filepath.Join(t.TempDir(), "out")
		_, err := Run(context.Background(), Config{
			Inputs: []string{dir}, Output: out, Threads: threads, OnError: OnErrorFail,
			Corpus: corpus.Options{BlockSize: 100},
		})
		if err == nil || !strings.Contains(err.Error(), "03.jsonl:51: ") {
			t.Errorf("%d threads: err = %v, want one that names 03.jsonl:51", threads, err)
		}
		if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%d threads: an output folder is left behind", threads)
		}
	}
}

func TestReferencesMayShareIDsWithInputs(t *testing.T) {
	dir := t.TempDir()
	input, reference := filepath.Join(dir, "in.jsonl"), filepath.Join(dir, "ref.jsonl")
	writeFile(t, input, []byte(`{"id":"1","text":"one two three four five six"}`+"\n"))
	writeFile(t, reference, []byte(`{"id":"1","text":"an entirely different text, but with that id"}`+"\n"))
	s, err := Run(context.Background(), Config{Inputs: []string{input}, Output: filepath.Join(dir, "out"), Beside: Against{reference}})
	if err != nil {
		t.Fatal(err)
	}
	if s.Read != 1 || s.Kept != 1 || s.Skipped != 0 || s.References != 1 {
		t.Errorf("summary %+v", s)
	}
}

func TestStandardInputIsReadOnceAndWrittenBack(t *testing.T) {
	lines := `{"text":"a b c d e f g"}` + "\n" + `{"text":"a b c d e f g"}` + "\n" + `{"text":"x y z"}` + "\n"
	out := filepath.Join(t.TempDir(), "out")
	work := t.TempDir()
	_, err := Run(context.Background(), Config{
		Inputs: []string{"-"},
		Output: out,
		Corpus: corpus.Options{Stdin: strings.NewReader(lines)},
		Work:   WorkFolder{Path: work},
	})
	if err != nil {
		t.Fatal(err)
	}
	files := tree(t, out)
	if want := `{"text":"a b c d e f g"}` + "\n" + `{"text":"x y z"}` + "\n"; files["kept/stdin.jsonl"] != want {
		t.Errorf("kept/stdin.jsonl = %q", files["kept/stdin.jsonl"])
	}
	if want := "id,kept_id,similarity\nstdin.jsonl:2,stdin.jsonl:1,1.000000\n"; files[write.RemovedFile] != want {
		t.Errorf("removed.csv = %q", files[write.RemovedFile])
	}
	if left, err := os.ReadDir(work); err != nil || len(left) > 0 {
		t.Errorf("work folder still holds %v (%v)", left, err)
	}
}

func TestOutputFolderIsRefused(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in")
	writeFile(t, filepath.Join(in, "a.jsonl"), []byte(`{"text":"a"}`+"\n"))
	full := filepath.Join(dir, "full")
	writeFile(t, filepath.Join(full, "something"), nil)
	cases := []struct{ name, output, want string }{
		{"when it is not empty", full, "is not empty"},
		{"when it is the input", in, "also an input"},
		{"when it lies inside the input", filepath.Join(in, "out"), "inside the input"},
		{"when it is a file", filepath.Join(in, "a.jsonl"), "input"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			before := tree(t, dir)
			_, err := Run(context.Background(), Config{Inputs: []string{in}, Output: c.output})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("err = %v, want %q in it", err, c.want)
			}
			if after := tree(t, dir); len(after) != len(before) {
				t.Errorf("files before %d, after %d", len(before), len(after))
			}
		})
	}
}

func TestRemainsOfAKilledRunAreCleared(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "out")
	writeFile(t, in, []byte(`{"text":"a"}`+"\n"))
	writeFile(t, filepath.Join(out, write.StagingFolder, "kept", "a.jsonl"), []byte("half"))
	if _, err := Run(context.Background(), Config{Inputs: []string{in}, Output: out}); err != nil {
		t.Fatal(err)
	}
	if got := tree(t, out)["kept/a.jsonl"]; got != `{"text":"a"}`+"\n" {
		t.Errorf("kept/a.jsonl = %q", got)
	}
}

func TestCancelledRunLeavesNothingBehind(t *testing.T) {
	dir := mixedCorpus(t, 8)
	out := filepath.Join(t.TempDir(), "out")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := Run(ctx, Config{Inputs: []string{dir}, Output: out})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v, want context.Canceled", err)
	}
	if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
		t.Error("an output folder is left behind")
	}
}

// One text with small differences in every document fills a bucket in every
// band. All copies must still end in one cluster, with few comparisons.
func TestHotBucketIsJoinedWithoutComparingAllPairs(t *testing.T) {
	const n = 3000
	template := strings.Fields(near(0))
	var lines strings.Builder
	for i := range n {
		fmt.Fprintf(&lines, "{\"text\":\"%s serial%d\"}\n", strings.Join(template, " "), i)
	}
	path := filepath.Join(t.TempDir(), "template.jsonl")
	writeFile(t, path, []byte(lines.String()))
	s, err := Run(context.Background(), Config{
		Inputs:    []string{path},
		Output:    filepath.Join(t.TempDir(), "out"),
		BucketCap: 100,
		Decide:    Similarity{Candidates: LSH{}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.Kept != 1 || s.Clusters != 1 || s.LargestClusters[0] != n {
		t.Errorf("kept %d in %d clusters", s.Kept, s.Clusters)
	}
	if s.BucketsCapped == 0 || s.Candidates > 16*lsh.Hubs*n {
		t.Errorf("%d buckets capped, %d candidates", s.BucketsCapped, s.Candidates)
	}
}

func TestCopiesExpandToAllPairs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "copies.jsonl")
	text := near(0)
	// Different repetitions of one shingle make equal sets from unequal texts.
	lines := []string{text, near(1), text, "w w w w w w", "w w w w w w w w", near(1)}
	var b strings.Builder
	for i, line := range lines {
		fmt.Fprintf(&b, "{\"id\":\"%d\",\"text\":%q}\n", i, line)
	}
	writeFile(t, path, []byte(b.String()))
	want := []string{
		"0,1,0.902913", "0,2,1.000000", "0,5,0.902913", "1,2,0.902913", "1,5,1.000000", "2,5,0.902913", "3,4,1.000000",
	}
	for _, candidates := range []Candidates{Exact{}, LSH{}} {
		got, s := pairLines(t, Config{Inputs: []string{path}, Decide: Similarity{Candidates: candidates}})
		if !slices.Equal(got, want) {
			t.Errorf("%T: pairs %q", candidates, got)
		}
		if s.Candidates != s.Verified+s.Rejected {
			t.Errorf("%T: %d candidates, %d verified, %d rejected", candidates, s.Candidates, s.Verified, s.Rejected)
		}
	}
}

func TestSketchVerificationReportsEstimates(t *testing.T) {
	docs := generate(9, 500)
	path := filepath.Join(t.TempDir(), "docs.jsonl")
	writeJSONL(t, path, docs)
	exact, _ := pairLines(t, Config{Inputs: []string{path}, Decide: Similarity{Candidates: LSH{}}})
	for _, verify := range []recipe.Verify{recipe.Sketch, recipe.None} {
		got, s := pairLines(t, Config{Inputs: []string{path}, Decide: Similarity{Verify: verify}})
		if len(got) < len(exact)*9/10 || s.Verify != string(verify) {
			t.Errorf("%s: %d pairs, exact has %d", verify, len(got), len(exact))
		}
	}
}

// Of more copies than the cap, pairs are listed with the first few only, in
// whatever order the classes come.
func TestPairsOfManyCopiesAreListedWithTheFirstFew(t *testing.T) {
	const copies = 30
	var b strings.Builder
	for i := range 2 * copies { // two classes of copies, each similar to the other, in turn
		fmt.Fprintf(&b, "{\"id\":\"%d\",\"text\":%q}\n", i, near(i%2))
	}
	path := filepath.Join(t.TempDir(), "copies.jsonl")
	writeFile(t, path, []byte(b.String()))
	for _, candidates := range []Candidates{LSH{}, Auto{}} {
		notices := 0
		got, s := pairLines(t, Config{
			Inputs:    []string{path},
			BucketCap: 20,
			OnNotice:  func(Notice) { notices++ },
			Decide:    Similarity{Candidates: candidates},
		})
		crowd := 2 * (copies - lsh.Hubs)
		if want := 2*copies*(2*copies-1)/2 - crowd*(crowd-1)/2; len(got) != want || s.BucketsCapped != 2 || notices != 1 {
			t.Errorf("%s: %d pairs, %d capped, %d notices; want %d, 2, 1", candidates, len(got), s.BucketsCapped, notices, want)
		}
	}
	got, _ := pairLines(t, Config{Inputs: []string{path}, BucketCap: 20, Decide: Similarity{Candidates: Exact{}}})
	if want := 2 * copies * (2*copies - 1) / 2; len(got) != want {
		t.Errorf("exact: %d pairs, want all %d", len(got), want)
	}
}

func TestChosenBandsAreUsed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "docs.jsonl")
	writeJSONL(t, path, generate(12, 50))
	_, s := pairLines(t, Config{Inputs: []string{path}, Decide: Similarity{Candidates: Bands{Bands: 30, Rows: 2}}})
	if s.Bands != 30 || s.Rows != 2 || s.CandidateMethod != "lsh" {
		t.Errorf("%d bands of %d rows, candidates %s", s.Bands, s.Rows, s.CandidateMethod)
	}
}

func TestNoOutputOfTheCallerIsAnInput(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in")
	file := filepath.Join(in, "deep", "a.jsonl")
	writeFile(t, file, []byte(`{"text":"a"}`+"\n"))
	outside := filepath.Join(dir, "b.jsonl")
	writeFile(t, outside, []byte(`{"text":"a"}`+"\n"))
	if err := os.MkdirAll(filepath.Join(dir, "..in"), 0o777); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name, output string
		refused      bool
	}{
		{"file that is read", file, true},
		{"file in a folder that is read", filepath.Join(in, "deep", "new.csv"), true},
		{"file in a new folder in one that is read", filepath.Join(in, "new", "x", "y.csv"), true},
		{"file by a way around", filepath.Join(in, "new") + "/../../in/y.csv", true},
		{"file among those read before", outside, true},
		{"file beside the folder", filepath.Join(dir, "in.csv"), false},
		{"file of a folder with a name that begins with dots", filepath.Join(dir, "..in", "x.csv"), false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			begun := false
			config := Config{
				Inputs: []string{in}, Outputs: []string{c.output}, Reads: []string{outside},
				Begin: func() error { begun = true; return nil },
			}
			_, err := Pairs(context.Background(), config, func(Pair) error { return nil })
			if refused := errors.Is(err, ErrUsage); refused != c.refused || begun == c.refused || !c.refused && err != nil {
				t.Errorf("err = %v, output opened: %v; want it refused: %v", err, begun, c.refused)
			}
			config.Output = filepath.Join(dir, "out")
			if _, err := MakePlan(context.Background(), config); errors.Is(err, ErrUsage) != c.refused {
				t.Errorf("plan: err = %v, want it refused: %v", err, c.refused)
			}
		})
	}
}
