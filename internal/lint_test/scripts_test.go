package lint_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// TestABenchmarkLeavesTheCorporaThatItWasGiven runs one that has a trap of its own.
func TestABenchmarkLeavesTheCorporaThatItWasGiven(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil || runtime.GOOS != "linux" {
		t.Skip("the benchmarks are for bash on Linux")
	}
	bin, corpora := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte("#!/bin/sh\n"), 0o755); err != nil { // builds nothing
		t.Fatal(err)
	}
	corpus := filepath.Join(corpora, "corpus.jsonl")
	if err := os.WriteFile(corpus, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bash, filepath.Join(root, "bench", "stages.sh"), "no-such-part")
	cmd.Env = append(os.Environ(), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "ALIKE_BENCH_DIR="+corpora)
	if out, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 2 {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, err := os.Stat(corpus); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(corpora, "run")); err == nil {
		t.Error("what it has made itself is left")
	}
}
