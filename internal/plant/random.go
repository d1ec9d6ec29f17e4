package plant

import (
	"math/bits"

	"github.com/alike-dev/alike/internal/hashing"
)

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
