package minhash

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"math/bits"

	"github.com/alike-dev/alike/internal/distinct"
	"github.com/alike-dev/alike/internal/simd"
)

// Hash names the hash function of a bottom-k scheme.
type Hash string

const (
	// XXH3 hashes the eight bytes of a feature by XXH3-64 with the seed. A hash of 32 bits is
	// the upper half.
	XXH3 Hash = "xxh3"
	// FNV1a uses the features themselves as hashes: shingle.FNV1a32 or shingle.FNV1a64, by the
	// width, must have made them.
	FNV1a Hash = "fnv1a"
	// FNV1aListing is FNV1a with shingle.FNV1a32Listing or shingle.FNV1a64Listing.
	FNV1aListing Hash = "fnv1a-listing"
)

// bottomKBits is the width of the hashes of a bottom-k scheme when none is given.
const bottomKBits = 64

// BottomK returns the scheme of the 1 ≤ k ≤ 65536 smallest distinct hashes of 32 or 64
// bits. The seed is for XXH3; for FNV-1a, which has none, it must be 0.
func BottomK(hash Hash, k, bits int, seed uint64) (Scheme, error) {
	return newBottomK(hash, k, bits, seed)
}

// A BottomKSketcher makes bottom-k fingerprints, also piece by piece: Reset, Add the
// features as they come, Append. It owns scratch memory, O(k) however many features there
// are, allocates nothing once warm, and belongs to one goroutine.
type BottomKSketcher struct {
	scheme Scheme
	flip   uint64 // of the seed
	mask   uint64 // bits of a hash that count: the upper ones
	bound  uint64 // only hashes below it count
	buffer []uint64
	n      int      // of the buffer in use
	spare  []uint64 // as long as the buffer
}

// The source keeps the k smallest hashes in a heap, with a hash table against repeats. Here
// they are in an unordered buffer, among others:
//
//		bound = none
//		for every feature:
//		    if its hash is below bound: append it to the buffer
//		    if the buffer is full:
//		        guess the k-th smallest; make a set of the hashes below the guess
//		        if it has fewer than k hashes: make a set of all
//		        keep the k smallest; bound = the largest of them, if they are k
//
//	 1. The test takes 8 features at a time (simd.XXH3Below), and costs no more
//	    where many pass. A large buffer is therefore free, and a text of a hundred
//	    kilobytes is cut twice.
//	 2. The hashes in the buffer are spread evenly below the bound, so the k-th
//	    smallest of m is about bound·k/m. A guess a little above that is hardly ever too
//	    low, and only a little more than k hashes have to be sorted (sorting all of
//	    a small buffer took 40 % of the time for a text). Repeats make the guess too low.
const (
	// bottomKBlock is how many features are hashed at once.
	bottomKBlock = 512
	// bottomKRoom is the least size of the buffer as a multiple of k, and bottomKLeast in
	// hashes: 16 KiB, which still fits in the first-level cache.
	bottomKRoom  = 4
	bottomKLeast = 2 << 10
)

// NewBottomKSketcher returns a sketcher. It panics if the scheme is not bottom-k.
func (s Scheme) NewBottomKSketcher() *BottomKSketcher {
	s.mustBeBottomK()
	room := (max(bottomKRoom*s.K()+bottomKBlock, bottomKLeast) + 7) &^ 7
	b := &BottomKSketcher{
		scheme: s,
		flip:   simd.XXH3Flip(s.seed),
		mask:   math.MaxUint64 << (64 - s.bits),
		buffer: make([]uint64, room),
		spare:  make([]uint64, room),
	}
	b.Reset()
	return b
}

// Reset begins a new set.
func (b *BottomKSketcher) Reset() {
	b.n = 0
	b.bound = b.mask // a hash of all ones does not count
}

// Add adds features to the set. O(len(features)).
func (b *BottomKSketcher) Add(features []uint64) {
	for len(features) > 0 {
		block := features[:min(bottomKBlock, len(features))]
		features = features[len(block):]
		if b.n+bottomKBlock > len(b.buffer) {
			b.cut()
		}
		b.n += b.pass(b.buffer[b.n:], block)
	}
}

// pass writes the hashes of a block below the bound to dst and returns their number.
func (b *BottomKSketcher) pass(dst, block []uint64) int {
	if b.scheme.method == methodBottomKXXH3 {
		return simd.XXH3Below(dst, block, b.flip, b.mask, b.bound)
	}
	return simd.Below(dst, block, uint(64-b.scheme.bits), b.bound)
}

// cut keeps the k smallest hashes of the buffer, sorted.
func (b *BottomKSketcher) cut() {
	k, m := b.scheme.K(), uint64(b.n)
	var set []uint64
	if most := uint64(k + 4*int(math.Sqrt(float64(k))) + 8); 2*most <= m {
		high, low := bits.Mul64(b.bound, most)
		guess, _ := bits.Div64(high, low, m)
		set = distinct.Sort(b.spare[:simd.Below(b.spare, b.buffer[:b.n], 0, guess)])
	}
	if len(set) < k {
		set = distinct.Sort(b.buffer[:b.n])
	}
	b.n = copy(b.buffer, set[:min(len(set), k)])
	if b.n == k {
		b.bound = set[k-1]
	}
}

// Append64 appends the fingerprint to dst: the smallest distinct hashes, at most k,
// ascending. More features may be added afterwards.
func (b *BottomKSketcher) Append64(dst []uint64) []uint64 {
	b.cut()
	shift := 64 - b.scheme.bits
	for _, h := range b.buffer[:b.n] {
		dst = append(dst, h>>shift)
	}
	return dst
}

// Append32 is Append64 for a scheme of 32 bits; it panics for others.
func (b *BottomKSketcher) Append32(dst []uint32) []uint32 {
	if b.scheme.bits != 32 {
		panic("minhash: Append32 with " + b.scheme.String())
	}
	b.cut()
	for _, h := range b.buffer[:b.n] {
		dst = append(dst, uint32(h>>32))
	}
	return dst
}

// Sketch implements [Sketcher] in O(n + k).
func (b *BottomKSketcher) Sketch(dst []uint32, features []uint64) {
	checkLength(dst, b.scheme.Words())
	b.Reset()
	b.Add(features)
	b.signature(dst)
}

// SketchSeq implements [SeqSketcher].
func (b *BottomKSketcher) SketchSeq(dst []uint32, blocks iter.Seq[[]uint64]) {
	checkLength(dst, b.scheme.Words())
	b.Reset()
	for block := range blocks {
		b.Add(block)
	}
	b.signature(dst)
}

func (b *BottomKSketcher) signature(dst []uint32) {
	b.cut()
	words := dst
	for _, h := range b.buffer[:b.n] {
		if b.scheme.bits == 64 {
			words[0], words[1] = uint32(h), uint32(h>>32)
			words = words[2:]
		} else {
			words[0] = uint32(h >> 32)
			words = words[1:]
		}
	}
	fillOnes(words, math.MaxUint32)
}

// SharedOfSmallest takes the k smallest hashes of two fingerprints together. It returns how
// many of them are in both, and how many they are: k, or less if both fingerprints have
// fewer. The fingerprints are of one bottom-k scheme of k hashes, ascending. O(k).
//
// shared/of estimates the Jaccard similarity of the two sets without bias: the k smallest
// hashes of the union are a random sample of it, and a hash of the sample that is in both
// sets is in both fingerprints (Broder 1997). If of is less than k, shared/of is the
// similarity itself.
func SharedOfSmallest[T uint32 | uint64](a, b []T, k int) (shared, of int) {
	for of < k && len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] == b[0]:
			shared++
			a, b = a[1:], b[1:]
		case a[0] < b[0]:
			a = a[1:]
		default:
			b = b[1:]
		}
		of++
	}
	return shared, min(k, of+len(a)+len(b))
}

// AppendHashes appends the hashes of a bottom-k signature, as a [Sketcher] writes
// it, to dst.
func (s Scheme) AppendHashes(dst []uint64, sig []uint32) []uint64 {
	s.mustBeBottomK()
	checkLength(sig, s.Words())
	width := int(s.bits / 32)
	for ; len(sig) > 0 && !isPadding(sig[:width]); sig = sig[width:] {
		h := uint64(sig[0])
		if width == 2 {
			h |= uint64(sig[1]) << 32
		}
		dst = append(dst, h)
	}
	return dst
}

// appendHashBytes packs a signature of hashes of width words: those that are not padding.
func appendHashBytes(dst []byte, sig []uint32, width int) []byte {
	for ; len(sig) > 0 && !isPadding(sig[:width]); sig = sig[width:] {
		for _, word := range sig[:width] {
			dst = binary.LittleEndian.AppendUint32(dst, word)
		}
	}
	return dst
}

// isPadding reports whether the words of a hash are all ones.
func isPadding(words []uint32) bool {
	return words[0] == math.MaxUint32 && words[len(words)-1] == math.MaxUint32
}

// decodeHashes undoes appendHashBytes.
func decodeHashes(s Scheme, dst []uint32, src []byte) ([]uint32, error) {
	size := int(s.bits / 8)
	if len(src) > s.BinarySize() || len(src)%size != 0 {
		return dst, fmt.Errorf("minhash: packed signature of %d bytes, want %d or less, and whole hashes of %d, for %s",
			len(src), s.BinarySize(), size, s)
	}
	begin, last := len(dst), uint64(0)
	for at := 0; at < len(src); at += size {
		h := uint64(binary.LittleEndian.Uint32(src[at:]))
		if size == 8 {
			h = binary.LittleEndian.Uint64(src[at:])
		}
		if at > 0 && h <= last || h == math.MaxUint64>>(64-s.bits) {
			return dst[:begin], fmt.Errorf("minhash: packed signature: hash %d does not ascend, or is all ones", at/size)
		}
		last = h
		dst = append(dst, uint32(h))
		if size == 8 {
			dst = append(dst, uint32(h>>32))
		}
	}
	for len(dst) < begin+s.Words() {
		dst = append(dst, math.MaxUint32)
	}
	return dst, nil
}

// FeatureHash returns the name of the hash, in the terms of package shingle, that must make
// the features of the scheme: fnv1a32, fnv1a64, fnv1a32-listing or fnv1a64-listing; or ""
// if any hash will do.
func (s Scheme) FeatureHash() string {
	wide := s.bits == 64
	switch {
	case s.method == methodBottomKFNV && wide:
		return "fnv1a64"
	case s.method == methodBottomKFNV:
		return "fnv1a32"
	case s.method == methodBottomKListing && wide:
		return "fnv1a64-listing"
	case s.method == methodBottomKListing:
		return "fnv1a32-listing"
	}
	return ""
}

// HasBands reports whether signatures of the scheme have components, whose agreement
// estimates the similarity and which can be cut into bands. Those of bottom-k have none.
func (s Scheme) HasBands() bool { return s.method < methodBottomKXXH3 }

func (s Scheme) mustBeBottomK() {
	if s.HasBands() {
		panic("minhash: a bottom-k method used with " + s.String())
	}
}

func (s Scheme) mustHaveBands() {
	if !s.HasBands() {
		panic("minhash: components are asked for of " + s.String() + ", which has none")
	}
}
