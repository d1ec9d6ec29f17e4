package main

import (
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/alike-dev/alike/internal/testsize"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"alike": main})
}

// TestScripts runs the specification of the commands: testdata/script has one
// script or more for each, to be read by users too. The commands beyond those
// of testscript are in scriptcmd_test.go.
func TestScripts(t *testing.T) {
	// Where it is ignored, as under nohup, a script that closes its terminal would wait for ever. What is started here has the default.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	t.Cleanup(func() { signal.Reset(syscall.SIGHUP) })
	stores := startStores(t)
	commands := maps.Clone(scriptCommands)
	maps.Copy(commands, stores.commands())
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                commands,
		Condition:           scriptCondition,
		Setup: func(e *testscript.Env) error {
			stores.setEnv(e)
			e.Setenv("GOMAXPROCS", "2")
			e.Setenv("GORACE", "atexit_sleep_ms=0") // else the race detector waits a second in every process
			return nil
		},
	})
}

// scriptCondition knows [root], [race] for the race detector, and [tinydisk]: whether a
// file system of a few KiB can be mounted.
func scriptCondition(name string) (bool, error) {
	switch name {
	case "root":
		return os.Geteuid() == 0, nil
	case "race":
		return testsize.Race, nil
	case "tinydisk":
		return exec.Command("unshare", "-rm", "sh", "-c", "mount -t tmpfs -o size=64k none /mnt").Run() == nil, nil
	}
	return false, os.ErrInvalid
}
