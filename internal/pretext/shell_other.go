//go:build !unix

package pretext

import (
	"context"
	"io/fs"
	"os/exec"
	"strings"
)

// shell returns the command for a path: words separated by white space, without a shell, and the path as the last one.
func shell(ctx context.Context, command, path string) *exec.Cmd {
	words := append(strings.Fields(command), path)
	return exec.CommandContext(ctx, words[0], words[1:]...)
}

// mine tells whether a file is of the user who runs the program: folders of other users are not written to here.
func mine(fs.FileInfo) bool { return true }
