package simhash

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// The eight words of komihash's state at the start: fractional bits of π.
var komiStart = [8]uint64{
	0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x082efa98ec4e6c89,
	0x452821e638d01377, 0xbe5466cf34e90c6c, 0xc0ac29b7c97c50dd, 0x3f84d5b5b5470917,
}

// Komihash returns the 64-bit hash of data by komihash 5.0 (Aleksey Vaneev) with
// seed 0, which is hash4j's komihash5_0().hashBytesToLong. O(len(data)), no
// allocation.
func Komihash(data []byte) uint64 {
	s := komiState{komiStart[0], komiStart[4]}
	s.fold(0, 0)
	empty := len(data) == 0
	if len(data) > 63 {
		data = s.blocks(data)
	}
	for len(data) > 15 {
		s.fold(binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[8:]))
		data = data[16:]
	}
	var lo, hi uint64
	switch {
	case len(data) > 7:
		lo, hi = binary.LittleEndian.Uint64(data), ended(data[8:])
	case !empty:
		lo = ended(data)
	}
	s.fold(lo, hi)
	s.fold(0, 0)
	return s.a
}

// komiState is one lane of the hash.
type komiState struct{ a, b uint64 }

// fold mixes in 16 bytes.
func (s *komiState) fold(lo, hi uint64) {
	high, low := bits.Mul64(s.a^lo, s.b^hi)
	s.b += high
	s.a = low ^ s.b
}

// blocks mixes in whole blocks of 64 bytes, in four lanes, and returns the rest.
func (s *komiState) blocks(data []byte) []byte {
	var a, b [4]uint64
	a[0], b[0] = s.a, s.b
	for i := 1; i < 4; i++ {
		a[i], b[i] = komiStart[i]^s.a, komiStart[4+i]^s.b
	}
	for ; len(data) > 63; data = data[64:] {
		for i := range 4 {
			lo := binary.LittleEndian.Uint64(data[8*i:])
			hi := binary.LittleEndian.Uint64(data[8*i+32:])
			high, low := bits.Mul64(a[i]^lo, b[i]^hi)
			a[i] = low
			b[i] += high
		}
		a[0], a[1], a[2], a[3] = a[0]^b[3], a[1]^b[0], a[2]^b[1], a[3]^b[2]
	}
	s.a = a[0] ^ a[1] ^ a[2] ^ a[3]
	s.b = b[0] ^ b[1] ^ b[2] ^ b[3]
	return data
}

// ended returns up to 7 bytes as a little-endian word with a one bit after them.
func ended(data []byte) uint64 {
	w := uint64(1)
	for i := len(data) - 1; i >= 0; i-- {
		w = w<<8 | uint64(data[i])
	}
	return w
}

// KomihashString returns the hash of the UTF-16 code units of s, low byte
// first, which is hash4j's komihash5_0().hashCharsToLong. Invalid UTF-8 counts
// as U+FFFD.
func KomihashString(s string) uint64 {
	return Komihash(appendUTF16(make([]byte, 0, 64), []byte(s)))
}

// appendUTF16 appends text as UTF-16, low byte first.
func appendUTF16(dst, text []byte) []byte {
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf {
			dst = append(dst, c, 0)
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		i += size
		if high, low := utf16.EncodeRune(r); low != utf8.RuneError {
			dst = binary.LittleEndian.AppendUint16(dst, uint16(high))
			r = low
		}
		dst = binary.LittleEndian.AppendUint16(dst, uint16(r))
	}
	return dst
}
