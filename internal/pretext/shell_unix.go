//go:build unix

package pretext

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// shell returns the command for a path, to be run by the shell. When ctx ends, all that the command has started ends too.
func shell(ctx context.Context, command, path string) *exec.Cmd {
	if !strings.Contains(command, "$1") && !strings.Contains(command, "$@") {
		command += ` "$1"`
	}
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", command, "sh", path)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}

// mine tells whether a file is of the user who runs the program.
func mine(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
