package simd

import (
	"encoding/binary"
	"math/bits"
)

// JSONSpecial returns the offset of the first quote, backslash or control character of a
// JSON string, or len(s).
//
// Most strings are short or soon have one: the first 32 bytes are tested by words, inline, and
// only the bytes behind them by the kernel.
//
// The kernel takes 64 bytes a step: equal to a quote, equal to a backslash, or no larger than 0x1f.
func JSONSpecial(s []byte) int {
	i := 0
	if len(s) >= 32 {
		if special32((*[32]byte)(s)) {
			return specialInWords(s, 0)
		}
		if i = 32; len(s) >= 32+64 {
			n, found := jsonSpecialVector(s[32:])
			if i += n; found {
				return i
			}
		}
	}
	return jsonSpecialGeneric(s, i)
}

// jsonSpecialGeneric is the pure Go twin of the kernel, from s[i] on.
//
// Four words a step, one test: 1.6 times as fast as one word a step, on 100 bytes and on
// 10 000 (BenchmarkJSONSpecial).
func jsonSpecialGeneric(s []byte, i int) int {
	for i+32 <= len(s) && !special32((*[32]byte)(s[i:])) {
		i += 32
	}
	return specialInWords(s, i)
}

// specialInWords continues word by word from s[i] on.
func specialInWords(s []byte, i int) int {
	for ; i+8 <= len(s); i += 8 {
		if m := specialMarks(binary.LittleEndian.Uint64(s[i:])) & highBits; m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c == '"' || c == '\\' || c < 0x20 {
			return i
		}
	}
	return i
}

// special32 tells whether one of 32 bytes is special.
func special32(p *[32]byte) bool {
	m := specialMarks(binary.LittleEndian.Uint64(p[:])) | specialMarks(binary.LittleEndian.Uint64(p[8:])) |
		specialMarks(binary.LittleEndian.Uint64(p[16:])) | specialMarks(binary.LittleEndian.Uint64(p[24:]))
	return m&highBits != 0
}

// specialMarks sets the high bit of every byte that is special; the other bits mean
// nothing.
//
// A byte b below 0x80 becomes ≥ 0x80 when 1 is taken from b^quote and b^backslash
// iff it is that character, and when 0x20 is taken from b iff it is a control
// character. Bytes ≥ 0x80 are none of them and are masked out. Borrows go to higher
// bytes only, so the lowest mark is always true.
func specialMarks(x uint64) uint64 {
	return (((x ^ '"'*ones) - ones) | ((x ^ '\\'*ones) - ones) | (x - 0x20*ones)) &^ x
}
