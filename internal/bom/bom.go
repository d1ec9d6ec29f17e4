// Package bom knows byte order marks: which encoding the mark at the start of a file tells, the text of the file in
// UTF-8, and where a place of the text stands in the file. Files without a mark are UTF-8.
package bom

import (
	"bytes"
	"io"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Encoding is how a file encodes its text. The zero value is UTF-8 without a mark.
type Encoding byte

const (
	None    Encoding = iota // UTF-8, or bytes of any kind, without a mark
	UTF8                    // with a mark, as all that follow
	UTF16LE                 // little-endian
	UTF16BE
)

// marks are U+FEFF in each encoding.
var marks = [...]string{None: "", UTF8: "\xef\xbb\xbf", UTF16LE: "\xff\xfe", UTF16BE: "\xfe\xff"}

// utf32 is the mark of UTF-32, little-endian, which begins like that of UTF-16 and is not known here.
const utf32 = "\xff\xfe\x00\x00"

// enough is the number of bytes that tell any mark.
const enough = len(utf32)

// Of returns the encoding of a file that begins with start. more reports that start is too short to tell; with ends it
// is the whole file.
func Of(start []byte, ends bool) (e Encoding, more bool) {
	if len(start) < enough && !ends {
		for _, m := range marks[UTF8:] {
			if n := min(len(start), len(m)); string(start[:n]) == m[:n] {
				more = true
			}
		}
		if more {
			return None, true
		}
	}
	for e := UTF8; int(e) < len(marks); e++ {
		if bytes.HasPrefix(start, []byte(marks[e])) && !bytes.HasPrefix(start, []byte(utf32)) {
			return e, false
		}
	}
	return None, false
}

func (e Encoding) Len() int { return len(marks[e]) }

// Wide reports whether characters take two bytes or four.
func (e Encoding) Wide() bool { return e >= UTF16LE }

func (e Encoding) utf16() encoding.Encoding {
	if e == UTF16LE {
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	}
	return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
}

// Append appends bytes of a file, from one whole character on, in UTF-8. A surrogate without its other half becomes
// U+FFFD.
func (e Encoding) Append(dst, file []byte) []byte {
	if !e.Wide() {
		return append(dst, file...)
	}
	// The error can only be that of a transformer that wants more, which these do not at the end.
	dst, _, _ = transform.Append(e.utf16().NewDecoder(), dst, file)
	return dst
}

// AppendBack appends UTF-8 as bytes of a file.
func (e Encoding) AppendBack(dst, text []byte) []byte {
	if !e.Wide() {
		return append(dst, text...)
	}
	dst, _, _ = transform.Append(e.utf16().NewEncoder(), dst, text)
	return dst
}

// AppendNarrow appends one byte for each two bytes of a file: an ASCII character as it is, 0x80 for all others. So what
// divides lines and tables stands at half its place. A single byte at the end becomes one, too.
func (e Encoding) AppendNarrow(dst, file []byte) []byte {
	high, low := 1, 0
	if e == UTF16BE {
		high, low = 0, 1
	}
	for ; len(file) >= 2; file = file[2:] {
		c := file[low]
		if file[high] != 0 || c >= 0x80 {
			c = 0x80
		}
		dst = append(dst, c)
	}
	if len(file) > 0 {
		dst = append(dst, 0x80)
	}
	return dst
}

// IsLineEnd reports whether two bytes of a file in UTF-16 are a line feed.
func (e Encoding) IsLineEnd(first, second byte) bool {
	if e == UTF16BE {
		first, second = second, first
	}
	return first == '\n' && second == 0
}

// Text returns the text of a file in UTF-8, without the mark. It is a view of file unless that is UTF-16.
func Text(file []byte) ([]byte, Encoding) {
	e, _ := Of(file, true)
	text := file[e.Len():]
	if e.Wide() {
		text = e.Append(make([]byte, 0, len(text)), text)
	}
	return text, e
}

// NewReader reads a file as UTF-8 without a mark.
func NewReader(r io.Reader) io.Reader {
	return transform.NewReader(r, unicode.BOMOverride(transform.Nop))
}
