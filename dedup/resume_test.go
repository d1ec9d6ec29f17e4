package dedup

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alike-dev/alike/dedup/internal/write"
	"github.com/alike-dev/alike/internal/resume"
	"github.com/alike-dev/alike/internal/testsize"
	"github.com/alike-dev/alike/vfs/vfstest"
)

// stop makes a command end as if its process were killed, or the power failed,
// just before its nth write operation. Of the file system after says what is left;
// nil: all that was written. It reports whether the command came so far; if not,
// its outcome is checked against want.
func (c command) stop(t *testing.T, config Config, on *vfstest.Mem, n int, after func(on *vfstest.Mem) *vfstest.Mem, want outcome) (left *vfstest.Mem, stopped bool) {
	t.Helper()
	left = on
	writes := 0
	traced := newTracedFS(on, func(o operation) error {
		if o.Write && !stopped {
			if writes++; writes == n {
				stopped = true
				if after != nil {
					left = after(on)
				}
			}
		}
		if stopped {
			return errDead
		}
		return nil
	})
	published := published(t, on)
	got, err := c.on(t, context.Background(), traced, config)
	got, err = atItsEnd(t, on, got, err, want)
	if published {
		got.skipped = want.skipped
	}
	switch {
	case err == nil && !stopped:
		if d := got.differsFrom(want); d != "" {
			t.Errorf("%s", d)
		}
	case err == nil:
		// Only what nothing depends on was left to do.
	case !errors.Is(err, errDead):
		t.Errorf("killed before write %d: error %v", n, err)
	}
	if open := traced.Left(); len(open) > 0 {
		t.Errorf("killed before write %d: left open %q", n, open)
	}
	traced.CloseAll()
	return left, stopped
}

// published tells whether a run was stopped after all of its output was staged: what
// it has skipped it has told by then.
func published(t *testing.T, on *vfstest.Mem) bool {
	t.Helper()
	if _, err := on.Stat(workFolder + "/alike.journal"); err != nil {
		return false
	}
	return strings.Contains(readVFS(t, on, workFolder+"/alike.journal"), " "+resume.Published+" ")
}

// goesOn runs a command that was stopped to its end.
func (c command) goesOn(t *testing.T, config Config, on *vfstest.Mem, want outcome) {
	t.Helper()
	published := published(t, on)
	got, err := c.on(t, context.Background(), newTracedFS(on, nil), config)
	got, err = atItsEnd(t, on, got, err, want)
	if err != nil {
		t.Errorf("going on: %v", err)
		return
	}
	if published {
		got.skipped = want.skipped
	}
	if d := got.differsFrom(want); d != "" {
		t.Errorf("after going on: %s", d)
	}
	left := memTree(t, on, workFolder)
	delete(left, "alike.lock") // of a run that had come to its end
	if len(left) > 0 {
		t.Errorf("after going on: left in the work folder %q", slices.Collect(maps.Keys(left)))
	}
}

// atItsEnd returns what there is where a command was refused because an earlier one
// had come to its end, its journal being gone. Anything else it returns as it is.
func atItsEnd(t *testing.T, on *vfstest.Mem, got outcome, err error, want outcome) (outcome, error) {
	t.Helper()
	files := memTree(t, on, outFolder)
	if err == nil || files[write.SummaryFile] == "" || !strings.Contains(err.Error(), "not empty") {
		return got, err
	}
	delete(files, write.SummaryFile)
	return outcome{files: files, counts: want.counts, skipped: want.skipped}, nil
}

// resumable returns the configuration of a variant that notes as often as it can.
func (v variant) resumable(inputs, references string, threads int) Config {
	c := v.config(inputs, references)
	tiny(&c)
	c.Work, c.Threads = WorkFolder{Path: workFolder}, threads
	return c
}

// thorough asks for every place where a run can be stopped or an operation can
// fail, and more seeds, in place of a sample: it takes hours.
var thorough = os.Getenv("ALIKE_THOROUGH") != ""

// someOf returns some of 1 … n+1, spread over all of it.
func someOf(rng *rand.Rand, n, some int) (at []int) {
	if thorough {
		some = n
	} else if testsize.Small() {
		some = max(some/4, 1)
	}
	for i := range some {
		from, to := 1+n*i/some, 1+n*(i+1)/some
		at = append(at, from+rng.IntN(max(to-from, 1)))
	}
	return at
}

// writes returns how many write operations a command makes.
func (c command) writes(t *testing.T, config Config) (n int) {
	t.Helper()
	on := newTracedFS(vfstest.NewMem(), func(o operation) error {
		if o.Write {
			n++
		}
		return nil
	})
	if _, err := c.on(t, context.Background(), on, config); err != nil {
		t.Fatal(err)
	}
	return n
}

// survives stops a command before some of its writes, a third of the times by a loss of power, and checks that it goes on
// to the same result.
func (c command) survives(t *testing.T, rng *rand.Rand, config Config, some int) {
	t.Helper()
	want := c.undisturbed(t, config)
	resumable := func(threads int) Config {
		c := config
		tiny(&c)
		c.Work, c.Threads = WorkFolder{Path: workFolder}, threads
		return c
	}
	writes := c.writes(t, resumable(1))
	for i, n := range someOf(rng, writes, some) {
		fs, crash := vfstest.NewMem(), (func(on *vfstest.Mem) *vfstest.Mem)(nil)
		if i%3 == 0 {
			cfg := vfstest.CrashCloneCfg{UnsyncedDataPercent: []int{0, 25, 75, 100}[i%4], RNG: rng}
			fs, crash = vfstest.NewCrashable(), func(on *vfstest.Mem) *vfstest.Mem { return on.CrashClone(cfg) }
		}
		on, _ := c.stop(t, resumable(1+n%2), fs, n, crash, want)
		c.goesOn(t, resumable(2), on, want)
		if t.Failed() {
			t.Fatalf("%s, stopped before write %d of %d", c.name, n, writes)
		}
	}
}

func TestKilledAtAnyWriteTheSameRunGoesOnToTheSameResult(t *testing.T) {
	inputs, references := troubleCorpus(t, 2)
	rng := rand.New(rand.NewPCG(10, 1))
	for _, v := range variants(t) {
		for _, command := range v.commands() {
			want := command.undisturbed(t, v.config(inputs, references))
			writes := command.writes(t, v.resumable(inputs, references, 1))
			for _, n := range someOf(rng, writes, 3) {
				on, _ := command.stop(t, v.resumable(inputs, references, 1+n%2), vfstest.NewMem(), n, nil, want)
				command.goesOn(t, v.resumable(inputs, references, 2), on, want)
				if t.Failed() {
					t.Fatalf("%s, %s, killed before write %d of %d", v.name, command.name, n, writes)
				}
			}
		}
	}
}

func TestKilledAgainAndAgainARunComesToTheSameResult(t *testing.T) {
	inputs, references := troubleCorpus(t, 3)
	rng := rand.New(rand.NewPCG(10, 1))
	for _, v := range variants(t) {
		for _, command := range v.commands() {
			want := command.undisturbed(t, v.config(inputs, references))
			on := vfstest.NewMem()
			for stopped, kills := true, 0; stopped; kills++ {
				on, stopped = command.stop(t, v.resumable(inputs, references, 1+rng.IntN(4)), on, 100+rng.IntN(100)+20*kills, nil, want)
				if t.Failed() || kills > 100 {
					t.Fatalf("%s, %s, killed %d times", v.name, command.name, kills)
				}
			}
		}
	}
}

// A crash loses what was not synced, or some of it.
func TestAfterAnyLossOfPowerTheSameRunGoesOnToTheSameResult(t *testing.T) {
	inputs, references := troubleCorpus(t, 4)
	rng := rand.New(rand.NewPCG(10, 1))
	for _, v := range variants(t) {
		for _, command := range v.commands() {
			want := command.undisturbed(t, v.config(inputs, references))
			writes := command.writes(t, v.resumable(inputs, references, 1))
			for i, n := range someOf(rng, writes, 3) {
				cfg := vfstest.CrashCloneCfg{UnsyncedDataPercent: []int{0, 25, 75, 100}[i%4], RNG: rng}
				crash := func(on *vfstest.Mem) *vfstest.Mem { return on.CrashClone(cfg) }
				on, _ := command.stop(t, v.resumable(inputs, references, 1+n%2), vfstest.NewCrashable(), n, crash, want)
				command.goesOn(t, v.resumable(inputs, references, 2), on, want)
				if t.Failed() {
					t.Fatalf("%s, %s, %d %% unsynced data, crashed before write %d of %d", v.name, command.name, cfg.UnsyncedDataPercent, n, writes)
				}
			}
		}
	}
}

// A verification that makes no notes of its own is not stopped by their being due.
func TestVerificationWithoutNotesEndsAlthoughOneIsDue(t *testing.T) {
	dir := t.TempDir()
	// A chain, of which the ends have not been compared when it is clustered.
	var lines strings.Builder
	words := strings.Fields(near(0))
	for i := range 5 {
		words[20*i] = "other"
		fmt.Fprintf(&lines, "{\"text\":%q}\n", strings.Join(words, " "))
	}
	path := filepath.Join(dir, "chain.jsonl")
	writeFile(t, path, []byte(lines.String()))
	c := Config{Inputs: []string{path}, Output: filepath.Join(dir, "out"), Work: WorkFolder{Path: filepath.Join(dir, "work")}, Decide: Similarity{Candidates: LSH{}}}
	c.limits.due = func() bool { return true }
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	s, err := Run(ctx, c)
	if err != nil || s.Clusters != 1 {
		t.Errorf("%v, %v", s, err)
	}
}
