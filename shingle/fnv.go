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
	"github.com/alike-dev/alike/text"
)

// Hash names a hash of shingles other than that of the package comment.
//
// The FNV-1a hashes are those of A. Gudkov, "Efficient implementation of MinHash, part
// 1", and use that article's words: a text is a sequence of UTF-16 units, a word a run of
// letters and decimal digits (by Java's isLetterOrDigit of a char), everything else
// separates, also code points above U+FFFF and bytes that are not UTF-8. Nothing is
// normalised or folded. The hash of a shingle covers the units of its n words without a
// separator, each as two bytes, the lower first. A document of fewer than n words has no
// shingle.
//
// The article's program never hashes the upper byte: it shifts the unit by 16, not by 8,
// and hashes a zero instead. The names with Listing do the same. The two differ only for
// texts beyond U+00FF.
//
// FNV1 is 64-bit FNV-1 over the n characters of text.ASCII in a shingle, as parallel
// programs for near-duplicates have hashed them (and called it FNV-1a): it multiplies,
// then xors. It costs n products a feature, which vectors make bearable, and mixes the
// upper bits less well. A document of fewer than n characters has one shingle, of all of
// them.
type Hash string

// The hashes. The empty value is the hash of the package comment.
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
//	for every unit of a word: add it to the hashes of all n shingles that the word belongs to
//	at the word's end: the first hash is complete, and is emitted; the others move up;
//	    a new one begins
//
// 1. The ends of words are found 64 bytes at a time (simd.WordEdges), not by a branch
//    per byte, which would be mispredicted twice a word.
// 2. In a stretch of ASCII a vector kernel (simd.AppendWordFNV) hashes all shingles
//    at once, except those that begin before the stretch.
// 3. Without the kernel: the upper byte of ASCII is 0, so both steps are one product,
//    with the prime's square. For three words the hashes stay in registers and do not
//    depend on each other. Other numbers of words go through memory, at a third of
//    the speed.
//
// English ASCII runs at 1330 MB/s with 32 bits and 1100 with 64, where hashing word by
// word in registers reaches 540 (BenchmarkHashes of internal/hotpath).

// pipe is the unitHasher of a width.
type pipe[T uint32 | uint64] struct {
	basis, prime T
	square       T    // of prime
	upper        uint // how far a unit is shifted for its upper byte
	hashes       []T  // of the last n words, of the last n−1, …, of the last one
	missing      int  // words still needed to complete the first shingle
	open         bool // inside a word, whose units so far are in all hashes
	edges        [simd.EdgeBytes]uint16
	lanes        *simd.WordFNVScratch // of the vector kernel, nil without one
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

// appendFrom processes a stretch of ASCII, or the text before the next one.
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

// wordsInLanes processes the words of the edges, which must be more than a shingle has.
// It takes the first words one by one to complete the shingles that begin before them,
// gives all shingles in between to the kernel, and takes the last words one by one to
// bring the hashes up to date.
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

// wordsInTurn processes the words of the edges one by one.
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

// word processes the i-th word of the edges.
func (p *pipe[T]) word(dst []uint64, src []byte, i int) []uint64 {
	for _, c := range src[p.edges[2*i]:p.edges[2*i+1]] {
		for k := range p.hashes {
			p.hashes[k] = (p.hashes[k] ^ T(c)) * p.square
		}
	}
	return p.endWord(dst)
}

// triples processes the words of edges for n = 3, when no word is missing.
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

// endWord appends the complete hash, if there is one, and begins another.
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
	// unitStretch is the most bytes that units processes in one call.
	unitStretch = 4 << 10
	// asciiAhead is how many bytes of ASCII must follow a separator before units returns to
	// the fast path.
	asciiAhead = 32
)

// units processes any text, one code point after the other, to the end of a stretch or
// until ASCII follows. It gets past the code point at from.
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

// characters makes the features of FNV1, block by block, with the last n−1 characters of
// the previous block before each.
type characters struct {
	n      int
	fold   bool
	window []byte
	whole  bool // a shingle is complete
}

// characterBlock is how many bytes of a document one call processes.
const characterBlock = 16 << 10

func (c *characters) reset() { c.window, c.whole = c.window[:0], false }

func (c *characters) appendFrom(dst []uint64, doc []byte, from int) ([]uint64, int) {
	next := min(from+characterBlock, len(doc))
	c.window = text.AppendASCII(c.window, doc[from:next], c.fold)
	n := c.n
	if next == len(doc) && !c.whole {
		n = min(n, len(c.window))
	}
	runs := len(c.window) - n + 1
	if n == 0 || runs <= 0 {
		return dst, next
	}
	dst = slices.Grow(dst, runs)
	simd.FNV1(dst[len(dst):][:runs], c.window, n)
	c.whole = true
	kept := copy(c.window, c.window[runs:])
	c.window = c.window[:kept]
	return dst[:len(dst)+runs], next
}
