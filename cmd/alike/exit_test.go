package main

import (
	"bytes"
	"errors"
	"io/fs"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
)

// TestOneReasonIsToldOnce has workers that fail for one reason, with a remedy or without.
func TestOneReasonIsToldOnce(t *testing.T) {
	full := &fs.PathError{Op: "write", Path: "disk/x.run", Err: syscall.ENOSPC}
	for _, c := range []struct {
		err  error
		work string
		want string
	}{
		{errors.Join(full, full), "", "alike: write disk/x.run: no space left on device; make room, or name another disk (temporary files: --work)\n"},
		{full, "disk", "alike: write disk/x.run: no space left on device; make room: finished work is in disk, and the same command continues from there\n"},
		{full, "", "alike: write disk/x.run: no space left on device; make room, or name another disk (temporary files: --work)\n"},
		{errors.Join(errors.New("one"), errors.New("two"), errors.New("one")), "", "alike: one\nalike: two\n"},
	} {
		cmd, stderr := &cobra.Command{}, &bytes.Buffer{}
		cmd.Flags().String("work", c.work, "")
		cmd.Flags().Bool("fresh", false, "")
		cmd.SetErr(stderr)
		if code := exitCode(cmd, c.err); code != exitFailed || stderr.String() != c.want {
			t.Errorf("status %d, %q, want %q", code, stderr, c.want)
		}
	}
}
