package text

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/alike-dev/alike/internal/testsize"
)

// assigned are the code points that Unicode has given a meaning.
var assigned = func() (all []rune) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if utf8.ValidRune(r) && unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.C) {
			all = append(all, r)
		}
	}
	return all
}()

// marks are the code points that combine with what precedes them.
var marks = slices.DeleteFunc(slices.Clone(assigned), func(r rune) bool {
	return norm.NFKC.PropertiesString(string(r)).BoundaryBefore()
})

// genMarked generates texts of any code points, among them such with up to 200 marks.
func genMarked() *rapid.Generator[string] {
	few := []rune{0x300, 0x301, 0x316, 0x323, 0x338, 0x345, 0x3099, 0x5b0, 0x64e, 0x1161, 0x11a8}
	piece := rapid.OneOf(
		rapid.Map(rapid.SampledFrom(assigned), func(r rune) string { return string(r) }),
		rapid.SampledFrom([]string{" ", "a", "É", "ᾳ", "Ω", "ộ", "한", "か", "Ꭰ"}),
		rapid.Map(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(few), rapid.SampledFrom(marks)), 1, 200), func(r []rune) string { return string(r) }),
	)
	return rapid.Map(rapid.SliceOfN(piece, 1, 12), func(s []string) string { return strings.Join(s, "") })
}

func TestEquivalentTextsHaveEqualTokens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := Options{
			NoFold:          rapid.Bool().Draw(t, "nofold"),
			StripDiacritics: rapid.Bool().Draw(t, "strip"),
			Tokens:          rapid.SampledFrom([]Tokens{Words, Alnum, UAX29, Space, Chars, Graphemes}).Draw(t, "tokens"),
		}
		doc := genMarked().Draw(t, "text")
		forms := []string{twinDecompose(norm.NFD, doc), twinDecompose(norm.NFKD, doc)}
		forms = append(forms, twinCompose(forms[0]), twinCompose(forms[1]))
		tok := mustNew(t, o)
		want := tok.AppendHashes(nil, []byte(doc))
		for _, form := range forms {
			if got := tok.AppendHashes(nil, []byte(form)); !slices.Equal(got, want) {
				t.Fatalf("%v: %+q has %d tokens, the equivalent %+q %d, or they differ", o, doc, len(want), form, len(got))
			}
		}
		o.Normalize = NFC // canonical equivalence only
		tok = mustNew(t, o)
		want = tok.AppendHashes(nil, []byte(doc))
		for _, form := range []string{forms[0], forms[2]} {
			if got := tok.AppendHashes(nil, []byte(form)); !slices.Equal(got, want) {
				t.Fatalf("%v: %+q has %d tokens, the equivalent %+q %d, or they differ", o, doc, len(want), form, len(got))
			}
		}
	})
}

// Full case folding, C and F of CaseFolding.txt: whatever Unicode takes for one letter
// but for its case becomes the same, nothing else does, and where folding makes several
// letters of one, upper-casing first makes no difference.
func TestFoldingCoversEveryCodePoint(t *testing.T) {
	if testsize.Small() {
		t.Skip("one goroutine does it all")
	}
	p := newPipeline(Options{Normalize: None, Tokens: Graphemes})
	fold := func(s string) string { return string(p.apply([]byte(s))) }
	upper := cases.Upper(language.Und)
	for _, r := range assigned {
		folded := fold(string(r))
		orbit := []rune{r}
		for s := unicode.SimpleFold(r); s != r; s = unicode.SimpleFold(s) {
			orbit = append(orbit, s)
			if got := fold(string(s)); got != folded {
				t.Errorf("%U folds to %+q, %U to %+q", r, folded, s, got)
			}
		}
		if to, w := utf8.DecodeRuneInString(folded); w == len(folded) && !slices.Contains(orbit, to) {
			t.Errorf("%U folds to %U, which is another letter", r, to)
		}
		if again := fold(folded); again != folded {
			t.Errorf("%U folds to %+q, and that to %+q", r, folded, again)
		}
		if capitals := fold(upper.String(string(r))); capitals != folded && r != 'ı' {
			t.Errorf("%U folds to %+q, its capitals to %+q", r, folded, capitals)
		}
	}
	for from, to := range map[string]string{
		"ß": "ss", "ẞ": "ss", "ſ": "s", "ς": "σ", "Σ": "σ", "İ": "i\u0307", "ı": "ı", "I": "i", "ᾳ": "αι", "ᾼ": "αι", "\u0345": "ι",
		"ΐ": "ι\u0308\u0301", "ŉ": "ʼn", "ﬃ": "ffi", "ﬓ": "մն", "Ა": "ა", "Ⴀ": "ⴀ", "\u212a": "k", "Ꭰ": "Ꭰ", "ꭰ": "Ꭰ", "ᏸ": "Ᏸ", "ẖ": "h\u0331",
	} {
		if got := fold(from); got != to {
			t.Errorf("%+q folds to %+q, want %+q", from, got, to)
		}
	}
}

// What comes out of the pipeline is NFKC or NFC, and goes through it unchanged: folding
// undoes nothing of what normalising does, nor the other way round.
func TestNormalFormsAreNormalAndStable(t *testing.T) {
	if testsize.Small() {
		t.Skip("one goroutine does it all")
	}
	for _, o := range []Options{
		{Tokens: Chars}, {Tokens: Graphemes}, {Tokens: Chars, NoFold: true}, {Tokens: Chars, Normalize: NFC},
		{Tokens: Chars, StripDiacritics: true}, {Tokens: Graphemes, Normalize: NFC, StripDiacritics: true},
	} {
		p := newPipeline(o)
		for _, r := range assigned {
			once := string(p.apply([]byte(string(r))))
			if !o.withDefaults().Normalize.form().IsNormalString(once) {
				t.Fatalf("%v: %U becomes %+q, which is not normal", o, r, once)
			}
			if twice := string(p.apply([]byte(once))); twice != once {
				t.Fatalf("%v: %U becomes %+q, and that %+q", o, r, once, twice)
			}
		}
	}
}

func TestIgnorableCodePointsAreThoseOfUnicode(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if got := isIgnorable(r); got != twinIgnorable(r) {
			t.Errorf("%U: ignorable %v", r, got)
		}
	}
}

func TestWhatCannotBeSeenChangesNothing(t *testing.T) {
	const plain = "An example of حروف and نمونه of the kind; can't 12 東京 한국어 नमस्ते ก็ ߒߞߏ ᠮᠣᠩᠭᠣᠯ"
	for _, o := range []Options{
		{}, {Normalize: NFC}, {Normalize: None}, {Tokens: Alnum}, {Tokens: UAX29}, {Tokens: Space}, {Tokens: Chars}, {StripDiacritics: true},
	} {
		tok := mustNew(t, o)
		want := tok.AppendHashes(nil, []byte(plain))
		for _, r := range assigned {
			if !isIgnorable(r) {
				continue
			}
			var doc strings.Builder
			for _, c := range plain {
				doc.WriteRune(r)
				doc.WriteRune(c)
			}
			doc.WriteRune(r)
			if got := tok.AppendHashes(nil, []byte(doc.String())); !slices.Equal(got, want) {
				t.Errorf("%v: with %U everywhere %d tokens, want %d, or they differ", o, r, len(got), len(want))
			}
			if r > 0xe0080 {
				break // the rest of the plane is like these
			}
		}
	}
}
