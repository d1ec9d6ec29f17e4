package runner

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alike-dev/alike/dedup"
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
	path := filepath.Join(t.TempDir(), "plan.json")
	if err := os.WriteFile(path, jsonOf(t, p), 0o644); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 3))
	kills := 0
	for {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), childPlan+"="+path, "TMPDIR="+t.TempDir())
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
	same(t, output(t, p.Output), plainDedup(t, c))
}

func TestADamagedObjectIsRefusedByName(t *testing.T) {
	c := dedup.Config{Inputs: []string{hotCorpus(t, 3, 6, 6, 1)}}
	p := makePlan(t, c, PlanOptions{Command: stage.Dedup, Output: filepath.Join(t.TempDir(), "out"), Partitions: 1})
	runAll(t, p, Options{})
	path := filepath.Join(p.Work, p.Digest, "sketch", "000000")
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
		for _, name := range []string{"names", "classes", "members", "write", stage.Publish} {
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
