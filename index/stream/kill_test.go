package stream_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
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
	"github.com/alike-dev/alike/internal/testsize"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
)

// childDir, if set, makes the test's program a stream with the state in that folder.
const childDir = "ALIKE_TEST_STATE"

// childKeys says where the index that it makes has its keys.
const childKeys = "ALIKE_TEST_KEYS"

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
	o := index.OpenOptions{Options: index.Options{Recipe: r, Window: index.Window{Docs: killedWindow}, History: 1 << 20, Keys: index.Keys(os.Getenv(childKeys))}, TailKeys: 40_000}
	x, err := index.Open(dir, o)
	if errors.Is(err, fs.ErrNotExist) {
		x, err = index.Create(dir, o)
	}
	if err != nil {
		return err
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

// killedWindow is less than what a process handles before it is killed.
const killedWindow = 500

// A stream is killed and started again with its input from anywhere in what is safe, again and again;
// most of that has left the window. No kept line is missing, and what is there twice is what
// a run has written last. When all was written it begins once more. ALIKE_KILLS=200 does what a
// release does.
func TestAKilledStreamLosesNothingAndRepeatsOnlyItsEnd(t *testing.T) {
	kills := 4 // half of them with keys on disk
	if n, err := strconv.Atoi(os.Getenv("ALIKE_KILLS")); err == nil {
		kills = n
	} else if testsize.Small() {
		kills = 2
	}
	var in []string
	var place []int // in the input, of each kept line
	for i := range 60_000 {
		if i%3 == 2 {
			in = append(in, in[i-1])
		} else {
			place = append(place, i)
			in = append(in, fmt.Sprintln(words(i*31, 30)))
		}
	}
	want := strings.SplitAfter(run(t, strings.Join(in, ""), corpus.Lines, stream.Config{Index: newIndex(t, recipe.Options{}, index.Window{Docs: killedWindow})}).out, "\n")
	if want = want[:len(want)-1]; len(want) != len(place) {
		t.Fatalf("%d lines are kept of %d", len(want), len(place))
	}
	for _, keys := range []index.Keys{index.KeysInMemory, index.KeysOnDisk} {
		t.Run("keys "+string(keys), func(t *testing.T) { killStreams(t, in, place, want, kills/2, keys) })
	}
}

func killStreams(t *testing.T, in []string, place []int, want []string, kills int, keys index.Keys) {
	random := rand.New(rand.NewPCG(1, 1))
	again, longest := 0, 0
	for kill := 0; kill < kills; {
		dir := filepath.Join(t.TempDir(), fmt.Sprint("state-", kill))
		at, safe := 0, 0 // lines that are written, and that the state has
		for at < len(want) {
			from := 0
			if safe > 0 {
				from = random.IntN(place[safe-1] + 1)
			}
			child := exec.Command(os.Args[0])
			child.Env = append(os.Environ(), childDir+"="+dir, childKeys+"="+string(keys))
			child.Stdin = strings.NewReader(strings.Join(in[from:], ""))
			var out bytes.Buffer
			child.Stdout, child.Stderr = &out, os.Stderr
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			if kill < kills {
				time.AfterFunc(time.Duration(20+random.IntN(150))*time.Millisecond, func() { _ = child.Process.Kill() })
				kill++
			}
			_ = child.Wait()
			lines := strings.SplitAfter(out.String(), "\n")
			lines = lines[:len(lines)-1] // what follows the last line end was cut by the kill
			if len(lines) == 0 {
				continue
			}
			// A run goes on where the state ends: at the latest behind what was written before.
			first := safe
			for first < len(want) && want[first] != lines[0] {
				first++
			}
			if first > at {
				t.Fatalf("kill %d: from %d: lines %d to %d are missing", kill, from, at, first)
			}
			if first+len(lines) > len(want) || strings.Join(lines, "") != strings.Join(want[first:first+len(lines)], "") {
				t.Fatalf("kill %d: from line %d on the output is another one", kill, first)
			}
			again, longest = again+at-first, max(longest, at-first)
			safe, at = first, max(at, first+len(lines))
		}
	}
	t.Logf("%d kills, %d lines written again, %d after one kill at most", kills, again, longest)
}
