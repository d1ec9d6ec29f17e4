package simhash

import (
	"fmt"
	"math/bits"
)

// Pair is two fingerprints, given by their places in the input, A < B, and their Hamming
// distance.
type Pair struct {
	A, B     uint32
	Distance int
}

// Join finds all pairs of fingerprints of up to 64 bits within a Hamming distance d,
// exactly, without comparing every pair: two fingerprints that differ in at most d bits
// are equal in at least one of any d+1 blocks of bits (Manku, Jain, Das Sarma, "Detecting
// Near-Duplicates for Web Crawling", WWW 2007). So Join puts them into buckets by each
// block in turn. It divides a bucket that is still large in the same way by the remaining
// bits, if that saves work, and compares all pairs of other buckets. A pair is emitted
// only from the first of the blocks in which it is equal.
//
// The work is cut into independent parts: any number of goroutines may run parts of one
// Join at the same time, each with its own [JoinScratch].
//
// Cost, for n fingerprints whose bits are random: O((d+1)·n) steps and at most
// (d+1)·n²/2^(1+⌊bits/(d+1)⌋) comparisons. Memory: the fingerprints, which belong to the
// caller and must not change, and in each scratch about 32 bytes for a fingerprint of the
// part, n/16 when n is 10 million (all n, when all are equal in the bits by which they
// are divided).
//
// For all pairs of wider fingerprints use [Index.AppendLater].
type Join struct {
	fingerprints []uint64
	bits         int
	distance     int
	keyBits      int
	sliceBits    int
}

// sliceEntries is how many fingerprints a part should have: few enough that parts fit in
// the cache and keep several cores busy, and enough that finding them in the input costs
// little in comparison.
const sliceEntries = 1 << 19

// maxSliceBits is log₂ of the most parts for one block.
const maxSliceBits = 6

// NewJoin prepares the join of fingerprints of 1 to 64 bits, the upper bits of
// whose words must be zero, within a distance of 0 to bits−1. It is an error if
// one of the two is out of range, or there are 2³² fingerprints or more. O(1).
func NewJoin(fingerprints []uint64, width, distance int) (*Join, error) {
	if width < 1 || width > 64 {
		return nil, fmt.Errorf("simhash: fingerprints of %d bits: a join takes 1 to 64, an index any number", width)
	}
	if err := checkSearch(len(fingerprints), width, distance); err != nil {
		return nil, err
	}
	j := &Join{fingerprints: fingerprints, bits: width, distance: distance}
	j.keyBits = keyBits(len(fingerprints), width, distance+1)
	for j.sliceBits < min(maxSliceBits, j.keyBits) && len(fingerprints)>>j.sliceBits > sliceEntries {
		j.sliceBits++
	}
	return j, nil
}

// checkSearch checks the limits that joins and indexes share.
func checkSearch(n, width, distance int) error {
	if distance < 0 || distance >= width {
		return fmt.Errorf("simhash: distance %d: fingerprints of %d bits take 0 to %d", distance, width, width-1)
	}
	if uint64(n) >= 1<<32 {
		return fmt.Errorf("simhash: %d fingerprints: fewer than 2³² fit, cut the input into parts", n)
	}
	return nil
}

// maxKeyBits bounds the memory of a table of buckets.
const maxKeyBits = 24

// keyBits returns by how many bits of each block it is worth dividing n entries: enough
// that a bucket keeps one or two. width is the width of all blocks together.
func keyBits(n, width, blocks int) int {
	return min(width/blocks, bits.Len(uint(n)), maxKeyBits)
}

// Parts returns the number of parts of the work.
func (j *Join) Parts() int { return (j.distance + 1) << j.sliceBits }

// JoinScratch is the memory of one goroutine for parts of a join. Its zero value is ready
// to use, for one part after the other.
type JoinScratch struct {
	slice   []joinEntry
	entries [][]joinEntry // for each level
	starts  [][]uint32
	counts  []uint32
}

// joinEntry is a fingerprint without the bits by which it has been divided so far.
type joinEntry struct {
	value uint64
	id    uint32
}

// Part calls emit for every pair of one part, 0 ≤ part < Parts, always in the same order
// for the same fingerprints. Each pair is in exactly one part.
func (j *Join) Part(part int, scratch *JoinScratch, emit func(Pair)) {
	block, slice := part>>j.sliceBits, uint64(part)&(1<<j.sliceBits-1)
	low := block * j.keyBits
	sliceLow := low + j.keyBits - j.sliceBits
	entries := scratch.slice[:0]
	for i, f := range j.fingerprints {
		if f>>sliceLow&(1<<j.sliceBits-1) == slice {
			entries = append(entries, joinEntry{f, uint32(i)})
		}
	}
	scratch.slice = entries
	w := joinWorker{distance: j.distance, scratch: scratch, emit: emit}
	w.divide(level{entries: entries, width: j.bits, keyBits: j.keyBits}, block)
}

// joinWorker executes one part.
type joinWorker struct {
	distance int
	scratch  *JoinScratch
	emit     func(Pair)
}

// level is a set of entries that are equal in all bits removed so far.
type level struct {
	entries []joinEntry
	width   int      // of the entries' values
	keyBits int      // of each block: block i is the bits from i·keyBits on
	differ  []uint64 // only pairs that differ in each of these bit sets count
	depth   int
}

// cut removes count bits from value, starting at bit low.
func cut(value uint64, low, count int) uint64 {
	below := uint64(1)<<low - 1
	return value&below | value>>count&^below
}

// divide puts the entries into buckets by one of the blocks and joins each bucket.
func (w *joinWorker) divide(l level, block int) {
	low, mask := block*l.keyBits, uint64(1)<<l.keyBits-1
	entries, starts := w.scratch.room(l.depth, len(l.entries), 1<<l.keyBits)
	for _, e := range l.entries {
		starts[e.value>>low&mask+1]++
	}
	for k := range mask {
		starts[k+1] += starts[k]
	}
	for _, e := range l.entries { // afterwards starts[k] is where bucket k ends
		k := e.value >> low & mask
		entries[starts[k]] = joinEntry{cut(e.value, low, l.keyBits), e.id}
		starts[k]++
	}
	inner := level{width: l.width - l.keyBits, depth: l.depth + 1}
	for _, d := range l.differ {
		inner.differ = append(inner.differ, cut(d, low, l.keyBits))
	}
	for b := range block { // equal in none of the blocks before
		inner.differ = append(inner.differ, mask<<(b*l.keyBits))
	}
	from := uint32(0)
	for _, to := range starts[:mask+1] {
		if to-from > 1 {
			inner.entries = entries[from:to]
			w.join(inner)
		}
		from = to
	}
}

// room returns memory for n entries, and a zeroed array for the starts of the buckets and
// their end.
func (s *JoinScratch) room(depth, n, buckets int) (entries []joinEntry, starts []uint32) {
	if depth == len(s.entries) {
		s.entries, s.starts = append(s.entries, nil), append(s.starts, nil)
	}
	if cap(s.entries[depth]) < n {
		s.entries[depth] = make([]joinEntry, n)
	}
	if cap(s.starts[depth]) <= buckets {
		s.starts[depth] = make([]uint32, buckets+1)
	}
	starts = s.starts[depth][:buckets+1]
	clear(starts)
	return s.entries[depth][:n], starts
}

// compareBelow is the number of entries below which dividing is not considered.
const compareBelow = 256

// moveCost is the cost of moving an entry into its bucket, in comparisons.
const moveCost = 16

// join finds the pairs of a bucket, by dividing it again or by comparing.
func (w *joinWorker) join(l level) {
	if len(l.entries) > compareBelow {
		same := sameBits(l.entries)
		for _, d := range l.differ {
			if d&^same == 0 {
				return // no two differ there
			}
		}
		l.keyBits = keyBits(len(l.entries), l.width, w.distance+1)
		if blocks := w.blocksWorthDividing(l); blocks > 0 {
			for block := range blocks {
				w.divide(l, block)
			}
			return
		}
	}
	w.compare(l)
}

// sameBits returns the bits in which all entries are equal.
func sameBits(entries []joinEntry) uint64 {
	and, or := ^uint64(0), uint64(0)
	for _, e := range entries {
		and &= e.value
		or |= e.value
	}
	return and | ^or
}

// blocksWorthDividing returns the number of blocks to divide the entries by. It is 0
// unless comparing all entries costs at least twice as much as moving them and comparing
// within each bucket. If all entries are equal in a block, no later block counts. The
// cost of that block's only bucket is unknown, but at least it has fewer bits.
func (w *joinWorker) blocksWorthDividing(l level) int {
	if l.keyBits == 0 {
		return 0
	}
	n, mask := len(l.entries), uint64(1)<<l.keyBits-1
	if cap(w.scratch.counts) <= int(mask) {
		w.scratch.counts = make([]uint32, mask+1)
	}
	counts := w.scratch.counts[:mask+1]
	left := float64(n) * float64(n) / 4
	for block := range w.distance + 1 {
		clear(counts)
		for _, e := range l.entries {
			counts[e.value>>(block*l.keyBits)&mask]++
		}
		if left -= float64(n*moveCost + len(counts)); left < 0 {
			return 0
		}
		if int(counts[l.entries[0].value>>(block*l.keyBits)&mask]) == n {
			return block + 1
		}
		for _, c := range counts {
			left -= float64(c) * float64(c) / 2
		}
		if left < 0 {
			return 0
		}
	}
	return w.distance + 1
}

// compare compares all pairs of entries.
func (w *joinWorker) compare(l level) {
	for i, a := range l.entries {
		for _, b := range l.entries[i+1:] {
			diff := a.value ^ b.value
			if d := bits.OnesCount64(diff); d <= w.distance && differsInAll(diff, l.differ) {
				w.emit(Pair{min(a.id, b.id), max(a.id, b.id), d})
			}
		}
	}
}

func differsInAll(diff uint64, sets []uint64) bool {
	for _, s := range sets {
		if diff&s == 0 {
			return false
		}
	}
	return true
}
