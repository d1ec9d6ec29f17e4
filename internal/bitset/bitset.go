// Package bitset holds sets of small numbers, such as those of documents, rows or slots: a bit for each.
//
// What stays apart: sets whose words are atomic and published by chunks (index/slots.go), and filters of a fixed
// number of words that are asked by hashes in the innermost loops (text, shingle, minhash, simjoin, internal/distinct).
package bitset

import (
	"iter"
	"math/bits"
	"sync/atomic"
)

// Number is a number that may be in a set. It must not be negative.
type Number interface {
	~uint32 | ~uint64 | ~int | ~int64
}

// Set is a set of numbers: bit i%64 of word i/64. It has room for as many as it was made for or grown to. The nil set
// is empty.
type Set[N Number] []uint64

// New returns an empty set of numbers below n.
func New[N Number](n int) Set[N] { return make(Set[N], (n+63)/64) }

// Grown returns the set with room for numbers below n.
func (s Set[N]) Grown(n N) Set[N] {
	for uint64(len(s))*64 < uint64(n) {
		s = append(s, 0)
	}
	return s
}

// Has tells whether a number is in the set; one beyond its room is not.
func (s Set[N]) Has(i N) bool {
	word := uint64(i) / 64
	return word < uint64(len(s)) && s[word]>>(uint64(i)%64)&1 != 0
}

func (s Set[N]) Add(i N) { s[uint64(i)/64] |= 1 << (uint64(i) % 64) }

// AddNew adds a number and tells whether it was not there.
func (s Set[N]) AddNew(i N) bool {
	word, bit := &s[uint64(i)/64], uint64(1)<<(uint64(i)%64)
	if *word&bit != 0 {
		return false
	}
	*word |= bit
	return true
}

// AddShared is Add for several goroutines at once.
func (s Set[N]) AddShared(i N) { atomic.OrUint64(&s[uint64(i)/64], 1<<(uint64(i)%64)) }

// Remove removes a number.
func (s Set[N]) Remove(i N) { s[uint64(i)/64] &^= 1 << (uint64(i) % 64) }

// Len returns how many numbers there are. O(room).
func (s Set[N]) Len() (n int) {
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// LenWithin returns how many there are from one number up to, and without, another. O(to − from).
func (s Set[N]) LenWithin(from, to N) int {
	if from >= to {
		return 0
	}
	first, last := uint64(from)/64, (uint64(to)-1)/64
	low, high := ^uint64(0)<<(uint64(from)%64), ^uint64(0)>>(63-(uint64(to)-1)%64)
	if first == last {
		return bits.OnesCount64(s[first] & low & high)
	}
	return bits.OnesCount64(s[first]&low) + s[first+1:last].Len() + bits.OnesCount64(s[last]&high)
}

// Bound returns the least number that is above all, 0 for the empty set.
func (s Set[N]) Bound() N {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] != 0 {
			return N(i*64 + bits.Len64(s[i]))
		}
	}
	return 0
}

// All returns the numbers in order.
func (s Set[N]) All() iter.Seq[N] {
	return func(yield func(N) bool) {
		for i, word := range s {
			for ; word != 0; word &= word - 1 {
				if !yield(N(i*64 + bits.TrailingZeros64(word))) {
					return
				}
			}
		}
	}
}
