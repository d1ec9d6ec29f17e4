package bitset

import (
	"math/bits"
	"sync/atomic"
)

// Repeats tells which hashes were added more than once. It is a filter: it also reports a few hashes
// that were added once. A caller that looks for equal hashes needs to sort only the repeats. All bits of hashes must
// be as good as random. It is safe for concurrent use, and its answers do not depend on the order.
type Repeats struct {
	words []atomic.Uint64 // two bits for each place: a hash was added there, and another one
}

const (
	leastHashes   = 1 << 16 // below this, sorting them all is as fast
	placesEach    = 8       // for a hash, at least: of those that were added once, one in nine is reported as a repeat
	mostPlaceBits = 28      // 64 MiB
)

// RepeatsAmong returns an empty filter for that many hashes in at most memory bytes, 0 for no limit.
// It returns nil, which reports all hashes as repeats, where a filter would not help.
func RepeatsAmong(hashes int, memory int64) *Repeats {
	places := min(bits.Len(uint(placesEach*hashes-1)), mostPlaceBits)
	for memory > 0 && int64(1)<<places/4 > memory {
		places--
	}
	if hashes < leastHashes || 1<<places < hashes {
		return nil
	}
	return NewRepeats(1 << places)
}

// NewRepeats returns an empty filter of that many places, each of two bits.
func NewRepeats(places uint64) *Repeats { return &Repeats{make([]atomic.Uint64, (places+31)/32)} }

func (r *Repeats) Add(hash uint64) {
	word, once := r.place(hash)
	if before := word.Load(); before&(once<<1) == 0 && word.Or(once)&once != 0 {
		word.Or(once << 1)
	}
}

// AddAll adds hashes. It reads all their words before it changes any: reads wait for memory together, changes one
// after the other.
func (r *Repeats) AddAll(hashes []uint64) {
	for _, hash := range hashes {
		word, _ := r.place(hash)
		_ = word.Load()
	}
	for _, hash := range hashes {
		r.Add(hash)
	}
}

// Has tells whether a hash, or another one with its place, was added again.
func (r *Repeats) Has(hash uint64) bool {
	if r == nil {
		return true
	}
	word, once := r.place(hash)
	return word.Load()&(once<<1) != 0
}

// HasAll sets has[i] to Has(hashes[i]); a nil filter has all of them.
func (r *Repeats) HasAll(hashes []uint64, has []bool) {
	for i, hash := range hashes {
		has[i] = r.Has(hash)
	}
}

// togetherMost is how many hashes Together holds.
const togetherMost = 256

// Together adds hashes to a filter, or asks for them, many at a time: each is a miss of the cache, and alone the processor
// would wait for one after the other (pairs of 10 million titles, the four loops that do so: 14 of 100 of the processor
// time, together 8). It belongs to one goroutine. Flush it at the end.
type Together struct {
	of     *Repeats
	answer func(hash, value uint64, again bool) error // nil: hashes are added
	hashes []uint64
	values []uint64
	has    []bool
}

func (r *Repeats) Adding() *Together { return &Together{of: r} }

// Asking returns a Together that calls answer for each hash, in order, with Has and the value that came with it.
func (r *Repeats) Asking(answer func(hash, value uint64, again bool) error) *Together {
	return &Together{of: r, answer: answer}
}

func (t *Together) Put(hash, value uint64) error {
	t.hashes, t.values = append(t.hashes, hash), append(t.values, value)
	if len(t.hashes) < togetherMost {
		return nil
	}
	return t.Flush()
}

// Flush adds or asks for what was taken.
func (t *Together) Flush() error {
	hashes := t.hashes
	t.hashes = t.hashes[:0]
	if t.answer == nil {
		t.of.AddAll(hashes)
		t.values = t.values[:0]
		return nil
	}
	if t.has == nil {
		t.has = make([]bool, togetherMost)
	}
	t.of.HasAll(hashes, t.has)
	values := t.values
	t.values = t.values[:0]
	for i, hash := range hashes {
		if err := t.answer(hash, values[i], t.has[i]); err != nil {
			return err
		}
	}
	return nil
}

// place returns the word of a hash, and the first of its two bits there.
func (r *Repeats) place(hash uint64) (word *atomic.Uint64, once uint64) {
	at, _ := bits.Mul64(hash, uint64(len(r.words)))
	return &r.words[at], 1 << (hash & 62)
}
