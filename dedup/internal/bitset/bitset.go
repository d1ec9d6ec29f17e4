// Package bitset holds sets of documents, a bit for each.
package bitset

import (
	"math/bits"
	"sync/atomic"
)

// Set is a set of documents by their numbers: bit doc%64 of word doc/64.
type Set []uint64

// New returns an empty set of documents below n.
func New(n int) Set { return make(Set, (n+63)/64) }

// Has tells whether a document is in the set.
func (s Set) Has(doc uint32) bool { return s[doc/64]&(1<<(doc%64)) != 0 }

// Add adds a document.
func (s Set) Add(doc uint32) { s[doc/64] |= 1 << (doc % 64) }

// AddShared is Add for several goroutines at once.
func (s Set) AddShared(doc uint32) { atomic.OrUint64(&s[doc/64], 1<<(doc%64)) }

// Remove removes a document.
func (s Set) Remove(doc uint32) { s[doc/64] &^= 1 << (doc % 64) }

// Len returns how many documents there are.
func (s Set) Len() (n int) {
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}
