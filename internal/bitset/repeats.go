package bitset

import (
	"math/bits"
	"sync/atomic"
)

// Repeats tells which hashes were added more than once. It is a filter: it also reports a few hashes
// that were added once. A caller that looks for equal hashes needs to sort only the repeats. It is safe
// for concurrent use, and its answers do not depend on the order.
type Repeats struct {
	words []atomic.Uint64 // two bits for each place: a hash was added there, and another one
	shift uint            // of a hash, to its place
}

const (
	leastHashes   = 1 << 16 // below this, sorting them all is as fast
	placesEach    = 8       // for a hash, at least: of those that were added once, one in nine is reported as a repeat
	mostPlaceBits = 28      // 64 MiB
)

// NewRepeats returns an empty filter for that many hashes in at most memory bytes, 0 for no limit.
// It returns nil, which reports all hashes as repeats, where a filter would not help.
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

// Add adds a hash, whose bits must all be as good as random.
func (r *Repeats) Add(hash uint64) {
	place := hash >> r.shift
	word, bit := &r.words[place/32], place%32*2
	if before := word.Or(1 << bit); before>>bit&3 == 1 {
		word.Or(2 << bit)
	}
}

// Has tells whether a hash, or another one with its place, was added again.
func (r *Repeats) Has(hash uint64) bool {
	if r == nil {
		return true
	}
	place := hash >> r.shift
	return r.words[place/32].Load()>>(place%32*2)&2 != 0
}
