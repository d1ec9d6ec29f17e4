package contam

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/alike-dev/alike/internal/sorting"
	"github.com/alike-dev/alike/shingle"
)

// A Scanner looks for the items of an index in documents. It owns scratch memory and belongs to one goroutine.
type Scanner struct {
	x        *Index
	analyst  *analyst
	shingler *shingle.Shingler
	features []uint64
	picked   []uint32
	blocks   []block
	hits     []hit
	grams    []uint32
	meeter   meeter
	stretch  stretch
	matcher  matcher
	found    []Candidate
	note     []byte
}

// block is a part of a document that is cut into words by itself.
type block struct {
	from, to int
	grams    int // of the document up to its end
}

// hit is a gram of the items at a word of the document.
type hit struct{ token, gram uint32 }

// NewScanner returns a scanner for one goroutine.
func (x *Index) NewScanner() *Scanner {
	return &Scanner{x: x, analyst: newAnalyst(), shingler: newShingler(), meeter: newMeeter(x)}
}

// A Candidate is a place where an item may stand.
type Candidate struct {
	Item       int
	Start, End int    // bytes of the document
	Matched    []byte // a bit for each word of the item that stands there
	Answer     int    // number, from 1, of the row whose answer stands beside it; 0: none does
	Excerpt    []byte // the beginning of the place, behind a few bytes of what stands before it
	Lead       int    // bytes of Excerpt before Start
	Starts     bool   // a sentence begins where it begins
	Ends       bool   // one ends where it ends
}

// Scan returns what is to be kept of a document until the frequency of grams is known, nil if nothing: the grams that it
// has and the candidates. It is valid until the next call. inFile returns where bytes of the document stand in its file; nil:
// at the same places. O(len(doc)), and for each place where an item may stand the length of the item.
func (s *Scanner) Scan(doc []byte, inFile func(at int) int) (note []byte, words int) {
	text := plain(&s.analyst.buf, doc)
	s.found = s.found[:0]
	if words = s.look(text); len(s.hits) == 0 {
		return nil, words
	}
	places := s.meeter.meet(s.hits)
	s.stretch.init(s.analyst, s.blocks, text)
	for i := range places {
		s.examine(doc, &places[i], words)
	}
	sorting.Func(s.found, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Item, b.Item), cmp.Compare(a.End, b.End), cmp.Compare(b.Answer, a.Answer))
	})
	s.found = slices.CompactFunc(s.found, func(a, b Candidate) bool { return a.Item == b.Item && a.Start == b.Start && a.End == b.End })
	for i := range s.found {
		if c := &s.found[i]; inFile != nil {
			c.Start, c.End = inFile(c.Start), inFile(c.End)
		}
	}
	return s.write(), words
}

// look finds the grams of the items in a text, and returns the number of its words.
func (s *Scanner) look(text []byte) (words int) {
	s.hits, s.blocks = s.hits[:0], s.blocks[:0]
	x, grams := s.x, 0
	for from := 0; from < len(text); {
		var next int
		s.features, next = s.shingler.AppendFeaturesFrom(s.features[:0], text, from)
		s.picked = x.filter.pick(s.picked, s.features)
		for _, i := range s.picked {
			if g, ok := x.find(s.features[i]); ok {
				s.hits = append(s.hits, hit{uint32(grams) + i, g})
			}
		}
		grams += len(s.features)
		s.blocks = append(s.blocks, block{from: from, to: next, grams: grams})
		from = next
	}
	return grams
}

// examine aligns an item with the words around a place.
func (s *Scanner) examine(doc []byte, p *near, words int) {
	i := &s.x.Items[p.item]
	w := s.stretch.open(max(p.from, 0), min(p.to, words+Gram-1))
	least := leastWords(len(i.tokens))
	if !s.matcher.shares(i.tokens, w, least) {
		return
	}
	m := s.matcher.match(i.tokens, w)
	if m.words < least {
		return
	}
	first, end := s.stretch.first+m.from, s.stretch.first+m.to
	c := Candidate{Item: p.item, Matched: m.bits}
	c.Start, c.End, c.Starts, c.Ends = s.stretch.bytes(first, end)
	c.Lead = min(c.Start, aroundBytes)
	c.Excerpt = doc[c.Start-c.Lead : min(c.End+aroundBytes, c.Start+excerptBytes, len(doc))]
	c.Answer = s.answer(i, m.bits, first, end)
	s.found = append(s.found, c)
}

// answer returns the number, from 1, of the row whose answer stands beside the words from first to end; 0: of none. Where
// the answer is a part of the item, it is that of the only row, if enough of it is matched.
func (s *Scanner) answer(i *Item, bits []byte, first, end int) int {
	if n := len(i.tokens); i.whole {
		answer := span{max(n-len(i.answers[0]), 0), n}
		if float64(count(bits, answer)) >= leastAnswer*float64(answer.to-answer.from) {
			return 1
		}
		return 0
	}
	for n, answer := range i.answers {
		if len(answer) == 0 {
			continue
		}
		if s.matcher.answers(answer, s.stretch.open(end, end+2*len(answer)+nearby)) ||
			s.matcher.answers(answer, s.stretch.open(first-2*len(answer)-margin, first)) {
			return n + 1
		}
	}
	return 0
}

const (
	// Bytes of the document that are kept of a place, for people: around it, and of it with what follows.
	aroundBytes, excerptBytes = 80, 480

	nearby = 64 // words behind an item in which its answer begins
)

// write writes the note.
func (s *Scanner) write() []byte {
	s.grams = s.grams[:0]
	for _, h := range s.hits {
		s.grams = append(s.grams, h.gram)
	}
	slices.Sort(s.grams)
	s.grams = slices.Compact(s.grams)
	b := binary.AppendUvarint(s.note[:0], uint64(len(s.grams)))
	before := uint32(0)
	for _, g := range s.grams {
		b = binary.AppendUvarint(b, uint64(g-before))
		before = g
	}
	for i := range s.found {
		c := &s.found[i]
		b = binary.AppendUvarint(b, uint64(c.Item))
		b = binary.AppendUvarint(b, uint64(c.Start))
		b = binary.AppendUvarint(b, uint64(c.End))
		b = binary.AppendUvarint(b, uint64(c.Answer))
		flags := byte(0)
		for n, is := range []bool{c.Starts, c.Ends} {
			if is {
				flags |= 1 << n
			}
		}
		b = append(append(b, flags), c.Matched...)
		b = binary.AppendUvarint(b, uint64(c.Lead))
		b = binary.AppendUvarint(b, uint64(len(c.Excerpt)))
		b = append(b, c.Excerpt...)
	}
	s.note = b
	return b
}

// EachGram calls visit for each different gram of a document. It reports whether the note is whole.
func EachGram(note []byte, visit func(gram uint32)) (rest []byte, ok bool) {
	count, n := binary.Uvarint(note)
	if n <= 0 {
		return nil, false
	}
	note = note[n:]
	g := uint64(0)
	for range count {
		d, n := binary.Uvarint(note)
		if g += d; n <= 0 || g > math.MaxUint32 {
			return nil, false
		}
		note = note[n:]
		visit(uint32(g))
	}
	return note, true
}

// Candidates appends the candidates of a note, whose bytes they share.
func (x *Index) Candidates(dst []Candidate, note []byte) (_ []Candidate, ok bool) {
	rest, ok := EachGram(note, func(uint32) {})
	number := func(most int) int {
		v, n := binary.Uvarint(rest)
		if n <= 0 || v > uint64(most) {
			ok = false
			return 0
		}
		rest = rest[n:]
		return int(v)
	}
	take := func(n int) (b []byte) {
		if n > len(rest) {
			ok = false
			return make([]byte, n)
		}
		b, rest = rest[:n], rest[n:]
		return b
	}
	for ok && len(rest) > 0 {
		c := Candidate{Item: number(len(x.Items) - 1), Start: number(math.MaxInt32), End: number(math.MaxInt32)}
		i := &x.Items[c.Item]
		c.Answer = number(len(i.Rows))
		flags := take(1)[0]
		c.Starts, c.Ends = flags&1 != 0, flags&2 != 0
		c.Matched = take((len(i.tokens) + 7) / 8)
		c.Lead = number(aroundBytes)
		c.Excerpt = take(number(aroundBytes + excerptBytes))
		dst = append(dst, c)
	}
	return dst, ok
}
