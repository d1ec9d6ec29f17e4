package simd

import (
	"encoding/binary"
	"slices"
	"unicode/utf8"

	"github.com/alike-dev/alike/internal/hashing"
)

// Cutting a stretch of UTF-8 into tokens, whatever its script.
//
//	for every block of 64 bytes, masks with a bit a byte:
//	    fold the capitals of ASCII on the way into Cuts.text
//	    run, solo = the ASCII bytes that belong to tokens
//	    for every lead byte: look up its code point's class;
//	        set its bytes in run or solo, record special cases
//	    token = run | solo
//	    start = first bytes of solos | run & ^(run<<1)
//	    end   = token<<1 & (^token | start)
//	    append the positions of start, and those of end, to two lists
//	    stop before the first code point that masks cannot handle
//	for every start and end: hash the bytes between them (AppendHashes)
//
// Few code points of most texts stop the loop; the caller handles those one by one. They are
// code points whose class says that they are unknown or combine with others; most marks, unless they
// follow a code point of a token that is not changed; bytes that are not UTF-8; and code points
// beyond U+FFFF. Others, such as those that change their length when folded, only have their
// places recorded, and the caller makes their tokens anew.

// The tricks, with figures for text to signature on one core (bench/scripts.py 885a2c8
// Scripts/words; before, a separate loop handled each code point, with some branches that are
// hard to predict):
//
//  1. Masks, not branches: the control flow does not depend on code points, except for those
//     that stop the loop (vi 140, 770 MB/s; ru 200, 1130).
//  2. Two passes over a stretch. The first finds and looks up code points and ends early, the
//     second makes masks: so classes are read long after they were written byte by byte.
//  3. AVX-512 decodes all code points of a block at once, in bytes, packs them (VPCOMPRESSB)
//     and looks them up one after the other, without a branch. AVX2 goes from bit to bit.
//  4. Replacing (ß, capitals) is left to the caller, who gets the few places in a list.
//  5. Marks may also follow tokens of one code point (km 230, 730; th 255, 505).

// A class says how a code point is cut.
type class = uint8

// The bits of a class. A code point without any of them is a separator.
const (
	ClassRun  class = 1 << 0 // is part of a run, which is a token
	ClassSolo class = 1 << 1 // is a token
	// ClassSwap: it is replaced by a code point of the same length; Cuts says where.
	ClassSwap class = 1 << 2
	// ClassMark: may follow a code point of a token that is not swapped. With ClassRun it is part
	// of that token, even of a solo. Anywhere else it stops the cut.
	ClassMark class = 1 << 3
	// ClassLastMark: a ClassMark that no other may follow.
	ClassLastMark class = 1 << 4
	ClassStop     class = 1 << 5 // cannot be handled here
	// ClassRebuild: it changes its token, which the caller has to make anew; Cuts says where.
	ClassRebuild class = 1 << 6
	// ClassLate, with one of the classes of marks: it may follow anything. Where no other mark may, it is as if it were
	// ClassRebuild, too. Without them it is no mark, but a stretch does not end before it either.
	ClassLate class = 1 << 7
)

// ASCIIRule says which characters are parts of tokens.
type ASCIIRule uint8

const (
	ASCIIWords    ASCIIRule = iota // letters and digits, in runs
	ASCIINonSpace                  // all except space and U+0009 to U+000D, in runs
	ASCIIEach                      // every character is a token
)

// Classes holds the classes of all code points that need up to three bytes. The assembly depends on
// the offsets of the fields.
type Classes struct {
	of     [1 << 16]class // from U+0080 on
	ascii  [128]class
	fold   [128]byte
	halves [2][16]byte // by lower halves of bytes, sets of upper halves: of bytes of tokens; of capitals that are folded
	token  [8]class    // of ASCII, repeated eight times
	swar   swarClasses
}

// NewClasses returns classes with a rule for ASCII; fold says whether its capitals are folded. All
// other code points are ClassStop.
func NewClasses(rule ASCIIRule, fold bool) *Classes {
	k := new(Classes)
	for r := utf8.RuneSelf; r < len(k.of); r++ {
		k.of[r] = ClassStop
	}
	token := uint8(ClassRun)
	if rule == ASCIIEach {
		token = ClassSolo
	}
	for i := range k.token {
		k.token[i] = token
	}
	for i := range k.ascii {
		c := byte(i)
		k.fold[i] = c
		if rule == ASCIIEach || rule == ASCIIWords && isWordByte(c) || rule == ASCIINonSpace && c != ' ' && (c < '\t' || c > '\r') {
			k.ascii[i] = token
			k.halves[0][c&15] |= 1 << (c >> 4)
		}
		if fold && c-'A' < 26 {
			k.fold[i] |= 0x20
			k.ascii[i] |= ClassSwap
			k.halves[1][c&15] |= 1 << (c >> 4)
		}
	}
	k.swar = newSWARClasses(rule, fold)
	return k
}

// PageSize is the number of code points of a page.
const PageSize = 1 << 8

// SetPage gives classes to the code points from r on, a multiple of PageSize below U+10000, except
// for ASCII and surrogates.
func (k *Classes) SetPage(r rune, page *[PageSize]class) {
	if r == 0 {
		copy(k.of[utf8.RuneSelf:], page[utf8.RuneSelf:])
	} else if utf8.ValidRune(r) {
		copy(k.of[r:], page[:])
	}
}

// Of returns the class of the code point at src[i]: 0 if it is ASCII, or beyond U+FFFF.
func (k *Classes) Of(src []byte, i int) class {
	r, w := utf8.DecodeRune(src[i:])
	if w < 2 || w > 3 {
		return 0
	}
	return k.of[r]
}

const (
	// CutBytes is how many bytes are cut at once, at most.
	CutBytes = wordBlock * wordBlocks
	// cutTail is the length of the end of a text that is copied in front of zeros.
	cutTail = wordTail
)

// Cuts is the result of Cut for a stretch. It takes some 15 KiB.
type Cuts struct {
	text         [CutBytes + wordBlock + wordPad]byte // folded
	starts, ends [CutBytes + 2*wordBlock]uint16       // of tokens
	swaps        [CutBytes/2 + wordBlock]uint16
	tokens       int
	swapped      int
	padded       [cutTail + wordBlock + wordPad]byte
}

// Cut cuts src into tokens, up to CutBytes or to a code point that stops it; a token may begin at
// src[0]. It returns how many bytes are done: a token may begin behind them, too. If stopped, the
// code point at src[seen] has stopped it, and the bytes from used up to it, with all that may
// combine with it, must be cut by other means. Otherwise, if used is 0, the whole stretch is one
// token. O(CutBytes).
func (k *Classes) Cut(c *Cuts, src []byte) (used, seen int, stopped bool) {
	return k.cut(bestCut, c, src)
}

// cut is Cut by the given variant.
func (k *Classes) cut(v cutVariant, c *Cuts, src []byte) (used, seen int, stopped bool) {
	size := len(src)
	last := size <= cutTail
	blocks := min((size-wordPad)/wordBlock, wordBlocks)
	if last {
		n := copy(c.padded[:cutTail], src)
		clear(c.padded[n:])
		src, blocks = c.padded[:], n/wordBlock+1
	}
	starts, ends, swaps, stop := v.cut(k, c, src, blocks)
	for swaps > 0 && int(c.swaps[swaps-1]) >= stop {
		swaps--
	}
	c.swapped = swaps
	for starts > 0 && int(c.starts[starts-1]) >= size {
		starts-- // in the zeros behind the text
	}
	c.tokens = min(starts, ends)
	if last && stop > size {
		if starts > 0 {
			open := starts - 1
			if starts > ends || int(c.ends[open]) > size {
				c.ends[open] = uint16(size)
			}
			c.tokens = starts
		}
		return size, size, false
	}
	// The next code point may combine with the one before it, and a mark with the one before the mark. The token that
	// is open at stop, and those that end behind what is used, are left to the next cut.
	used = codePointBefore(src, stop)
	if starts > ends {
		used = min(used, int(c.starts[ends]))
	}
	for {
		for c.tokens > 0 && int(c.ends[c.tokens-1]) > used {
			c.tokens--
			used = int(c.starts[c.tokens])
		}
		if used == 0 || k.Of(src, used)&(ClassLastMark|ClassLate) == 0 {
			break
		}
		used = codePointBefore(src, used)
	}
	return used, stop, stop < blocks*wordBlock
}

// codePointBefore returns the index of the last byte before src[i] that is not a continuation byte,
// or 0.
func codePointBefore(src []byte, i int) int {
	for i--; i > 0 && src[i]&0xc0 == 0x80; i-- {
	}
	return max(i, 0)
}

// Places returns where in the stretch code points are swapped, or change their tokens.
func (c *Cuts) Places() []uint16 { return c.swaps[:c.swapped] }

// TextAt returns the text of the stretch from a place on, in which the caller swaps code points.
func (c *Cuts) TextAt(place uint16) []byte { return c.text[place:] }

// Tokens returns where the tokens start and end in the stretch.
func (c *Cuts) Tokens() (starts, ends []uint16) { return c.starts[:c.tokens], c.ends[:c.tokens] }

// AppendHashes appends hashing.Bytes of the tokens numbered from, from + 1, … to − 1.
// O(their length).
func (c *Cuts) AppendHashes(dst []uint64, from, to int) []uint64 {
	return appendCutHashes(dst, c, from, to)
}

// AppendAllHashes is AppendHashes of all tokens.
func (c *Cuts) AppendAllHashes(dst []uint64) []uint64 { return appendCutHashes(dst, c, 0, c.tokens) }

// appendCutHashesGeneric is the pure Go twin of the assembly.
func appendCutHashesGeneric(dst []uint64, c *Cuts, from, to int) []uint64 {
	starts, ends := c.starts[from:to], c.ends[from:to]
	dst = slices.Grow(dst, len(starts))
	out := dst[len(dst):][:len(starts)]
	for i, s := range starts {
		start, end := int(s), int(ends[i])
		if l := end - start; l <= 16 {
			w, t := c.text[start:start+16], &wordMask[l&31]
			out[i] = hashing.Fold(binary.LittleEndian.Uint64(w)&t.lo^hashing.Key0, binary.LittleEndian.Uint64(w[8:])&t.hi^t.key)
		} else {
			out[i] = hashLong(c.text[start:end], 0)
		}
	}
	return dst[:len(dst)+len(out)]
}
