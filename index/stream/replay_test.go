package stream_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/index/stream"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/vfs"
	"github.com/alike-dev/alike/vfs/vfstest"
)

// few is a window that forgets soon.
var few = index.Window{Docs: 20}

// process runs a stream as a process of its own does: it opens the state and closes it.
func process(t *testing.T, fs vfs.FS, lines []string) result {
	t.Helper()
	o := newIndex(t, recipe.Options{}, few).Options()
	o.History = 1 << 20
	x, err := index.OpenOrCreate("state", index.OpenOptions{Options: o, FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}()
	return run(t, strings.Join(lines, ""), corpus.Lines, stream.Config{Index: x})
}

// oftenSeen returns lines of which many were there before, most of them further back than the
// window reaches.
func oftenSeen(random *rand.Rand, n int) (lines []string) {
	for i := range n {
		lines = append(lines, words(random.IntN(1+i/2)*100, 12)+"\n")
	}
	return lines
}

// However often a stream is stopped, and wherever its input begins again, all outputs together
// are the one of a stream that was never stopped.
func TestInputThatIsReplayedFromAnywhereIsPassedOver(t *testing.T) {
	for seed := range uint64(3) {
		random := rand.New(rand.NewPCG(seed, 4))
		lines := oftenSeen(random, 250)
		whole := run(t, strings.Join(lines, ""), corpus.Lines, stream.Config{Index: newIndex(t, recipe.Options{}, few)})
		fs, out, at := vfstest.NewMem(), "", 0
		for at < len(lines) {
			from := random.IntN(at + 1)
			to := min(at+random.IntN(100), len(lines))
			if random.IntN(4) == 0 {
				to = from + random.IntN(at-from+1) // it ends before it comes to anything new
			}
			r := process(t, fs, lines[from:to])
			if r.Read != r.Kept+r.Dropped+r.Replayed {
				t.Fatalf("%+v", r.Summary)
			}
			out += r.out
			at = max(at, to)
		}
		if out != whole.out {
			t.Fatalf("seed %d: the outputs together differ from one:\n%s\nwant\n%s", seed, out, whole.out)
		}
	}
}

// An input that begins with what was read before, and goes on otherwise, is no replay: what it
// begins with is decided as any other record.
func TestInputThatOnlyBeginsAsAReplayIsNew(t *testing.T) {
	for seed := range uint64(3) {
		random := rand.New(rand.NewPCG(seed, 5))
		lines := oftenSeen(random, 300)
		from := random.IntN(250)
		second := append([]string{}, lines[from:from+1+random.IntN(40)]...)
		for i := range 50 {
			second = append(second, fmt.Sprintf("something new %d %s\n", i, words(1_000_000+i*50, 9)))
		}
		whole := run(t, strings.Join(append(lines[:len(lines):len(lines)], second...), ""), corpus.Lines, stream.Config{Index: newIndex(t, recipe.Options{}, few)})
		fs := vfstest.NewMem()
		out := process(t, fs, lines).out
		r := process(t, fs, second)
		if r.Replayed != 0 || out+r.out != whole.out {
			t.Fatalf("seed %d: %d replayed; the outputs are\n%s\nwant\n%s", seed, r.Replayed, out+r.out, whole.out)
		}
	}
}

// A row that is too long to be withheld is a replay, wherever it breaks off.
func TestALongRowOfWhatWasReadIsAReplay(t *testing.T) {
	var lines []string
	for i := range 6000 {
		lines = append(lines, fmt.Sprint("line ", i, "\n"))
	}
	fs := vfstest.NewMem()
	process(t, fs, lines)
	r := process(t, fs, append(lines[:5000:5000], "and now something new that nobody knows\n"))
	if r.Replayed != 5000 || r.Kept != 1 {
		t.Errorf("%+v", r.Summary)
	}
}
