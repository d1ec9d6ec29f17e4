package contam

import (
	"cmp"
	"math"
	"slices"

	"github.com/alike-dev/alike/internal/sorting"
	"github.com/alike-dev/alike/passage"
)

// A matcher aligns items with stretches of documents.
//
//	item   how many EGGS does Janet sell every day    runs of leastRun words, the longest first, wherever they stand;
//	       ├──────┤      ├──────────────────────┤     then, between runs that follow each other in both texts,
//	text   how many hens does Janet sell every day    the longest common subsequence
type matcher struct {
	taken []bool // words of the item
	seen  []uint64
	bits  [64]uint64
	table [reach + 1][reach + 3]uint8
}

const (
	leastRun = 3  // words
	reach    = 16 // words between two runs, or before the first and behind the last, that are compared one by one
	body     = 24 // words between runs that belong to one place
)

// matching is an alignment: of that many words of the item, which lie in words from to to of the stretch.
type matching struct {
	words, from, to int
	bits            []byte
}

// shares tells whether a stretch has least words of an item, wherever they stand. It is quick, and match finds no more.
func (m *matcher) shares(item, doc []uint64, least int) bool {
	if !m.mayShare(item, doc, least) {
		return false
	}
	m.seen = append(m.seen[:0], doc...)
	slices.Sort(m.seen)
	missing := len(item) - least
	for _, h := range item {
		if _, found := slices.BinarySearch(m.seen, h); !found {
			if missing--; missing < 0 {
				return false
			}
		}
	}
	return true
}

// mayShare is shares by some bits of the words alone: it tells most stretches that do not.
func (m *matcher) mayShare(item, doc []uint64, least int) bool {
	m.bits = [len(m.bits)]uint64{}
	for _, h := range doc {
		m.bits[h>>6%uint64(len(m.bits))] |= 1 << (h & 63)
	}
	has := 0
	for _, h := range item {
		has += int(m.bits[h>>6%uint64(len(m.bits))] >> (h & 63) & 1)
	}
	return has >= least
}

// leastWords is the number of words of an item of n words that must stand at a place, whatever they weigh: of a short
// one nearly all, of a long one a half.
func leastWords(n int) int {
	share := min(max(0.8-0.3*float64(n-20)/40, 0.5), 0.8)
	return int(math.Ceil(share * float64(n)))
}

// match aligns an item with a stretch. O(n log n) in the words of both.
func (m *matcher) match(item []uint64, doc []uint64) (of matching) {
	runs := passage.Shared(item, doc, min(leastRun, len(item)))
	if runs = mainBody(runs, body+len(item)/4); len(runs) == 0 {
		return of
	}
	m.taken = append(m.taken[:0], make([]bool, len(item))...)
	of.from, of.to = len(doc), 0
	take := func(a, b, n int) {
		for i := range n {
			m.taken[a+i] = true
		}
		of.from, of.to = min(of.from, b), max(of.to, b+n)
	}
	for _, r := range runs {
		take(r.A, r.B, r.Len)
	}
	sorting.Func(runs, func(a, b passage.Passage) int { return a.A - b.A })
	first, last := runs[0], runs[len(runs)-1]
	lead := min(first.A, reach)
	m.common(item, doc, span{first.A - lead, first.A}, span{max(first.B-lead-2, 0), first.B}, take)
	for i := 1; i < len(runs); i++ {
		a, b := runs[i-1], runs[i]
		m.common(item, doc, span{a.A + a.Len, b.A}, span{a.B + a.Len, b.B}, take)
	}
	trail := min(len(item)-last.A-last.Len, reach)
	end := last.B + last.Len
	m.common(item, doc, span{last.A + last.Len, last.A + last.Len + trail}, span{end, min(end+trail+2, len(doc))}, take)
	of.bits = make([]byte, (len(item)+7)/8)
	for i, t := range m.taken {
		if t {
			of.words++
			of.bits[i/8] |= 1 << (i % 8)
		}
	}
	return of
}

// mainBody returns the runs, in the order of the document, of the part with the most words in which no two neighbours
// are further apart than gap.
func mainBody(runs []passage.Passage, gap int) []passage.Passage {
	sorting.Func(runs, func(a, b passage.Passage) int { return cmp.Compare(a.B, b.B) })
	var best []passage.Passage
	most := 0
	for from := 0; from < len(runs); {
		to, words := from+1, runs[from].Len
		for to < len(runs) && runs[to].B-runs[to-1].B-runs[to-1].Len <= gap {
			words += runs[to].Len
			to++
		}
		if words > most {
			best, most = runs[from:to], words
		}
		from = to
	}
	for len(best) > 1 && astray(best[0], best[0], best[1]) {
		best = best[1:]
	}
	for n := len(best); n > 1 && astray(best[n-1], best[n-2], best[n-1]); n-- {
		best = best[:n-1]
	}
	return best
}

// astray tells whether a run at an end, one of two neighbours a and b, stands there by chance: it is short and far from
// the other, and the item does not go on from one to the other.
func astray(run, a, b passage.Passage) bool {
	on := b.A - a.A - a.Len
	return run.Len < 2*leastRun && b.B-a.B-a.Len > reach/2 && (on < 0 || on >= leastRun)
}

// common takes a longest common subsequence of words a of the item and words b of the stretch, if both are short.
func (m *matcher) common(item, doc []uint64, a, b span, take func(a, b, n int)) {
	x, y := a.to-a.from, b.to-b.from
	if x <= 0 || y <= 0 || x > reach || y > reach+2 {
		return
	}
	t := &m.table // t[i][j]: of the words from i and j on
	for i := x; i >= 0; i-- {
		for j := y; j >= 0; j-- {
			switch {
			case i == x || j == y:
				t[i][j] = 0
			case item[a.from+i] == doc[b.from+j]:
				t[i][j] = t[i+1][j+1] + 1
			default:
				t[i][j] = max(t[i+1][j], t[i][j+1])
			}
		}
	}
	for i, j := 0, 0; i < x && j < y; {
		switch {
		case item[a.from+i] == doc[b.from+j]:
			take(a.from+i, b.from+j, 1)
			i, j = i+1, j+1
		case t[i+1][j] >= t[i][j+1]:
			i++
		default:
			j++
		}
	}
}

// leastAnswer is the share of an answer's words that must stand there.
const leastAnswer = 0.75

// answers tells whether an answer stands in some words.
func (m *matcher) answers(answer, words []uint64) bool {
	if len(answer) <= Gram {
		for at := 0; at+len(answer) <= len(words); at++ {
			if slices.Equal(words[at:at+len(answer)], answer) {
				return true
			}
		}
		return false
	}
	n := 0
	for _, r := range passage.Shared(answer, words, leastRun) {
		n += r.Len
	}
	return float64(n) >= leastAnswer*float64(len(answer))
}
