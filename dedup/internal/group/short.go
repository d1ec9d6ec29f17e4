package group

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/measure"
)

// Short sets have no band keys. They are found by the prefix filter (Chaudhuri, Ganti, Kaushik, "A Primitive
// Operator for Similarity Joins", ICDE 2006; Bayardo, Ma, Srikant, "Scaling Up All Pairs Similarity Search",
// WWW 2007), which misses no pair: if two sets reach the threshold, their first few features have one in
// common, in any order that is the same for all sets. The order is by how many documents hold a feature, the
// rarest first, so that few pairs that are not similar share a key; a feature of only one document is no key
// at all. Sets that are nearly short have band keys to find each other, and also these keys, so that short
// sets find them.
//
// Where even rare features are frequent, such as words of titles, a key is a pair of features: if two sets
// share enough, their first few features and one more have two in common (the prefixes of Wang, Li, Feng, "Can
// We Beat the Prefix Filtering?", SIGMOD 2012). That makes more keys, and few pairs share one.
//
// Features are identified by 32 bits. Two features with the same bits only make a false common key, and never
// hide one: a set keeps as many hashes as it has features.
//
// All of this is one more band, the last one, in which a document has several keys. Each key comes with an
// outline of its set, by which most pairs that share a key and are not similar are left out.

// prefixes tell which features of short sets are keys. They are immutable and safe for concurrent use.
type prefixes struct {
	threshold measure.Threshold
	counts    *counts
	paired    bool                             // keys are pairs of features
	differ    [outlineSizes][outlineSizes]int8 // see mayReach
}

// allBands returns the number of bands, including that of short sets.
func (o *Options) allBands() int {
	if o.Table.Hashes() > 0 {
		return o.Keys + 1
	}
	return o.Keys
}

// newPrefixes returns prefixes without counts.
func newPrefixes(t measure.Threshold) *prefixes {
	p := &prefixes{threshold: t}
	for a := range uint64(outlineSizes) {
		for b := range uint64(outlineSizes) {
			need := t.Undirected().MinOverlap(a, b)
			switch {
			case a == 0 || b == 0: // not known
				p.differ[a][b] = outlineBits
			case need > min(a, b):
				p.differ[a][b] = -1
			default:
				p.differ[a][b] = int8(min(a+b-2*need, outlineBits))
			}
		}
	}
	return p
}

// An outline is a small picture of a short set: in its upper bits the size of the set, below them a bit map
// where each feature changes the bit that its hash chooses. Features that two sets share change the same bits,
// so their maps differ in no more bits than the sets in features (Sandes, Teodoro, Melo, "Bitmap Filter:
// Speeding up Exact Set Similarity Joins with Bitwise Operations", 2018). 0: nothing is known.
type outline uint32

const (
	outlineBits  = 26 // of the map
	outlineSizes = 1 << (32 - outlineBits)
)

// outlineOf returns the outline of a set, whose features are in the lower 32 bits; 0 if the set is too large.
func outlineOf(features []uint64) outline {
	if len(features) >= outlineSizes {
		return 0
	}
	o := outline(len(features)) << outlineBits
	for _, v := range features {
		o ^= 1 << (uint64(uint32(v)) * outlineBits >> 32)
	}
	return o
}

// mayReach tells whether two sets may reach the threshold in one direction, by their outlines.
func (p *prefixes) mayReach(a, b outline) bool {
	const maps = 1<<outlineBits - 1
	return bits.OnesCount32(uint32((a^b)&maps)) <= int(p.differ[a>>outlineBits][b>>outlineBits])
}

// prefixes examines the features of short sets. The result depends only on these, so that buckets over the cap
// are the same for any memory.
func (o *Options) prefixes(ctx context.Context) (p *prefixes, err error) {
	p = newPrefixes(o.Threshold)
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
	err := o.Table.EachSegment(ctx, len(counters), func(worker int, s *doctable.Scan) error {
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

// meetMost is how many other sets a set may share keys with, on average. Each costs a vote and a comparison,
// and more than eight cost more than the additional keys of pairs of features.
const meetMost = 8

// manyMeet tells whether sets would share single features with too many others, estimated from one in sampled
// sets, independent of their numbers.
func (o *Options) manyMeet(ctx context.Context, p *prefixes) (bool, error) {
	const sampled = 16
	var sets, met atomic.Int64
	err := o.Table.EachSegment(ctx, o.Graph.Space.Threads, func(_ int, s *doctable.Scan) error {
		return o.eachShort(s, shortQuery{counts: p.counts, end: uint32(o.Table.Docs), sampled: sampled}, func(_ uint32, features []uint64) error {
			sets.Add(1)
			met.Add(p.met(features, o.Cap))
			return nil
		})
	})
	return met.Load() > meetMost*sets.Load(), err
}

// shortQuery says which short sets are wanted: of representatives from first up to end, one in sampled.
type shortQuery struct {
	counts     *counts
	first, end uint32
	sampled    uint64
}

// lookedUp is how many features are looked up at once.
const lookedUp = 1 << 8

// eachShort calls visit for every wanted set of a segment, with its features as counts.look returns them; visit
// may overwrite them.
//
// Counters are spread over some MiB, and the processing of a set branches on their values. So the counters of
// many sets are looked up before the first of them is processed: the processor then waits for several at once
// (pairs of 2 million titles: 2.12 processor seconds set by set, 2.00 this way; huge pages for the counters
// changed nothing).
func (o *Options) eachShort(s *doctable.Scan, q shortQuery, visit func(doc uint32, features []uint64) error) error {
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

// rank orders the features of a set, and returns how many of them no other set holds: these come first. If
// they fill the prefix nothing needs to be ordered.
func (p *prefixes) rank(features []uint64, prefix int) (alone int) {
	for _, v := range features {
		alone += int(^v >> 33 & 1) // among 1, 2 and 3 only 1 has no bit there
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

// appendKeys appends the keys of a set: of its first features or, where similar sets must share two, of pairs
// of the first features and one more. A set that may be similar to one with which it shares only one feature
// has both kinds. It orders the features.
func (p *prefixes) appendKeys(dst, features []uint64) []uint64 {
	size := len(features)
	shared := int(p.threshold.MinSize(uint64(size))) // number of features shared with a similar set, at least
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

// met returns an upper bound of how many sets share a single feature with the set.
func (p *prefixes) met(features []uint64, limit int) (n int64) {
	prefix := int(p.threshold.Prefix(uint64(len(features))))
	for i := p.rank(features, prefix); i < prefix; i++ {
		n += min(int64(features[i]>>32), int64(limit)) - 1
	}
	return n
}

// counts are lower bounds of how often hashes were added: several hashes may share a counter. A counter has
// two bits, so that many fit in a cache. Larger counts go on in fewer and larger counters, which are shared
// only by hashes that are frequent anyway. Counts do not depend on the order of adding.
type counts struct {
	small []uint64 // counters of two bits, 32 a word, by the top bits of a hash
	large []uint32 // counts beyond these, by fewer bits of a hash
	shift uint     // turns a hash into the number of its small counter
	over  uint     // turns a hash into the number of its large counter
	locks [countRanges]sync.Mutex
}

const (
	smallMost   = 3
	countRanges = 64 // by the top bits of hashes, each with a lock
	rangeShift  = 26
	leastBits   = 12 // of the number of small counters
	mostBits    = 26 // 16 MiB
	overBits    = 20 // of the number of large counters, at most
	// countChunk is how many hashes of one range are counted at once: one by one each would take the lock, and miss the cache (14
	// million: 0.5 s; 0.11 s with chunks of 256, 0.09 with 1024, 0.16 with 4096).
	countChunk = 1 << 10
)

// newCounts returns counts for n hashes.
func newCounts(n int64) *counts {
	small := min(max(bits.Len64(uint64(n)), leastBits), mostBits)
	large := min(overBits, small)
	return &counts{small: make([]uint64, 1<<(small-5)), large: make([]uint32, 1<<large), shift: uint(32 - small), over: uint(32 - large)}
}

// look appends count<<32 | hash for the hashes of a set; count is how often the hash was added, at least, up
// to smallMost.
func (c *counts) look(dst []uint64, hashes []uint32) []uint64 {
	for _, h := range hashes {
		at := h >> c.shift
		dst = append(dst, c.small[at>>5]>>(at&31*2)&smallMost<<32|uint64(h))
	}
	return dst
}

// many returns the part of the count beyond that.
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

// flush counts the hashes added so far.
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
