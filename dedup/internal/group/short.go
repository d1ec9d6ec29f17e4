package group

import (
	"context"
	"math/bits"
	"slices"
	"sync"

	"github.com/alike-dev/alike/dedup/internal/table"
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/measure"
)

// Short sets have no band keys. They are found by the prefix filter (Chaudhuri, Ganti, Kaushik,
// "A Primitive Operator for Similarity Joins", ICDE 2006; Bayardo, Ma, Srikant, "Scaling Up All
// Pairs Similarity Search", WWW 2007), which misses no pair: of two sets that reach the threshold,
// the first few features have one in common, in any order that is the same for all sets. The order
// is that of how many documents hold a feature, the rarest first, so that hardly anybody meets
// there who is not alike; a feature that nobody else holds is no key at all. Sets that are nearly
// short, which have band keys to find each other, have these keys too, to be found by short ones.
//
// Features are told apart by 32 bits. Two that share them are a key in common where there is none,
// and never hide one: a set keeps as many hashes as it has features.
//
// All of this is one more band, the last one: a document has several keys there.

// prefixes tell which features of short sets are keys. They are immutable and safe for concurrent use.
type prefixes struct {
	threshold measure.Threshold
	counts    *counts
}

// allBands returns how many bands there are, with that of short sets.
func (o *Options) allBands() int {
	if o.Table.Hashes() > 0 {
		return o.Keys + 1
	}
	return o.Keys
}

// prefixes counts the features of short sets. It depends on those alone, so that buckets over the
// cap are the same for any memory.
func (o *Options) prefixes(ctx context.Context) (*prefixes, error) {
	c := newCounts(o.Table.Hashes())
	counters := make([]*counter, o.Graph.Space.Threads)
	for i := range counters {
		counters[i] = c.counter()
	}
	err := o.Table.EachSegment(ctx, len(counters), func(worker int, s *table.Scan) error {
		return s.EachHashes(0, uint32(o.Table.Docs), func(doc uint32, hashes []uint32) error {
			if o.Docs.Has(doc) {
				counters[worker].add(hashes)
			}
			return nil
		})
	})
	for _, of := range counters {
		of.flush()
	}
	return &prefixes{o.Threshold, c}, err
}

// prefixer finds the keys of short sets for one goroutine.
type prefixer struct {
	*prefixes
	lengths []int    // of the prefix of a set, by its size
	order   []uint64 // of features: count<<32 | hash
}

// appendKeys appends the keys of a set.
//
// Nearly all of its time goes into waiting for counters, which lie anywhere in some MiB, so they
// are looked up without a branch in between: then the processor looks up several at once (2
// million sets of 7 features: 0.5 s of one core with a branch for each, 0.2 s without).
func (p *prefixer) appendKeys(dst []uint64, hashes []uint32) []uint64 {
	for len(p.lengths) <= len(hashes) {
		p.lengths = append(p.lengths, int(p.threshold.Prefix(uint64(len(p.lengths)))))
	}
	length, alone := p.lengths[len(hashes)], 0
	p.order = slices.Grow(p.order[:0], len(hashes))[:len(hashes)]
	for i, h := range hashes {
		n := p.counts.few(h)
		alone += int(^n >> 1 & 1) // of 1, 2 and 3 only 1 has no bit there
		p.order[i] = uint64(n)<<32 | uint64(h)
	}
	if alone >= length {
		return dst
	}
	for i, v := range p.order {
		if v>>32 == smallMost {
			p.order[i] = v + uint64(p.counts.many(uint32(v)))<<32
		}
	}
	slices.Sort(p.order)
	for i, v := range p.order[alone:length] {
		if i == 0 || p.order[alone+i-1] != v {
			dst = append(dst, hashing.Mix(hashing.Key1^uint64(uint32(v))))
		}
	}
	return dst
}

// counts say how often hashes were added, at least: several may share a counter. A counter has two
// bits, so that many fit in a cache. What goes beyond is counted by fewer and larger ones, in which
// those meet that are frequent anyway. Counts do not depend on the order of adding.
type counts struct {
	small []uint64 // counters of two bits, 32 a word, by the top bits of a hash
	large []uint32 // what goes beyond them, by fewer bits
	shift uint     // of a hash, to the number of its small counter
	over  uint     // to that of its large one
	locks [countRanges]sync.Mutex
}

const (
	smallMost   = 3
	countRanges = 64 // by the top bits of hashes, each with a lock
	rangeShift  = 26
	leastBits   = 12 // of the number of small counters
	mostBits    = 26 // 16 MiB
	overBits    = 20 // of the number of large counters, at most
	// countChunk is how many hashes of one range are counted at once: adding them one by one
	// would take the lock, and miss the cache, for each (14 million: 0.5 s instead of 0.1).
	countChunk = 1 << 8
)

// newCounts returns counts for so many hashes.
func newCounts(n int64) *counts {
	small := min(max(bits.Len64(uint64(n)), leastBits), mostBits)
	large := min(overBits, small)
	return &counts{small: make([]uint64, 1<<(small-5)), large: make([]uint32, 1<<large), shift: uint(32 - small), over: uint(32 - large)}
}

// few returns how often a hash was added, at least, up to smallMost.
func (c *counts) few(h uint32) uint32 {
	at := h >> c.shift
	return uint32(c.small[at>>5]>>(at&31*2)) & smallMost
}

// many returns what is to be added to that.
func (c *counts) many(h uint32) uint32 { return c.large[h>>c.over] }

// counter adds hashes for one goroutine.
type counter struct {
	c      *counts
	chunks [countRanges][]uint32
}

func (c *counts) counter() *counter { return &counter{c: c} }

func (w *counter) add(hashes []uint32) {
	for _, h := range hashes {
		chunk := &w.chunks[h>>rangeShift]
		if len(*chunk) == cap(*chunk) {
			w.count(int(h >> rangeShift))
		}
		*chunk = append(*chunk, h)
	}
}

// flush counts what was added so far.
func (w *counter) flush() {
	for i := range w.chunks {
		w.count(i)
	}
}

// count counts the hashes of a range.
func (w *counter) count(i int) {
	c, chunk := w.c, w.chunks[i]
	c.locks[i].Lock()
	defer c.locks[i].Unlock()
	beyond := 0 // hashes whose small counters are full, moved to the front: no branch, see appendKeys
	for _, h := range chunk {
		at := h >> c.shift
		word, by := &c.small[at>>5], at&31*2
		n := uint32(*word>>by) & smallMost
		full := n & (n >> 1)
		*word += uint64(full^1) << by
		chunk[beyond] = h
		beyond += int(full)
	}
	for _, h := range chunk[:beyond] {
		c.large[h>>c.over]++
	}
	if chunk == nil {
		chunk = make([]uint32, 0, countChunk)
	}
	w.chunks[i] = chunk[:0]
}
