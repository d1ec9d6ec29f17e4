package text

import (
	"encoding/binary"
	"slices"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/alike-dev/alike/internal/hashing"
)

// A pipeline does the first four steps (normalise, fold, ignore, strip) for a piece of
// text. It owns scratch memory and belongs to one goroutine.
//
// Applied to a whole text it returns the text's normal form. Applied to the pieces of a
// text, cut before code points without the glue and attach flags of the code point table,
// it returns the pieces of the normal form.
type pipeline interface {
	// apply returns the normal form of piece, which holds until the next call.
	apply(piece []byte) []byte
}

func newPipeline(o Options) pipeline {
	o = o.withDefaults()
	if o.Version == V1 {
		return newPipelineV1(o)
	}
	return &steps{
		form:      o.Normalize.form(),
		normalise: o.Normalize != None,
		fold:      !o.NoFold,
		ignore:    o.ignores(),
		strip:     o.StripDiacritics,
		caser:     cases.Fold(),
	}
}

// steps is the pipeline of text/v2. It folds decomposed text, as Unicode's caseless
// matching does (The Unicode Standard, D145 and D146), and composes last.
type steps struct {
	form        norm.Form
	normalise   bool
	fold        bool
	ignore      bool
	strip       bool
	front, back []scalar // the current piece, and where the next step writes it
	out         []byte

	caser  cases.Caser
	letter []byte   // one code point for caser
	folded [16]byte // what caser makes of letter
	// stays[r % len(stays)] is the last code point with this remainder that steps leaves
	// unchanged.
	stays [512]rune
}

func (p *steps) apply(piece []byte) []byte {
	p.front = appendScalars(p.front[:0], piece)
	if p.normalise {
		p.decompose(p.form)
	}
	changed := p.foldAndIgnore()
	if p.strip {
		p.decompose(norm.NFC)
		p.front = slices.DeleteFunc(p.front, func(s scalar) bool { return unicode.Is(unicode.Mn, s.r) })
	}
	if p.normalise && changed || p.strip {
		p.decompose(norm.NFC)
	}
	if p.normalise || p.strip {
		p.front = compose(p.front)
	}
	p.out = appendBytes(p.out[:0], p.front)
	return p.out
}

func (p *steps) decompose(form norm.Form) {
	p.back = decompose(p.back[:0], p.front, form)
	p.front, p.back = p.back, p.front
}

// foldAndIgnore does the second and the third step, and reports whether they changed
// anything. The code points that it inserts have no class yet.
func (p *steps) foldAndIgnore() (changed bool) {
	p.back = p.back[:0]
	for _, s := range p.front {
		known := &p.stays[uint32(s.r)%uint32(len(p.stays))]
		if s.r < 'A' || s.class != 0 && s.r != iotaSubscript || *known == s.r {
			p.back = append(p.back, s) // no other mark has a case, and none is ignorable
			continue
		}
		n := len(p.back)
		if !p.ignore || !isIgnorable(s.r) {
			p.appendFolded(s)
		}
		if len(p.back) == n+1 && p.back[n].r == s.r {
			*known = s.r
		} else {
			changed = true
		}
	}
	p.front, p.back = p.back, p.front
	return changed
}

// iotaSubscript is a mark that folds to a letter.
const iotaSubscript = 0x345

// appendFolded appends the full case folding of s to p.back.
func (p *steps) appendFolded(s scalar) {
	switch {
	case !p.fold:
		p.back = append(p.back, s)
	case unicode.Is(unicode.Cherokee, s.r):
		// Only these letters fold to capitals, since their small forms were added later.
		// (x/text/cases exchanges the two.)
		p.back = append(p.back, scalar{r: unicode.ToUpper(s.r)})
	default:
		p.letter = utf8.AppendRune(p.letter[:0], s.r)
		n, _, err := p.caser.Transform(p.folded[:], p.letter, true)
		if err != nil {
			panic("text: a code point folds to more bytes than Unicode allows: " + err.Error())
		}
		p.back = appendScalars(p.back, p.folded[:n])
	}
}

// A memo remembers the normal forms of short sequences of code points. A text has few
// different sequences that combine, but without the memo each goes through all steps of the
// pipeline many times (Bengali 120, 300 MB/s; Yoruba with decomposed tones 480, 660).
// Entries in the same slot displace each other.
type memo struct {
	pipe    pipeline
	entries []memoEntry // nil until first needed
}

type memoEntry struct {
	in        [2]uint64 // the sequence, padded with zeros
	n, length uint8     // the lengths of in and out in bytes
	out       [30]byte
}

const memoBits = 9 // 1<<memoBits entries of 48 bytes

// apply is pipeline.apply. Its result is valid until the next call.
func (m *memo) apply(piece []byte) []byte {
	var padded [16]byte
	if len(piece) == 0 || len(piece) > len(padded) {
		return m.pipe.apply(piece)
	}
	if m.entries == nil {
		m.entries = make([]memoEntry, 1<<memoBits)
	}
	n := uint8(copy(padded[:], piece))
	in := [2]uint64{binary.LittleEndian.Uint64(padded[:]), binary.LittleEndian.Uint64(padded[8:])}
	e := &m.entries[hashing.Fold(in[0]^hashing.Key0, in[1]^hashing.Key1^uint64(n)<<56)>>(64-memoBits)]
	if e.n == n && e.in == in {
		return e.out[:e.length]
	}
	out := m.pipe.apply(piece)
	if len(out) <= len(e.out) {
		e.in, e.n = in, n
		e.length = uint8(copy(e.out[:], out))
	}
	return out
}

// isIgnorable reports whether a reader does not see a code point: it is default-ignorable
// in Unicode (soft hyphen, zero-width space and joiners, direction marks, variation
// selectors, …), or it only makes a word longer on the page.
func isIgnorable(r rune) bool {
	switch {
	case r < firstIgnorable:
		return false
	case r == tatweel, r == lajanyalan, r == nirugu:
		return true
	}
	return unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) ||
		unicode.Is(unicode.Cf, r) && !isVisibleFormat(r)
}

// allIgnorable reports whether b holds only ignorable code points.
func allIgnorable(b []byte) bool {
	for len(b) > 0 {
		r, w := utf8.DecodeRune(b)
		if !isIgnorable(r) {
			return false
		}
		b = b[w:]
	}
	return true
}

const firstIgnorable = 0xad // the soft hyphen

// The stretchers of Arabic, N'Ko and Mongolian.
const tatweel, lajanyalan, nirugu = 0x640, 0x7fa, 0x180a

// isVisibleFormat reports whether a format character (Cf) has a look of its own, and so
// is not default-ignorable: signs that enclose digits, interlinear annotation, and
// joiners of hieroglyphs (DerivedCoreProperties.txt).
func isVisibleFormat(r rune) bool {
	return unicode.Is(unicode.Prepended_Concatenation_Mark, r) || r >= 0xfff9 && r <= 0xfffb || r >= 0x13430 && r <= 0x13440
}
