package exlsh

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"

	"github.com/alike-dev/alike/internal/simd"
)

// blockShingles is the number of shingles that are hashed before their bits are counted:
// a few kilobytes, which stay in the cache.
const blockShingles = 128

// Sketcher makes fingerprints. It owns scratch memory that grows to the needs of the
// longest text (text and tokens, about 9 bytes a byte of text with Graphemes), allocates
// nothing once warm with the functions of this package, and belongs to one goroutine.
type Sketcher struct {
	options Options
	plain   bool // cut replaces tokeniser and filter
	sums    sums
	words   int // words of a row
	votes   simd.Votes
	rows    []uint64

	writer wordWriter
	normal []byte
	tokens [][]byte
	text   []byte // the tokens, one after the other
	bounds []int  // of token i in text: bounds[i] and bounds[i+1]
}

// New returns a sketcher, or the error of o.Validate.
func New(o Options) (*Sketcher, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	words := (o.Hash.size + 7) / 8
	s := &Sketcher{
		options: o, sums: o.Hash.newSums(), words: words,
		votes: simd.NewVotes(words), rows: make([]uint64, blockShingles*words),
	}
	s.plain = o.Normalizer.name == WordCharacters.name && o.Filter.apply == nil &&
		(o.Tokenizer.name == Words.name || o.Tokenizer.name == Graphemes.name)
	return s, nil
}

// Size returns the number of bytes of a fingerprint.
func (o Options) Size() int { return o.withDefaults().Hash.size }

// AppendSketch appends the fingerprint of text, Options.Size bytes, to dst, and returns
// the number of its shingles: without any the fingerprint is zeros. Bit i is bit 7−(i mod
// 8) of byte ⌊i/8⌋, as in the hash. Any bytes are a text.
//
// It costs O(len(text)) and a hash a shingle.
func (s *Sketcher) AppendSketch(dst, text []byte) (fingerprint []byte, shingles int) {
	s.tokenize(text)
	n := s.options.N
	shingles = max(len(s.bounds)-n, 0)
	s.votes.Reset()
	for i := 0; i < shingles; i += blockShingles {
		end := min(i+blockShingles, shingles)
		rows := s.rows[:(end-i+simd.VoteBatch-1)/simd.VoteBatch*simd.VoteBatch*s.words]
		s.sums(rows, s.words, s.text, s.bounds[i:end], s.bounds[i+n:end+n])
		clear(rows[(end-i)*s.words:]) // rows without a shingle have no votes
		s.votes.Add(rows)
	}
	var word [8]byte
	for w := range s.words {
		binary.LittleEndian.PutUint64(word[:], s.votes.Majority(w, uint64(shingles)))
		dst = append(dst, word[:min(8, s.options.Hash.size-8*w)]...)
	}
	return dst, shingles
}

// tokenize fills s.text and s.bounds.
func (s *Sketcher) tokenize(text []byte) {
	s.bounds = append(s.bounds[:0], 0)
	if s.plain {
		s.normal = s.writer.appendNormal(s.normal[:0], text)
		if s.options.Tokenizer.name == Words.name {
			s.cutWords()
		} else {
			s.cutGraphemes()
		}
		return
	}
	s.normal = s.options.Normalizer.apply(s.normal[:0], text)
	s.tokens = s.options.Tokenizer.apply(s.tokens[:0], s.normal)
	if s.options.Filter.apply != nil {
		s.tokens = s.options.Filter.apply(s.tokens)
	}
	s.text = s.text[:0]
	for _, t := range s.tokens {
		s.text = append(s.text, t...)
		s.bounds = append(s.bounds, len(s.text))
	}
}

// cutWords cuts the output of WordCharacters, whose only white space is single spaces.
func (s *Sketcher) cutWords() {
	s.text = s.normal[:0] // tokens move down over the spaces
	for rest := s.normal; len(rest) > 0; {
		end := bytes.IndexByte(rest, space)
		if end < 0 {
			end = len(rest)
		}
		if end > 0 {
			s.text = append(s.text, rest[:end]...)
			s.bounds = append(s.bounds, len(s.text))
		}
		rest = rest[min(end+1, len(rest)):]
	}
}

// cutGraphemes cuts the output of WordCharacters. Few of the code points whose bytes are
// word characters of Latin-1 join a preceding one, and only by rules GB9 and GB9a of
// Unicode annex 29, which need no state.
func (s *Sketcher) cutGraphemes() {
	s.text = s.normal
	b := s.normal
	valid := false // the bytes before i are a code point
	for i := 0; i < len(b); {
		width, joins := 1, false
		if b[i] < utf8.RuneSelf {
			valid = true
		} else {
			var r rune
			r, width = utf8.DecodeRune(b[i:])
			isRune := r != utf8.RuneError || width > 1
			joins = isRune && valid && joinsBefore(r)
			valid = isRune
		}
		i += width
		if joins {
			s.bounds[len(s.bounds)-1] = i
		} else {
			s.bounds = append(s.bounds, i)
		}
	}
}

// joinsBefore reports whether a code point that WordCharacters may leave belongs to the
// preceding grapheme.
func joinsBefore(r rune) bool {
	switch r {
	case '\u032a', '\u0335', '\u033a', '\u036a', '\u05aa', '\u05b5', '\u05ba', '\u06ea', '\u0735', '\u073a', '\u07aa',
		'\u0eb5', '\u0eba', '\u1ab5', '\u1aba':
		return true
	}
	return false
}
