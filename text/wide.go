package text

import (
	"bytes"
	"encoding/binary"
	"slices"
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
	changed []uint16 // where code points change their tokens, in the stretch of cuts
	memo    tokenMemo
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
		t.swapIn(doc[at : at+used])
		dst = w.cuts.AppendAllHashes(dst)
		if len(w.changed) > 0 {
			dst = t.rebuild(dst, doc[at:at+used])
		}
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

// swapIn swaps the code points of a stretch that are to be swapped, and lists the places of those
// that change their tokens. All are of two or three bytes.
func (t *Tokenizer) swapIn(stretch []byte) {
	w := t.wide
	w.changed = w.changed[:0]
	for _, at := range w.cuts.Places() {
		if int(at)+1 >= len(stretch) {
			break
		}
		r := shortCodePoint(stretch[at:])
		p := t.table.page(r)
		switch class := p.class[r%pageSize]; {
		case class&simd.ClassSwap != 0:
			by, text := p.swap[r%pageSize], w.cuts.TextAt(at)
			binary.LittleEndian.PutUint16(text, uint16(by))
			if r >= 0x800 { // of three bytes
				text[2] = byte(by >> 16)
			}
		case class&simd.ClassRebuild != 0 || !t.isOrdered(stretch, int(at)):
			w.changed = append(w.changed, at)
		}
	}
}

// shortCodePoint returns the code point of two or three bytes that b begins with.
func shortCodePoint(b []byte) rune {
	r := uint32(b[0])&0x1f<<6 | uint32(b[1])&0x3f
	if b[0] >= 0xe0 {
		r = (r<<6 | uint32(b[2])&0x3f) & 0xffff
	}
	return rune(r)
}

// isOrdered reports whether the mark at stretch[at], which composes with nothing, follows another such
// mark in canonical order, so that it changes nothing.
func (t *Tokenizer) isOrdered(stretch []byte, at int) bool {
	before, _ := utf8.DecodeLastRune(stretch[:at])
	mark, _ := utf8.DecodeRune(stretch[at:])
	const attached = simd.ClassLastMark | simd.ClassLate
	p := t.table.page(before)
	return before >= utf8.RuneSelf && p.class[before%pageSize]&(attached|simd.ClassRebuild) == attached &&
		p.ccc[before%pageSize] <= t.table.page(mark).ccc[mark%pageSize]
}

// isMark reports whether the code point at stretch[at] may combine with what is before it.
func (t *Tokenizer) isMark(stretch []byte, at int) bool {
	if stretch[at] < utf8.RuneSelf {
		return false
	}
	r := shortCodePoint(stretch[at:])
	return t.table.page(r).class[r%pageSize]&(simd.ClassMark|simd.ClassLastMark|simd.ClassLate) != 0
}

// rebuild replaces the tokens of a stretch, whose hashes end dst, that have one of the places in
// wide.changed. What comes before such a token, and what comes behind it, does not combine with it,
// so that scan makes of it alone what it makes of it in its text.
func (t *Tokenizer) rebuild(dst []uint64, stretch []byte) []uint64 {
	w := t.wide
	starts, ends := w.cuts.Tokens()
	first := len(dst) - len(starts) // the number in dst of the token 0
	done := 0
	for i, next := 0, 0; next < len(w.changed); next++ {
		at := int(w.changed[next])
		if at < done {
			continue
		}
		for i < len(ends) && int(ends[i]) <= at {
			i++
		}
		if i == len(ends) {
			break
		}
		// With the tokens and the separator before it that marks at its beginning follow.
		from, start := i, int(starts[i])
		for start > 0 && t.isMark(stretch, start) {
			start = codePointBefore(stretch, start)
			for from > 0 && int(ends[from-1]) > start {
				from--
				start = int(starts[from])
			}
		}
		// With the marks behind it, and the tokens that they begin.
		done = int(ends[i])
		for i++; done < len(stretch) && t.isMark(stretch, done); {
			_, size := utf8.DecodeRune(stretch[done:])
			for done += size; i < len(starts) && int(starts[i]) < done; i++ {
				done = int(ends[i])
			}
		}
		hashes := w.memo.tokens(t, dst[first+i-1], stretch[start:done])
		if len(hashes) == i-from {
			copy(dst[first+from:], hashes)
		} else {
			dst = slices.Replace(dst, first+from, first+i, hashes...)
			first += len(hashes) - (i - from)
		}
	}
	return dst
}

// codePointBefore returns where the code point before b[i] begins.
func codePointBefore(b []byte, i int) int {
	_, w := utf8.DecodeLastRune(b[:i])
	return i - w
}

// A tokenMemo remembers what becomes of tokens that normalisation changes. Texts that have any have
// the same ones again and again (Vietnamese with decomposed letters 95, 300 MB/s). Tokens in the same
// slot displace each other.
type tokenMemo struct {
	entries []tokenEntry // nil until first needed
	made    []uint64
}

// A tokenEntry is a token of up to 70 bytes, and up to three that it becomes.
type tokenEntry struct {
	in       [70]byte
	n, count uint8
	hashes   [3]uint64
}

const tokenMemoBits = 12 // 1<<tokenMemoBits entries of 96 bytes

// tokens returns the hashes of the tokens that become of a piece, which hold until the next call.
// hash is one that such pieces seldom share.
func (m *tokenMemo) tokens(t *Tokenizer, hash uint64, piece []byte) []uint64 {
	if m.entries == nil {
		m.entries = make([]tokenEntry, 1<<tokenMemoBits)
	}
	e := &m.entries[hash>>(64-tokenMemoBits)]
	if int(e.n) == len(piece) && bytes.Equal(e.in[:e.n], piece) {
		return e.hashes[:e.count]
	}
	m.made = m.made[:0]
	for i := 0; i < len(piece); {
		m.made, i = t.scan(m.made, piece, i, len(piece))
	}
	if len(piece) <= len(e.in) && len(m.made) <= len(e.hashes) {
		e.n, e.count = uint8(copy(e.in[:], piece)), uint8(copy(e.hashes[:], m.made))
	}
	return m.made
}
