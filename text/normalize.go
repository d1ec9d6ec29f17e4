package text

import (
	"sync"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/alike-dev/alike/internal/sorting"
)

// Normalisation of sequences of any length. x/text/unicode/norm, whose tables are used here, follows the
// stream-safe format of UAX 15: it inserts U+034F after 30 combining marks and orders the marks on each
// side of it separately. Canonically equivalent texts then get different forms.

// A scalar is a code point with its canonical combining class. A byte that is not UTF-8 is also a scalar,
// whose r is the negative of the byte.
type scalar struct {
	r     rune
	class uint8
}

// appendScalars appends the code points of b, without their classes.
func appendScalars(dst []scalar, b []byte) []scalar {
	for i := 0; i < len(b); {
		r, w := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && w == 1 {
			r = -rune(b[i])
		}
		dst = append(dst, scalar{r: r})
		i += w
	}
	return dst
}

// appendBytes appends the UTF-8 of scalars.
func appendBytes(dst []byte, s []scalar) []byte {
	for _, m := range s {
		if m.r < 0 {
			dst = append(dst, byte(-m.r))
		} else {
			dst = utf8.AppendRune(dst, m.r)
		}
	}
	return dst
}

// decompose appends the decomposition of s: NFD if form is NFC, NFKD if it is NFKC. It costs O(n log n)
// in the length of the longest sequence of marks.
func decompose(dst, s []scalar, form norm.Form) []scalar {
	begin := len(dst)
	var buf [utf8.UTFMax]byte
	for _, m := range s {
		switch {
		case m.r < utf8.RuneSelf:
			dst = append(dst, m)
		case m.r >= hangulBase && m.r < hangulEnd:
			dst = appendJamo(dst, m.r-hangulBase)
		default:
			b := buf[:utf8.EncodeRune(buf[:], m.r)]
			dst = appendDecomposition(dst, m.r, form.Properties(b))
		}
	}
	sortMarks(dst[begin:])
	return dst
}

func appendDecomposition(dst []scalar, r rune, p norm.Properties) []scalar {
	d := p.Decomposition()
	if d == nil {
		return append(dst, scalar{r, p.CCC()})
	}
	for len(d) > 0 {
		r, w := utf8.DecodeRune(d)
		dst = append(dst, scalar{r, norm.NFC.Properties(d).CCC()})
		d = d[w:]
	}
	return dst
}

// sortMarks puts every sequence of marks into canonical order: by class, with marks of one class in their
// old order.
func sortMarks(s []scalar) {
	for i := 0; i < len(s); i++ {
		start, sorted := i, true
		for i < len(s) && s[i].class != 0 {
			sorted = sorted && (i == start || s[i-1].class <= s[i].class)
			i++
		}
		if !sorted {
			sortByClass(s[start:i])
		}
	}
}

// sortByClass sorts marks, those of one class in their old order. Texts have few marks behind one another, but nothing
// limits them.
func sortByClass(s []scalar) {
	if len(s) > 32 {
		sorting.Stable(s, func(a, b scalar) int { return int(a.class) - int(b.class) })
		return
	}
	for i := range s {
		for ; i > 0 && s[i].class < s[i-1].class; i-- {
			s[i], s[i-1] = s[i-1], s[i]
		}
	}
}

// compose replaces every starter and a mark that combines with it by their composite, in place. s is
// decomposed and in canonical order.
func compose(s []scalar) []scalar {
	starter, n := -1, 0 // s[:n] is composed
	for _, m := range s {
		// Whatever stands between a starter and a mark blocks them from combining, unless its class is below
		// that of the mark.
		if starter >= 0 && (n == starter+1 || s[n-1].class < m.class) {
			if c := composite(s[starter].r, m.r); c != 0 {
				s[starter].r = c
				continue
			}
		}
		if m.class == 0 {
			starter = n
		}
		s[n] = m
		n++
	}
	return s[:n]
}

// composite returns the code point that a and b compose to, or 0.
func composite(a, b rune) rune {
	switch {
	case a < minFirst || b < minSecond:
		return 0
	case b >= vowelBase && b < trailEnd:
		return hangulComposite(a, b)
	}
	if c := latinComposites()[pair(a, b)]; c != 0 {
		return c
	}
	if norm.NFC.QuickSpanString(string(b)) > 0 {
		return 0 // b combines with nothing before it, such as the fraction slash
	}
	return otherComposites()[pair(a, b)]
}

// minFirst is the smallest code point that composes with a following one, minSecond the smallest that
// composes with a preceding one.
const minFirst, minSecond = '<', 0x300

// The pairs of code points that compose, except the Hangul syllables. They are found by looking at every
// code point of the ranges that hold all composites, those of Unicode 16 too. Latin is enough for texts in the languages
// of Western Europe, the others take ten times as long.
var (
	latinComposites = sync.OnceValue(func() map[uint64]rune { return compositesIn(latin) })
	otherComposites = sync.OnceValue(func() map[uint64]rune { return compositesIn(others...) })
)

var (
	latin  = codeRange{0xc0, 0x180}
	others = []codeRange{
		{0x180, 0x700}, {0x900, 0x1080}, {0x1b00, 0x1b80}, {0x1e00, 0x2300}, {0x3040, 0x3100},
		{0x10580, 0x10600}, {0x11000, 0x11a00}, {0x16100, 0x16180}, {0x16d00, 0x16d80},
	}
)

// codeRange is the code points from ≤ r < to.
type codeRange struct{ from, to rune }

// compositesIn maps the pairs of code points that compose to their composites, for all composites in
// ranges.
func compositesIn(ranges ...codeRange) map[uint64]rune {
	looked := rune(0)
	for _, within := range ranges {
		looked += within.to - within.from
	}
	pairs := make(map[uint64]rune, looked/8) // about one in eight is a composite
	for _, within := range ranges {
		for r := within.from; r < within.to; r++ {
			if d := decompositionOfComposite(r); d != nil {
				last, w := utf8.DecodeLastRune(d)
				first, v := utf8.DecodeRune(d)
				if v+w < len(d) { // it is a composite itself
					first, _ = utf8.DecodeRune(norm.NFC.Bytes(d[:len(d)-w]))
				}
				pairs[pair(first, last)] = r
			}
		}
	}
	return pairs
}

// decompositionOfComposite returns the decomposition of a code point, or nil if no pair composes to it.
func decompositionOfComposite(r rune) []byte {
	var buf [utf8.UTFMax]byte
	b := buf[:utf8.EncodeRune(buf[:], r)]
	d := norm.NFC.Properties(b).Decomposition()
	if d == nil || !norm.NFC.IsNormal(b) {
		return nil
	}
	return d
}

func pair(a, b rune) uint64 { return uint64(a)<<32 | uint64(b) }

// Hangul syllables are made of jamo by arithmetic (The Unicode Standard, section
// 3.12): of a leading consonant, a vowel and perhaps a trailing consonant.
const (
	hangulBase, hangulEnd = 0xac00, 0xd7a4
	leadBase, leadEnd     = 0x1100, 0x1113
	vowelBase, vowelEnd   = 0x1161, 0x1176
	trailBase, trailEnd   = 0x11a7, 0x11c3 // trailBase itself stands for none
	vowels, trails        = vowelEnd - vowelBase, trailEnd - trailBase
)

// appendJamo appends the jamo of a syllable, numbered from 0.
func appendJamo(dst []scalar, syllable rune) []scalar {
	dst = append(dst,
		scalar{r: leadBase + syllable/(vowels*trails)},
		scalar{r: vowelBase + syllable/trails%vowels})
	if t := syllable % trails; t > 0 {
		dst = append(dst, scalar{r: trailBase + t})
	}
	return dst
}

func hangulComposite(a, b rune) rune {
	switch {
	case a >= leadBase && a < leadEnd && b < vowelEnd:
		return hangulBase + ((a-leadBase)*vowels+b-vowelBase)*trails
	case a >= hangulBase && a < hangulEnd && (a-hangulBase)%trails == 0 && b > trailBase:
		return a + b - trailBase
	}
	return 0
}
