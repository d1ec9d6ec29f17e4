package text

import (
	"bytes"
	"encoding/binary"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/alike-dev/alike/internal/simd"
)

// An entry tells the loops all about a code point under one set of options.
type entry uint8

const (
	// The low two bits are the action: what the code point does to the tokens
	// when it comes out of the pipeline.
	actionSeparate entry = 0 // ends the current token
	actionRun      entry = 1 // extends the current token, or begins one
	actionSolo     entry = 2 // is a token
	actionJoin     entry = 3 // joins a solo token before it, otherwise as actionRun
	actionMask     entry = 3

	// The other bits say what the pipeline does to the code point on its way in.

	// replaced: if it stands alone, page.replacement takes its place.
	replaced entry = 1 << 2
	// unstable: normalisation changes it, so a following code point that is glue or attaches
	// must be normalised together with it.
	unstable entry = 1 << 3
	// attach: not a starter, but composes with nothing. After a single stable starter it
	// stays unchanged in its place.
	attach entry = 1 << 4
	// glue: may compose with a preceding code point.
	glue entry = 1 << 5
	// joins: its replacement begins with an actionJoin.
	joins entry = 1 << 6
	// ignored: both flags mean that the pipeline removes it.
	ignored = attach | glue
	// invalid: a byte that is not UTF-8. It separates, and nothing combines
	// across it.
	invalid entry = 1 << 7
)

func (e entry) action() entry { return e & actionMask }

const (
	pageBits = 8
	pageSize = 1 << pageBits
	maxPages = (unicode.MaxRune + 1) / pageSize
)

// A page holds the entries of 256 code points.
type page struct {
	entry       [pageSize]entry
	replacement *[pageSize][]byte // nil if none of them is replaced
	class       [pageSize]uint8   // for simd.Cut
	ccc         [pageSize]uint8   // canonical combining classes, the order of marks
	swap        *[pageSize]uint32 // the bytes of replacements of the same length, the first one lowest; nil if there are none
}

// A table has an entry for every code point. It makes each page when the page is first
// needed, which takes some tens of microseconds. All tokenizers of the same options share
// the pages.
type table struct {
	pages [maxPages]atomic.Pointer[page]
	ascii *page

	mu       sync.Mutex // guards the making of pages
	options  Options
	pipeline pipeline
	action   func(r rune) entry
}

// A tableKey holds the options that a table depends on.
type tableKey struct {
	version               Version
	normalize             Normalization
	noFold, ignore, strip bool
	tokens                Tokens
}

var (
	tablesMu sync.Mutex
	tables   = map[tableKey]*table{}
)

func tableFor(o Options) *table {
	o = o.withDefaults()
	key := tableKey{o.Version, o.Normalize, o.NoFold, o.ignores(), o.StripDiacritics, o.Tokens}
	if o.Tokens == Graphemes || o.Tokens == ASCII {
		// They have boundaries of their own, or none. They accept any action except
		// actionSeparate, whose text is not kept.
		key.tokens = Chars
	}
	tablesMu.Lock()
	defer tablesMu.Unlock()
	t := tables[key]
	if t == nil {
		t = newTable(o, key.tokens)
		t.ascii = t.makePage(0)
		tables[key] = t
	}
	return t
}

// newTable returns the table of options, with the actions of tokens.
func newTable(o Options, tokens Tokens) *table {
	return &table{options: o, pipeline: newPipeline(o), action: actionOf(tokens)}
}

// page returns the page of r, a valid code point.
func (t *table) page(r rune) *page {
	if p := t.pages[uint32(r)>>pageBits%maxPages].Load(); p != nil {
		return p
	}
	return t.makePage(r >> pageBits)
}

// lookup returns the entry and the width of the code point at b[i]. Past the end it
// returns a separator of width 0.
func (t *table) lookup(b []byte, i int) (entry, int) {
	if i >= len(b) {
		return actionSeparate, 0
	}
	if c := b[i]; c < utf8.RuneSelf {
		return t.ascii.entry[c], 1
	}
	r, w := utf8.DecodeRune(b[i:])
	if r == utf8.RuneError && w == 1 {
		return invalid | actionSeparate, 1
	}
	return t.page(r).entry[r%pageSize], w
}

// combinesAt reports whether the code point at doc[i] may affect the normal form of the
// code points before it, or they its own.
func (t *table) combinesAt(doc []byte, i int) bool {
	e, _ := t.lookup(doc, i)
	return e&(attach|glue|joins) != 0
}

// mayCombine reports whether the code point at doc[i] attaches to, or combines
// with, what precedes it.
func (t *table) mayCombine(doc []byte, i int) bool {
	e, _ := t.lookup(doc, i)
	return e&(attach|glue) != 0
}

// verbatimEnd returns the end of the stretch of doc from i on that is in normal form
// already.
func (t *table) verbatimEnd(doc []byte, i int) int {
	e, w := t.lookup(doc, i)
	for w > 0 && e&(replaced|attach|glue|invalid) == 0 {
		f, fw := t.lookup(doc, i+w)
		if f&(attach|glue) != 0 {
			break
		}
		i += w
		e, w = f, fw
	}
	return i
}

// replacement returns what replaces the code point at b[i] when it stands alone.
func (t *table) replacement(b []byte, i int) []byte {
	r, _ := utf8.DecodeRune(b[i:])
	return t.page(r).replacement[r%pageSize]
}

// replacementOf returns what replaces the i-th code point of the page, nil if nothing
// does.
func (p *page) replacementOf(i rune) []byte {
	if p.replacement == nil {
		return nil
	}
	return p.replacement[i]
}

func (t *table) makePage(number rune) *page {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.pages[number].Load(); p != nil {
		return p
	}
	p := new(page)
	for i := range rune(pageSize) {
		r := number<<pageBits + i
		if !utf8.ValidRune(r) {
			continue // never looked up
		}
		e, out := t.describe(r)
		p.entry[i] = e
		if e&replaced != 0 {
			if p.replacement == nil {
				p.replacement = new([pageSize][]byte)
			}
			p.replacement[i] = bytes.Clone(out)
		}
		if p.class[i] = t.class(r, e, p.replacementOf(i)); p.class[i]&simd.ClassSwap != 0 {
			if p.swap == nil {
				p.swap = new([pageSize]uint32)
			}
			p.swap[i] = binary.LittleEndian.Uint32(append(bytes.Clone(p.replacement[i]), 0, 0, 0))
		}
		p.ccc[i] = norm.NFC.PropertiesString(string(r)).CCC()
	}
	t.pages[number].Store(p)
	return p
}

// describe computes the entry of a code point and its replacement, if it has one.
func (t *table) describe(r rune) (entry, []byte) {
	var buf [utf8.UTFMax]byte
	in := buf[:utf8.EncodeRune(buf[:], r)]
	out := t.pipeline.apply(in)
	e := t.action(r) | t.combining(r, in, out)
	first, _ := utf8.DecodeRune(out)
	if len(out) > 0 && t.action(first) == actionJoin {
		e |= joins
	}
	if bytes.Equal(in, out) {
		return e, nil
	}
	if e.action() == actionSeparate && len(out) > 0 && t.allSeparate(out) {
		return e, nil // one separator is as good as another
	}
	return e | replaced, out
}

// combining returns the flags that say how r relates to its neighbours.
func (t *table) combining(r rune, in, out []byte) entry {
	normalise, strip := t.options.Normalize != None, t.options.StripDiacritics
	switch {
	case len(out) == 0:
		return ignored
	case !normalise && !strip:
		return 0
	}
	var e entry
	form := t.options.Normalize.form()
	composes := form.QuickSpan(in) < len(in) // "no" or "maybe" in Unicode's quick check
	switch props := form.Properties(in); {
	case strip:
		// Removing a mark may let its neighbours compose. What strip leaves may compose too,
		// though normalisation itself did not run.
		if !props.BoundaryBefore() || unicode.Is(unicode.Mn, r) || !form.Properties(out).BoundaryBefore() {
			e |= glue
		}
	case props.BoundaryBefore() && form.Properties(out).BoundaryBefore():
	case props.CCC() != 0 && !composes && bytes.Equal(in, out):
		e |= attach
	default:
		e |= glue
	}
	if composes || strip && !bytes.Equal(in, out) {
		e |= unstable
	}
	return e
}

func (t *table) allSeparate(b []byte) bool {
	for len(b) > 0 {
		r, w := utf8.DecodeRune(b)
		if t.action(r) != actionSeparate {
			return false
		}
		b = b[w:]
	}
	return true
}

// spaceless lists the scripts in which Words makes each code point a token.
var spaceless = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// isSpaceless reports whether r belongs to one of those scripts. Unicode counts the two
// signs that lengthen a kana vowel as common to several scripts.
func isSpaceless(r rune) bool {
	const prolonged, halfWidthProlonged = 0x30fc, 0xff70
	return r == prolonged || r == halfWidthProlonged || unicode.In(r, spaceless...)
}

// actionOf returns the rule of a tokeniser.
func actionOf(tokens Tokens) func(r rune) entry {
	switch tokens {
	case Alnum:
		return alnumAction
	case Space:
		return spaceAction
	case Chars, UAX29: // which has boundaries of its own
		return func(rune) entry { return actionSolo }
	default:
		return wordAction
	}
}

func wordAction(r rune) entry {
	switch mark := unicode.IsMark(r); {
	case !mark && !unicode.IsLetter(r) && !unicode.IsNumber(r):
		return actionSeparate
	case isSpaceless(r):
		return actionSolo
	case mark && unicode.Is(unicode.Mn, r):
		return actionJoin
	}
	return actionRun
}

func alnumAction(r rune) entry {
	if unicode.IsLetter(r) || unicode.IsNumber(r) {
		return actionRun
	}
	return actionSeparate
}

func spaceAction(r rune) entry {
	if unicode.IsSpace(r) {
		return actionSeparate
	}
	return actionRun
}
