package pieces

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// A line is text[start:end], its own end text[end:next].
type line struct {
	start, end, next int
	kind             lineKind
}

type lineKind uint8

const (
	prose lineKind = iota
	blank          // nothing but white space
	heading
	item  // of a list
	code  // of a fence, or in it
	table // a row of a table
)

// lineEnd returns where the first line of text ends, and where the next one begins. Lines end with LF, CRLF, CR, NEL,
// U+2028 and U+2029.
func lineEnd(text []byte) (end, next int) {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\n':
			return i, i + 1
		case '\r':
			if i+1 < len(text) && text[i+1] == '\n' {
				return i, i + 2
			}
			return i, i + 1
		case 0xc2:
			if i+1 < len(text) && text[i+1] == 0x85 {
				return i, i + 2
			}
		case 0xe2:
			if i+2 < len(text) && text[i+1] == 0x80 && (text[i+2] == 0xa8 || text[i+2] == 0xa9) {
				return i, i + 3
			}
		}
	}
	return len(text), len(text)
}

// appendLines appends the lines of a text. With all nothing is code or a table.
func appendLines(dst []line, text []byte, all bool) []line {
	var fence []byte // that is open
	for at := 0; at < len(text); {
		end, next := lineEnd(text[at:])
		l := line{start: at, end: at + end, next: at + next}
		content := text[l.start:l.end]
		mark := fenceOf(content)
		switch {
		case fence != nil:
			l.kind = code
			if closes(content, mark, fence) {
				fence = nil
			}
		case mark != nil:
			l.kind, fence = code, mark
		default:
			l.kind = kindOf(content)
		}
		if all && l.kind == table {
			l.kind = item
		}
		dst = append(dst, l)
		at = l.next
	}
	return dst
}

// fenceOf returns the mark of a line that opens or closes a code fence, as CommonMark has it: up to three spaces, then at
// least three backticks, with none behind them, or three tildes.
func fenceOf(content []byte) []byte {
	mark := bytes.TrimLeft(content, " ")
	if len(content)-len(mark) > 3 || len(mark) < 3 || mark[0] != '`' && mark[0] != '~' {
		return nil
	}
	n := 1
	for n < len(mark) && mark[n] == mark[0] {
		n++
	}
	if n < 3 || mark[0] == '`' && bytes.IndexByte(mark[n:], '`') >= 0 {
		return nil
	}
	return mark[:n]
}

// closes tells whether a line with a mark closes an open fence.
func closes(content, mark, fence []byte) bool {
	return len(mark) >= len(fence) && mark[0] == fence[0] && len(bytes.TrimSpace(bytes.TrimLeft(content, " "))) == len(mark)
}

func kindOf(content []byte) lineKind {
	content = bytes.TrimFunc(content, unicode.IsSpace)
	switch {
	case len(content) == 0:
		return blank
	case content[0] == '|' && bytes.IndexByte(content[1:], '|') >= 0:
		return table
	case isHeading(content):
		return heading
	case isItem(content):
		return item
	}
	return prose
}

// isHeading tells whether a line is a heading of Markdown: one to six number signs and a space.
func isHeading(content []byte) bool {
	rest := bytes.TrimLeft(content, "#")
	n := len(content) - len(rest)
	return n >= 1 && n <= 6 && (len(rest) == 0 || rest[0] == ' ' || rest[0] == '\t')
}

// isItem tells whether a line is an item of a list: a bullet, or a number with a full stop or a parenthesis, and a space.
func isItem(content []byte) bool {
	bullet, size := utf8.DecodeRune(content)
	switch bullet {
	case '-', '*', '+', '•', '‣', '◦', '–', '·':
	default:
		digits := 0
		for digits < len(content) && content[digits] >= '0' && content[digits] <= '9' {
			digits++
		}
		if digits == 0 || digits > 9 || digits == len(content) || content[digits] != '.' && content[digits] != ')' {
			return false
		}
		size = digits + 1
	}
	return len(content) > size && (content[size] == ' ' || content[size] == '\t')
}
