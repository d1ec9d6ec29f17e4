package exlsh

import (
	"bytes"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"

	"github.com/alike-dev/alike/text"
)

// A Tokenizer cuts a normalised text into tokens. The zero value stands for Words.
type Tokenizer struct {
	name  string
	apply func(dst [][]byte, normalized []byte) [][]byte
}

// NewTokenizer makes a tokeniser of a function that appends the tokens of a normalised
// text to dst. Tokens may be parts of the text, but need not be; they are used before the
// next call. Several goroutines call the function at once. The canonical line shows the
// name, which must not contain spaces.
func NewTokenizer(name string, appendTokens func(dst [][]byte, normalized []byte) [][]byte) Tokenizer {
	return Tokenizer{name, appendTokens}
}

var (
	// Words are the stretches between white space.
	Words = Tokenizer{"words", func(dst [][]byte, normalized []byte) [][]byte {
		for word := range bytes.FieldsFuncSeq(normalized, isElixirSpace) {
			dst = append(dst, word)
		}
		return dst
	}}
	// Graphemes are the user-perceived characters, spaces included. A byte that is not UTF-8
	// is a token of its own, and nothing joins it.
	Graphemes = Tokenizer{"graphemes", appendGraphemes}
)

// isElixirSpace reports whether Elixir's String.split cuts at a code point: white space
// except the non-breaking kinds.
func isElixirSpace(r rune) bool {
	switch r {
	case '\u00a0', '\u2007', '\u202f':
		return false
	}
	return unicode.IsSpace(r)
}

func appendGraphemes(dst [][]byte, normalized []byte) [][]byte {
	for len(normalized) > 0 {
		end := validEnd(normalized)
		clusters := graphemes.FromBytes(normalized[:end])
		for clusters.Next() {
			dst = append(dst, clusters.Value())
		}
		if normalized = normalized[end:]; len(normalized) > 0 {
			dst = append(dst, normalized[:1])
			normalized = normalized[1:]
		}
	}
	return dst
}

// validEnd returns the length of the longest prefix that is UTF-8.
func validEnd(b []byte) int {
	for i := 0; i < len(b); {
		if b[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, width := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && width == 1 {
			return i
		}
		i += width
	}
	return len(b)
}

// TokenizeText makes a tokeniser of the tokeniser of package text that o names. The text
// is normalised by then, so of o only the tokeniser and the version count: a Normalizer
// and a Filter do the rest.
func TokenizeText(o text.Options) (Tokenizer, error) {
	o = text.Options{Version: o.Version, Normalize: text.None, NoFold: true, Tokens: o.Tokens}
	if err := o.Validate(); err != nil {
		return Tokenizer{}, err
	}
	type scratch struct {
		tokenizer *text.Tokenizer
		tokens    []text.Token
		token     []byte
	}
	pool := sync.Pool{New: func() any { return &scratch{tokenizer: mustText(o)} }}
	return NewTokenizer(lineName(o.String()), func(dst [][]byte, normalized []byte) [][]byte {
		s := pool.Get().(*scratch)
		defer pool.Put(s)
		s.tokens = s.tokenizer.AppendTokens(s.tokens[:0], normalized)
		for _, t := range s.tokens {
			place := normalized[t.Start:t.End]
			if o.Version != text.V1 {
				// The place of a token may hold code points that are not part of it.
				s.token = s.tokenizer.AppendNormal(s.token[:0], place)
				if len(s.token) < len(place) {
					place = bytes.Clone(s.token)
				}
			}
			dst = append(dst, place)
		}
		return dst
	}), nil
}

// mustText makes a tokenizer of options that are valid.
func mustText(o text.Options) *text.Tokenizer {
	t, err := text.New(o)
	if err != nil {
		panic("exlsh: options that were valid are not: " + err.Error())
	}
	return t
}

// lineName turns a line of package text into a name.
func lineName(line string) string { return strings.ReplaceAll(line, " ", ",") }
