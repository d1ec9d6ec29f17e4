package extsort

import (
	"math/bits"
	"slices"
)

// insertionMax is the length up to which insertion sort is faster than another cut.
const insertionMax = 24

// bucketSize is the aimed-at number of entries in a bucket of a part.
const bucketSize = 4

// kernel sorts parts with scratch memory that it keeps between calls. It belongs
// to one goroutine at a time.
//
// The idea, an MSD radix sort whose digits start at the highest bit in which the
// part's keys differ:
//
//		sort(a):
//		  few entries: insertion
//		  top = highest bit in which two keys of a differ; none: the same with values
//		  cut a by the bits from top on into buckets of about 4 entries each
//		  sort every bucket
//
//	 1. Uniform keys need one cut: a copy to scratch, a scatter back, and insertion
//	    in buckets that are in the first-level cache.
//	 2. Other keys (counters, a hot prefix) lose their common bits first, so that
//	    every cut makes at least two buckets and most make many.
//	 3. More entries than the scratch holds are cut in place (American flag sort;
//	    McIlroy, Bostic, McIlroy, "Engineering Radix Sort", 1993): memory stays flat
//	    whatever the keys. Equal entries cannot be told apart, so no cut need be
//	    stable.
type kernel struct {
	most    int      // length up to which scratch grows
	scratch []Entry  // as long as the longest part that was cut with it
	counts  []uint32 // a stack: the cuts above the current one keep theirs
}

// newKernel returns a kernel for parts of about the given length.
func newKernel(part int) *kernel { return &kernel{most: scratchLen(part)} }

// Sort sorts entries in memory, by key, then value. It takes as much memory again.
func Sort(entries []Entry) { newKernel(len(entries)).sort(entries) }

// sort sorts a by key, then value.
func (k *kernel) sort(a []Entry) {
	if len(a) <= insertionMax {
		insertionSort(a)
		return
	}
	first, differ := a[0].Key, uint64(0)
	for i := range a {
		differ |= a[i].Key ^ first
	}
	switch {
	case differ == 0:
		k.sortValues(a)
	case len(a) > k.most:
		k.cutInPlace(a, uint(bits.Len64(differ)))
	default:
		k.cut(a, uint(bits.Len64(differ)))
	}
}

// sortValues sorts entries of one key, by using the values as keys.
func (k *kernel) sortValues(a []Entry) {
	ascending := true
	for i := 1; i < len(a) && ascending; i++ {
		ascending = a[i-1].Value <= a[i].Value
	}
	if ascending {
		return
	}
	swapFields(a)
	k.sort(a)
	swapFields(a)
}

func swapFields(a []Entry) {
	for i := range a {
		a[i].Key, a[i].Value = a[i].Value, a[i].Key
	}
}

// cut sorts a, whose keys have all bits from top on in common.
func (k *kernel) cut(a []Entry, top uint) {
	digits := min(uint(bits.Len(uint(len(a)/bucketSize))), top)
	buckets := 1 << digits
	base := len(k.counts)
	k.counts = slices.Grow(k.counts, buckets+1)[:base+buckets+1]
	counts := k.counts[base:]
	clear(counts)
	left, right := 64-top, 64-digits
	for i := range a {
		counts[a[i].Key<<left>>right+1]++
	}
	for b := range buckets {
		counts[b+1] += counts[b]
	}
	if len(a) > len(k.scratch) {
		k.scratch = make([]Entry, min(k.most, max(len(a), 2*len(k.scratch))))
	}
	from := k.scratch[:len(a)]
	copy(from, a)
	for i := range from {
		b := from[i].Key << left >> right
		a[counts[b]] = from[i]
		counts[b]++
	}
	start := uint32(0)
	for b := range buckets { // each count is now its bucket's end
		end := k.counts[base+b] // by index: a deeper cut may have moved the stack
		if bucket := a[start:end]; len(bucket) <= insertionMax {
			insertionSort(bucket)
		} else {
			k.sort(bucket)
		}
		start = end
	}
	k.counts = k.counts[:base]
}

// cutInPlace is cut without scratch, by 8 bits.
func (k *kernel) cutInPlace(a []Entry, top uint) {
	digits := min(8, top)
	left, right := 64-top, 64-digits
	var next, ends [256]int
	for i := range a {
		ends[a[i].Key<<left>>right]++
	}
	at := 0
	for b := range ends {
		next[b] = at
		at += ends[b]
		ends[b] = at
	}
	start := 0
	for b := range ends {
		for next[b] < ends[b] {
			e := a[next[b]]
			for d := e.Key << left >> right; int(d) != b; d = e.Key << left >> right {
				e, a[next[d]] = a[next[d]], e
				next[d]++
			}
			a[next[b]] = e
			next[b]++
		}
		k.sort(a[start:ends[b]])
		start = ends[b]
	}
}

func insertionSort(a []Entry) {
	for i := 1; i < len(a); i++ {
		e := a[i]
		j := i
		for ; j > 0 && less(e, a[j-1]); j-- {
			a[j] = a[j-1]
		}
		a[j] = e
	}
}

func less(a, b Entry) bool {
	return a.Key < b.Key || a.Key == b.Key && a.Value < b.Value
}

// combine merges sorted entries of equal keys into one with the sum of their values, and returns
// the shorter a.
func combine(a []Entry) []Entry {
	if len(a) == 0 {
		return a
	}
	n := 0
	for _, e := range a[1:] {
		if e.Key == a[n].Key {
			a[n].Value += e.Value
		} else {
			n++
			a[n] = e
		}
	}
	return a[:n+1]
}
