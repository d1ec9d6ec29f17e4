// Package stdio tells whether a process was started without one of its standard streams.
package stdio

import "os"

// Closed tells whether a standard stream was closed when the process started (2>&-).
//
// The runtime of Go opens the null device in its place, for reading and writing, so that no other
// file gets its number. Shells open it for one of both (> /dev/null), which is how the two are told
// apart; a parent that opens it for both, as Python's subprocess.DEVNULL does, looks like no stream.
func Closed(stream *os.File) bool {
	at, err := stream.Stat()
	if err != nil {
		return true
	}
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(at, null) && bothWays(stream)
}
