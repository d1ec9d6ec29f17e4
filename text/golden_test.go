package text

import (
	"strings"
	"testing"
)

// goldenText meets every step of the pipeline, and all in which the versions differ:
// Cherokee of both cases, more than 30 marks, code points without a look of their own,
// tatweel, an iota subscript.
var goldenText = "The Quick\tbrown_fox 42, don't! STRASSE Straße ﬁne Ａ１ ½ é e\u0301 İ ΣΊΣΥΦΟΣ ᾳ\u0316 ŉ K Å " +
	"ᏣᎳᎩ ꮳꮃꭹ ᏸ Ჯ თ q" + strings.Repeat("\u0323\u0301", 40) + " exam\u00adple exam\u200bple e\u200d\u0301 مـــرحبا می\u200cخواهم " +
	"ߞߺߊ ᠠ\u180aᠭ 東京タワー ｶﾞ か\u3099 กุ่ ທີ່ កុ မိ 한국어 \u1112\u1161\u11ab हिन्दी שָׁלוֹם 👩\u200d💻 ❤\ufe0f \u2060\ufeff x\xffy <\u0338 "

func TestTokensOfBothVersionsArePinned(t *testing.T) {
	options := []Options{
		{}, {Tokens: Alnum}, {Tokens: UAX29}, {Tokens: Space}, {Tokens: Chars}, {Tokens: Graphemes}, {Tokens: ASCII},
		{Normalize: NFC}, {Normalize: None}, {NoFold: true}, {Normalize: None, NoFold: true, Tokens: Space}, {StripDiacritics: true},
		{MinLength: 3}, {StopWords: []string{"THE", "é", "example"}},
	}
	for i, want := range []struct {
		v1, v2         string
		count1, count2 int
		hash1, hash2   uint64
	}{
		{"text/v1 nfkc fold words unicode=15.0.0", "text/v2 nfkc fold words unicode=15.0.0", 63, 57, 0xf9014b06edbbf238, 0x909ca9c8e362e8ef},
		{"text/v1 nfkc fold alnum unicode=15.0.0", "text/v2 nfkc fold alnum unicode=15.0.0", 55, 52, 0xdc1780280569b448, 0xb99e62dc97e9a3d9},
		{"text/v1 nfkc fold uax29 segments=17.0.0 unicode=15.0.0", "text/v2 nfkc fold uax29 segments=17.0.0 unicode=15.0.0", 48, 46, 0x602e97206add4552, 0xa19710ebbd99093c},
		{"text/v1 nfkc fold space unicode=15.0.0", "text/v2 nfkc fold space unicode=15.0.0", 48, 47, 0x8ae05d63cc387ed7, 0x0303ece9e0b793c0},
		{"text/v1 nfkc fold chars unicode=15.0.0", "text/v2 nfkc fold chars unicode=15.0.0", 291, 275, 0xcfc0fdc6dbb29901, 0xa3ab8349581aed14},
		{"text/v1 nfkc fold graphemes segments=17.0.0 unicode=15.0.0", "text/v2 nfkc fold graphemes segments=17.0.0 unicode=15.0.0", 188, 179, 0x601ef527fdb6a9de, 0x529dc4a191bc5cbe},
		{"text/v1 none fold ascii unicode=15.0.0", "text/v2 none fold ascii unicode=15.0.0", 61, 61, 0x43fa04f206c5aedb, 0x43fa04f206c5aedb},
		{"text/v1 nfc fold words unicode=15.0.0", "text/v2 nfc fold words unicode=15.0.0", 63, 57, 0x2e2b281e51549243, 0x15645e0365f90fae},
		{"text/v1 none fold words unicode=15.0.0", "text/v2 none fold words unicode=15.0.0", 64, 58, 0x7df7dd3b30a9f869, 0x3902c5ce65afc1b1},
		{"text/v1 nfkc nofold words unicode=15.0.0", "text/v2 nfkc nofold words unicode=15.0.0", 63, 57, 0x8fde689e199710f4, 0x635735aac5be5766},
		{"text/v1 none nofold space unicode=15.0.0", "text/v2 none nofold space unicode=15.0.0", 48, 47, 0xc9ed8ea55a2c7e73, 0xc9904dbbd085b6b1},
		{"text/v1 nfkc fold words strip unicode=15.0.0", "text/v2 nfkc fold words strip unicode=15.0.0", 55, 51, 0x626a2a5f554a12ea, 0x00b351c39a0f42ac},
		{"text/v1 nfkc fold words min=3 unicode=15.0.0", "text/v2 nfkc fold words min=3 unicode=15.0.0", 23, 20, 0x27af5e0522dbe7bb, 0xfc9d00558472bcf8},
		{"text/v1 nfkc fold words stop=0da7f09e86d157db unicode=15.0.0", "text/v2 nfkc fold words stop=0da7f09e86d157db unicode=15.0.0", 60, 51, 0xbcfc3d7184a65b33, 0x90d0995779bc151d},
	} {
		o := options[i]
		o.Version = V1
		checkPinned(t, o, want.v1, want.count1, want.hash1)
		o.Version = V2
		checkPinned(t, o, want.v2, want.count2, want.hash2)
	}
}

func checkPinned(t *testing.T, o Options, line string, count int, hash uint64) {
	t.Helper()
	if o.String() != line {
		t.Errorf("line is %q, want %q", o, line)
	}
	if len(o.StopWords) == 0 { // the line holds a hash of them only
		parsed, err := ParseOptions(line)
		if err != nil || parsed.String() != line {
			t.Fatalf("ParseOptions(%q) = %v, %v", line, parsed, err)
		}
		o = parsed
	}
	hashes := mustNew(t, o).AppendHashes(nil, []byte(goldenText))
	if got := hashOfHashes(hashes); len(hashes) != count || got != hash {
		t.Errorf("%v: %d tokens with hash %#x, want %d with %#x", o, len(hashes), got, count, hash)
	}
}
