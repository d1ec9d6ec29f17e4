package stream_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/index/stream"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
)

// childDir, if set, makes the test's program a stream with the state in that folder.
const childDir = "ALIKE_TEST_STATE"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		if err := streamWithState(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func streamWithState(dir string) error {
	th, err := measure.ParseThreshold("jaccard>=0.8")
	if err != nil {
		return err
	}
	r, err := recipe.New(recipe.Options{Threshold: th})
	if err != nil {
		return err
	}
	o := index.OpenOptions{Options: index.Options{Recipe: r, Window: index.Window{Docs: 1_000_000}}}
	x, err := index.Open(dir, o)
	if err != nil {
		if x, err = index.Create(dir, o); err != nil {
			return err
		}
	}
	defer x.Close()
	read := corpus.Options{Format: corpus.Lines}
	sources, _, err := corpus.Find(context.Background(), []string{"-"}, read)
	if err != nil {
		return err
	}
	_, err = stream.Run(context.Background(), stream.Config{Index: x, Source: sources[0], Corpus: read, Out: os.Stdout})
	return err
}

// A stream is killed and started again with all of its input, again and again. No kept line
// is missing, and what is there twice is what a run has written last.
func TestAKilledStreamLosesNothingAndRepeatsOnlyItsEnd(t *testing.T) {
	kills := 4
	if n, err := strconv.Atoi(os.Getenv("ALIKE_KILLS")); err == nil {
		kills = n
	}
	var in strings.Builder
	for i := range 40_000 {
		fmt.Fprintln(&in, words(i%23_000*31, 30)) // the later ones are equal to earlier ones
	}
	whole := run(t, in.String(), corpus.Lines, stream.Config{Index: newIndex(t, recipe.Options{}, index.Window{Docs: 1_000_000})}).out
	want := strings.SplitAfter(whole, "\n")
	want = want[:len(want)-1]
	dir, random := filepath.Join(t.TempDir(), "state"), rand.New(rand.NewPCG(1, 1))
	at := 0 // lines that are safe, by all that is known
	for kill := range kills + 1 {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), childDir+"="+dir)
		child.Stdin = strings.NewReader(in.String())
		var out bytes.Buffer
		child.Stdout, child.Stderr = &out, os.Stderr
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		if kill < kills {
			time.AfterFunc(time.Duration(random.IntN(300))*time.Millisecond, func() { _ = child.Process.Kill() })
		}
		_ = child.Wait()
		lines := strings.SplitAfter(out.String(), "\n")
		lines = lines[:len(lines)-1] // what follows the last line end was cut by the kill
		if len(lines) == 0 {
			continue
		}
		// A run goes on where the state ends: at the latest behind what was written before.
		first := 0
		for first < len(want) && want[first] != lines[0] {
			first++
		}
		if first > at {
			t.Fatalf("kill %d: lines %d to %d are missing", kill, at, first)
		}
		if first+len(lines) > len(want) || strings.Join(lines, "") != strings.Join(want[first:first+len(lines)], "") {
			t.Fatalf("kill %d: from line %d on the output is another one", kill, first)
		}
		t.Logf("run %d: lines %d to %d, %d of them again", kill, first, first+len(lines), at-first)
		at = max(at, first+len(lines))
	}
	if at != len(want) {
		t.Errorf("%d of %d lines", at, len(want))
	}
}
