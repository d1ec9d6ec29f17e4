package text

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"github.com/clipperhouse/uax29/v2/words"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/alike-dev/alike/internal/hashing"
)

// twinTokens is the definition of the package, one step after the other over the
// whole text.
func twinTokens(o Options, doc string) []string {
	o = o.withDefaults()
	normal := twinNormal(o, doc)
	var tokens []string
	switch o.Tokens {
	case Words:
		tokens = twinWords(normal)
	case Alnum:
		tokens = fields(normal, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
	case Space:
		tokens = fields(normal, func(r rune) bool { return !unicode.IsSpace(r) })
	case UAX29:
		for part := range strings.SplitSeq(normal, "\xff") {
			for it := words.FromString(part); it.Next(); {
				if strings.ContainsFunc(it.Value(), func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
					tokens = append(tokens, it.Value())
				}
			}
		}
	case Chars:
		for _, r := range strings.ReplaceAll(normal, "\xff", "") {
			tokens = append(tokens, string(r))
		}
	case ASCII:
		for _, r := range doc {
			if r < 0x80 && !unicode.IsSpace(r) {
				tokens = append(tokens, twinNormal(o, string(r)))
			}
		}
	case Graphemes:
		for it := graphemes.FromString(strings.ReplaceAll(normal, "\xff", "")); it.Next(); {
			if o.Version == V2 && twinWithout(it.Value(), twinIgnorable) == "" {
				continue
			}
			tokens = append(tokens, it.Value())
		}
	}
	return twinFilter(o, tokens)
}

// twinNormal is the normal form with a byte ff for every invalid byte.
func twinNormal(o Options, doc string) string {
	o = o.withDefaults()
	var b strings.Builder
	for i, r := range doc {
		if _, w := utf8.DecodeRuneInString(doc[i:]); r == utf8.RuneError && w == 1 {
			b.WriteByte(0xff)
		} else {
			b.WriteRune(r)
		}
	}
	if o.Version == V1 {
		return twinNormalV1(o, b.String())
	}
	// Nothing combines across an invalid byte.
	parts := strings.Split(b.String(), "\xff")
	for i, s := range parts {
		parts[i] = twinNormalV2(o, s)
	}
	return strings.Join(parts, "\xff")
}

func twinNormalV2(o Options, s string) string {
	switch o.Normalize {
	case NFKC:
		s = twinDecompose(norm.NFKD, s)
	case NFC:
		s = twinDecompose(norm.NFD, s)
	}
	if !o.NoFold {
		s = twinFold(s)
	}
	if o.Tokens != Graphemes && o.Tokens != ASCII {
		s = twinWithout(s, twinIgnorable)
	}
	if o.StripDiacritics {
		s = twinWithout(twinDecompose(norm.NFD, s), func(r rune) bool { return unicode.Is(unicode.Mn, r) })
	}
	if o.Normalize != None || o.StripDiacritics {
		s = twinCompose(twinDecompose(norm.NFD, s))
	}
	return s
}

func twinWithout(s string, leaveOut func(r rune) bool) string {
	return strings.Map(func(r rune) rune {
		if leaveOut(r) {
			return -1
		}
		return r
	}, s)
}

// twinFold folds by x/text where that is right: all code points that Unicode takes
// for one, but for case, must become one.
func twinFold(s string) string {
	var b strings.Builder
	for _, r := range s {
		if unicode.Is(unicode.Cherokee, r) {
			b.WriteRune(min(r, unicode.SimpleFold(r))) // the capitals come first
		} else {
			b.WriteString(cases.Fold().String(string(r)))
		}
	}
	return b.String()
}

// twinIgnorable is Default_Ignorable_Code_Point of DerivedCoreProperties.txt (Unicode
// 15), and the three code points that stretch words.
func twinIgnorable(r rune) bool {
	for _, in := range [][2]rune{
		{0xad, 0xad}, {0x34f, 0x34f}, {0x61c, 0x61c}, {0x115f, 0x1160}, {0x17b4, 0x17b5}, {0x180b, 0x180f}, {0x200b, 0x200f},
		{0x202a, 0x202e}, {0x2060, 0x206f}, {0x3164, 0x3164}, {0xfe00, 0xfe0f}, {0xfeff, 0xfeff}, {0xffa0, 0xffa0}, {0xfff0, 0xfff8},
		{0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
		{0x640, 0x640}, {0x7fa, 0x7fa}, {0x180a, 0x180a},
	} {
		if r >= in[0] && r <= in[1] {
			return true
		}
	}
	return false
}

// twinDecompose decomposes code point after code point, and sorts what stands between
// two starters.
func twinDecompose(form norm.Form, s string) string {
	var runes []rune
	for _, r := range s {
		runes = append(runes, []rune(form.String(string(r)))...)
	}
	for start := 0; start < len(runes); {
		end := start + 1
		for end < len(runes) && twinClass(runes[end]) != 0 {
			end++
		}
		if twinClass(runes[start]) != 0 {
			start-- // marks at the very beginning
		}
		slices.SortStableFunc(runes[start+1:end], func(a, b rune) int { return cmp.Compare(twinClass(a), twinClass(b)) })
		start = end
	}
	return string(runes)
}

func twinClass(r rune) uint8 { return norm.NFD.PropertiesString(string(r)).CCC() }

// twinCompose composes by the definition of UAX 15: a code point and the last starter
// before it, if none between them has a class of 0 or one as high, and x/text makes
// one of the two.
func twinCompose(s string) string {
	var out []rune
	starter := -1
	for _, r := range s {
		class := twinClass(r)
		blocked := starter < 0
		for _, between := range out[starter+1:] {
			if c := twinClass(between); c == 0 || c >= class {
				blocked = true
				break
			}
		}
		if !blocked {
			if both := []rune(norm.NFC.String(string([]rune{out[starter], r}))); len(both) == 1 {
				out[starter] = both[0]
				continue
			}
		}
		if class == 0 {
			starter = len(out)
		}
		out = append(out, r)
	}
	return string(out)
}

// twinNormalV1 is the definition of text/v1.
func twinNormalV1(o Options, s string) string {
	switch o.Normalize {
	case NFKC:
		s = norm.NFKC.String(s)
	case NFC:
		s = norm.NFC.String(s)
	}
	if !o.NoFold {
		s = cases.Fold().String(s)
	}
	if o.StripDiacritics {
		s = norm.NFD.String(s)
		var b strings.Builder
		for i, r := range s {
			_, w := utf8.DecodeRuneInString(s[i:])
			if !unicode.Is(unicode.Mn, r) {
				b.WriteString(s[i : i+w])
			}
		}
		s = norm.NFC.String(b.String())
	}
	return s
}

// fields is strings.FieldsFunc with invalid bytes as separators.
func fields(s string, inside func(r rune) bool) []string {
	var tokens []string
	for part := range strings.SplitSeq(s, "\xff") {
		tokens = append(tokens, strings.FieldsFunc(part, func(r rune) bool { return !inside(r) })...)
	}
	return tokens
}

func twinWords(s string) []string {
	var tokens []string
	const (
		outside = iota
		inRun
		afterSolo
	)
	state := outside
	for i, r := range s {
		_, w := utf8.DecodeRuneInString(s[i:])
		letter := unicode.In(r, unicode.L, unicode.N, unicode.M) && w != 0 && s[i] != 0xff
		solo := unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) ||
			r == 'ー' || r == 'ｰ'
		switch {
		case !letter:
			state = outside
		case solo:
			tokens = append(tokens, string(r))
			state = afterSolo
		case state == inRun, state == afterSolo && unicode.Is(unicode.Mn, r):
			tokens[len(tokens)-1] += string(r)
		default:
			tokens = append(tokens, string(r))
			state = inRun
		}
	}
	return tokens
}

func twinFilter(o Options, tokens []string) []string {
	stop := map[string]bool{}
	for _, w := range o.StopWords {
		stop[twinNormal(o, w)] = true
	}
	var kept []string
	for _, token := range tokens {
		if utf8.RuneCountInString(token) >= o.MinLength && !stop[token] && (o.Filter == nil || o.Filter([]byte(token))) {
			kept = append(kept, token)
		}
	}
	return kept
}

func twinHashes(o Options, doc string) []uint64 {
	var hashes []uint64
	for _, token := range twinTokens(o, doc) {
		hashes = append(hashes, hashing.Bytes([]byte(token)))
	}
	return hashes
}
