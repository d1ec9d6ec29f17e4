package simd

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/alike-dev/alike/internal/hashing"
)

const (
	// wordBlock is the number of bytes classified at once: one mask bit each.
	wordBlock = 64
	// wordBlocks is how many blocks one call of a vector kernel processes at most. The kernel keeps
	// the positions of all edges in them, two bytes each, on the stack unless the caller wants
	// them.
	wordBlocks = 32
	// wordPad is how many bytes are read from the start of a word.
	wordPad = 16
	// wordTail is the longest end of src that is copied into a padded scratch: the bytes behind the
	// whole blocks, and the word open there.
	wordTail = 2*wordBlock + wordPad
	// caseBits is 0x20 in every byte. Bytes of words need no other folding: digits have that bit
	// set, and only that bit tells small letters from capitals.
	caseBits = 0x2020202020202020
)

// wordMask[l] keeps the first l of 16 bytes (two little-endian words) and holds
// the second key of hashing.Bytes for a word of l bytes. The entries 17…31 are
// there only so that l&31 needs no bounds check.
var wordMask = func() (t [32]struct{ lo, hi, key uint64 }) {
	for l := range uint(17) {
		t[l].lo = 1<<(8*min(l, 8)) - 1
		t[l].hi = 1<<(8*(max(l, 8)-8)) - 1
		t[l].key = hashing.Key1 ^ uint64(l)<<56
	}
	return t
}()

// wordVariant names an implementation of hashBlocks.
type wordVariant int

const (
	wordsGo wordVariant = iota
	wordsAVX2
	wordsAVX512
)

// appendWordHashes is AppendWordHashes by the given variant: first all that can be read in whole
// blocks, then the rest, copied in front of zeros.
func appendWordHashes(v wordVariant, dst []uint64, src []byte, fold bool) ([]uint64, int) {
	var or uint64
	if fold {
		or = caseBits
	}
	n, ascii := 0, true
	if len(src) > wordTail {
		if v == wordsGo {
			dst, n, ascii = hashBlocks(dst, src, or)
		} else {
			dst, n, ascii = hashBlocksVector(v, dst, src, or)
		}
		if !ascii {
			return dst, n
		}
		if len(src)-n > wordTail {
			// Only a long word extends back that far.
			if dst, n, ascii = appendLong(dst, src, n, or); !ascii {
				return dst, n
			}
		}
	}
	var buf [wordTail + wordBlock + wordPad]byte
	rest := copy(buf[:wordTail], src[n:])
	padded := buf[:(rest/wordBlock+1)*wordBlock+wordPad]
	used := 0
	if v == wordsGo {
		dst, used, ascii = hashBlocks(dst, padded, or)
	} else {
		dst, used, ascii = hashBlocksVector(v, dst, padded, or)
	}
	if !ascii {
		return dst, n + used
	}
	return dst, len(src)
}

// appendLong hashes the word that starts at src[n], however long. It returns the
// word's end, or n and false if the word touches a non-ASCII byte.
func appendLong(dst []uint64, src []byte, n int, or uint64) ([]uint64, int, bool) {
	end := n
	for len(src)-end >= wordBlock {
		m, high := classify((*[wordBlock]byte)(src[end:]))
		if m != 1<<64-1 || high != 0 {
			break
		}
		end += wordBlock
	}
	for end < len(src) && isWordByte(src[end]) {
		end++
	}
	if end < len(src) && src[end] >= 0x80 {
		return dst, n, false
	}
	return append(dst, hashLong(src[n:end], or)), end, true
}

func isWordByte(c byte) bool {
	return c-'0' < 10 || (c|0x20)-'a' < 26
}

// hashBlocks is the pure Go twin of the kernels.
//
//	for every 64 bytes:
//	    m      = bit i set: byte i is a letter or digit
//	    starts = bits of m whose lower neighbour is clear
//	    ends   = clear bits whose lower neighbour is set
//	    for every end: hash the bytes from the current start, take the next start
//
// The current start is carried over the border between two blocks, so a word
// that crosses it costs nothing extra. English text runs at 1.1 to 1.2 GB/s; a
// list of edges made beforehand, as in the kernels, gives 1.0 here, where a
// mask costs more than the branch that it saves.
//
// It processes as many whole blocks of src as leave wordPad bytes behind them. It returns the start
// of the word still open at their end, or their end, and true; if a non-ASCII byte stops it, where
// AppendWordHashes would stop, and false.
func hashBlocks(dst []uint64, src []byte, or uint64) ([]uint64, int, bool) {
	blocks := (len(src) - wordPad) / wordBlock
	var carry uint64 // 1 if a word is open
	open := 0        // and its start
	for base := 0; base < blocks*wordBlock; base += wordBlock {
		m, high := classify((*[wordBlock]byte)(src[base:]))
		valid := uint64(1<<64 - 1)
		if high != 0 {
			// Ignore everything from the first non-ASCII byte on, also the end of a word at it.
			valid = high&-high - 1
			m &= valid
		}
		shifted := m<<1 | carry
		starts, ends := m&^shifted, shifted&^m&valid
		if carry == 0 {
			open = base + bits.TrailingZeros64(starts)
			starts &= starts - 1
		}
		dst = slices.Grow(dst, wordBlock/2)
		count := len(dst)
		out := (*[wordBlock / 2]uint64)(dst[count : count+wordBlock/2])
		k := 0
		for ; ends != 0; ends &= ends - 1 {
			end := base + bits.TrailingZeros64(ends)
			l := end - open
			if l <= 16 {
				w := src[open : open+16 : len(src)]
				t := &wordMask[l&31]
				out[k&31] = hashing.Fold(
					(binary.LittleEndian.Uint64(w)|or)&t.lo^hashing.Key0,
					(binary.LittleEndian.Uint64(w[8:])|or)&t.hi^t.key)
			} else {
				out[k&31] = hashLong(src[open:end], or)
			}
			k++
			open = base + bits.TrailingZeros64(starts)
			starts &= starts - 1
		}
		dst = dst[:count+k]
		if high != 0 {
			at := bits.TrailingZeros64(high)
			if shifted>>at&1 == 0 {
				open = base + at
			}
			return dst, open, false
		}
		carry = m >> 63
	}
	if carry == 0 {
		open = blocks * wordBlock
	}
	return dst, open, true
}

// hashLong is hashing.Bytes of a word of any length, folded in passing: one step for each 16 bytes,
// the last 1 to 16 of them by hashing's own rule.
func hashLong(word []byte, or uint64) uint64 {
	k0, k1 := hashing.Key0, hashing.Key1^uint64(len(word))<<56
	for len(word) > 16 {
		h := hashing.Fold(
			(binary.LittleEndian.Uint64(word)|or)^k0,
			(binary.LittleEndian.Uint64(word[8:])|or)^k1)
		k0, k1 = k0^h, k1+h
		word = word[16:]
	}
	var last [16]byte
	copy(last[:], word)
	t := &wordMask[len(word)&31]
	return hashing.Fold(
		(binary.LittleEndian.Uint64(last[:])|or)&t.lo^k0,
		(binary.LittleEndian.Uint64(last[8:])|or)&t.hi^k1)
}

// classifyGeneric returns two masks of 64 bytes, bit i for byte i: letters and digits,
// and bytes above 0x7f. Where a byte is above 0x7f, the first mask is right only
// for the bytes before it.
func classifyGeneric(b *[wordBlock]byte) (word, high uint64) {
	var any uint64
	for i := 0; i < wordBlock; i += 8 {
		x := binary.LittleEndian.Uint64(b[i : i+8])
		any |= x
		word |= wordBits(x) << i
	}
	if any&highBits == 0 {
		return word, 0
	}
	for i := 0; i < wordBlock; i += 8 {
		x := binary.LittleEndian.Uint64(b[i : i+8])
		high |= gather(x&highBits) << i
	}
	return word, high
}

const (
	ones     = 0x0101010101010101
	highBits = 0x80 * ones
)

// wordBits returns one bit a byte: letter or digit. Adding 0x80-c to a byte below
// 0x80 sets its top bit exactly if the byte is at least c, and never carries.
func wordBits(x uint64) uint64 {
	x &^= highBits
	lower := x | caseBits
	letter := (lower + (0x80-'a')*ones) &^ (lower + (0x80-'z'-1)*ones)
	digit := (x + (0x80-'0')*ones) &^ (x + (0x80-'9'-1)*ones)
	return gather((letter | digit) & highBits)
}

// gather moves the top bits of eight bytes into one byte, in order.
func gather(x uint64) uint64 {
	return (x >> 7) * 0x0102040810204080 >> 56
}

func (v wordVariant) String() string { return [...]string{"go", "avx2", "avx512"}[v] }

// AppendWordHashes tokenises the ASCII prefix of src into words, runs of
// [0-9A-Za-z], and appends hashing.Bytes of every word to dst. With fold the
// words are lower-cased first.
//
// It returns dst and the number n of bytes consumed: src[:n] is ASCII and wholly
// tokenised. If all of src is ASCII, n is len(src) and a word that touches the
// end counts as complete. Otherwise n is the start of the word that touches the
// first non-ASCII byte, or the index of that byte where a separator (or
// nothing) precedes it.
// It costs O(len(src)) and reads nothing outside src[:len(src)]. It allocates only to grow dst, for
// the largest possible number of words: one for two bytes of src, up to 1024 more than were found.
// dst is overwritten between its length and its capacity.
func AppendWordHashes(dst []uint64, src []byte, fold bool) ([]uint64, int) {
	return appendWordHashes(bestWords, dst, src, fold)
}
