package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// TestMain lets the test program be the command that is measured.
func TestMain(m *testing.M) {
	switch os.Getenv("MEASURED") {
	case "":
		os.Exit(m.Run())
	case "writer": // writes a file, removes it and fails
		file := filepath.Join(os.Getenv("FOLDER"), "file")
		must(os.WriteFile(file, make([]byte, 1<<20), 0o666))
		time.Sleep(100 * time.Millisecond)
		must(os.Remove(file))
		os.Exit(3)
	case "sleeper":
		time.Sleep(time.Minute)
	case "eater":
		eaten := make([]byte, 96<<20)
		for i := range eaten {
			eaten[i] = 1
		}
		runtime.KeepAlive(eaten)
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// measured runs this program as what and returns what came out.
func measured(t *testing.T, what string, flags ...string) (status int, c cost) {
	t.Helper()
	t.Setenv("MEASURED", what)
	output := filepath.Join(t.TempDir(), "cost")
	j, err := parse(append(flags, "-o", output, os.Args[0]), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	if status, err = j.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	line, err := os.ReadFile(output)
	if err != nil {
		t.Fatal(err)
	}
	killed := 0
	if _, err := fmt.Sscan(string(line), &c.seconds, &c.processors, &c.memory, &c.disk, &killed); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	c.killed = killed == 1
	return status, c
}

func TestTheLargestSizeOfAFolderIsToldAndTheStatusPassedOn(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("FOLDER", folder)
	status, c := measured(t, "writer", "-watch", folder, "-every", "1ms")
	if status != 3 || c.disk != 1<<20 || c.killed {
		t.Errorf("status %d, %+v", status, c)
	}
}

func TestACommandIsKilledWhenItsTimeIsUp(t *testing.T) {
	if status, c := measured(t, "sleeper", "-kill-after", "1ms"); status != killedStatus || !c.killed {
		t.Errorf("status %d, %+v", status, c)
	}
}

func TestPeakMemoryIsTheCommands(t *testing.T) {
	status, c := measured(t, "eater", "-kill-after", "1m")
	if status != 0 || c.killed {
		t.Errorf("status %d, %+v", status, c)
	}
	if c.memory != 0 && c.memory < 96<<20 {
		t.Errorf("%d bytes, of a command that has had 96 MiB", c.memory)
	}
}

func TestACommandThatCannotStartIsAnError(t *testing.T) {
	j, err := parse([]string{"-o", filepath.Join(t.TempDir(), "cost"), filepath.Join(t.TempDir(), "none")}, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.run(context.Background()); err == nil {
		t.Error("no error")
	}
}
