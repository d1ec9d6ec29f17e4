package plant

import (
	"slices"
	"strconv"

	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/simjoin"
)

// Pair is a planted pair: positions A < B in the corpus, the number of features
// that the two documents share and the number they have together.
type Pair struct{ A, B, Inter, Union int }

// Similarity returns the Jaccard similarity; two documents without any feature
// have none.
func (p Pair) Similarity() float64 {
	if p.Union == 0 {
		return 0
	}
	return float64(p.Inter) / float64(p.Union)
}

// Maker makes the documents of a corpus. It owns scratch memory and belongs to
// one goroutine.
type Maker struct {
	c        *Corpus
	editor   Editor
	texts    [2][]byte // a copy and its source, alternately
	line     []byte
	group    group
	shingler *shingle.Shingler
	self     []uint64
	other    []uint64
	partners []partner
}

// partner is a later member of the current document's family.
type partner struct{ position, member int }

func (c *Corpus) NewMaker() *Maker {
	s, err := shingle.New(shingle.Options{})
	if err != nil {
		panic(err) // the defaults are valid
	}
	return &Maker{c: c, shingler: s}
}

// AppendDocument appends the text of the document at a position. To make a copy, its original is
// made first.
func (m *Maker) AppendDocument(dst []byte, position int) []byte {
	member := m.c.groupOf(m.c.plannedAt(position), &m.group)
	return append(dst, m.member(member)...)
}

// AppendRecord appends the document at a position as a line of JSONL with the
// fields id and text.
func (m *Maker) AppendRecord(dst []byte, position int) []byte {
	member := m.c.groupOf(m.c.plannedAt(position), &m.group)
	return appendRecord(dst, position, m.member(member))
}

// member makes the text of a member of the current group; it is valid until the next call.
func (m *Maker) member(i int) []byte {
	var path [groupSize]int // from the document up to its original
	n := 0
	for ; int(m.group.parent[i]) != i; i = int(m.group.parent[i]) {
		path[n] = i
		n++
	}
	before := m.group.first - m.c.copiesBefore(m.group.first)
	if m.group.first >= m.c.planned { // beyond the plan there are originals only
		before = m.group.first - m.c.copiesBefore(m.c.planned)
	}
	text := m.appendOriginal(m.texts[0][:0], before+i)
	m.texts[0] = text
	for turn := 1; n > 0; turn ^= 1 {
		n--
		seed := newSource(m.c.o.Seed, purposeCopy, uint64(m.group.first+path[n]))
		text = m.editor.Append(m.texts[turn][:0], text, seed.next(), m.c.o.Edits)
		m.texts[turn] = text
	}
	return text
}

// appendOriginal appends the text of an original, by its number among them.
func (m *Maker) appendOriginal(dst []byte, number int) []byte {
	if m.c.o.Cut {
		cut := m.c.cuts[number]
		from, to := cut.pool.sentences[cut.first].start, cut.pool.sentences[cut.end-1].end
		return trimEnd(append(dst, cut.pool.data[from:to]...))
	}
	s := newSource(m.c.o.Seed, purposeOriginal, uint64(number))
	p := m.c.drawPool(&s)
	want := m.c.drawLength(&s)
	piece := max(4, want/12)
	for words := 0; words < want; {
		var n int
		dst, n = p.appendPiece(dst, &s, min(piece, want-words))
		words += n
	}
	return trimEnd(dst)
}

// AppendPairs appends the pairs of the document at a position with those members of its family that
// come later in the corpus, ordered by position. Documents without a family cost almost nothing;
// others cost the making of the family.
func (m *Maker) AppendPairs(dst []Pair, position int) []Pair {
	self := m.c.groupOf(m.c.plannedAt(position), &m.group)
	root := m.group.root(self)
	m.partners = m.partners[:0]
	for i := range m.group.size {
		if i == self || m.group.root(i) != root {
			continue
		}
		if at := m.c.place(m.group.first + i); at > position {
			m.partners = append(m.partners, partner{at, i})
		}
	}
	if len(m.partners) == 0 {
		return dst
	}
	slices.SortFunc(m.partners, func(a, b partner) int { return a.position - b.position })
	m.self = m.appendSet(m.self[:0], self)
	for _, p := range m.partners {
		m.other = m.appendSet(m.other[:0], p.member)
		inter := simjoin.Intersection(m.self, m.other)
		dst = append(dst, Pair{position, p.position, inter, len(m.self) + len(m.other) - inter})
	}
	return dst
}

// appendSet appends the feature set of a member of the current group to an empty dst.
func (m *Maker) appendSet(dst []uint64, member int) []uint64 {
	return shingle.Set(m.shingler.AppendFeatures(dst, m.member(member)))
}

// AppendID appends the id of the document at a position: d and at least eight
// digits.
func AppendID(dst []byte, position int) []byte {
	dst = append(dst, 'd')
	for p := 10_000_000; p > position && p > 1; p /= 10 {
		dst = append(dst, '0')
	}
	return strconv.AppendInt(dst, int64(position), 10)
}

// appendRecord appends a line of JSONL. Texts hold no control characters except line ends, and no
// invalid UTF-8.
func appendRecord(dst []byte, position int, text []byte) []byte {
	dst = append(dst, `{"id":"`...)
	dst = AppendID(dst, position)
	dst = append(dst, `","text":"`...)
	from := 0
	for i, c := range text {
		switch {
		case c == '\n':
			dst = append(append(dst, text[from:i]...), `\n`...)
			from = i + 1
		case c == '"' || c == '\\':
			dst = append(append(dst, text[from:i]...), '\\')
			from = i
		}
	}
	return append(append(dst, text[from:]...), "\"}\n"...)
}

// AppendTruth appends a line of the truth file, `id1,id2,similarity`.
func AppendTruth(dst []byte, p Pair) []byte {
	dst = append(AppendID(dst, p.A), ',')
	dst = append(AppendID(dst, p.B), ',')
	return append(strconv.AppendFloat(dst, p.Similarity(), 'f', 6, 64), '\n')
}

// TruthHeader is the first line of a truth file.
const TruthHeader = "id1,id2,similarity\n"

func trimEnd(b []byte) []byte {
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\n') {
		b = b[:len(b)-1]
	}
	return b
}
