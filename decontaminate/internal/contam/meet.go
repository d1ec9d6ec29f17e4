package contam

import (
	"cmp"
	"math"

	"github.com/alike-dev/alike/internal/sorting"
)

const (
	common   = 64 // items from which on a gram does not lead to them: others that they have do
	frequent = 8  // items from which on a gram tells half as much

	// leastMet is the share of an item's words that grams must have for a place to be examined.
	leastMet = 0.3

	margin = 8 // words before and behind an item that are looked at as well
)

// near is a stretch of the document in which an item may stand.
type near struct{ item, from, to int }

// streak is what an item and the document have in common, up to a word of the document: grams at no great distance.
type streak struct {
	first, last uint32 // words of the document
	head, tail  uint32 // those of the item
	met, half   uint32 // words of the document in grams, and of these in frequent ones; met is 0 if there is no streak
}

// A meeter finds the places where items and a document meet.
type meeter struct {
	x       *Index
	streaks []streak // of each item
	sizes   []size   // of each item: apart from the items, which take much more of a cache
	open    []uint32 // items that have one
	places  []near
}

// size is the number of an item's words, and how many of them must be met for a place to be examined: at least so many, of
// a short item, in which one word may differ, all but that and its neighbours on one side; and by weight, in halves of words.
type size struct{ words, least, halves uint32 }

func sizeOf(words int) size {
	least := Gram
	if words <= short {
		least = max(words-Gram, Gram)
	}
	return size{uint32(words), uint32(least), uint32(math.Ceil(2 * leastMet * float64(words)))}
}

func newMeeter(x *Index) meeter {
	m := meeter{x: x, streaks: make([]streak, len(x.Items)), sizes: make([]size, len(x.Items))}
	for i := range m.sizes {
		m.sizes[i] = sizeOf(len(x.Items[i].tokens))
	}
	return m
}

// meet lists the places for the hits of a document, which come in its order. It is ready for the next document then.
// Each place of a gram among the items costs a few operations: nothing is sorted but the few places that result.
func (m *meeter) meet(hits []hit) []near {
	m.places = m.places[:0]
	for _, h := range hits {
		for _, p := range m.x.leads(h.gram) {
			m.add(h, p, m.x.among[h.gram] > frequent)
		}
	}
	for _, item := range m.open {
		m.end(item)
	}
	m.open = m.open[:0]
	sorting.Func(m.places, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.item, b.item), cmp.Compare(a.to, b.to))
	})
	return m.places
}

// add takes a gram at a word of the document and at one of an item.
func (m *meeter) add(h hit, p place, frequent bool) {
	s, token, half := &m.streaks[p.item], h.token, uint32(0)
	if frequent {
		half = 1
	}
	if s.met > 0 {
		fresh := min(token-s.last, Gram)
		p.word = m.goesOn(s, h, p)
		if !m.ends(s, token, p, fresh) {
			s.last, s.tail = token, p.word
			s.met += fresh
			s.half += half * fresh
			return
		}
		m.end(p.item)
	} else {
		m.open = append(m.open, p.item)
	}
	*s = streak{first: token, last: token, head: p.word, tail: p.word, met: Gram, half: half * Gram}
}

// goesOn returns the word of an item at which a gram continues its streak; if none does, that of the place. The beginning
// of an item may stand in it again.
func (m *meeter) goesOn(s *streak, h hit, p place) uint32 {
	if p.word > s.head+2 {
		return p.word
	}
	grams := m.x.Items[p.item].grams
	if next := s.tail + h.token - s.last; next < uint32(len(grams)) && grams[next] == h.gram {
		return next
	}
	return p.word
}

// ends tells whether a streak ends before a word: that is too far away, or another copy of the item begins.
func (m *meeter) ends(s *streak, token uint32, p place, fresh uint32) bool {
	apart := token - s.last
	again := fresh > 0 && p.word <= s.head+2
	if apart <= body && !again {
		return false
	}
	n := m.sizes[p.item].words
	if n <= short && p.word == s.tail+apart {
		again = false // half of so few words lie so near the first
	}
	return apart > body+n/2 || again && 2*s.met >= n
}

// end ends the streak of an item, and lists its place if the item may stand there.
func (m *meeter) end(item uint32) {
	s := &m.streaks[item]
	if of := m.sizes[item]; s.met >= of.least && 2*s.met-s.half >= of.halves {
		m.places = append(m.places, near{int(item), int(s.first) - int(s.head) - margin, int(s.last) + int(of.words) - int(s.tail) + margin})
	}
	s.met = 0
}
