package text

import (
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
			tokens = append(tokens, it.Value())
		}
	}
	return twinFilter(o, tokens)
}

// twinNormal is the normal form with a byte ff for every invalid byte.
func twinNormal(o Options, doc string) string {
	var b strings.Builder
	for i, r := range doc {
		if _, w := utf8.DecodeRuneInString(doc[i:]); r == utf8.RuneError && w == 1 {
			b.WriteByte(0xff)
		} else {
			b.WriteRune(r)
		}
	}
	s := b.String()
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
		b.Reset()
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
