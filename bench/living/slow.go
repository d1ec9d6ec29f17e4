//go:build unix

package main

import (
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// disk returns the file system, with syncs that take as long as was asked for, in place of what they take on a
// disk that others use too.
func disk() vfs.FS {
	if slowest == 0 {
		return vfs.Default
	}
	return errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		syncs := op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData
		if syncs && (strings.HasSuffix(op.Path, ".log") || strings.HasSuffix(op.Path, "store")) {
			time.Sleep(slowest)
		}
		return nil
	}))
}
