package bitset

import (
	"math/bits"
	"sync/atomic"
)

// Repeats tells which hashes were added more than once, and takes some that were not for such: most of
// those that nobody else has need not be sorted to be told apart. It is safe for concurrent use, and what it
// tells depends on no order.
type Repeats struct {
	words []atomic.Uint64 // two bits for each place: something was added there, and once more
	shift uint            // of a hash, to its place
}

const (
	leastHashes   = 1 << 16 // fewer are as well sorted at once
	placesEach    = 8       // of a hash: of those that were added once, one in nine is taken for a repeat
	mostPlaceBits = 28      // 64 MiB
)

// NewRepeats returns an empty filter for so many hashes in memory of so many bytes, 0 for no limit;
// nil, which takes all for repeats, where it would be of no use.
func NewRepeats(hashes int, memory int64) *Repeats {
	places := min(bits.Len(uint(placesEach*hashes-1)), mostPlaceBits)
	for memory > 0 && int64(1)<<places/4 > memory {
		places--
	}
	if hashes < leastHashes || 1<<places < hashes {
		return nil
	}
	return &Repeats{words: make([]atomic.Uint64, 1<<places/32), shift: uint(64 - places)}
}

// Add adds a hash, whose bits are all as good as random.
func (r *Repeats) Add(hash uint64) {
	place := hash >> r.shift
	word, bit := &r.words[place/32], place%32*2
	if before := word.Or(1 << bit); before>>bit&3 == 1 {
		word.Or(2 << bit)
	}
}

// Has tells whether a hash was added again, or another one at its place.
func (r *Repeats) Has(hash uint64) bool {
	if r == nil {
		return true
	}
	place := hash >> r.shift
	return r.words[place/32].Load()>>(place%32*2)&2 != 0
}
