package plant

import (
	"bytes"
	"math/bits"
	"strconv"
	"unicode/utf8"

	"github.com/alike-dev/alike/internal/hashing"
)

// Editor makes edited copies of texts. It owns scratch memory and belongs to one
// goroutine.
type Editor struct{ units, moved []unit }

// Append appends a copy of text, edited according to e and the seed. A word that replaces another
// or is inserted is another word of the same text, so that the copy keeps its language and subject.
// Cost: one pass over the text.
func (ed *Editor) Append(dst, text []byte, seed uint64, e Edits) []byte {
	s := newSource(seed, purposeCopy, 0)
	if s.chance(e.Exact) {
		return append(dst, text...)
	}
	ed.units = appendUnits(ed.units[:0], text)
	if len(ed.units) == 0 {
		return append(dst, text...)
	}
	rate := s.between(e.MinRate, e.MaxRate)
	all := ed.units // words to insert come from the whole text
	rest := ed.units
	if s.chance(e.Truncate) {
		rest = truncate(rest, &s)
	}
	if s.chance(e.Move) {
		rest = ed.move(rest, &s)
	}
	style := s.chance(e.Restyle)
	if len(rest) == len(all) {
		dst = append(dst, text[:all[0].start]...)
	}
	for _, u := range rest {
		if s.chance(rate) {
			dst = appendEdit(dst, text, u, all, &s, e)
			continue
		}
		dst = appendApart(dst, text[u.start:u.end])
		if style {
			restyle(dst[len(dst)-(u.end-u.start):], u.core-u.start, &s)
		}
	}
	return dst
}

// truncate cuts off up to half of the words, at either end.
func truncate(units []unit, s *source) []unit {
	cut := s.below(len(units)/2 + 1)
	if s.chance(0.5) {
		return units[cut:]
	}
	return units[:len(units)-cut]
}

// move moves a block of a twentieth to a fifth of the words elsewhere.
func (ed *Editor) move(units []unit, s *source) []unit {
	n := len(units)
	block := n/20 + s.below(n/5-n/20+1)
	if block == 0 {
		return units
	}
	from, to := s.below(n-block+1), s.below(n-block+1)
	rest := append(ed.moved[:0], units[:from]...)
	rest = append(rest, units[from+block:]...)
	rest = append(rest, units[from:from+block]...) // the block, to be rotated into place
	rotate(rest[to:], n-block-to)
	ed.moved = rest
	return rest
}

// rotate moves the first k units of u behind the others.
func rotate(u []unit, k int) {
	reverse(u[:k])
	reverse(u[k:])
	reverse(u)
}

func reverse(u []unit) {
	for i, j := 0, len(u)-1; i < j; i, j = i+1, j-1 {
		u[i], u[j] = u[j], u[i]
	}
}

// appendEdit appends unit u replaced, deleted, or with a word inserted before it.
func appendEdit(dst, text []byte, u unit, all []unit, s *source, e Edits) []byte {
	r, d, i := e.Replace, e.Delete, e.Insert
	if r+d+i == 0 {
		r, d, i = 1, 1, 1
	}
	switch x := s.unit() * (r + d + i); {
	case x < r:
		dst = appendOther(dst, text, u, all, s)
		return append(dst, text[u.core:u.end]...)
	case x < r+d:
		return dst
	default:
		dst = appendOther(dst, text, u, all, s)
		if !isSpaceless(text[u.start:]) {
			dst = append(dst, ' ')
		}
		return appendApart(dst, text[u.start:u.end])
	}
}

// appendApart appends text that starts with a word, and a space before it where it would run
// together with the word before: units that the edits brought side by side may have no space
// between them.
func appendApart(dst, text []byte) []byte {
	if last, size := utf8.DecodeLastRune(dst); size > 0 && !isSpaceless(text) {
		if class := classOf(last); class == letter || class == mark {
			dst = append(dst, ' ')
		}
	}
	return append(dst, text...)
}

// appendOther appends a word of the text that differs from u by more than case,
// or, if a few draws find none, a number.
func appendOther(dst, text []byte, u unit, all []unit, s *source) []byte {
	word := text[u.start:u.core]
	for range 8 {
		o := all[s.below(len(all))]
		other := text[o.start:o.core]
		// A word of one script would run together with neighbours of another.
		if isSpaceless(other) == isSpaceless(word) && !bytes.EqualFold(other, word) {
			return appendApart(dst, other)
		}
	}
	if isSpaceless(word) {
		return append(dst, "々"...)
	}
	return appendApart(dst, strconv.AppendInt(nil, int64(1000+s.below(1_000_000)), 10))
}

// restyle changes case and punctuation of one unit in place without changing its words under the
// default pipeline: ASCII letters change case, an ASCII space or punctuation mark becomes another.
func restyle(u []byte, core int, s *source) {
	const asciiCase = 'a' - 'A'
	isLower := func(c byte) bool { return c >= 'a' && c <= 'z' }
	isUpper := func(c byte) bool { return c >= 'A' && c <= 'Z' }
	switch s.below(6) {
	case 0: // shouting
		for i, c := range u[:core] {
			if isLower(c) {
				u[i] -= asciiCase
			}
		}
	case 1: // muttering
		for i, c := range u[:core] {
			if isUpper(c) {
				u[i] += asciiCase
			}
		}
	case 2: // Headline
		if isLower(u[0]) {
			u[0] -= asciiCase
		}
	case 3: // punctuation
		const marks = ".,;:-/ \n"
		for i, c := range u[core:] {
			if bytes.IndexByte([]byte(marks), c) >= 0 {
				u[core+i] = marks[s.below(len(marks))]
			}
		}
	}
}

// source is a small random generator (SplitMix64: a counter, mixed). It is not
// math/rand so that a corpus does not change with the Go version.
type source struct{ state uint64 }

// newSource returns the generator for one number and purpose (what is drawn; a constant of this
// package).
func newSource(seed uint64, purpose, number uint64) source {
	return source{hashing.Mix(hashing.Mix(seed^hashing.Key0)+purpose*hashing.Key1) ^ hashing.Mix(number+hashing.Key2)}
}

// Purposes of generators. No two share a sequence.
const (
	purposeOriginal = 1 + iota
	purposeGroup
	purposeCopy
	purposePermutation
)

func (s *source) next() uint64 {
	s.state += 0x9e3779b97f4a7c15
	return hashing.Mix(s.state)
}

// below returns a number in [0, n), n > 0. The bias is below n/2⁶⁴.
func (s *source) below(n int) int {
	hi, _ := bits.Mul64(s.next(), uint64(n))
	return int(hi)
}

// unit returns a number in [0, 1), a multiple of 2⁻⁵³.
func (s *source) unit() float64 { return float64(s.next()>>11) / (1 << 53) }

// chance is true with probability p.
func (s *source) chance(p float64) bool { return s.unit() < p }

// between returns a number in [lo, hi]. The conversion forbids a fused
// multiply-add, which would make the corpus depend on the processor.
func (s *source) between(lo, hi float64) float64 { return lo + float64((hi-lo)*s.unit()) }

// permutation is a keyed bijection on [0, n): a Feistel network of four rounds
// over the next even number of bits, walked until the value falls below n (at
// most four rounds of the network are expected).
type permutation struct {
	n    uint64
	half uint // bits of one half
	keys [4]uint64
}

func newPermutation(n int, seed uint64) permutation {
	p := permutation{n: uint64(n), half: uint(bits.Len64(uint64(n))+1) / 2}
	s := newSource(seed, purposePermutation, 0)
	for i := range p.keys {
		p.keys[i] = s.next()
	}
	return p
}

// at returns the image of i < n.
func (p *permutation) at(i int) int {
	mask := uint64(1)<<p.half - 1
	x := uint64(i)
	for {
		l, r := x>>p.half, x&mask
		for _, k := range p.keys {
			l, r = r, l^hashing.Mix(r^k)&mask
		}
		if x = l<<p.half | r; x < p.n {
			return int(x)
		}
	}
}

// inverse returns the i with at(i) = j, for j < n.
func (p *permutation) inverse(j int) int {
	mask := uint64(1)<<p.half - 1
	x := uint64(j)
	for {
		l, r := x>>p.half, x&mask
		for k := len(p.keys) - 1; k >= 0; k-- {
			l, r = r^hashing.Mix(l^p.keys[k])&mask, l
		}
		if x = l<<p.half | r; x < p.n {
			return int(x)
		}
	}
}
