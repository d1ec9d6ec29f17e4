//go:build unix

package main

import (
	"strings"
	"time"

	"github.com/alike-dev/alike/vfs"
	"github.com/alike-dev/alike/vfs/vfstest"
)

// disk returns the file system, with syncs that take as long as was asked for, in place of what they take on a
// disk that others use too.
func disk() vfs.FS {
	if slowest == 0 {
		return vfs.OS
	}
	return vfstest.Inject(vfstest.NewMem(), func(op vfstest.Op) error {
		syncs := op.Kind == vfstest.OpFileSync || op.Kind == vfstest.OpFileSyncData
		if syncs && (strings.HasSuffix(op.Path, ".log") || strings.HasSuffix(op.Path, "store")) {
			time.Sleep(slowest)
		}
		return nil
	})
}
