package group

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

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
// Where even rare features are frequent, as words of titles are, a key is a pair of features: of two
// sets that share enough, the first few and one more have two in common (the prefixes of Wang, Li,
// Feng, "Can We Beat the Prefix Filtering?", SIGMOD 2012). That makes more keys, and few meet.
//
// Features are told apart by 32 bits. Two that share them are a key in common where there is none,
// and never hide one: a set keeps as many hashes as it has features.
//
// All of this is one more band, the last one: a document has several keys there.

// prefixes tell which features of short sets are keys. They are immutable and safe for concurrent use.
type prefixes struct {
	threshold measure.Threshold
	counts    *counts
	paired    bool // keys are pairs of features
}

// allBands returns how many bands there are, with that of short sets.
func (o *Options) allBands() int {
	if o.Table.Hashes() > 0 {
		return o.Keys + 1
	}
	return o.Keys
}

// prefixes looks at the features of short sets. It depends on those alone, so that buckets over the
// cap are the same for any memory.
func (o *Options) prefixes(ctx context.Context) (p *prefixes, err error) {
	p = &prefixes{threshold: o.Threshold}
	if p.counts, err = o.counts(ctx); err == nil {
		p.paired, err = o.manyMeet(ctx, p)
	}
	return p, err
}

// counts counts the features of short sets.
func (o *Options) counts(ctx context.Context) (*counts, error) {
	c := newCounts(o.Table.Hashes())
	counters := make([]*counter, max(o.Graph.Space.Threads, 1))
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
	return c, err
}

// meetMost is how many others a set may meet, as its features tell. Each costs a vote and a comparison,
// and eight of them more than the keys that pairs of features make besides.
const meetMost = 8

// manyMeet tells whether sets would meet too many others by single features, judged by one of
// sampled sets, whatever their numbers are.
func (o *Options) manyMeet(ctx context.Context, p *prefixes) (bool, error) {
	const sampled = 16
	var sets, met atomic.Int64
	err := o.Table.EachSegment(ctx, o.Graph.Space.Threads, func(_ int, s *table.Scan) error {
		return o.eachShort(s, shortQuery{counts: p.counts, end: uint32(o.Table.Docs), sampled: sampled}, func(_ uint32, features []uint64) error {
			sets.Add(1)
			met.Add(p.met(features, o.Cap))
			return nil
		})
	})
	return met.Load() > meetMost*sets.Load(), err
}

// shortQuery says which short sets are wanted: of representatives from first up to end, one of sampled.
type shortQuery struct {
	counts     *counts
	first, end uint32
	sampled    uint64
}

// lookedUp is how many features are looked up at once.
const lookedUp = 1 << 8

// eachShort calls visit for every set of a segment that is wanted, with its features as counts.look
// gives them, which visit may overwrite.
//
// Counters lie anywhere in some MiB, and what is done with a set branches by what they say. So those of
// many sets are looked up before anything is done with the first of them: the processor then waits for several
// at once (pairs of 2 million titles: 2.12 processor seconds set by set, 2.00 so; huge pages under the counters
// changed nothing).
func (o *Options) eachShort(s *table.Scan, q shortQuery, visit func(doc uint32, features []uint64) error) error {
	var docs []uint32
	var ends []int
	features := make([]uint64, 0, lookedUp)
	visitAll := func() error {
		start := 0
		for i, doc := range docs {
			if err := visit(doc, features[start:ends[i]]); err != nil {
				return err
			}
			start = ends[i]
		}
		docs, ends, features = docs[:0], ends[:0], features[:0]
		return nil
	}
	err := s.EachHashes(q.first, q.end, func(doc uint32, hashes []uint32) error {
		if !o.Docs.Has(doc) || q.sampled > 1 && hashing.Mix(uint64(hashes[0])+uint64(len(hashes)))%q.sampled != 0 {
			return nil
		}
		features = q.counts.look(features, hashes)
		docs, ends = append(docs, doc), append(ends, len(features))
		if len(features) < lookedUp {
			return nil
		}
		return visitAll()
	})
	if err != nil {
		return err
	}
	return visitAll()
}

// rank orders the features of a set, and returns how many of them nobody else holds: they come
// first. Where they fill the prefix there is nothing to order.
func (p *prefixes) rank(features []uint64, prefix int) (alone int) {
	for _, v := range features {
		alone += int(^v >> 33 & 1) // of 1, 2 and 3 only 1 has no bit there
	}
	if alone >= prefix {
		return alone
	}
	for i, v := range features {
		if v>>32 == smallMost {
			features[i] = v + uint64(p.counts.many(uint32(v)))<<32
		}
	}
	slices.Sort(features)
	return alone
}

// appendKeys appends the keys of a set: of its first features or, where sets are to share two, of
// pairs of the first and one more. A set that can be like one with which it shares a single
// feature has both. It orders the features.
func (p *prefixes) appendKeys(dst, features []uint64) []uint64 {
	size := len(features)
	shared := int(p.threshold.MinSize(uint64(size))) // with whom it is like, at least
	single, pairs := size-shared+1, 0
	if p.paired {
		pairs = size - max(shared, 2) + 2
		if shared > 1 {
			single = 0
		}
	}
	start := len(dst)
	alone := p.rank(features, max(single, pairs-1))
	for i := alone; i < single; i++ {
		dst = append(dst, hashing.Mix(hashing.Key1^features[i]&math.MaxUint32))
	}
	for i := alone; i < pairs; i++ {
		for j := i + 1; j < min(pairs, size); j++ {
			dst = append(dst, hashing.Mix(features[i]<<32|features[j]&math.MaxUint32))
		}
	}
	if len(dst) > start+1 { // features may have the same hash
		keys := dst[start:]
		slices.Sort(keys)
		dst = dst[:start+len(slices.Compact(keys))]
	}
	return dst
}

// met returns how many sets one would meet by single features, at most.
func (p *prefixes) met(features []uint64, limit int) (n int64) {
	prefix := int(p.threshold.Prefix(uint64(len(features))))
	for i := p.rank(features, prefix); i < prefix; i++ {
		n += min(int64(features[i]>>32), int64(limit)) - 1
	}
	return n
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
	// would take the lock, and miss the cache, for each (14 million: 0.5 s; 0.11 s with chunks of 256, 0.09 with 1024, 0.16 with 4096).
	countChunk = 1 << 10
)

// newCounts returns counts for so many hashes.
func newCounts(n int64) *counts {
	small := min(max(bits.Len64(uint64(n)), leastBits), mostBits)
	large := min(overBits, small)
	return &counts{small: make([]uint64, 1<<(small-5)), large: make([]uint32, 1<<large), shift: uint(32 - small), over: uint(32 - large)}
}

// look appends the hashes of a set with how often each was added, at least, up to smallMost:
// count<<32 | hash.
func (c *counts) look(dst []uint64, hashes []uint32) []uint64 {
	for _, h := range hashes {
		at := h >> c.shift
		dst = append(dst, c.small[at>>5]>>(at&31*2)&smallMost<<32|uint64(h))
	}
	return dst
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
	beyond := 0 // hashes whose small counters are full, moved to the front: no branch, see rank
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
