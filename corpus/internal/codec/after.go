package codec

import (
	"bytes"
	"fmt"
	"io"

	"github.com/alike-dev/alike/internal/fault"
)

// Garbage is the error for bytes behind the last whole member, frame or stream of a file that begin no other one. All
// that was compressed before them is decoded.
type Garbage struct{ Bytes int64 }

func (g *Garbage) Error() string {
	if g.Bytes == 1 {
		return "1 byte of garbage"
	}
	return fmt.Sprintf("%d bytes of garbage", g.Bytes)
}

// Unwrap makes garbage a kind of damage.
func (g *Garbage) Unwrap() error { return fault.ErrCorrupt }

// starts are the bytes with which members, frames and streams begin.
var starts = map[Name][]byte{
	Gzip:  {0x1f, 0x8b},
	Zstd:  {0x28, 0xb5, 0x2f, 0xfd},
	Bzip2: []byte("BZh"),
	Xz:    []byte("\xfd7zXZ\x00"),
}

// skippable are bytes 2 to 4 of a zstd frame with data of others (RFC 8878, section 3.1.2); byte 1 is 0x50 to 0x5f.
var skippable = []byte{0x2a, 0x4d, 0x18}

// longestStart is the length of the longest of starts.
const longestStart = 6

// begins reports whether head, the next bytes of a file or all that are left, may begin a member, frame or stream.
func begins(c Name, head []byte) bool {
	start := starts[c]
	if n := min(len(head), len(start)); bytes.Equal(head[:n], start[:n]) {
		return true
	}
	return c == Zstd && head[0]&0xf0 == 0x50 && bytes.HasPrefix(skippable, head[1:min(len(head), 4)])
}

// After says what the rest of a file behind a whole member, frame or stream is. Zero bytes, with which tapes, tar and dd
// fill up a file, are a regular end: io.EOF. It returns damage, the error of the decoder there, for a rest that begins
// like another member, frame or stream, and *Garbage for any other rest, after reading all of it.
func After(c Name, rest io.Reader, damage error) error {
	head := make([]byte, longestStart)
	n, err := io.ReadFull(rest, head)
	if head = head[:n]; n > 0 && begins(c, head) {
		return damage
	}
	size, zeros := int64(n), isZero(head)
	for buf := make([]byte, 32<<10); err == nil; {
		n, err = rest.Read(buf)
		size += int64(n)
		zeros = zeros && isZero(buf[:n])
	}
	switch {
	case err != io.EOF && err != io.ErrUnexpectedEOF:
		return err
	case zeros && (c != Xz || size%xzPadding == 0):
		return io.EOF
	}
	return &Garbage{size}
}

// isZero reports whether all bytes are zero.
func isZero(p []byte) bool { return len(bytes.TrimLeft(p, "\x00")) == 0 }
