package simd

import (
	"encoding/binary"
	"math/bits"
)

// JSONMarks sets bit i%64 of marks[i/64] if s[i] is a quote, a backslash or a control character of
// JSON, up to 0x1f, and clears the other bits of these words. marks has a word for each 64 bytes of s,
// the last of which may be fewer. O(len(s)).
//
// With the marks of a line every search for the end of a string is a shift and a count of zeros, where
// one search for each piece between two escapes took a call and several tests.
func JSONMarks(marks []uint64, s []byte) {
	blocks := len(s) / 64
	if blocks > 0 {
		jsonMarks(marks[:blocks], s)
	}
	rest := len(s) % 64
	if rest == 0 {
		return
	}
	last := marks[blocks : blocks+1]
	if blocks > 0 {
		jsonMarks(last, s[len(s)-64:])
		last[0] >>= 64 - rest
		return
	}
	var block [64]byte
	copy(block[:], s)
	jsonMarks(last, block[:])
	last[0] &= 1<<rest - 1
}

// jsonMarksGeneric is the pure Go twin of the kernels: marks of len(marks) whole blocks.
func jsonMarksGeneric(marks []uint64, s []byte) {
	for i := range marks {
		block := (*[64]byte)(s[64*i:])
		var m uint64
		for j := 56; j >= 0; j -= 8 {
			m = m<<8 | specialBytes(binary.LittleEndian.Uint64(block[j:]))
		}
		marks[i] = m
	}
}

// specialBytes returns eight bits, one for each byte of x, the lowest first.
//
// In low + 0x7f the high bit of a byte tells that its lower bits are not 0, in low + 0x60 that they are
// at least 0x20. No sum carries over to the next byte.
func specialBytes(x uint64) uint64 {
	const low = 0x7f * ones
	quote, backslash := x^'"'*ones, x^'\\'*ones
	not := (quote&low + low | quote) & (backslash&low + low | backslash) & (x&low + 0x60*ones | x)
	const gather = 0x0102040810204080 // brings bit 8·i to bit 56 + i
	return (^not & highBits >> 7) * gather >> 56
}

// JSONEscapes has, at the index of a character, what a backslash and this character stand for in
// JSON; 0 if they are no escape, or the beginning of a longer one.
var JSONEscapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// MaxUnescape is the most bytes that UnescapeJSON takes at once.
const MaxUnescape = 4 << 10

// UnescapeJSON copies src to dst with its escapes replaced, up to the first quote, control character
// or backslash that does not begin an escape of two characters, other than two backslashes. It
// returns how many bytes it has written and read. dst is at least as long as src, and may be the same
// memory from an earlier byte on. src has at most MaxUnescape bytes. O(len(src)).
//
// The kernel takes 64 bytes a step, whatever escapes are among them: it replaces the characters
// behind backslashes by a table, drops the backslashes by packing the bytes that are left, and stores
// those.
func UnescapeJSON(dst, src []byte) (written, read int) {
	if len(src) == 0 {
		return 0, 0
	}
	_, _ = dst[len(src)-1], src[:min(len(src), MaxUnescape)]
	return unescapeJSON(dst, src)
}

// unescapeJSONGeneric is the twin of the kernel.
func unescapeJSONGeneric(dst, src []byte) (written, read int) {
	var marks [MaxUnescape / 64]uint64
	JSONMarks(marks[:], src)
	for i, m := range marks[:(len(src)+63)/64] {
		for ; m != 0; m &= m - 1 {
			at := 64*i + bits.TrailingZeros64(m)
			if at < read {
				continue // the second character of an escape
			}
			written += copy(dst[written:], src[read:at])
			if read = at; src[at] != '\\' || at+1 == len(src) || src[at+1] == '\\' || JSONEscapes[src[at+1]] == 0 {
				return written, read
			}
			dst[written] = JSONEscapes[src[at+1]]
			written, read = written+1, at+2
		}
	}
	written += copy(dst[written:], src[read:])
	return written, len(src)
}
