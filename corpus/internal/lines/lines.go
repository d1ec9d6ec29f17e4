// Package lines knows how lines begin and end.
package lines

import (
	"bytes"
)

// ByteOrderMark is U+FEFF in UTF-8.
var ByteOrderMark = []byte("\xef\xbb\xbf")

var End = []byte{'\n'}

// WithoutEnd cuts LF or CRLF, or a CR at the end of the file, off a line.
func WithoutEnd(line []byte) []byte {
	line = bytes.TrimSuffix(line, End)
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line
}
