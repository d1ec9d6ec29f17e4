package exlsh

import (
	"encoding/binary"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/alike-dev/alike/text"
)

// A Normalizer brings the bytes of a text into the form that the Tokenizer cuts. The zero
// value stands for WordCharacters.
type Normalizer struct {
	name  string
	apply func(dst, text []byte) []byte
}

// NewNormalizer makes a normaliser of a function that appends the normal form of text to
// dst. Several goroutines call it at once. The canonical line shows the name, which must
// not contain spaces.
func NewNormalizer(name string, appendNormal func(dst, text []byte) []byte) Normalizer {
	return Normalizer{name, appendNormal}
}

var (
	// WordCharacters is the normaliser of ExLSH: NFC, lower case, and one space for every
	// run of bytes other than word characters of Latin-1. It keeps spaces at either end.
	WordCharacters = Normalizer{"exlsh", appendWordCharacters}
	// Verbatim leaves the text unchanged.
	Verbatim = Normalizer{"none", func(dst, text []byte) []byte { return append(dst, text...) }}
)

// NormalizeText makes a normaliser of the first steps of package text (normalise,
// fold, ignore, strip), which keeps white space and punctuation. Bytes that are not
// UTF-8 are dropped.
func NormalizeText(o text.Options) (Normalizer, error) {
	// Chars, because it makes everything a token: so everything is normalised.
	o = text.Options{Version: o.Version, Normalize: o.Normalize, NoFold: o.NoFold, StripDiacritics: o.StripDiacritics, Tokens: text.Chars}
	if err := o.Validate(); err != nil {
		return Normalizer{}, err
	}
	pool := sync.Pool{New: func() any { return mustText(o) }}
	return NewNormalizer(lineName(strings.Replace(o.String(), " chars", "", 1)), func(dst, doc []byte) []byte {
		t := pool.Get().(*text.Tokenizer)
		defer pool.Put(t)
		return t.AppendNormal(dst, doc)
	}), nil
}

const space = ' '

// wordByte maps each byte: an ASCII capital to its small letter, another word character
// of Latin-1 to itself, every other byte to a space.
var wordByte = func() (table [256]byte) {
	for b := range table {
		switch r := rune(b); {
		case r >= 'A' && r <= 'Z':
			table[b] = byte(unicode.ToLower(r))
		case r == '_' || unicode.IsLetter(r) || unicode.Is(unicode.Nd, r):
			table[b] = byte(b)
		default:
			table[b] = space
		}
	}
	return table
}()

func appendWordCharacters(dst, doc []byte) []byte {
	var w wordWriter
	return w.appendNormal(dst, doc)
}

// wordWriter writes bytes as wordByte maps them, and only one space for a run of spaces.
// It owns the scratch memory of one goroutine.
type wordWriter struct {
	out   []byte
	space bool // the last byte was a space

	normal, lower []byte
}

// appendNormal appends the normal form of ExLSH.
//
//	until the end of the text:
//	    a run of ASCII, without its last byte if something else follows:
//	        map by the table
//	    that byte, on which marks may sit, and a run of other bytes:
//	        NFC, lower case, map every byte of it by the table
//
// Nothing combines across the cuts: an ASCII character never combines with a preceding
// one (UAX 15).
func (w *wordWriter) appendNormal(dst, doc []byte) []byte {
	w.out, w.space = dst, false
	for i := 0; i < len(doc); {
		end := asciiEnd(doc, i)
		if end < len(doc) && end > i {
			end--
		}
		w.write(doc[i:end])
		if i = end; i == len(doc) {
			break
		}
		for end++; end < len(doc) && doc[end] >= utf8.RuneSelf; {
			end++
		}
		w.normal = appendNFC(w.normal[:0], doc[i:end])
		w.lower = appendLower(w.lower[:0], w.normal)
		w.write(w.lower)
		i = end
	}
	dst, w.out = w.out, nil
	return dst
}

// write has no branch that depends on the bytes: a space after a space overwrites it.
func (w *wordWriter) write(b []byte) {
	n, before := len(w.out), 0
	if w.space {
		before = 1
	}
	out := slices.Grow(w.out, len(b)+1)[:n+len(b)+1]
	for _, c := range b {
		c = wordByte[c]
		here := 0
		if c == space {
			here = 1
		}
		n -= here & before
		out[n] = c
		n++
		before = here
	}
	w.out, w.space = out[:n], before == 1
}

// asciiEnd returns the end of the run of ASCII that begins at i.
func asciiEnd(text []byte, i int) int {
	for ; i+8 <= len(text); i += 8 {
		if binary.LittleEndian.Uint64(text[i:])&0x8080808080808080 != 0 {
			break
		}
	}
	for i < len(text) && text[i] < utf8.RuneSelf {
		i++
	}
	return i
}

// appendNFC appends the canonical composition of text. Bytes that are not UTF-8
// stay where they are, and nothing combines across them.
func appendNFC(dst, text []byte) []byte {
	if norm.NFC.QuickSpan(text) == len(text) {
		return append(dst, text...)
	}
	return norm.NFC.Append(dst, text...)
}

// appendLower appends text in lower case by Unicode's full mapping without context: no
// final sigma. Bytes that are not UTF-8 stay unchanged.
func appendLower(dst, text []byte) []byte {
	for i := 0; i < len(text); {
		r, width := utf8.DecodeRune(text[i:])
		switch {
		case r == utf8.RuneError && width == 1:
			dst = append(dst, text[i])
		case r == 'İ': // the only one that becomes two code points
			dst = append(dst, "i\u0307"...)
		default:
			dst = utf8.AppendRune(dst, unicode.ToLower(r))
		}
		i += width
	}
	return dst
}
