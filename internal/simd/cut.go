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
//	    run, solo = what ASCII belongs to tokens
//	    for every lead byte: look its code point's class up;
//	        set its bytes in run or solo, note what needs more care
//	    token = run | solo
//	    start = first bytes of solos | run & ^(run<<1)
//	    end   = token<<1 & (^token | start)
//	    append the positions of start, and those of end, to two lists
//	    stop before the first code point that no mask can deal with
//	for every start and end: hash what lies between (HashCuts)
//
// What stops the loop is rare in most texts, and done by others, one code point after the
// other. It is what a class says: unknown, combining, growing or shrinking as it is folded;
// and a mark behind anything but a code point of a run that stays as it is, a sequence
// that is not UTF-8, and code points beyond U+FFFF.

// What it took, with figures for text to signature on one core (bench/scripts.py 885a2c8
// Scripts/words; before, code points went through a loop of their own with some hard to
// predict branches each):
//
//  1. Masks, not branches: of what a code point is, nothing decides where the loop goes, but
//     for what stops it (vi 140, 770 MB/s; ru 200, 1130).
//  2. Two passes over a stretch. The first finds and looks up code points and ends early, the
//     second makes masks: classes are read long after they were written, byte by byte.
//  3. AVX-512 decodes all code points of a block at once, in bytes, packs them (VPCOMPRESSB)
//     and looks one after the other up, without a branch. AVX2 goes from bit to bit.
//  4. Replacing (ß, capitals) is left to the caller, who finds few places in a list.
//  5. Marks follow tokens of one code point, too (km 230, 730; th 255, 505).
//
// A class says what cutting has to know about a code point.
type class = uint8

// The bits of a class. Without any a code point separates.
const (
	ClassRun  class = 1 << 0 // is part of a run, which is a token
	ClassSolo class = 1 << 1 // is a token
	// ClassSwap: something else of the same length stands for it; Cuts says where.
	ClassSwap class = 1 << 2
	// ClassMark: may follow a code point of a token that is not swapped. With ClassRun it
	// is a part of that token, be it a solo. Anywhere else it stops.
	ClassMark class = 1 << 3
	// ClassLastMark: a ClassMark that no other may follow.
	ClassLastMark class = 1 << 4
	ClassStop     class = 1 << 5 // cannot be dealt with here
)

// ASCIIRule says what is part of a token.
type ASCIIRule uint8

const (
	ASCIIWords    ASCIIRule = iota // letters and digits, in runs
	ASCIINonSpace                  // all but space and U+0009 to U+000D, in runs
	ASCIIEach                      // every character is a token
)

// Classes are those of all code points that need up to three bytes. The assembly knows where
// the fields are.
type Classes struct {
	of     [1 << 16]class // from U+0080 on
	ascii  [128]class
	fold   [128]byte
	halves [2][16]byte // by their lower half, the upper halves of bytes of tokens; of capitals that are folded
	token  [8]class    // of ASCII, eight times the same
	swar   swarClasses
}

// NewClasses returns classes by a rule for ASCII, with capitals folded if fold. All
// others are ClassStop.
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

// SetPage gives classes to the code points from r on, a multiple of PageSize below U+10000,
// but for those of ASCII and surrogates.
func (k *Classes) SetPage(r rune, page *[PageSize]class) {
	if r == 0 {
		copy(k.of[utf8.RuneSelf:], page[utf8.RuneSelf:])
	} else if utf8.ValidRune(r) {
		copy(k.of[r:], page[:])
	}
}

// isLastMark reports whether src[i:] begins with a ClassLastMark.
func (k *Classes) isLastMark(src []byte, i int) bool {
	r, w := utf8.DecodeRune(src[i:])
	return w > 1 && w < 4 && k.of[r]&ClassLastMark != 0
}

const (
	// CutBytes is how many bytes are cut at once, at most.
	CutBytes = wordBlock * wordBlocks
	// cutTail is the length of what is copied in front of zeros at the end of a text.
	cutTail = wordTail
)

// Cuts are what Cut made of a stretch. They are some 15 KiB large.
type Cuts struct {
	text         [CutBytes + wordBlock + wordPad]byte // folded
	starts, ends [CutBytes + 2*wordBlock]uint16       // of tokens
	swaps        [CutBytes/2 + wordBlock]uint16
	tokens       int
	swapped      int
	padded       [cutTail + wordBlock + wordPad]byte
}

// Cut cuts the tokens of src, where a token may begin, so far as it gets, but no further
// than CutBytes. It returns how many bytes it has dealt with: a token may begin behind
// them, too. If stopped, the code point at src[seen] is in the way, and what comes up to it,
// with all that may combine with it, has to be done by other means. Else, if used is 0, the
// whole stretch is one token. O(CutBytes).
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
		starts-- // of the zeros behind the text
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
	// What comes next may combine with the code point before it, and if that is a mark
	// (there are no two), with the one before the mark.
	used = codePointBefore(src, stop)
	if k.isLastMark(src, used) {
		used = codePointBefore(src, used)
	}
	if starts > ends {
		used = min(used, int(c.starts[ends]))
	}
	for c.tokens > 0 && int(c.ends[c.tokens-1]) > used {
		c.tokens--
		used = int(c.starts[c.tokens])
	}
	return used, stop, stop < blocks*wordBlock
}

// codePointBefore returns the place of the first byte before src[i] that continues no other,
// or 0.
func codePointBefore(src []byte, i int) int {
	for i--; i > 0 && src[i]&0xc0 == 0x80; i-- {
	}
	return max(i, 0)
}

// Swapped calls swap for every code point cut whose class is ClassSwap, with its place in
// the stretch, and the text from there on, which swap is to replace.
func (c *Cuts) Swapped(swap func(at int, text []byte)) {
	for _, at := range c.swaps[:c.swapped] {
		swap(int(at), c.text[at:])
	}
}

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
