// Package jsonline checks a line that is one JSON object, and picks wanted fields out of
// it.
package jsonline

import (
	"unicode/utf16"
	"unicode/utf8"

	"github.com/alike-dev/alike/internal/simd"
)

// One pass over a JSON object checks all of it and picks out the wanted fields
// of the outermost level.
//
//	for each key: value of the object
//	    which := the wanted field of that name, or none
//	    string: look for the next quote, backslash or control character, by vectors
//	        no backslash before the quote: the value is a view of the line
//	        else: unescaped piece by piece into the buffer of the wanted field
//	    object, array: checked with a stack of brackets, not built
//	    number, literal: checked; the value is its text
//
// It accepts exactly the objects that encoding/json accepts (a property test and a fuzz
// test compare the two), and reports place and reason of an error. It takes no memory
// except for escaped strings: a record of 60 MiB exists once. A general parser that
// builds the object is as fast or faster, and checks less (BenchmarkJSONL).

// maxDepth is the depth limit of nested objects and arrays, as in encoding/json.
const maxDepth = 10000

// Kind is the kind of a JSON value.
type Kind uint8

const (
	KindNone Kind = iota // no such field
	KindString
	KindNumber
	KindObject
	KindArray
	KindTrue
	KindFalse
	KindNull
)

func (k Kind) String() string {
	return [...]string{"nothing", "a string", "a number", "an object", "an array", "true", "false", "null"}[k]
}

// A Value is one wanted field: Val is its text, for a string without quotes and escapes.
// Over allows a long string with escapes to be unescaped in place instead of in the
// Value's scratch memory.
type Value struct {
	Val  []byte
	Kind Kind
	Over bool
	buf  []byte
}

// Trim drops the value, and frees scratch memory of more than most bytes.
func (v *Value) Trim(most int) {
	v.Val = nil
	if cap(v.buf) > most {
		v.buf = nil
	}
}

// LongString is the length from which a string with escapes is not unescaped into scratch
// memory that grows step by step: for a string of 60 MiB that would take three times as
// much.
const LongString = 256 << 10

// A Scanner holds scratch memory and the place of a syntax error. It belongs to one
// goroutine.
type Scanner struct {
	stack []byte // of '{' and '['
	key   []byte // scratch for a key with escapes
	At    int    // where the error is
	Why   string // what it is
}

func (j *Scanner) fail(at int, why string) bool {
	j.At, j.Why = at, why
	return false
}

// Object scans one object with nothing but white space around it, and sets those of vals
// whose names it has; if a name repeats, the last one counts. If the object is not valid,
// At and Why tell where and why. O(length), no memory except for strings with escapes.
func (j *Scanner) Object(s []byte, names [][]byte, vals []Value) bool {
	i := skipSpace(s, 0)
	if i == len(s) || s[i] != '{' {
		return j.fail(i, "not a JSON object")
	}
	i = skipSpace(s, i+1)
	if i < len(s) && s[i] == '}' {
		return j.ending(s, i+1)
	}
	for {
		key, next, ok := j.text(s, i, &j.key, "expected a key in quotes")
		if !ok {
			return false
		}
		var v *Value
		for n := range names {
			if string(names[n]) == string(key) {
				v = &vals[n]
				break
			}
		}
		i = skipSpace(s, next)
		if i == len(s) || s[i] != ':' {
			return j.fail(i, "expected ':' after a key")
		}
		i = skipSpace(s, i+1)
		if i, ok = j.value(s, i, v); !ok {
			return false
		}
		i = skipSpace(s, i)
		if i == len(s) {
			return j.fail(i, "the line ends inside an object")
		}
		switch s[i] {
		case ',':
			i = skipSpace(s, i+1)
		case '}':
			return j.ending(s, i+1)
		default:
			return j.fail(i, "expected ',' or '}' after a value")
		}
	}
}

// ending checks that nothing but white space follows the object.
func (j *Scanner) ending(s []byte, i int) bool {
	if i = skipSpace(s, i); i < len(s) {
		return j.fail(i, "something follows the object")
	}
	return true
}

// value scans the value at s[i] into v, which may be nil, and returns the place
// after it.
func (j *Scanner) value(s []byte, i int, v *Value) (int, bool) {
	if i == len(s) {
		return i, j.fail(i, "the line ends before a value")
	}
	var k Kind
	var next int
	var ok bool
	switch c := s[i]; c {
	case '"':
		if v == nil {
			_, next, ok = j.text(s, i, nil, "")
			return next, ok
		}
		v.Kind = KindString
		buf := &v.buf
		if rest := len(s) - i; rest > max(LongString, cap(v.buf)) {
			buf = v.room(s, i)
		}
		v.Val, next, ok = j.text(s, i, buf, "")
		return next, ok
	case '{', '[':
		k = KindObject
		if c == '[' {
			k = KindArray
		}
		next, ok = j.nested(s, i)
	default:
		k, next, ok = j.scalar(s, i)
	}
	if ok && v != nil {
		v.Kind, v.Val = k, s[i:next]
	}
	return next, ok
}

// room returns where to unescape the string at s[i]: if it is long and has escapes, over
// its own bytes or, if those must stay, in scratch memory that is large enough. An
// unescaped string is never longer than the escaped one.
func (v *Value) room(s []byte, i int) *[]byte {
	i++
	end := special(s, i)
	if end == len(s) || s[end] == '"' {
		return &v.buf
	}
	for end < len(s) && s[end] != '"' {
		if s[end] == '\\' {
			end++
		}
		end = special(s, min(end+1, len(s)))
	}
	switch {
	case end-i <= max(LongString, cap(v.buf)):
	case v.Over:
		over := s[i:i:end]
		return &over
	default:
		v.buf = make([]byte, 0, end-i)
	}
	return &v.buf
}

// scalar scans a number, true, false or null.
func (j *Scanner) scalar(s []byte, i int) (Kind, int, bool) {
	switch c := s[i]; {
	case c == '-' || '0' <= c && c <= '9':
		n := numberEnd(s, i)
		if n < 0 {
			return KindNumber, i, j.fail(i, "not a number that JSON allows")
		}
		return KindNumber, n, true
	case hasPrefix(s, i, "true"):
		return KindTrue, i + 4, true
	case hasPrefix(s, i, "false"):
		return KindFalse, i + 5, true
	case hasPrefix(s, i, "null"):
		return KindNull, i + 4, true
	}
	return KindNone, i, j.fail(i, "expected a value")
}

// Keys returns the names in an object that Object has accepted.
func (j *Scanner) Keys(s []byte) (names []string) {
	i := skipSpace(s, skipSpace(s, 0)+1)
	for s[i] == '"' {
		key, next, _ := j.text(s, i, &j.key, "")
		names = append(names, string(key))
		i = skipSpace(s, skipSpace(s, next)+1)
		i, _ = j.value(s, i, nil)
		if i = skipSpace(s, i); s[i] == ',' {
			i = skipSpace(s, i+1)
		}
	}
	return names
}

// Blank reports whether a line has nothing but white space.
func Blank(s []byte) bool { return skipSpace(s, 0) == len(s) }

// nested checks the object or array at s[i] and returns the place after it.
func (j *Scanner) nested(s []byte, i int) (int, bool) {
	j.stack = append(j.stack[:0], '{') // the outermost object
	for {
		// s[i] is the first byte of a value.
		if i == len(s) {
			return i, j.fail(i, "the line ends before a value")
		}
		var ok bool
		switch c := s[i]; c {
		case '{', '[':
			if len(j.stack) >= maxDepth {
				return i, j.fail(i, "nested too deeply")
			}
			j.stack = append(j.stack, c)
			i = skipSpace(s, i+1)
			if i < len(s) && s[i] == c+2 { // '}' and ']' are two after '{' and '['
				break
			}
			if c == '{' {
				if i, ok = j.nestedKey(s, i); !ok {
					return i, false
				}
			}
			continue
		case '"':
			if _, i, ok = j.text(s, i, nil, ""); !ok {
				return i, false
			}
		default:
			if _, i, ok = j.scalar(s, i); !ok {
				return i, false
			}
		}
		// After a value: close what ends here, then continue with the next value.
		for {
			i = skipSpace(s, i)
			if i == len(s) {
				return i, j.fail(i, "the line ends inside an object or array")
			}
			top := j.stack[len(j.stack)-1]
			if s[i] == top+2 {
				i++
				j.stack = j.stack[:len(j.stack)-1]
				if len(j.stack) == 1 {
					return i, true
				}
				continue
			}
			if s[i] != ',' {
				return i, j.fail(i, "expected ',' or the end of an object or array")
			}
			i = skipSpace(s, i+1)
			if top == '{' {
				if i, ok = j.nestedKey(s, i); !ok {
					return i, false
				}
			}
			break
		}
	}
}

// nestedKey scans a key and its colon and returns the place of the value.
func (j *Scanner) nestedKey(s []byte, i int) (int, bool) {
	_, i, ok := j.text(s, i, nil, "expected a key in quotes")
	if !ok {
		return i, false
	}
	i = skipSpace(s, i)
	if i == len(s) || s[i] != ':' {
		return i, j.fail(i, "expected ':' after a key")
	}
	return skipSpace(s, i+1), true
}

// text scans the string at s[i] and returns its value, unescaped in *buf if necessary,
// and the place after it. With buf = nil it only checks. missing is the error text if
// there is no string.
func (j *Scanner) text(s []byte, i int, buf *[]byte, missing string) ([]byte, int, bool) {
	if i == len(s) || s[i] != '"' {
		return nil, i, j.fail(i, missing)
	}
	i++
	from := i // of the piece without escapes
	var out []byte
	escaped := false
	for {
		i = special(s, i)
		if i == len(s) {
			return nil, i, j.fail(i, "the line ends inside a string")
		}
		switch s[i] {
		case '"':
			if !escaped || buf == nil {
				return s[from:i], i + 1, true
			}
			out = append(out, s[from:i]...)
			*buf = out
			return out, i + 1, true
		case '\\':
			r, n := unescape(s, i)
			if n == 0 {
				return nil, i, j.fail(i, "bad escape in a string")
			}
			if buf != nil {
				if !escaped {
					out = (*buf)[:0]
				}
				out = append(out, s[from:i]...)
				if r < utf8.RuneSelf {
					out = append(out, byte(r))
				} else {
					out = utf8.AppendRune(out, r)
				}
			}
			escaped = true
			i += n
			from = i
		default:
			return nil, i, j.fail(i, "control character in a string, it must be escaped")
		}
	}
}

// special returns the place of the first quote, backslash or control character
// in s[i:], or len(s).
func special(s []byte, i int) int { return i + simd.JSONSpecial(s[i:]) }

// unescape decodes the escape at s[i], a backslash, and returns its length, 0 if it is
// not a valid escape. A surrogate that is not half of a pair gives U+FFFD.
func unescape(s []byte, i int) (rune, int) {
	if i+1 >= len(s) {
		return 0, 0
	}
	switch c := s[i+1]; c {
	case '"', '\\', '/':
		return rune(c), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		r := hex4(s, i+2)
		if r < 0 {
			return 0, 0
		}
		if !utf16.IsSurrogate(r) {
			return r, 6
		}
		if i+7 < len(s) && s[i+6] == '\\' && s[i+7] == 'u' {
			if both := utf16.DecodeRune(r, hex4(s, i+8)); both != utf8.RuneError {
				return both, 12
			}
		}
		return utf8.RuneError, 6
	}
	return 0, 0
}

// hex4 reads four hexadecimal digits, or returns -1.
func hex4(s []byte, i int) rune {
	if i+4 > len(s) {
		return -1
	}
	a, b, c, d := hexDigits[s[i]], hexDigits[s[i+1]], hexDigits[s[i+2]], hexDigits[s[i+3]]
	if a|b|c|d > 15 {
		return -1
	}
	return rune(a)<<12 | rune(b)<<8 | rune(c)<<4 | rune(d)
}

// hexDigits gives the value of a digit, 255 for other bytes.
var hexDigits = func() (t [256]uint8) {
	for i := range t {
		t[i] = 255
	}
	for i := range 10 {
		t['0'+i] = uint8(i)
	}
	for i := range 6 {
		t['a'+i], t['A'+i] = uint8(10+i), uint8(10+i)
	}
	return t
}()

// numberEnd returns the place after the number at s[i], or -1.
func numberEnd(s []byte, i int) int {
	if i < len(s) && s[i] == '-' {
		i++
	}
	if i < len(s) && s[i] == '0' {
		i++
	} else if i = digits(s, i); i < 0 {
		return -1
	}
	if i < len(s) && s[i] == '.' {
		if i = digits(s, i+1); i < 0 {
			return -1
		}
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		return digits(s, i)
	}
	return i
}

// digits returns the place after one or more digits, or -1.
func digits(s []byte, i int) int {
	from := i
	for i < len(s) && s[i]-'0' <= 9 {
		i++
	}
	if i == from {
		return -1
	}
	return i
}

func skipSpace(s []byte, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\n' || s[i] == '\r' || s[i] == '\t') {
		i++
	}
	return i
}

func hasPrefix(s []byte, i int, word string) bool {
	return len(s)-i >= len(word) && string(s[i:i+len(word)]) == word
}
