// Package distinct makes sets of features: sorted and without repeats. All comparisons take sets in
// this form.
package distinct

import (
	"math/bits"
	"slices"
	"sync"
)

const (
	// insertionMax is the length up to which plain insertion is fastest.
	insertionMax = 16
	// leafMax is the length up to which one table of slots suffices.
	leafMax = 1 << leafBits
	// leafBits is 12 although a leaf's table of 2¹³ slots lies in the second-level cache: splitting
	// further would cost more (3.9 ns a feature for 3000 features; 5.9 with 9 bits).
	leafBits = 12
	// crowded is how far from its home slot a feature may be put before the leaf counts as not
	// uniform and is sorted by comparing.
	crowded = 40
	// splitBits bounds the number of parts a longer slice is split into.
	splitBits = 8
	// otherMax is the number of features up to which Sort takes a second array for them, 2 MiB.
	// More are first split in place, which takes twice as long as splitting into another array (a
	// fifth of the whole).
	otherMax = 1 << 18
)

// Sort sorts features in place, drops repeats and returns the remaining set. It costs O(n) for
// hashes and O(n log n) at worst for anything else. It borrows pooled scratch memory: some 200 KB,
// and above four thousand features as much again as they take, up to 2 MiB.
//
// The idea: features are spread evenly, so their top bits nearly give their ranks. Put n of them
// into a table of two to four times as many slots by those bits, as into a hash table with linear
// probing, but keep the probed ones in order (Amble and Knuth, "Ordered hash tables", 1974). Read
// from end to end, the table is sorted; a repeat is detected when it is put there. Longer slices
// are first split by higher bits until a part fits. Leading bits that all features share are
// skipped, so small integers are no slower than hashes.
//
// Counting sort by the same bits followed by insertion takes twice as long.
func Sort(features []uint64) []uint64 {
	if len(features) <= insertionMax {
		return appendInserting(features[:0], features)
	}
	s := sorters.Get().(*sorter)
	defer sorters.Put(s)
	if n := min(len(features), otherMax); n > leafMax && cap(s.other) < n {
		s.other = make([]uint64, n)
	}
	return s.appendLarge(features[:0], features)
}

// appendLarge appends the set of a to out, which may overlap a if it ends before a begins. More
// than otherMax features are split in place, as in American flag sort: each moves to the next free
// place of its part, and the feature that it displaces moves on.
func (s *sorter) appendLarge(out, a []uint64) []uint64 {
	if len(a) <= otherMax {
		return s.appendSet(out, a, s.other[:cap(s.other)])
	}
	shared := sharedBits(a)
	if shared == 64 {
		return append(out, a[0])
	}
	part := func(v uint64) uint64 { return v << (shared & 63) >> (64 - splitBits) }
	var next, ends [1 << splitBits]int
	for _, v := range a {
		ends[part(v)]++
	}
	sum := 0
	for i, count := range ends {
		next[i] = sum
		sum += count
		ends[i] = sum
	}
	for i := range next {
		for next[i] < ends[i] {
			v := a[next[i]]
			for to := part(v); to != uint64(i); to = part(v) {
				a[next[to]], v = v, a[next[to]]
				next[to]++
			}
			a[next[i]] = v
			next[i]++
		}
	}
	begin := 0
	for _, end := range ends {
		if begin < end {
			out = s.appendLarge(out, a[begin:end])
		}
		begin = end
	}
	return out
}

// A sorter is the scratch memory of Sort.
type sorter struct {
	// slots is a leaf's table: twice leafMax slots, and room behind them for features whose slots
	// are taken. 0 is an empty slot; all are empty between two leaves.
	slots  [4 * leafMax]uint64
	sorted [2 * leafMax]uint64 // a leaf's set; twice as long so that indices can be masked
	other  []uint64            // as many as there are features, up to otherMax
}

var sorters = sync.Pool{New: func() any { return new(sorter) }}

// appendSet appends the set of a to out. Both may be parts of one slice if out ends before a
// begins; other is at least as long as a and may lie anywhere that out does not reach.
func (s *sorter) appendSet(out, a, other []uint64) []uint64 {
	if len(a) <= leafMax {
		return s.appendLeaf(out, a)
	}
	shared := sharedBits(a)
	if shared == 64 {
		return append(out, a[0])
	}
	width := min(bits.Len(uint(len(a)/leafMax)), splitBits)
	shift := uint(64-width) & 63
	var ends [1 << splitBits]int
	for _, v := range a {
		ends[v<<(shared&63)>>shift%(1<<splitBits)]++
	}
	sum := 0
	for i, count := range ends {
		ends[i] = sum
		sum += count
	}
	other = other[:len(a)]
	for _, v := range a {
		end := &ends[v<<(shared&63)>>shift%(1<<splitBits)]
		other[*end] = v
		*end++
	}
	begin := 0
	for _, end := range ends[:1<<width] {
		out = s.appendSet(out, other[begin:end], a[begin:end])
		begin = end
	}
	return out
}

// sharedBits returns how many leading bits all of a have in common.
func sharedBits(a []uint64) int {
	var differ uint64
	for _, v := range a {
		differ |= v ^ a[0]
	}
	return bits.LeadingZeros64(differ)
}

// appendLeaf appends the set of a, up to leafMax features, to out, which may overlap a if it ends
// before a begins.
//
//	p = the slot of v by its top bits
//	while the feature in slot p is smaller: next slot
//	if it is v: drop v
//	else put v there, the feature that was there into the next slot, and so on
//
// The numbers of features and of taken slots change without branches, and the
// test for an empty slot is part of that for a smaller feature: 0-1 is not small.
func (s *sorter) appendLeaf(out, a []uint64) []uint64 {
	if len(a) <= insertionMax {
		return appendInserting(out, a)
	}
	shared := sharedBits(a)
	if shared == 64 {
		return append(out, a[0])
	}
	const mask = uint64(len(s.slots) - 1)
	width := min(bits.Len(uint(len(a)))+1, leafBits+1)
	shift := uint(64-width) & 63
	last, zeros := uint64(1)<<width-1, 0
	for _, v := range a {
		if v == 0 {
			zeros = 1
			continue
		}
		home := v << (shared & 63) >> shift
		p := home
		x := s.slots[p&mask]
		for x-1 < v-1 {
			p++
			x = s.slots[p&mask]
		}
		if x == v {
			continue
		}
		s.slots[p&mask] = v
		for x != 0 {
			p++
			x, s.slots[p&mask] = s.slots[p&mask], x
		}
		last = max(last, p)
		if p-home > crowded {
			clear(s.slots[:last+1])
			slices.Sort(a)
			return append(out, slices.Compact(a)...)
		}
	}
	taken := s.slots[:last+1]
	s.sorted[0] = 0 // the place of a zero, if there is one
	n := zeros
	for _, v := range taken {
		s.sorted[n&(len(s.sorted)-1)] = v
		n += int((v | -v) >> 63)
	}
	clear(taken)
	return append(out, s.sorted[:n]...)
}

// appendInserting appends a to out, keeping what it appends sorted and free of repeats. out may
// overlap a if it ends before a does.
func appendInserting(out, a []uint64) []uint64 {
	begin := len(out)
	out = out[:begin+len(a)]
	end := begin
	for _, v := range a {
		i := end
		for i > begin && out[i-1] > v {
			i--
		}
		if i > begin && out[i-1] == v {
			continue
		}
		for j := end; j > i; j-- {
			out[j] = out[j-1]
		}
		out[i] = v
		end++
	}
	return out[:end]
}
