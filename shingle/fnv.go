package shingle

import (
	"encoding/binary"
	"math"
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"github.com/alike-dev/alike/internal/simd"
)

// Hash names how a shingle is hashed, if not as the package comment says.
//
// The FNV-1a hashes are those of A. Gudkov, "Efficient implementation of MinHash,
// part 1", and come with that article's words: a text is a sequence of UTF-16 units, a
// word a run of letters and decimal digits (as Java's isLetterOrDigit of a char has
// it), everything else separates, also the code points above U+FFFF and bytes that
// are not UTF-8. Nothing is normalised or folded. A shingle's hash goes through the
// units of its n words without a separator, each as two bytes, the lower first. A
// document of fewer than n words has no shingle.
//
// The article's program never hashes the upper byte: it shifts the unit by 16, not by
// 8, and hashes a zero instead. The names with Listing do the same. Only texts beyond
// U+00FF tell the two apart.
//
// FNV1 is FNV-1 of 64 bits over the n characters of text.ASCII that a shingle has, as
// parallel programs for near-duplicates have hashed them (and called it FNV-1a): it
// multiplies, then xors. It costs n products a feature, which vectors make bearable,
// and mixes the upper bits less well. A document of fewer than n characters has one
// shingle, of all of them.
type Hash string

// The hashes. The empty value is the one of the package comment.
const (
	FNV1a32        Hash = "fnv1a32"
	FNV1a64        Hash = "fnv1a64"
	FNV1a32Listing Hash = "fnv1a32-listing"
	FNV1a64Listing Hash = "fnv1a64-listing"
	FNV1           Hash = "fnv1"
)

var hashes = []Hash{FNV1a32, FNV1a64, FNV1a32Listing, FNV1a64Listing, FNV1}

// The constants of FNV-1a, by width.
const (
	basis32, prime32 = 2166136261, 16777619
	basis64, prime64 = 14695981039346656037, 1099511628211
)

// A unitHasher makes the features of a document by a Hash.
type unitHasher interface {
	reset()
	// appendFrom is AppendFeaturesFrom.
	appendFrom(dst []uint64, doc []byte, from int) ([]uint64, int)
}

func newUnitHasher(h Hash, n int, fold bool) unitHasher {
	switch h {
	case FNV1:
		return &characters{n: n, fold: fold}
	case FNV1a32, FNV1a32Listing:
		return newPipe[uint32](n, basis32, prime32, h == FNV1a32Listing)
	default:
		return newPipe[uint64](n, basis64, prime64, h == FNV1a64Listing)
	}
}

// Hashing as the article does:
//
//	for every unit of a word: take it into the hashes of all n shingles it belongs to
//	at the word's end: the first hash is complete, and goes; the others move up;
//	    a new one begins
//
//  1. Where words begin and end is found 64 bytes at a time (simd.WordEdges), not by
//     a branch a byte, which is mispredicted twice a word.
//  2. In a stretch of ASCII all shingles are hashed at once by a vector kernel
//     (simd.AppendWordFNV), but for those that begin before it.
//  3. Without one: the upper byte of ASCII is 0, so that both
//     steps are one product, with the prime's square; and of three words the hashes
//     stay in registers, where no one waits for another. Other numbers of words go
//     through memory, at a third of the speed.
//
// English of ASCII runs at 1330 MB/s with 32 bits and 1100 with 64, where hashing word by
// word in registers reaches 540 (BenchmarkHashes of internal/hotpath).

// pipe is the unitHasher of a width.
type pipe[T uint32 | uint64] struct {
	basis, prime T
	square       T    // of prime
	upper        uint // how far a unit is shifted for its upper byte
	hashes       []T  // of the last n words, of the last n−1, …, of the last
	missing      int  // words, until the first shingle is complete
	open         bool // a word is, and all hashes hold its units so far
	edges        [simd.EdgeBytes]uint16
	lanes        *simd.WordFNVScratch // of the vector kernel, where there is one
}

func newPipe[T uint32 | uint64](n int, basis, prime T, listing bool) *pipe[T] {
	p := &pipe[T]{basis: basis, prime: prime, square: prime * prime, upper: 8, hashes: make([]T, n)}
	if listing {
		p.upper = 16
	}
	if simd.HasWordFNV() {
		p.lanes = new(simd.WordFNVScratch)
	}
	return p
}

func (p *pipe[T]) reset() {
	for i := range p.hashes {
		p.hashes[i] = p.basis
	}
	p.missing, p.open = len(p.hashes)-1, false
}

// appendFrom does a stretch of ASCII, or what comes until the next one.
func (p *pipe[T]) appendFrom(dst []uint64, doc []byte, from int) ([]uint64, int) {
	if p.open {
		return p.units(dst, doc, from)
	}
	words, used, ascii := simd.WordEdges(&p.edges, doc[from:])
	dst = slices.Grow(dst, words)
	if p.lanes != nil && words >= 2*len(p.hashes) {
		dst = p.wordsInLanes(dst, doc[from:], words)
	} else {
		dst = p.wordsInTurn(dst, doc[from:], words)
	}
	if from += used; !ascii || used == 0 {
		return p.units(dst, doc, from)
	}
	return dst, from
}

// wordsInLanes takes the words of the edges, more than are in a shingle: those of the
// first shingles that begin before them and, to know where it stands behind them, those
// of the last ones one after the other, and all shingles between by the kernel.
func (p *pipe[T]) wordsInLanes(dst []uint64, src []byte, words int) []uint64 {
	n := len(p.hashes)
	for i := range n - 1 {
		dst = p.word(dst, src, i)
	}
	dst = simd.AppendWordFNV(dst, p.lanes, src, p.edges[:2*words], n, unsafe.Sizeof(p.basis) == 8)
	p.reset()
	for i := words - n + 1; i < words; i++ {
		dst = p.word(dst, src, i)
	}
	return dst
}

// wordsInTurn takes the words of the edges.
func (p *pipe[T]) wordsInTurn(dst []uint64, src []byte, words int) []uint64 {
	i := 0
	for ; i < words && (p.missing > 0 || len(p.hashes) != 3); i++ {
		dst = p.word(dst, src, i)
	}
	if i < words {
		dst = p.triples(dst, src, p.edges[2*i:2*words])
	}
	return dst
}

// word takes the i-th word of the edges.
func (p *pipe[T]) word(dst []uint64, src []byte, i int) []uint64 {
	for _, c := range src[p.edges[2*i]:p.edges[2*i+1]] {
		for k := range p.hashes {
			p.hashes[k] = (p.hashes[k] ^ T(c)) * p.square
		}
	}
	return p.endWord(dst)
}

// triples takes the words of edges for n = 3, when no word is missing.
func (p *pipe[T]) triples(dst []uint64, src []byte, edges []uint16) []uint64 {
	a, b, c := p.hashes[0], p.hashes[1], p.hashes[2]
	out := dst[len(dst):cap(dst)][:len(edges)/2]
	for i := range out {
		for _, u := range src[edges[2*i]:edges[2*i+1]] {
			a = (a ^ T(u)) * p.square
			b = (b ^ T(u)) * p.square
			c = (c ^ T(u)) * p.square
		}
		out[i] = uint64(a)
		a, b, c = b, c, p.basis
	}
	p.hashes[0], p.hashes[1], p.hashes[2] = a, b, c
	return dst[:len(dst)+len(out)]
}

// endWord appends the hash that is complete, if one is, and begins another.
func (p *pipe[T]) endWord(dst []uint64) []uint64 {
	if p.missing == 0 {
		dst = append(dst, uint64(p.hashes[0]))
	} else {
		p.missing--
	}
	copy(p.hashes, p.hashes[1:])
	p.hashes[len(p.hashes)-1] = p.basis
	return dst
}

const (
	// unitStretch is how many bytes units does at most.
	unitStretch = 4 << 10
	// asciiAhead is how many bytes of ASCII must lie behind a separator for units to
	// hand back to the fast path.
	asciiAhead = 32
)

// units does whatever comes, one code point after the other, to the end of a stretch
// or until there is ASCII ahead. It gets past the code point at from.
func (p *pipe[T]) units(dst []uint64, doc []byte, from int) ([]uint64, int) {
	letters := letterOrDigit()
	limit := min(from+unitStretch, len(doc))
	for from < limit {
		r, w := rune(doc[from]), 1
		if r >= utf8.RuneSelf {
			r, w = utf8.DecodeRune(doc[from:])
			if w == 1 || r > math.MaxUint16 {
				r = ' '
			}
		}
		from += w
		if letters[r>>6&1023]>>(r&63)&1 != 0 {
			p.open = true
			low, high := T(r&0xff), T(r>>p.upper)
			for k, h := range p.hashes {
				p.hashes[k] = ((h^low)*p.prime ^ high) * p.prime
			}
			continue
		}
		if p.open {
			dst = p.endWord(dst)
			p.open = false
		}
		if isASCIIAhead(doc[from:]) {
			return dst, from
		}
	}
	if from == len(doc) && p.open {
		dst = p.endWord(dst)
		p.open = false
	}
	return dst, from
}

// isASCIIAhead reports whether b begins with asciiAhead bytes of ASCII.
func isASCIIAhead(b []byte) bool {
	const high = 0x8080808080808080
	if len(b) < asciiAhead {
		return false
	}
	w := (*[asciiAhead]byte)(b)
	return (binary.LittleEndian.Uint64(w[:])|binary.LittleEndian.Uint64(w[8:])|
		binary.LittleEndian.Uint64(w[16:])|binary.LittleEndian.Uint64(w[24:]))&high == 0
}

// letterOrDigit has a bit for every UTF-16 unit: letter or decimal digit.
var letterOrDigit = sync.OnceValue(func() *[1 << 10]uint64 {
	var t [1 << 10]uint64
	for r := range rune(1 << 16) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			t[r>>6] |= 1 << (r & 63)
		}
	}
	return &t
})
