package journal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alike-dev/alike/vfs"
)

// holdVar makes the test binary a process that holds the folder that it names until
// its standard input ends; raceVar one that takes it and lets go of it many times.
const (
	holdVar = "ALIKE_TEST_HOLD"
	raceVar = "ALIKE_TEST_RACE"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(holdVar); dir != "" {
		exit(hold(dir))
	}
	if dir := os.Getenv(raceVar); dir != "" {
		exit(race(dir))
	}
	os.Exit(m.Run())
}

func exit(err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(0)
}

func hold(dir string) error {
	j, err := Open(vfs.OS, dir, someSettings, false)
	if err != nil {
		return err
	}
	if err := j.Append("part", 1); err != nil {
		return err
	}
	fmt.Println("held")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return j.Close()
}

// race proves that no two processes are ever in the folder at once: each makes a
// file there that must not exist yet.
func race(dir string) error {
	for entered := 0; entered < 30; {
		j, err := Open(vfs.OS, dir, someSettings, false)
		if errors.Is(err, ErrInUse) {
			continue
		}
		if err != nil {
			return err
		}
		entered++
		path := filepath.Join(dir, "alone")
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return err
		}
		if err := errors.Join(f.Close(), os.Remove(path), j.Remove()); err != nil {
			return err
		}
	}
	return nil
}

func again(t *testing.T, variable, dir string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), variable+"="+dir)
	return cmd
}

func TestAnotherProcessIsKeptOutUntilTheFirstOneIsKilled(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	cmd := again(t, holdVar, dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	if line != "held\n" {
		t.Errorf("the other process says %q", line)
	}
	for _, fresh := range []bool{false, true} {
		_, err := Open(vfs.OS, dir, someSettings, fresh)
		if !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "another folder") {
			t.Errorf("a folder in use: %v", err)
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait()
	j, err := Open(vfs.OS, dir, someSettings, false)
	if err != nil {
		t.Fatal(err)
	}
	if !j.Resumed() {
		t.Error("what the killed process appended is not there")
	}
	if _, err := Open(vfs.OS, dir, someSettings, false); err == nil {
		t.Error("opened twice by one process")
	}
	if err := j.Remove(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestNoTwoProcessesAreInAFolderAtOnce(t *testing.T) {
	dir := t.TempDir()
	var processes []*exec.Cmd
	var outputs []*strings.Builder
	for range 3 {
		cmd, out := again(t, raceVar, dir), new(strings.Builder)
		cmd.Stdout = out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		processes, outputs = append(processes, cmd), append(outputs, out)
	}
	for i, cmd := range processes {
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %s", err, outputs[i])
		}
	}
}
