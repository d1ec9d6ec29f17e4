package recipe

import (
	"encoding/binary"
	"fmt"

	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/simhash"
)

// A Scheme says how to make a signature of features. minhash.Scheme is one, [SimHash]
// returns others, and a caller's own may be any type. A scheme is immutable.
type Scheme interface {
	fmt.Stringer // the canonical line, without " | ": equal lines, equal signatures
	Words() int  // of a signature, 32 bits each
	NewSketcher() Sketcher
	// AppendBinary appends the packed form of a signature.
	AppendBinary(dst []byte, signature []uint32) []byte
}

// A Sketcher writes the signature of features, in any order and with repeats, to dst, whose
// length is the scheme's Words. It owns scratch memory and belongs to one goroutine. A
// Sketcher that is also a minhash.SeqSketcher takes the features of long texts block by
// block.
type Sketcher = minhash.Sketcher

// Banded is implemented by schemes whose signatures have components that agree more often
// the more similar two sets are. HasBands reports whether a signature is K components of
// Bits bits, a word each: bands are cut from these.
type Banded interface {
	HasBands() bool
	K() int
	Bits() int
	Equal(a, b []uint32) int        // components that agree
	Estimate(equal int) float64     // the similarity for so many agreeing components
	MinEqual(threshold float64) int // the fewest agreeing components whose estimate reaches the threshold
}

// Decoding is implemented by schemes whose packed signatures can be read back.
type Decoding interface {
	// DecodeBinary appends to dst a signature that AppendBinary has packed, or returns an error
	// that says what is wrong.
	DecodeBinary(dst []uint32, src []byte) ([]uint32, error)
}

// Estimating is implemented by schemes without bands whose signatures still estimate the
// similarity of two non-empty sets.
type Estimating interface {
	Similarity(a, b []uint32) float64
}

// Hamming is implemented by schemes, of features or of texts, whose signatures are compared
// by the number of bits in which they differ. HammingBits is the number of bits, the first
// ones of the signature: bit i is bit i mod 32 of word ⌊i/32⌋; other bits are zero.
type Hamming interface {
	HammingBits() int
}

// A TextScheme says how to make a signature directly from a text. It is for fingerprints of
// other programs, whose normalisation, tokens and hashes are not those of packages text and
// shingle.
type TextScheme interface {
	fmt.Stringer // the canonical line: equal lines, equal signatures
	Size() int   // of a signature, in bytes
	NewSketcher() TextSketcher
}

// A TextSketcher makes signatures. It owns scratch memory and belongs to one
// goroutine.
type TextSketcher interface {
	// AppendSketch appends the signature of text, of its scheme's size, and returns the number
	// of its features. Any bytes are a text.
	AppendSketch(dst, text []byte) (signature []byte, features int)
}

// SimHash returns the scheme of SimHash signatures of the set of features, without repeats.
func SimHash(scheme simhash.Scheme) Scheme { return simHash{scheme} }

type simHash struct{ scheme simhash.Scheme }

func (s simHash) String() string   { return s.scheme.String() }
func (s simHash) Words() int       { return 2 * s.scheme.Words() }
func (s simHash) HammingBits() int { return s.scheme.Bits() }

func (s simHash) AppendBinary(dst []byte, signature []uint32) []byte {
	size := len(dst) + s.scheme.BinarySize()
	return appendWords(dst, signature)[:size]
}

func (s simHash) DecodeBinary(dst []uint32, src []byte) ([]uint32, error) {
	signature, err := s.scheme.DecodeBinary(make([]uint64, 0, s.scheme.Words()), src)
	for _, w := range signature {
		dst = append(dst, uint32(w), uint32(w>>32))
	}
	return dst, err
}

func (s simHash) NewSketcher() Sketcher {
	return &simHashSketcher{sketcher: s.scheme.NewSketcher(), signature: make([]uint64, s.scheme.Words())}
}

type simHashSketcher struct {
	sketcher  *simhash.Sketcher
	set       []uint64
	signature []uint64
}

func (s *simHashSketcher) Sketch(dst []uint32, features []uint64) {
	s.set = append(s.set[:0], features...) // the caller's features must keep their order
	s.sketcher.Sketch(s.signature, shingle.Set(s.set))
	for i, w := range s.signature {
		dst[2*i], dst[2*i+1] = uint32(w), uint32(w>>32)
	}
	if cap(s.set) > trimFrom {
		s.set = nil
	}
}

// appendWords appends words, the lowest byte first.
func appendWords(dst []byte, words []uint32) []byte {
	for _, w := range words {
		dst = binary.LittleEndian.AppendUint32(dst, w)
	}
	return dst
}
