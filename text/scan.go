package text

import (
	"encoding/binary"
	"unicode/utf8"

	"github.com/alike-dev/alike/internal/hashing"
)

// scan tokenises doc from i on, where a token may begin, whatever code points follow. It
// returns between two tokens: at the end of doc, soon after limit, or where a long
// stretch of ASCII begins for which there is a faster path. It always gets past the code
// point at i.
//
//	e = entry of the current code point, f = entry of the next one
//	plain (e is not changed, f does not combine with it): act on e
//	else: give it, with all that may combine, to unit
//	the next code point becomes the current one
//
// Tricks:
//
//  1. Each code point is decoded and looked up once, as f, and without a branch
//     on its width, which would be unpredictable in many languages (MB/s without
//     and with: ja 276, 371; ko 227, 283; vi 138, 148).
//  2. The current token is t.token followed by doc[start:i]: a run of plain code
//     points costs no copying, and t.token is mostly empty.
//  3. One test of the flags of both recognises the plain case.
//  4. A solo token is hashed from a register, a short one without a branch on its
//     length; an ASCII capital does not go through unit (with these two
//     ko 265, 310; vi 147, 170).
//
// long: one function, so that the loop's state stays in local variables.
func (t *Tokenizer) scan(dst []uint64, doc []byte, i, limit int) ([]uint64, int) {
	const (
		changed  = replaced | attach | glue | invalid
		combines = attach | glue | joins
	)
	tab := t.table
	handBack := t.fast != fastNone
	begin, start := i, -1
	e, w := tab.lookup(doc, i)
	for i < len(doc) {
		if i >= limit && i > begin && start < 0 && len(t.token) == 0 {
			if again, _ := tab.lookup(doc, i); again&combines == 0 {
				return dst, i
			}
		}

		j := i + w
		var f entry
		var fw int
		if len(doc)-j < utf8.UTFMax {
			f, fw = tab.lookup(doc, j)
		} else {
			x := binary.LittleEndian.Uint32(doc[j:])
			if l := &leads[uint8(x)]; x&l.mask == l.want {
				r := (x&l.bits<<12 | x>>2&0xfc0 | x>>16&0x3f) >> (l.shift & 31)
				p := tab.pages[r>>pageBits&0xff].Load()
				if p == nil {
					p = tab.makePage(rune(r) >> pageBits)
				}
				f, fw = p.entry[r%pageSize], int(l.width)
			} else {
				f, fw = tab.lookup(doc, j)
			}
		}

		if e&changed|f&combines != 0 {
			solo := e.action() == actionSolo
			switch {
			case e == replaced|actionRun && f&combines == 0 && doc[i] < utf8.RuneSelf:
				// A capital letter of ASCII.
				if start >= 0 {
					t.token = append(t.token, doc[start:i]...)
					start = -1
				}
				t.token = append(t.token, doc[i]|0x20)
				i, e, w = j, f, fw
				continue
			case e&changed == 0 && f&combines == joins && !solo:
				// A mark that changes nothing, and there is nothing to join.
			case e&(changed|unstable) == 0 && f&glue == 0 && !(solo && f&joins != 0) && !tab.mayCombine(doc, j+fw):
				f &^= attach // f stays unchanged in its place
			case e&ignored == ignored && f&combines == 0:
				// The code point is ignored.
				if start >= 0 {
					t.token = append(t.token, doc[start:i]...)
					start = -1
				}
				i, e, w = j, f, fw
				continue
			case e&changed == 0 && f&ignored == ignored && !tab.combinesAt(doc, j+fw):
				// Act as if the next code point were not there.
				if action := e.action(); action == actionRun || action == actionJoin {
					if start < 0 {
						start = i
					}
					t.token = append(t.token, doc[start:j]...)
					start, i = -1, j+fw
					e, w = tab.lookup(doc, i)
					continue
				}
			default:
				if start >= 0 {
					t.token = append(t.token, doc[start:i]...)
					start = -1
				}
				dst, i = t.unit(dst, doc, i)
				e, w = tab.lookup(doc, i)
				continue
			}
		}

		switch e.action() {
		case actionSeparate:
			if start >= 0 || len(t.token) > 0 {
				dst = t.endToken(dst, doc, start, i)
				start = -1
			}
			if handBack && doc[i] < utf8.RuneSelf && i > begin && isASCIIAhead(doc, i) {
				return dst, i
			}
		case actionSolo:
			if start >= 0 || len(t.token) > 0 {
				dst = t.endToken(dst, doc, start, i)
				start = -1
			}
			if handBack && doc[i] < utf8.RuneSelf && i > begin && isASCIIAhead(doc, i) {
				return dst, i
			}
			dst = append(dst, hashCodePoint(doc, i, w))
		default:
			if start < 0 {
				start = i
			}
		}
		i, e, w = j, f, fw
	}
	if start >= 0 || len(t.token) > 0 {
		dst = t.endToken(dst, doc, start, i)
	}
	return dst, i
}

// leads says, by the first byte of a code point of up to three bytes, how to decode it
// from four bytes x, read as a little-endian word. The code point is valid if x&mask ==
// want. Its number is the payload bits of all three bytes strung together, with the bytes
// that follow the code point shifted out.
var leads = func() (t [256]struct {
	mask, want, bits uint32
	shift, width     uint8
}) {
	for c := range t {
		l := &t[c]
		switch {
		case c < 0x80:
			l.bits, l.shift, l.width = 0x7f, 12, 1
		case c >= 0xc2 && c < 0xe0:
			l.mask, l.want, l.bits, l.shift, l.width = 0xc000, 0x8000, 0x1f, 6, 2
		case c == 0xe0: // the second byte is at least 0xa0, or the form would be overlong
			l.mask, l.want, l.bits, l.width = 0xc0e000, 0x80a000, 0x0f, 3
		case c == 0xed: // the second byte is below 0xa0, or it would be a surrogate
			l.mask, l.want, l.bits, l.width = 0xc0e000, 0x808000, 0x0f, 3
		case c > 0xe0 && c < 0xf0:
			l.mask, l.want, l.bits, l.width = 0xc0c000, 0x808000, 0x0f, 3
		default: // four bytes, or not UTF-8: never equal
			l.want = 1
		}
	}
	return t
}()

// asciiAhead is how many bytes of ASCII must follow before scan returns to the fast path.
// Scan itself is faster on shorter stretches.
const asciiAhead = 32

// isASCIIAhead reports whether the next asciiAhead bytes are all ASCII.
func isASCIIAhead(b []byte, i int) bool {
	const high = 0x8080808080808080
	if len(b)-i < asciiAhead {
		return false
	}
	w := (*[asciiAhead]byte)(b[i:])
	return (binary.LittleEndian.Uint64(w[:])|binary.LittleEndian.Uint64(w[8:])|
		binary.LittleEndian.Uint64(w[16:])|binary.LittleEndian.Uint64(w[24:]))&high == 0
}

// hashCodePoint is hashing.Bytes(doc[i:i+w]) for w ≤ 4.
func hashCodePoint(doc []byte, i, w int) uint64 {
	if len(doc)-i < utf8.UTFMax {
		return hashing.Bytes(doc[i : i+w])
	}
	v := uint64(binary.LittleEndian.Uint32(doc[i:])) & (1<<(8*uint(w)&63) - 1)
	return hashing.Fold(v^hashing.Key0, hashing.Key1^uint64(w)<<56)
}

// endToken hashes the current token, t.token followed by doc[start:end], or t.token alone
// if start < 0. The token must not be empty.
func (t *Tokenizer) endToken(dst []uint64, doc []byte, start, end int) []uint64 {
	if len(t.token) == 0 {
		if n := end - start; n <= 16 && len(doc)-start >= 16 {
			w, m := (*[16]byte)(doc[start:]), &tokenMasks[n]
			return append(dst, hashing.Fold(
				binary.LittleEndian.Uint64(w[:8])&m.lo^hashing.Key0,
				binary.LittleEndian.Uint64(w[8:])&m.hi^m.key))
		}
		return append(dst, hashing.Bytes(doc[start:end]))
	}
	if start >= 0 {
		t.token = append(t.token, doc[start:end]...)
	}
	dst = append(dst, hashing.Bytes(t.token))
	t.token = t.token[:0]
	return dst
}

// tokenMasks[n] keeps the first n of 16 bytes, two little-endian words, and holds the
// second key of hashing.Bytes for a token of n bytes. With it a short token is hashed
// without a branch on its length.
var tokenMasks = func() (t [17]struct{ lo, hi, key uint64 }) {
	for n := range uint(17) {
		t[n].lo = 1<<(8*min(n, 8)) - 1
		t[n].hi = 1<<(8*(max(n, 8)-8)) - 1
		t[n].key = hashing.Key1 ^ uint64(n)<<56
	}
	return t
}()

// unit processes the code point at doc[i] together with the following ones that may
// combine with it or join it, and returns where it stopped. The current token is in
// t.token, before and after.
func (t *Tokenizer) unit(dst []uint64, doc []byte, i int) ([]uint64, int) {
	e, w := t.table.lookup(doc, i)
	if e&invalid != 0 {
		return t.feed(dst, separator), i + w
	}
	end := i + w
	for {
		f, fw := t.table.lookup(doc, end)
		if f&(attach|glue|joins) == 0 {
			break
		}
		end += fw
	}
	if e&replaced != 0 && end == i+w {
		return t.feed(dst, t.table.replacement(doc, i)), end
	}
	return t.feed(dst, t.pipe.apply(doc[i:end])), end
}

// feed acts on every code point of a piece of normal form. The text after the piece does
// not join its solo tokens.
func (t *Tokenizer) feed(dst []uint64, normal []byte) []uint64 {
	solo := false // t.token is a solo token that may be joined
	for i := 0; i < len(normal); {
		e, w := t.table.lookup(normal, i)
		action := e.action()
		if len(t.token) > 0 && (action == actionSeparate || action == actionSolo || solo && action == actionRun) {
			dst = t.endToken(dst, nil, -1, 0)
			solo = false
		}
		if action != actionSeparate {
			t.token = append(t.token, normal[i:i+w]...)
		}
		solo = solo || action == actionSolo
		i += w
	}
	if solo {
		dst = t.endToken(dst, nil, -1, 0)
	}
	return dst
}
