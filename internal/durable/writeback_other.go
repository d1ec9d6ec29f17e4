//go:build !linux

package durable

import (
	"github.com/alike-dev/alike/vfs"
)

// StartWriteback does nothing because the system has no such call.
func StartWriteback(vfs.File, int64, int64) {}
