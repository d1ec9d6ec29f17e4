package text

import (
	"unicode/utf8"

	"github.com/alike-dev/alike/internal/simd"
)

// The fast path for all scripts: simd.Cut finds the tokens of a stretch by the classes of
// its code points, and hashes them. What it cannot deal with goes to scan.

// wide is what this path has of a tokenizer.
type wide struct {
	classes *simd.Classes
	known   [1 << 16 / pageSize]bool // whose pages classes has
	cuts    simd.Cuts
}

// fewASCII is how many bytes of ASCII the path of ASCII alone must get through at once to be
// tried again within a block. (With 64, 128 and 256 English and German take the same time.)
const fewASCII = 64

// maxPatience is how many bytes scan does behind what stopped simd.Cut, at most: twice as
// many each time that it was stopped after a short way, as texts are that need scan often.
const maxPatience = 1 << 10

// newWide returns the classes of no page.
func (t *Tokenizer) newWide() *wide {
	rule := simd.ASCIIWords
	switch t.options.Tokens {
	case Space:
		rule = simd.ASCIINonSpace
	case Chars:
		rule = simd.ASCIIEach
	}
	return &wide{classes: simd.NewClasses(rule, !t.options.NoFold)}
}

// appendWide does doc[at:], where a token may begin, to limit or some bytes more.
func (t *Tokenizer) appendWide(dst []uint64, doc []byte, at, limit int) ([]uint64, int) {
	if t.wide == nil {
		t.wide = t.newWide()
	}
	w := t.wide
	patience := 0
	for at < limit {
		used, seen, stopped := w.classes.Cut(&w.cuts, doc[at:])
		w.cuts.Swapped(t.swap)
		dst = w.cuts.AppendAllHashes(dst)
		seen += at
		at += used
		switch {
		case stopped && t.learn(doc, seen):
			continue
		case stopped && used < 64:
			patience = min(2*patience+32, maxPatience)
		case stopped:
			patience /= 2
		case used > 0:
			continue
		}
		dst, at = t.scan(dst, doc, at, min(seen+1+patience, len(doc)))
	}
	return dst, at
}

// learn looks up the classes of the code points around the one at doc[i] if they are not
// known yet.
func (t *Tokenizer) learn(doc []byte, i int) bool {
	r, w := utf8.DecodeRune(doc[i:])
	if r < utf8.RuneSelf || w > 3 || r == utf8.RuneError && w == 1 || t.wide.known[r/pageSize] {
		return false
	}
	t.wide.known[r/pageSize] = true
	t.wide.classes.SetPage(r&^(pageSize-1), &t.table.page(r).class)
	return true
}

// swap replaces the code point at the beginning of b by what becomes of it.
func (t *Tokenizer) swap(_ int, b []byte) { copy(b, t.table.replacement(b, 0)) }

// actionClasses are the classes of code points that only act.
var actionClasses = [...]uint8{
	actionSeparate: 0, actionRun: simd.ClassRun, actionSolo: simd.ClassSolo, actionJoin: simd.ClassRun,
}

// class returns the class of a code point of the given entry, which out replaces if anything
// does.
func (t *table) class(r rune, e entry, out []byte) uint8 {
	width := utf8.RuneLen(r)
	if t.options.Tokens == UAX29 {
		return t.segmentClass(r, e, width, out)
	}
	c := actionClasses[e.action()]
	switch {
	case width > 3, e&glue != 0, e&unstable != 0 && c != 0:
		c = simd.ClassStop
	case e&replaced != 0:
		c = simd.ClassStop
		if len(out) == width && e&(attach|joins) == 0 {
			c = t.swapClass(out)
		}
	case e&attach != 0:
		c |= simd.ClassLastMark
	case e&joins != 0:
		c |= simd.ClassMark
	}
	return c
}

// swapClass returns the class of what out replaces: a run, or one token.
func (t *table) swapClass(out []byte) uint8 {
	c := uint8(simd.ClassSwap)
	for i := 0; i < len(out); {
		r, w := utf8.DecodeRune(out[i:])
		switch e, _ := t.describe(r); {
		case e == actionRun:
			c |= simd.ClassRun
		case e == actionSolo && w == len(out):
			c |= simd.ClassSolo
		default:
			return simd.ClassStop
		}
		i += w
	}
	return c
}
