// Package jsonline checks a line that is one JSON object, and picks wanted fields out of
// it.
package jsonline

import (
	"math/bits"
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/alike-dev/alike/internal/simd"
)

// One pass over a JSON object checks all of it and picks out the wanted fields
// of the outermost level.
//
//	for each key: value of the object
//	    which := the wanted field of that name, or none
//	    string: the next quote, backslash or control character, of which vectors make bit maps
//	        no backslash before the quote: the value is a view of the line
//	        else: unescaped into the buffer of the wanted field, by vectors too
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

	// The special characters of s[from:to], see special.
	marks    [window / 64]uint64
	from, to int
}

// window is how many bytes the marks are made of at once.
const window = 4 << 10

func (j *Scanner) fail(at int, why string) bool {
	j.At, j.Why = at, why
	return false
}

// Object scans one object with nothing but white space around it, and sets those of vals
// whose names it has; if a name repeats, the last one counts. If the object is not valid,
// At and Why tell where and why. O(length), no memory except for strings with escapes.
func (j *Scanner) Object(s []byte, names [][]byte, vals []Value) bool {
	j.to = 0 // the marks are of another line
	i := skipSpace(s, 0)
	if i == len(s) || s[i] != '{' {
		if i < len(s) && s[i] == '[' {
			return j.fail(i, "an array, not an object (jq -c '.[]' makes an object a line of it)")
		}
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
			buf = j.room(v, s, i)
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
func (j *Scanner) room(v *Value, s []byte, i int) *[]byte {
	i++
	end := j.special(s, i)
	if end == len(s) || s[end] == '"' {
		return &v.buf
	}
	for end < len(s) && s[end] != '"' {
		if s[end] == '\\' {
			end++
		}
		end = j.special(s, min(end+1, len(s)))
	}
	room := end - i + simd.MaxUnescape // appendRun wants room for bytes behind the string too
	switch {
	case room <= max(LongString, cap(v.buf)):
	case v.Over:
		over := s[i:i]
		return &over
	default:
		v.buf = make([]byte, 0, room)
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

// Each calls visit for the fields of an object that Object has accepted. The name is valid during the call, and the value
// is as it stands there. visit may use the Scanner.
func (j *Scanner) Each(s []byte, visit func(name, value []byte)) {
	i := skipSpace(s, skipSpace(s, 0)+1)
	for s[i] == '"' {
		j.to = 0 // the marks may be of another object
		key, next, _ := j.text(s, i, &j.key, "")
		i = skipSpace(s, skipSpace(s, next)+1)
		from := i
		i, _ = j.value(s, i, nil)
		value := s[from:i]
		if i = skipSpace(s, i); s[i] == ',' {
			i = skipSpace(s, i+1)
		}
		visit(key, value)
	}
}

// Keys returns the names in an object that Object has accepted.
func (j *Scanner) Keys(s []byte) (names []string) {
	j.Each(s, func(name, _ []byte) { names = append(names, string(name)) })
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
	from := i + 1
	i = j.special(s, from)
	val := s[from:i]
	if i < len(s) && s[i] == '\\' && buf != nil {
		val = append((*buf)[:0], val...)
	}
	for i < len(s) && s[i] == '\\' {
		r, n := unescape(s, i)
		if n == 0 {
			return nil, i, j.fail(i, "bad escape in a string")
		}
		if i += n; buf == nil {
			i = j.special(s, i)
			continue
		}
		val, i = appendRun(utf8.AppendRune(val, r), s, i)
		*buf = val
	}
	switch {
	case i == len(s):
		return nil, i, j.fail(i, "the line ends inside a string")
	case s[i] != '"':
		return nil, i, j.fail(i, "control character in a string, it must be escaped")
	}
	return val, i + 1, true
}

// appendRun appends what a string has from s[i] on, up to its end or something that needs a closer
// look, and returns that place.
func appendRun(out, s []byte, i int) ([]byte, int) {
	for {
		rest := s[i:min(i+simd.MaxUnescape, len(s))]
		out = slices.Grow(out, len(rest))
		written, read := simd.UnescapeJSON(out[len(out):][:len(rest)], rest)
		out, i = out[:len(out)+written], i+read
		if read < len(rest) || i == len(s) {
			return out, i
		}
	}
}

// special returns the place of the first quote, backslash or control character in s[i:], or len(s).
// It makes the marks of a window at a time, and must not be called for bytes that have changed since.
func (j *Scanner) special(s []byte, i int) int {
	for i < len(s) {
		if i < j.from || i >= j.to {
			j.from, j.to = i, min(i+window, len(s))
			simd.JSONMarks(j.marks[:], s[i:j.to])
		}
		at := uint(i - j.from)
		if m := j.marks[at/64%uint(len(j.marks))] >> (at % 64); m != 0 {
			return i + bits.TrailingZeros64(m)
		}
		i += 64 - int(at%64)
	}
	return len(s)
}

// unescape decodes the escape at s[i], a backslash, and returns its length, 0 if it is
// not a valid escape. A surrogate that is not half of a pair gives U+FFFD.
func unescape(s []byte, i int) (rune, int) {
	if i+1 >= len(s) {
		return 0, 0
	}
	if c := simd.JSONEscapes[s[i+1]]; c != 0 {
		return rune(c), 2
	}
	if s[i+1] != 'u' {
		return 0, 0
	}
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
