package runner

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/internal/filelock"
	"github.com/alike-dev/alike/stage"
)

// childPlan is the variable that names the plan whose tasks a process of this test runs, again
// and again, until it is killed or all are done.
const childPlan = "ALIKE_TEST_PLAN"

func TestMain(m *testing.M) {
	if path := os.Getenv(childPlan); path != "" {
		p, err := Open(noContext, path, nil)
		if err == nil {
			for _, s := range p.Stages() {
				for _, task := range rand.Perm(s.Tasks) {
					if _, err = Run(noContext, p, s.Name, task, Options{}); err != nil {
						fmt.Fprintln(os.Stderr, err)
						os.Exit(1)
					}
				}
			}
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestProcessesThatAreKilledLeaveWhatOthersGoOnFrom(t *testing.T) {
	c := dedup.Config{Inputs: []string{hotCorpus(t, 30, 60, 60, 3)}}
	p := makePlan(t, c, PlanOptions{Command: stage.Dedup, Output: filepath.Join(t.TempDir(), "out"), Partitions: 3})
	survivesKills(t, p)
	same(t, output(t, p.Output), plainDedup(t, c))
	p = joined(t, makePlan(t, c, PlanOptions{Command: stage.Dedup, Output: filepath.Join(t.TempDir(), "out"), Partitions: 3}))
	survivesKills(t, p)
	same(t, output(t, p.Output), plainDedup(t, c))
}

// survivesKills runs a plan by processes that are killed, until one of them ends. They must leave nothing else.
func survivesKills(t *testing.T, p *Plan) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plan.json")
	if err := os.WriteFile(path, jsonOf(t, p), 0o644); err != nil {
		t.Fatal(err)
	}
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	rng := rand.New(rand.NewPCG(3, 3))
	kills := 0
	for {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), childPlan+"="+path)
		var stderr bytes.Buffer
		child.Stderr = &stderr
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		if kills < 8 {
			time.AfterFunc(time.Duration(10+rng.IntN(90))*time.Millisecond, func() { _ = child.Process.Kill() })
		}
		err := child.Wait()
		if err == nil {
			break
		}
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != -1 {
			t.Fatalf("%v: %s", err, stderr.String())
		}
		kills++
	}
	// The last process may have been killed between the end of its work and that of itself.
	if _, err := Run(t.Context(), p, stage.Publish, 0, Options{Again: true}); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{temporary, p.Work, p.Output} {
		if left := unfinished(t, dir); len(left) > 0 {
			t.Errorf("killed processes have left %q", left)
		}
	}
}

// unfinished returns the files and folders below dir that are for the time of a process.
func unfinished(t *testing.T, dir string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if strings.HasPrefix(strings.TrimPrefix(d.Name(), "."), "alike-") {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// A scheduler may start a task again while it runs, on the same machine or another one.
func TestATaskThatRunsTwiceAtOnceEndsTwice(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	c := dedup.Config{Inputs: []string{hotCorpus(t, 3, 6, 6, 2)}}
	p := makePlan(t, c, PlanOptions{Command: stage.Dedup, Output: filepath.Join(t.TempDir(), "out"), Partitions: 2})
	for _, s := range p.Stages() {
		var all errgroup.Group
		for task := range s.Tasks {
			for range 5 { // more than have names that are found again
				all.Go(func() error {
					_, err := Run(t.Context(), p, s.Name, task, Options{Again: true})
					return err
				})
			}
		}
		if err := all.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	same(t, output(t, p.Output), plainDedup(t, c))
	for _, dir := range []string{temporary, p.Work, p.Output} {
		if left := unfinished(t, dir); len(left) > 0 {
			t.Errorf("left are %q", left)
		}
	}
}

func TestPublishRemovesWhatKilledTasksHaveLeft(t *testing.T) {
	c := dedup.Config{Inputs: []string{hotCorpus(t, 3, 6, 6, 2)}}
	p := makePlan(t, c, PlanOptions{Command: stage.Dedup, Output: filepath.Join(t.TempDir(), "out"), Partitions: 2})
	runAll(t, p, Options{})
	kept := filepath.Join(p.Output, dedup.KeptFolder, p.Files[0].Name)
	others := filepath.Join(p.Output, dedup.KeptFolder, "another.jsonl") // of another program in the same folder
	object := objectPath(p, "verify", 1)
	for _, path := range []string{kept, others, object} {
		leave(t, path)
	}
	if _, err := Run(t.Context(), p, stage.Publish, 0, Options{Again: true}); err != nil {
		t.Fatal(err)
	}
	left := append(unfinished(t, p.Work), unfinished(t, p.Output)...)
	if len(left) != 2 || !strings.Contains(left[0], filelock.Hash("another.jsonl")) {
		t.Errorf("left are %q", left)
	}
}

// leave makes what a process that was killed on another machine leaves of a file.
func leave(t *testing.T, path string) {
	t.Helper()
	stem := filepath.Join(filepath.Dir(path), ".alike-"+filelock.Hash(filepath.Base(path))+"-"+filelock.Hash("elsewhere")+"-0")
	for _, suffix := range []string{".lock", ".tmp"} {
		if err := os.WriteFile(stem+suffix, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestADamagedObjectIsRefusedByName(t *testing.T) {
	c := dedup.Config{Inputs: []string{hotCorpus(t, 3, 6, 6, 1)}}
	p := makePlan(t, c, PlanOptions{Command: stage.Dedup, Output: filepath.Join(t.TempDir(), "out"), Partitions: 1})
	runAll(t, p, Options{})
	path := objectPath(p, "sketch", 0)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(9, 9))
	for range 15 {
		bad := bytes.Clone(whole)
		if rng.IntN(4) == 0 {
			bad = bad[:rng.IntN(len(bad))]
		} else {
			bad[rng.IntN(len(bad))] ^= 1 << rng.IntN(8)
		}
		if err := os.WriteFile(path, bad, 0o644); err != nil {
			t.Fatal(err)
		}
		var failed []error
		for _, name := range []string{"group", "clusters", "write", stage.Publish} {
			if _, err := Run(t.Context(), p, name, 0, Options{Again: true}); err != nil {
				failed = append(failed, err)
			}
		}
		named := false
		for _, err := range failed {
			named = named || errors.Is(err, ErrObject) && strings.Contains(err.Error(), "sketch/000000") || errors.Is(err, stage.ErrBlock) && strings.Contains(err.Error(), "sketch/000000")
		}
		if !named {
			t.Errorf("damage was not told: %v", failed)
		}
	}
}
