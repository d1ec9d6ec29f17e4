package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
)

// TestOneReasonIsToldOnce has workers that fail for one reason, with a remedy or without.
func TestOneReasonIsToldOnce(t *testing.T) {
	full := &fs.PathError{Op: "write", Path: "disk/x.run", Err: syscall.ENOSPC}
	told := fmt.Errorf("%w; make room there", full)
	for _, c := range []struct {
		err  error
		want string
	}{
		{errors.Join(told, told), "alike: write disk/x.run: no space left on device; make room there\n"},
		{full, "alike: write disk/x.run: no space left on device; make room, or name another disk (temporary files: --work)\n"},
		{errors.Join(errors.New("one"), errors.New("two"), errors.New("one")), "alike: one\nalike: two\n"},
	} {
		cmd, stderr := &cobra.Command{}, &bytes.Buffer{}
		cmd.Flags().String("work", "", "")
		cmd.SetErr(stderr)
		if code := exitCode(cmd, c.err); code != exitFailed || stderr.String() != c.want {
			t.Errorf("status %d, %q, want %q", code, stderr, c.want)
		}
	}
}
