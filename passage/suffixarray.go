package passage

// suffixArray returns the places of s in the order of the suffixes that begin
// there. Values of s are 0 … symbols−1; the last one must be 0 and the only 0.
// O(len(s) + symbols).
//
// A suffix is of type S if it is smaller than the suffix that begins one place later,
// otherwise L. An S place after an L place is a leftmost one (LMS). From the order of the
// LMS suffixes, one pass upwards gives those of type L and one pass downwards the rest
// (induce). The order of the LMS suffixes is found by the same passes for their
// substrings up to the next LMS place, and, where these repeat, by recursion on the
// sequence of their names, which is at most half as long.
func suffixArray(s []int32, symbols int) []int32 {
	n := len(s)
	sa := make([]int32, n)
	if n == 1 {
		return sa
	}
	x := inducer{s: s, sa: sa, small: make([]bool, n), count: make([]int32, symbols), at: make([]int32, symbols)}
	x.small[n-1] = true
	for i := n - 2; i >= 0; i-- {
		x.small[i] = s[i] < s[i+1] || s[i] == s[i+1] && x.small[i+1]
	}
	for _, c := range s {
		x.count[c]++
	}
	var lms []int32
	for i := 1; i < n; i++ {
		if x.leftmost(int32(i)) {
			lms = append(lms, int32(i))
		}
	}
	x.induce(lms)

	names, different := x.name()
	sorted := make([]int32, len(lms))
	reduced := make([]int32, len(lms))
	for i, p := range lms {
		reduced[i] = names[p/2]
	}
	if different == len(lms) {
		for i, name := range reduced {
			sorted[name] = lms[i]
		}
	} else {
		for i, r := range suffixArray(reduced, different) {
			sorted[i] = lms[r]
		}
	}
	x.induce(sorted)
	return sa
}

type inducer struct {
	s, sa []int32
	small []bool  // type S
	count []int32 // by symbol
	at    []int32 // by symbol: where the next suffix goes
}

func (x *inducer) leftmost(p int32) bool { return p > 0 && x.small[p] && !x.small[p-1] }

// name numbers the LMS substrings in the order in which x.sa has them; equal ones have
// equal numbers. Two LMS places are never neighbours, so half the place indexes the
// names.
func (x *inducer) name() (names []int32, different int) {
	names = make([]int32, len(x.s)/2+1)
	last := int32(-1)
	for _, p := range x.sa {
		if !x.leftmost(p) {
			continue
		}
		if last < 0 || !x.sameSubstring(last, p) {
			different++
		}
		names[p/2] = int32(different - 1)
		last = p
	}
	return names, different
}

// sameSubstring compares the substrings from two LMS places to the next ones. The
// terminator ends every comparison, because it is the only 0.
func (x *inducer) sameSubstring(p, q int32) bool {
	for i := int32(0); ; i++ {
		if x.s[p+i] != x.s[q+i] || x.small[p+i] != x.small[q+i] {
			return false
		}
		if i > 0 && x.leftmost(p+i) {
			return x.leftmost(q + i)
		}
	}
}

// induce fills x.sa from LMS places in order. If they are in the order of their suffixes,
// it sorts all suffixes; in any order, it sorts the LMS substrings.
func (x *inducer) induce(lms []int32) {
	for i := range x.sa {
		x.sa[i] = -1
	}
	x.toEnds()
	for i := len(lms) - 1; i >= 0; i-- {
		x.putLast(lms[i])
	}
	sum := int32(0)
	for c, n := range x.count {
		x.at[c] = sum
		sum += n
	}
	for _, p := range x.sa { // x.sa is filled ahead of the loop
		if p > 0 && !x.small[p-1] {
			c := x.s[p-1]
			x.sa[x.at[c]] = p - 1
			x.at[c]++
		}
	}
	x.toEnds()
	for i := len(x.sa) - 1; i >= 0; i-- {
		if p := x.sa[i]; p > 0 && x.small[p-1] {
			x.putLast(p - 1)
		}
	}
}

// toEnds sets at to the end of every symbol's range.
func (x *inducer) toEnds() {
	sum := int32(0)
	for c, n := range x.count {
		sum += n
		x.at[c] = sum
	}
}

func (x *inducer) putLast(p int32) {
	c := x.s[p]
	x.at[c]--
	x.sa[x.at[c]] = p
}

// commonPrefixes returns for every place in sa how many symbols its suffix shares with
// that of the previous place, 0 for the first. O(len(s)).
func commonPrefixes(s, sa []int32) []int32 {
	rank := make([]int32, len(s))
	for k, p := range sa {
		rank[p] = int32(k)
	}
	lcp := make([]int32, len(s))
	common := 0
	for p, k := range rank {
		if k == 0 {
			common = 0
			continue
		}
		q := int(sa[k-1])
		for s[p+common] == s[q+common] { // the terminator ends the loop
			common++
		}
		lcp[k] = int32(common)
		common = max(common-1, 0)
	}
	return lcp
}
