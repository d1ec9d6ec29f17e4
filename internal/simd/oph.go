package simd

import (
	"math"
	"math/bits"

	"github.com/alike-dev/alike/internal/hashing"
)

// The kernels of one-permutation sketching: they mix words with a key and keep those that a sketch
// with k bins can use. A word's hash is
// h = hashing.Mix(x ^ key), its bin ⌊h·k / 2⁶⁴⌋, its fraction h·k mod 2⁶⁴.
//
//	for every 8 words:
//	    h    = Mix(words ^ key)
//	    pass = h·k mod 2⁶⁴ ≤ bound            (MixBelow)
//	         = bit h·k / 2⁶⁴ of the map open  (MixOpen; PassOpen with h the word itself)
//	    move the words that pass to the front, store all 8, go on behind those
//
//  1. AVX-512 multiplies eight 64-bit words at once (VPMULLQ): 0.09 ns a word to
//     mix, and 0.15 with the bound, where Go takes 0.93 and 1.05 to 1.5.
//  2. Words that pass are packed in a register and stored whole; what lies behind
//     them is overwritten by the next store. Storing only them is far slower on
//     some processors.
//  3. MixOpen's map is one register, permuted by the bins' upper bits and rotated
//     by their lower six: 0.28 ns a word where Go takes 1.7.

const (
	// OpenWords is the number of words of the bit map of MixOpen.
	OpenWords = 8
	// MaxOpen is the largest k for MixOpen.
	MaxOpen = 64 * OpenWords
)

// MixBelow writes to dst, in order, the hashes of src whose fraction does not
// exceed bound, and returns their number. The bound 2⁶⁴−1 lets all pass. dst must
// have room for len(src) rounded up to a multiple of 8, all of which may be
// overwritten.
func MixBelow(dst, src []uint64, key, k, bound uint64) int {
	if len(src) == 0 {
		return 0
	}
	_ = dst[(len(src)+7)&^7-1]
	return mixBelow(dst, src, key, k, bound)
}

// MixOpen writes to dst, in order, the hashes of src whose bin has a one in the
// bit map open, and returns their number. k is at most MaxOpen. dst is as for
// MixBelow.
func MixOpen(dst, src []uint64, key, k uint64, open *[OpenWords]uint64) int {
	if len(src) == 0 {
		return 0
	}
	_ = dst[(len(src)+7)&^7-1]
	return mixOpen(dst, src, key, k, open)
}

// HasVectorMix tells whether there are vector kernels to mix words.
func HasVectorMix() bool { return hasVectorMix }

// MixRounds mixes every word of src with every key, and keeps the hashes whose bin has a one in the
// bit map open. It writes their bins to bins, and to dst the hashes with the upper bits, which give
// the bin, replaced by the number of the key, counted from first. So the least word of a bin
// belongs to the earliest key. The number of bins, at most MaxOpen, is 2 to the power of log, no
// key may have a larger number, and dst and bins must have room for all words and seven more. It
// returns how many words it has written.
//
// Eight lanes are eight keys for one word, or eight words for one key, so that few stay
// unused.
func MixRounds(dst, bins, src, keys []uint64, first int, log uint, open *[OpenWords]uint64) int {
	if len(src) == 0 || len(keys) == 0 {
		return 0
	}
	room := len(src)*len(keys) + 7
	_, _ = dst[room-1], bins[room-1]
	p := roundPairs(src, keys, first, log, open)
	return mixPairs(dst, bins, &p)
}

// pairs are words that are mixed with each other, with a tag for the first pair and its increments
// from one pair to the next.
type pairs struct {
	inner, outer              []uint64
	tag, innerStep, outerStep uint64
	shift                     uint64 // of a word, which gives its bin
	open                      *[OpenWords]uint64
}

func roundPairs(src, keys []uint64, first int, log uint, open *[OpenWords]uint64) pairs {
	p := pairs{inner: keys, outer: src, shift: 64 - uint64(log), open: open}
	step := uint64(1) << p.shift
	p.tag, p.innerStep = uint64(first)*step, step
	if len(src) > len(keys) {
		p.inner, p.outer = src, keys
		p.innerStep, p.outerStep = 0, step
	}
	return p
}

// EmptyBins sets the bits of open for the bins that are 2⁶⁴−1, clears all others, and returns their
// number. open has len(bins)/64 words, rounded up, or more.
func EmptyBins(open, bins []uint64) int {
	clear(open[len(bins)/64:])
	if len(bins) == 0 {
		return 0
	}
	_ = open[(len(bins)-1)/64]
	return emptyBins(open, bins)
}

// PassOpen writes to dst, in order, the words of src whose upper nine bits are the number of a one
// in the bit map open, and returns their number. dst is as for MixBelow.
func PassOpen(dst, src []uint64, open *[OpenWords]uint64) int {
	if len(src) == 0 {
		return 0
	}
	_ = dst[(len(src)+7)&^7-1]
	return passOpen(dst, src, open)
}

// mixBelowGeneric is the pure Go twin of the assembly. It has three loops, for bounds that all,
// many, or few words pass: only few are worth a branch.
func mixBelowGeneric(dst, src []uint64, key, k, bound uint64) int {
	dst = dst[:len(src)]
	n := 0
	switch {
	case bound == math.MaxUint64:
		for i, x := range src {
			dst[i] = hashing.Mix(x ^ key)
		}
		n = len(src)
	case bound > math.MaxUint64/8:
		for _, x := range src {
			h := hashing.Mix(x ^ key)
			dst[n] = h
			_, above := bits.Sub64(bound, h*k, 0) // 1 if h·k exceeds the bound
			n += 1 - int(above)
		}
	default:
		for _, x := range src {
			if h := hashing.Mix(x ^ key); h*k <= bound {
				dst[n] = h
				n++
			}
		}
	}
	return n
}

// mixOpenGeneric is the pure Go twin of the assembly.
func mixOpenGeneric(dst, src []uint64, key, k uint64, open *[OpenWords]uint64) int {
	n := 0
	dst = dst[:len(src)]
	for _, x := range src {
		h := hashing.Mix(x ^ key)
		b, _ := bits.Mul64(h, k)
		dst[n] = h
		n += int(open[b>>6&(OpenWords-1)] >> (b & 63) & 1)
	}
	return n
}

// mixPairsGeneric is the pure Go twin of the assembly.
func mixPairsGeneric(dst, bins []uint64, p *pairs) int {
	bins = bins[:len(dst)]
	low := uint64(1)<<(p.shift&63) - 1
	n := 0
	for j, y := range p.outer {
		tag := p.tag + uint64(j)*p.outerStep
		for _, x := range p.inner {
			h := hashing.Mix(x ^ y)
			b := h >> (p.shift & 63)
			dst[n], bins[n] = h&low|tag, b
			n += int(p.open[b>>6&(OpenWords-1)] >> (b & 63) & 1)
			tag += p.innerStep
		}
	}
	return n
}

// emptyBinsGeneric is the pure Go twin of the assembly.
func emptyBinsGeneric(open, bins []uint64) int {
	empty := len(bins)
	for i := range open {
		var word uint64
		if first := 64 * i; first < len(bins) {
			for j, h := range bins[first:min(first+64, len(bins))] {
				_, full := bits.Sub64(h, math.MaxUint64, 0) // 1 if h is below
				word |= (full ^ 1) << (j & 63)
				empty -= int(full)
			}
		}
		open[i] = word
	}
	return empty
}

// passOpenGeneric is the pure Go twin of the assembly.
func passOpenGeneric(dst, src []uint64, open *[OpenWords]uint64) int {
	n := 0
	dst = dst[:len(src)]
	for _, x := range src {
		dst[n] = x
		n += int(open[x>>61] >> (x >> 55 & 63) & 1)
	}
	return n
}
