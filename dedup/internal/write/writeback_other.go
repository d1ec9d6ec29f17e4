//go:build !linux

package write

import "github.com/cockroachdb/pebble/v2/vfs"

// startWriteback does nothing because the system has no such call.
func startWriteback(vfs.File, int64, int64) {}
