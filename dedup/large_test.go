package dedup

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/alike-dev/alike/internal/testsize"
	"github.com/alike-dev/alike/vfs/vfstest"
)

// A sorter holds 4 MiB at least, so it takes a corpus of this size to make one
// spill; and a bucket has to have more members than a part to come in pieces.
func TestResultsAreTheSameWhenSortersSpill(t *testing.T) {
	if testsize.Small() {
		t.Skip("a corpus of 140,000 documents")
	}
	t.Setenv("TMPDIR", t.TempDir())
	path := filepath.Join(t.TempDir(), "large.jsonl")
	writeLarge(t, path)
	config := Config{Inputs: []string{path}, BucketCap: 20, Decide: Similarity{Candidates: LSH{Recall: 0.9}}}
	command := commands[0]
	config.Threads = 2
	want, err := command.on(t, context.Background(), vfstest.NewMem(), config)
	if err != nil {
		t.Fatal(err)
	}
	config.limits.memory, config.limits.retain = 1, 1
	spilled := map[string]bool{}
	on := newTracedFS(vfstest.NewMem(), func(o operation) error {
		if o.Kind == "write" {
			spilled[siteOf(o).file] = true
		}
		return nil
	})
	got, err := command.on(t, context.Background(), on, config)
	if err != nil {
		t.Fatal(err)
	}
	if d := got.differsFrom(want); d != "" {
		t.Error(d)
	}
	for _, name := range []string{"digests", "ids", "keys", "votes", "rims"} {
		if !spilled[name+"-#-#.run"] {
			t.Errorf("%s did not spill: %v", name, spilled)
		}
	}
	if left := on.Left(); len(left) > 0 {
		t.Errorf("left open %q", left)
	}
}

// writeLarge writes copies, near-copies, and texts of one template.
func writeLarge(t *testing.T, path string) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w := bufio.NewWriter(file)
	rng := rand.New(rand.NewPCG(4, 4))
	template := near(0)[:200]
	last := ""
	for i := range 140_000 {
		text := last
		switch {
		case i%2 == 0:
			text = fmt.Sprintf("%s serial%d", template, i)
		case i%10 == 1:
			text = ""
			for range 40 {
				text += fmt.Sprintf("w%d ", rng.IntN(100_000))
			}
			last = text
		case i%10 < 9:
			text += fmt.Sprintf("and w%d", rng.IntN(100_000))
		}
		fmt.Fprintf(w, "{\"id\":\"%d\",\"text\":%q}\n", i, text)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
}
