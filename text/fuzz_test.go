package text

import (
	"strings"
	"testing"
)

// FuzzTokenizer compares AppendHashes and AppendTokens with the twin. The bits
// of kind choose the options.
func FuzzTokenizer(f *testing.F) {
	for i, s := range oddities {
		f.Add(uint8(i), []byte("ab "+s+s+oddities[(7*i)%len(oddities)]+" c"))
	}
	f.Add(uint8(0), []byte(strings.Join(oddities, "")))
	f.Fuzz(func(t *testing.T, kind uint8, doc []byte) {
		o := Options{
			Version:         versions[(kind>>3&3)/3],
			Tokens:          tokenizers[int(kind&7)%len(tokenizers)],
			Normalize:       normalizations[int(kind>>3&3)%len(normalizations)],
			StripDiacritics: kind>>5&1 != 0,
			NoFold:          kind>>6&1 != 0,
			MinLength:       int(kind >> 7 * 2),
		}
		check(t, mustNew(t, o), string(doc))
	})
}

// FuzzParseOptions asks that what is accepted has a line that stays as it is.
func FuzzParseOptions(f *testing.F) {
	f.Add(Options{}.String())
	f.Add("none nofold uax29 strip min=3 segments=17.0.0")
	f.Add("stop=0 unicode=1")
	f.Fuzz(func(t *testing.T, line string) {
		o, err := ParseOptions(line)
		if err != nil {
			return
		}
		again, err := ParseOptions(o.String())
		if err != nil || again.String() != o.String() {
			t.Fatalf("%q gives %q, and that %q, %v", line, o, again, err)
		}
	})
}
