package compare

import (
	"iter"
	"math"
	"math/bits"
	"slices"

	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/weighing"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/record"
)

// Records compares records as a whole: by their distinct tokens, in any column.
type Records struct {
	left, right *record.Table // the same for one table
	Numbering   *record.Numbering
	Weights     record.Weights
	scale       weighing.Scale
	Sizes       [2][]uint64 // for each left and right record: the mass of its tokens
	// rare are the words that two records of all have. Two records that share one, such as the number of an article, share what no
	// third one has, in whichever columns it stands.
	rare bitset.Set[uint32]
}

// Mass returns the contribution of a token to the size of a record, and to the overlap of two records.
func (r *Records) Mass(token uint32) uint64 { return r.scale.Mass(r.Weights[token]) }

// Within returns a comparison of the records of one table, the left or the right one, with each other.
func (r *Records) Within(side int) *Records {
	own := *r
	own.left = []*record.Table{r.left, r.right}[side]
	own.right, own.Sizes = own.left, [2][]uint64{r.Sizes[side], r.Sizes[side]}
	return &own
}

func (r *Records) newMatcher() *Matcher { return &Matcher{Records: r, a: -1} }

func (r *Records) NewMatchers(n int) []*Matcher {
	matchers := make([]*Matcher, n)
	for i := range matchers {
		matchers[i] = r.newMatcher()
	}
	return matchers
}

// tokensOf returns the number of tokens of all values of a record.
func (r *Records) tokensOf(t *record.Table, row int) (n int) {
	for f, cell := range t.Cells(row) {
		if cell > 0 {
			start, end := r.Numbering.Column(f).Bounds(cell - 1)
			n += end - start
		}
	}
	return n
}

// AddVectors adds a vector for each of some rows of a table: its tokens, without those to skip, with their
// weights.
func (r *Records) AddVectors(t *record.Table, rows iter.Seq[uint32], skip func(token uint32) bool, add func(features, weights []uint32) error) error {
	m := r.newMatcher()
	var features, w []uint32
	for i := range rows {
		features, w = features[:0], w[:0]
		m.each(t, int(i), func(token uint32) {
			if !skip(token) {
				features = append(features, token)
			}
		})
		slices.Sort(features)
		for _, token := range features {
			w = append(w, uint32(r.Weights[token]))
		}
		if err := add(features, w); err != nil {
			return err
		}
	}
	return nil
}

// A Matcher computes the overlap of records, on one goroutine. It keeps the tokens of one left record in a
// hash table, which fits in the first cache, and looks up the tokens of right records:
//
//		mark(a):  make a table of a's tokens, each with its weight and the columns that have it
//		meet(b):  for each column in which both have the same value: add the mass of a's tokens there
//		          for each other column: for each of b's tokens that a bitmap of a's tokens may have
//		              look it up in the table, and add its mass unless it was added before
//
//	 1. Most tokens of most candidates are not in both records, and a branch for each would be
//	    unpredictable: the bitmap leaves them out without a branch.
//	 2. Equal values are handled without reading their tokens.
type Matcher struct {
	*Records
	set     tokenSet // of the left record a
	a       int      // −1: none
	round   uint32   // counts the right records that a has met
	alone   []uint64 // for each of the first markedColumns columns of a: the mass of the tokens that only it has
	several []*slot  // slots of the tokens of a that several columns have
	passed  []uint32 // scratch: indexes of tokens that pass the bitmap
	met     metTokens
	hasRare bool   // a has a rare word
	rareIn  uint32 // which of the first markedColumns columns of a have one
}

// markedColumns is the number of columns that have a bit in a slot.
const markedColumns = 32

// each calls visit once for each token of a record.
func (m *Matcher) each(t *record.Table, row int, visit func(token uint32)) {
	m.met.next()
	m.cells(t, row, func(token uint32) {
		if m.met.add(token) {
			visit(token)
		}
	})
}

// mark puts the tokens of a left record into the table.
func (m *Matcher) mark(a uint32) {
	cells := m.left.Cells(int(a))
	m.set.reset(m.tokensOf(m.left, int(a)))
	m.a, m.round = int(a), 0
	m.hasRare, m.rareIn = false, 0
	m.alone, m.several = append(m.alone[:0], make([]uint64, min(len(cells), markedColumns))...), m.several[:0]
	for f, cell := range cells {
		if cell == 0 {
			continue
		}
		values := m.Numbering.Column(f)
		for _, token := range values.Tokens(cell - 1) {
			at := m.set.slot(token)
			if at.name == 0 {
				m.set.note(token)
				*at = slot{name: token + 1, weight: m.Weights[token]}
			}
			if m.rare.Has(token) {
				m.hasRare = true
				m.rareIn |= 1 << f
			}
			if f >= markedColumns {
				continue
			}
			switch before := at.columns; {
			case before == 0:
				m.alone[f] += m.scale.Mass(at.weight)
			case before&(before-1) == 0:
				m.alone[bits.TrailingZeros32(before)] -= m.scale.Mass(at.weight)
				m.several = append(m.several, at)
			}
			at.columns |= 1 << f
		}
	}
}

// common returns the mass of the tokens that two records have in common. It is fastest if pairs of one left
// record follow each other.
func (m *Matcher) common(p Pair) uint64 {
	sum, _ := m.meet(p, nil, nil)
	return sum
}

// meet returns the same as common, and whether both records have a rare word. Unless columns is nil, it also adds to of[f], for
// each column f in which the records have two different values, the mass of the tokens that these have in common.
func (m *Matcher) meet(p Pair, columns []column, of []uint64) (sum uint64, rare bool) {
	if m.a != int(p.A) || m.round == math.MaxUint32 {
		m.mark(p.A)
	}
	m.round++
	x, y := m.left.Cells(int(p.A)), m.right.Cells(int(p.B))
	same := uint32(0) // columns with the same value
	for f := range m.alone {
		if x[f] == y[f] && x[f] > 0 {
			same |= 1 << f
			sum += m.alone[f]
		}
	}
	rare = m.rareIn&same != 0
	for _, at := range m.several {
		if at.columns&same != 0 {
			sum += m.scale.Mass(at.weight)
		}
	}
	for f, cell := range y {
		bit := uint32(1) << f
		if cell == 0 || same&bit != 0 {
			continue
		}
		values := m.Numbering.Column(f)
		start, end := values.Bounds(cell - 1)
		tokens := values.TokensAt(start, end)
		switch {
		case columns == nil || x[f] == 0 || x[f] == cell:
			bit = 0
		case f >= markedColumns:
			of[f] = columns[f].Common(x[f]-1, cell-1)
		}
		m.passed = m.set.pass(m.passed, tokens)
		for _, i := range m.passed {
			at := m.set.slot(tokens[i])
			if at.name == 0 {
				continue
			}
			if m.hasRare && !rare {
				rare = m.Records.rare.Has(tokens[i])
			}
			if at.round != m.round && at.columns&same == 0 {
				at.round = m.round
				sum += m.scale.Mass(at.weight)
			}
			switch at.columns & bit {
			case 0:
			case at.columns:
				if at.own == 0 {
					at.own = columns[f].weights[start+int(i)]
				}
				of[f] += m.scale.Mass(at.own)
			default:
				of[f] += m.scale.Mass(columns[f].weights[start+int(i)])
			}
		}
	}
	return sum, rare
}

// Part calls inA, inBoth or inB once for each token of two records: inA and inB for the tokens of one record
// only, inBoth for those of both.
func (m *Matcher) Part(p Pair, inA, inBoth, inB func(token uint32)) {
	const ofA, both, alone = 1, 2, 3 // rounds
	m.a = -1
	m.set.reset(m.tokensOf(m.left, int(p.A)) + m.tokensOf(m.right, int(p.B)))
	m.cells(m.left, int(p.A), func(token uint32) { *m.set.slot(token) = slot{name: token + 1, round: ofA} })
	m.cells(m.right, int(p.B), func(token uint32) {
		switch at := m.set.slot(token); {
		case at.name == 0:
			*at = slot{name: token + 1, round: alone}
			inB(token)
		case at.round == ofA:
			at.round = both
			inBoth(token)
		}
	})
	m.cells(m.left, int(p.A), func(token uint32) {
		if at := m.set.slot(token); at.round == ofA {
			at.round = both
			inA(token)
		}
	})
}

// cells calls visit for each token of each value of a record.
func (m *Matcher) cells(t *record.Table, row int, visit func(token uint32)) {
	for f, cell := range t.Cells(row) {
		if cell == 0 {
			continue
		}
		for _, token := range m.Numbering.Column(f).Tokens(cell - 1) {
			visit(token)
		}
	}
}

// Similarity returns the similarity of two records as a whole.
func (m *Matcher) Similarity(p Pair) float64 {
	return m.scale.Similarity(m.common(p), m.Sizes[0][p.A], m.Sizes[1][p.B])
}

// Reaches tells whether the similarity of two records reaches a threshold.
func (m *Matcher) Reaches(p Pair, t measure.Threshold) bool {
	return t.Reached(m.common(p), m.Sizes[0][p.A], m.Sizes[1][p.B])
}

// A tokenSet is a set of tokens with data about each: a table with open addressing, at most half full, and a bitmap
// of 16 bits a slot, which shows that most other tokens are not in the set. For a record of a hundred tokens they
// take 4 KiB and 512 bytes.
type tokenSet struct {
	slots []slot   // a power of two
	maybe []uint64 // bit of the hash of each token
	shift uint     // what is left of the hash of a token after it is the token's place
}

// slot has the data about a token of the left record of a matcher.
type slot struct {
	name    uint32 // 1 + the token; 0: the slot is free
	round   uint32 // in which the token was last met
	columns uint32 // that have it: bit f, of the first markedColumns
	weight  uint16 // in the record as a whole
	own     uint16 // in the column, of tokens that one column alone has; 0: not looked up yet
}

// bitsOfSlot is the binary logarithm of the bits of the bitmap for each slot.
const bitsOfSlot = 4

// reset empties the set, and makes room for n tokens. O(n).
func (s *tokenSet) reset(n int) {
	size := 1 << max(4, bits.Len(uint(2*n)))
	s.slots = slices.Grow(s.slots[:0], size)[:size]
	clear(s.slots)
	s.maybe = slices.Grow(s.maybe[:0], size<<bitsOfSlot/64)[:size<<bitsOfSlot/64]
	clear(s.maybe)
	s.shift = uint(32 - bits.Len(uint(size-1)))
}

// hashOf is multiplicative, by the golden ratio (Knuth): its upper bits count.
func hashOf(token uint32) uint32 { return token * 0x9e3779b1 }

// slot returns the slot of a token, or the free one that it would take.
func (s *tokenSet) slot(token uint32) *slot {
	mask := uint32(len(s.slots) - 1)
	i := hashOf(token) >> s.shift
	for s.slots[i].name != 0 && s.slots[i].name != token+1 {
		i = (i + 1) & mask
	}
	return &s.slots[i]
}

// note sets the bit of a token in the bitmap.
func (s *tokenSet) note(token uint32) {
	h := hashOf(token) >> (s.shift - bitsOfSlot)
	s.maybe[h/64] |= 1 << (h % 64)
}

// pass returns the indexes of the tokens that may be in the set, by the bitmap. dst is scratch.
func (s *tokenSet) pass(dst []uint32, tokens []uint32) []uint32 {
	if cap(dst) < len(tokens) {
		dst = make([]uint32, 2*len(tokens))
	}
	dst = dst[:len(tokens)]
	n, shift := 0, s.shift-bitsOfSlot
	for i, token := range tokens {
		h := hashOf(token) >> (shift & 31)
		dst[n] = uint32(i)
		n += int(s.maybe[h/64] >> (h % 64) & 1)
	}
	return dst[:n]
}
