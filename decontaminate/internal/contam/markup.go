package contam

import (
	"bytes"
	"encoding/hex"
)

// mostTag is the length in bytes up to which something between angle brackets is a tag.
const mostTag = 256

// plain returns text with blanks in place of tags, entities, names of TeX commands and escapes of JSON, so that words with markup between
// them stand together. Every other byte keeps its place. The result is text itself if it has none of these; otherwise it
// is in *buf.
func plain(buf *[]byte, text []byte) []byte {
	copied := false
	for _, mark := range []byte("<&\\") {
		for at := bytes.IndexByte(text, mark); at >= 0; {
			n := markup(text[at:])
			if n > 0 && !copied {
				*buf = append((*buf)[:0], text...)
				text, copied = *buf, true
			}
			for i := range n {
				text[at+i] = ' '
			}
			next := bytes.IndexByte(text[at+max(n, 1):], mark)
			if next < 0 {
				break
			}
			at += max(n, 1) + next
		}
	}
	return text
}

// markup returns the length of the tag, entity or command with which text begins; 0: it begins with none.
func markup(text []byte) int {
	switch text[0] {
	case '<':
		if len(text) < 3 || !isLetter(text[1]) && !(text[1] == '/' && isLetter(text[2])) {
			return 0
		}
		near := text[1:min(len(text), mostTag)]
		if end := bytes.IndexByte(near, '>'); end >= 0 && bytes.IndexByte(near[:end], '<') < 0 {
			return end + 2
		}
	case '&':
		n := 1
		for n < len(text) && n < 12 && (isLetter(text[n]) || text[n] == '#' || text[n]-'0' < 10) {
			n++
		}
		if n > 1 && n < len(text) && text[n] == ';' {
			return n + 1
		}
	case '\\':
		if n := escaped(text); n > 0 {
			return n
		}
		n := 1
		for n < len(text) && isLetter(text[n]) {
			n++
		}
		if n > 1 {
			return n
		}
	}
	return 0
}

// escaped returns the length of the escape of JSON with which text begins: a character by its number, or white space if a
// capital follows, where hardly any command of TeX has one. 0: it begins with none.
func escaped(text []byte) int {
	if len(text) < 3 {
		return 0
	}
	switch text[1] {
	case 'u':
		if len(text) >= 6 {
			if _, err := hex.Decode(make([]byte, 2), text[2:6]); err == nil {
				return 6
			}
		}
	case 'n', 'r', 't':
		if text[2]-'A' < 26 {
			return 2
		}
	}
	return 0
}

func isLetter(c byte) bool { return c|0x20-'a' < 26 }
