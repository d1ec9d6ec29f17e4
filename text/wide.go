package text

import (
	"unicode/utf8"

	"github.com/alike-dev/alike/internal/simd"
)

// The fast path for all scripts: simd.Cut finds the tokens of a stretch by the classes of
// its code points, and hashes them. Scan does what simd.Cut cannot.

// wide is a tokenizer's state of this path.
type wide struct {
	classes *simd.Classes
	known   [1 << 16 / pageSize]bool // the pages that classes has
	cuts    simd.Cuts
}

// fewASCII is how many bytes of ASCII the ASCII path must process in one go to be tried
// again within a block. (With 64, 128 and 256 English and German take the same time.)
const fewASCII = 64

// maxPatience is the most bytes that scan processes after simd.Cut has stopped. Scan's share
// doubles each time Cut stops soon, as it does in texts that often need scan.
const maxPatience = 1 << 10

// newWide returns the state of the path, with no page known yet.
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

// appendWide processes doc[at:], where a token may begin, up to limit or a few bytes more.
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

// learn looks up the page of the code point at doc[i] unless it is known already, and
// reports whether it did.
func (t *Tokenizer) learn(doc []byte, i int) bool {
	r, w := utf8.DecodeRune(doc[i:])
	if r < utf8.RuneSelf || w > 3 || r == utf8.RuneError && w == 1 || t.wide.known[r/pageSize] {
		return false
	}
	t.wide.known[r/pageSize] = true
	t.wide.classes.SetPage(r&^(pageSize-1), &t.table.page(r).class)
	return true
}

// swap replaces the code point at the beginning of b by its replacement.
func (t *Tokenizer) swap(_ int, b []byte) { copy(b, t.table.replacement(b, 0)) }
