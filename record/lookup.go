package record

import (
	"slices"

	"github.com/alike-dev/alike/internal/hashing"
)

// A Lookup finds the numbers of values and tokens of rows that are not in the tables. It adds no numbers. It
// belongs to one goroutine; the numbering must neither grow nor be finished while it is used.
type Lookup struct {
	numbering *Numbering
	kinds     []Kind
	cutter    *Cutter
	words     bool
	found     []Found
	large     Found
	tokens    []uint64
}

// Found describes the numbers of a value and its tokens.
type Found struct {
	Missing bool     // there is no value
	Value   uint32   // 1 + its number; 0: it has no number
	Tokens  []uint32 // those of its tokens that have numbers, each once
	Others  bool     // it also has tokens without numbers

	raw uint64
}

// looked is the number of values that a Lookup remembers, looked·rememberedTokens the most tokens of them.
const (
	looked           = 1 << 15
	rememberedTokens = 64
)

// NewLookup returns a lookup of values. kinds says how values of each column are cut. With words it looks for
// only those tokens that are words, in columns of words.
func NewLookup(n *Numbering, kinds []Kind, repetitions, words bool) *Lookup {
	l := &Lookup{numbering: n, kinds: kinds, cutter: NewCutter(), words: words, found: make([]Found, looked)}
	l.cutter.Repetitions = repetitions
	return l
}

// Find returns the numbers of a value of column f and its tokens. They are valid until the next call.
// O(len(value)), less if the value was looked up recently.
func (l *Lookup) Find(f int, value []byte) *Found {
	if len(value) == 0 {
		l.large = Found{Missing: true}
		return &l.large
	}
	raw := hashing.Bytes(value) + uint64(f)*valueSalt
	at := &l.found[(raw^raw>>32)%looked]
	if at.raw == raw && raw != 0 {
		return at
	}
	whole := l.cut(value, l.kinds[f])
	if len(l.tokens) > rememberedTokens {
		at = &l.large
	}
	*at = Found{Missing: whole.Words == 0, Tokens: at.Tokens[:0], raw: raw}
	if at.Missing {
		return at
	}
	if number, ok := l.numbering.columns[f].numbers.find(whole.hash()); ok {
		at.Value = number + 1
	}
	slices.Sort(l.tokens)
	for _, hash := range slices.Compact(l.tokens) {
		if l.words && IsGram(hash) {
			continue
		}
		number, ok := l.numbering.tokens.find(hash)
		if !ok {
			at.Others = true
			continue
		}
		at.Tokens = append(at.Tokens, number)
	}
	return at
}

// shortValue is a length at which no value has so many tokens that Cut leaves some out: Unicode's
// compatibility forms make six code points of a byte at most, and each of them adds four tokens at most.
const shortValue = maxTokens / (4 * 6)

// cut puts the tokens to look for, and perhaps others, into l.tokens, and returns the Whole of the value.
func (l *Lookup) cut(value []byte, kind Kind) (whole Whole) {
	l.tokens = l.tokens[:0]
	switch {
	case !l.words:
	case !kind.OfWords():
		return l.cutter.whole(value, kind)
	case kind == Text && len(value) <= shortValue:
		kind = Words
	}
	l.tokens, whole = l.cutter.Cut(l.tokens, value, kind)
	return whole
}
