package extsort

import (
	"slices"
	"sort"
)

// keyRange is the keys from lo up to but not including hi; the last range has no hi.
type keyRange struct {
	lo, hi uint64
	last   bool
}

// cursor walks through a run's entries of a key range.
type cursor struct {
	cur    []Entry // entries left of one block
	run    *run
	keys   keyRange
	buf    []Entry
	loaded []Entry // blocks that were read but not checked yet
	next   int     // number of the first block in loaded, or of the next one to read
	end    int     // block to stop before
}

// newCursor stands on the first entry; ok is false when there is none. buf has
// room for one block or more.
func newCursor(r *run, keys keyRange, buf []Entry) (c *cursor, ok bool, err error) {
	c = &cursor{run: r, keys: keys, buf: buf, end: len(r.fences)}
	first, _ := slices.BinarySearch(r.fences, keys.lo)
	c.next = max(0, first-1) // entries ≥ lo may begin in the block before
	if !keys.last {
		c.end, _ = slices.BinarySearch(r.fences, keys.hi)
	}
	ok, err = c.refill()
	return c, ok, err
}

// refill goes to the next block when the current one is used up; it is false at
// the end.
func (c *cursor) refill() (bool, error) {
	for len(c.cur) == 0 {
		if c.next >= c.end {
			return false, nil
		}
		full := 1 + c.run.unit
		if len(c.loaded) == 0 {
			var err error
			n := min(c.end-c.next, len(c.buf)/full)
			if c.loaded, err = c.run.readBlocks(c.buf, c.next, n); err != nil {
				return false, err
			}
		}
		n := min(full, len(c.loaded))
		entries, err := c.run.checkBlock(c.loaded[:n], c.next)
		if err != nil {
			return false, err
		}
		c.loaded = c.loaded[n:]
		c.next++
		c.cur = c.trim(entries)
	}
	return true, nil
}

// trim cuts off entries outside the range: they may be in the first block and in the last.
func (c *cursor) trim(entries []Entry) []Entry {
	if entries[0].Key < c.keys.lo {
		entries = entries[searchKey(entries, c.keys.lo):]
	}
	if n := len(entries); n > 0 && !c.keys.last && entries[n-1].Key >= c.keys.hi {
		entries = entries[:searchKey(entries, c.keys.hi)]
	}
	return entries
}

// searchKey returns the index of the first entry with a key ≥ key.
func searchKey(entries []Entry, key uint64) int {
	return sort.Search(len(entries), func(i int) bool { return entries[i].Key >= key })
}

// countUpTo returns how many of the sorted entries are ≤ cut.
func countUpTo(entries []Entry, cut Entry) int {
	return sort.Search(len(entries), func(i int) bool { return less(cut, entries[i]) })
}

// merger merges runs in batches, and cuts the result into parts.
//
// The idea: instead of merging entry by entry through a heap or a tree of losers, with log₂(runs)
// mispredicted comparisons each,
//
//	look q entries ahead in each of the runs, q = batch/runs
//	cut = the smallest of the entries seen furthest ahead
//	copy every entry ≤ cut to the end of buf: nothing smaller can follow
//	sort what was copied, in cache
//
// Uniform keys make the furthest entries alike, so that a batch is nearly whole;
// in any case the run that gave the cut gives all q entries or a block's rest.
type merger struct {
	cursors []*cursor
	kernel  *kernel
	sum     bool
	batch   int     // entries
	buf     []Entry // has room for partMax + batch
	cutter  cutter  // its rest is in buf
}

// next returns the next part, valid until the following call; none at the end. more says that the
// part holds one key only, which continues in the next part.
func (m *merger) next() (part []Entry, more bool, err error) {
	for {
		open := len(m.cursors) > 0
		if part, more, ok := m.cutter.take(open); ok {
			return part, more, nil
		}
		if !open {
			return nil, false, nil
		}
		if err := m.fill(); err != nil {
			return nil, false, err
		}
	}
}

// fill appends a batch.
func (m *merger) fill() error {
	m.buf = append(m.buf[:0], m.cutter.rest...)
	mark := len(m.buf)
	q := max(1, m.batch/len(m.cursors))
	ahead := func(c *cursor) []Entry { return c.cur[:min(q, len(c.cur))] }
	first := ahead(m.cursors[0])
	cut := first[len(first)-1]
	for _, c := range m.cursors[1:] {
		if a := ahead(c); less(a[len(a)-1], cut) {
			cut = a[len(a)-1]
		}
	}
	givers, live := 0, m.cursors[:0]
	for _, c := range m.cursors {
		a := ahead(c)
		n := countUpTo(a, cut)
		ok := true
		if n > 0 {
			givers++
			m.buf = append(m.buf, a[:n]...)
			c.cur = c.cur[n:]
			var err error
			if ok, err = c.refill(); err != nil {
				return err
			}
		}
		if ok {
			live = append(live, c)
		}
	}
	m.cursors = live
	if givers > 1 {
		m.kernel.sort(m.buf[mark:])
	}
	if m.sum {
		from := max(0, mark-1)
		m.buf = m.buf[:from+len(combine(m.buf[from:]))]
	}
	m.cutter.rest = m.buf
	return nil
}

// cutter cuts sorted entries into parts of whole keys, no longer than max; a
// longer key is cut into parts of its own.
type cutter struct {
	rest []Entry
	max  int
	hot  bool // rest continues a key that was cut
}

// take cuts off the next part. ok is false when there is none; with open, which says that more
// entries will follow, also when the end of the part is not yet known. Then at most max entries are
// left.
func (c *cutter) take(open bool) (part []Entry, more, ok bool) {
	n := len(c.rest)
	if n == 0 {
		return nil, false, false
	}
	end := n
	switch {
	case c.hot:
		if end = c.keyEnd(); end == n && open && n <= c.max {
			return nil, false, false
		}
	case open:
		end = c.keyStart(n - 1)
	}
	if end == 0 { // one key so far
		if n <= c.max {
			return nil, false, false
		}
		end = n
	}
	if end > c.max {
		if c.hot || c.keyStart(c.max) == 0 {
			c.hot = true
			return c.cut(c.max), true, true
		}
		end = c.keyStart(c.max)
	}
	c.hot = false
	return c.cut(end), false, true
}

func (c *cutter) cut(n int) []Entry {
	part := c.rest[:n:n]
	c.rest = c.rest[n:]
	return part
}

// keyStart returns the index at which the key of entry i begins.
func (c *cutter) keyStart(i int) int {
	key := c.rest[i].Key
	if i > 0 && c.rest[i-1].Key != key {
		return i
	}
	return searchKey(c.rest[:i], key)
}

// keyEnd returns the index at which the first key ends.
func (c *cutter) keyEnd() int {
	key := c.rest[0].Key
	return sort.Search(len(c.rest), func(i int) bool { return c.rest[i].Key > key })
}
