package simd

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/internal/hashing"
)

// someClasses are classes of every kind, given to code points by chance.
func someClasses(rule ASCIIRule, fold bool, seed uint64) *Classes {
	kinds := []class{
		0, 0, ClassRun, ClassRun, ClassRun, ClassSolo, ClassSolo, ClassRun | ClassSwap, ClassSolo | ClassSwap,
		ClassRun | ClassMark, ClassRun | ClassMark, ClassRun | ClassLastMark, ClassSolo | ClassLastMark, ClassLastMark, ClassStop,
		ClassRun | ClassRebuild, ClassRun | ClassMark | ClassRebuild | ClassLate, ClassRun | ClassLastMark | ClassLate, ClassSolo | ClassLastMark | ClassLate,
	}
	k := NewClasses(rule, fold)
	for r := rune(0); r < 1<<16; r += PageSize {
		var page [PageSize]class
		for i := range page {
			page[i] = kinds[hashing.Mix(seed+uint64(r)+uint64(i))%uint64(len(kinds))]
		}
		k.SetPage(r, &page)
	}
	return k
}

// plainClasses has no class that stops or swaps.
func plainClasses() *Classes {
	k := NewClasses(ASCIIWords, true)
	for r := rune(0); r < 1<<16; r += PageSize {
		page := [PageSize]class{}
		for i := range page {
			page[i] = [...]class{ClassRun, ClassRun, 0, ClassSolo}[i%4]
		}
		k.SetPage(r, &page)
	}
	return k
}

// slowCut is the definition of what is cut from src, in which nothing stops, and of its places.
func slowCut(t interface{ Fatalf(string, ...any) }, k *Classes, src []byte) (tokens []string, places []uint16) {
	var open []byte
	solo := false // open is one, with its marks
	end := func() {
		if len(open) > 0 {
			tokens = append(tokens, string(open))
		}
		open, solo = nil, false
	}
	plain := false
	for i := 0; i < len(src); {
		r, w := utf8.DecodeRune(src[i:])
		c, b := class(ClassStop), src[i:i+w]
		switch {
		case r < utf8.RuneSelf:
			c, b = k.ascii[r], []byte{k.fold[r]}
		case w == 2, w == 3:
			c = k.of[r]
		}
		mark := c&(ClassMark|ClassLastMark) != 0
		late := mark && !plain
		if c&ClassStop != 0 || late && c&ClassLate == 0 {
			t.Fatalf("%q: what is used up to the end has something to stop at %d", src, i)
		}
		if late || w > 1 && c&(ClassSwap|ClassRebuild) != 0 {
			places = append(places, uint16(i))
		}
		if c&ClassRun == 0 || solo && !mark {
			end()
		}
		if c&(ClassRun|ClassSolo) != 0 {
			open = append(open, b...)
			solo = solo || c&ClassSolo != 0
		}
		plain = c&(ClassRun|ClassSolo) != 0 && c&(ClassSwap|ClassLastMark|ClassRebuild) == 0
		i += w
	}
	end()
	return tokens, places
}

// cutTokens returns the tokens of c.
func cutTokens(c *Cuts) (tokens []string) {
	for i := range c.tokens {
		tokens = append(tokens, string(c.text[c.starts[i]:c.ends[i]]))
	}
	return tokens
}

// checkCuts compares every variant with the Go twin, and that with the definition.
func checkCuts(t interface {
	Helper()
	Fatalf(string, ...any)
}, k *Classes, src []byte) {
	t.Helper()
	var want Cuts
	used, seen, stopped := k.cut(cutGo, &want, src)
	tokens := cutTokens(&want)
	slow, slowPlaces := slowCut(t, k, src[:used])
	places, _ := slices.BinarySearch(want.Places(), uint16(used))
	if !slices.Equal(tokens, slow) || !slices.Equal(want.Places()[:places], slowPlaces) {
		t.Fatalf("%q, used %d: %q, places %v, want %q, %v", src, used, tokens, want.Places(), slow, slowPlaces)
	}
	if used == 0 && !stopped && len(src) > 0 {
		if whole, _ := slowCut(t, k, src[:min(seen, len(src))]); len(whole) != 1 {
			t.Fatalf("%q: nothing was done, though there is more than a token", src)
		}
	}
	hashes := appendCutHashesGeneric(nil, &want, 0, want.tokens)
	for i, token := range tokens {
		if hashes[i] != hashing.Bytes([]byte(token)) {
			t.Fatalf("token %q has the wrong hash", token)
		}
	}
	if got := want.AppendAllHashes([]uint64{7}); got[0] != 7 || !slices.Equal(got[1:], hashes) {
		t.Fatalf("%q: hashes %x, want %x", src, got, hashes)
	}
	for _, v := range availableCuts() {
		var c Cuts
		gotUsed, gotSeen, gotStopped := k.cut(v, &c, src)
		if gotUsed != used || gotSeen != seen || gotStopped != stopped || !slices.Equal(cutTokens(&c), tokens) ||
			!slices.Equal(c.swaps[:c.swapped], want.swaps[:want.swapped]) {
			t.Fatalf("%v, %q: used %d, saw %d, stopped %v, %q, swaps %v;\nwant %d, %d, %v, %q, %v", v, src,
				gotUsed, gotSeen, gotStopped, cutTokens(&c), c.swaps[:c.swapped], used, seen, stopped, tokens, want.swaps[:want.swapped])
		}
	}
}

// scriptPieces are made of ASCII, sequences of two to four bytes, and what is no UTF-8.
var scriptPieces = []string{
	"a", "B", "word", "Capital", " ", "  ", ", ", "\t\n", "\x00", "\x7f", "_", "0", "é", "ßü", "Д", "слово", "\u0301", "\u07ff", "\u0800",
	"中", "文字", "かな", "한국어", "हिन्दी", "\uffff", "\ufffd", "\ud7ff", "\ue000", strings.Repeat("long", 20), strings.Repeat("слово", 20),
	"\U00010000", "😀", "\x80", "\xbf", "\xc3", "\xe4\xb8", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x9f\x98", "\xf8", "\xff",
}

// genScripts makes texts of up to a few kilobytes.
func genScripts(pieces []string, n int) *rapid.Generator[[]byte] {
	return rapid.Map(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, n), func(s []string) []byte { return []byte(strings.Join(s, "")) })
}

func TestCutsEqualTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule := rapid.SampledFrom([]ASCIIRule{ASCIIWords, ASCIINonSpace, ASCIIEach}).Draw(t, "rule")
		k := plainClasses()
		if fold := rapid.Bool().Draw(t, "fold"); rapid.Bool().Draw(t, "classes of all kinds") {
			k = someClasses(rule, fold, rapid.Uint64().Draw(t, "seed"))
		}
		for range 5 {
			checkCuts(t, k, genScripts(scriptPieces, 200).Draw(t, "src"))
		}
	})
}

func TestCutsOfLongTextsWithoutObstacles(t *testing.T) {
	wellFormed := scriptPieces[:slices.Index(scriptPieces, "\U00010000")]
	k := plainClasses()
	rapid.Check(t, func(t *rapid.T) { checkCuts(t, k, genScripts(wellFormed, 2000).Draw(t, "src")) })
}

func TestCutsOfEverySizeAtEveryBorder(t *testing.T) {
	text := []byte(strings.Repeat("Größe 中文 слово हिन्दी, a bc def\x00", 10))
	k := plainClasses()
	for n := range 301 {
		checkCuts(t, k, text[:n:n])
	}
	for _, odd := range []string{"\xc3", "\xe4\xb8", "\u0301", "😀", "\xff"} {
		for at := range 200 {
			src := bytes.Repeat([]byte("é"), 150)
			checkCuts(t, k, append(src[:at:at], odd+strings.Repeat("é", 50)...))
		}
	}
}

func TestCutsOfCodePointsOfAllLengths(t *testing.T) {
	k := someClasses(ASCIIWords, true, 1)
	for r := rune(0); r <= utf8.MaxRune; r += 1 + r>>11 { // all of two bytes, many of three, some of four
		checkCuts(t, k, []byte("a"+string(r)+" b"))
	}
}

func TestACutOfOneTokenOnlyUsesNothing(t *testing.T) {
	var c Cuts
	if used, _, stopped := plainClasses().Cut(&c, bytes.Repeat([]byte("a"), 5000)); used != 0 || stopped || c.tokens != 0 {
		t.Errorf("used %d, stopped %v, %d tokens", used, stopped, c.tokens)
	}
}

func TestSwappedShowsTheTextToReplace(t *testing.T) {
	k := NewClasses(ASCIIWords, true)
	k.SetPage(0, &[PageSize]class{'Ü': ClassRun | ClassSwap, 'ü': ClassRun})
	var c Cuts
	k.Cut(&c, []byte("Über ÜB"))
	for _, at := range c.Places() {
		copy(c.TextAt(at), "ü")
	}
	if got := cutTokens(&c); !slices.Equal(got, []string{"über", "üb"}) {
		t.Errorf("tokens %q", got)
	}
}

func FuzzCut(f *testing.F) {
	f.Add([]byte(strings.Join(scriptPieces, "")), uint8(1))
	f.Add([]byte("Größe 中文 слово हिन्दी"), uint8(9))
	kinds := make([]*Classes, 16)
	for i := range kinds {
		kinds[i] = someClasses(ASCIIRule(i%3), i&4 != 0, uint64(i))
	}
	kinds[15] = plainClasses()
	f.Fuzz(func(t *testing.T, src []byte, kind uint8) {
		// Short inputs are what a fuzzer likes; the padding brings them to borders.
		checkCuts(t, kinds[kind%16], append(bytes.Repeat([]byte("ab "), int(kind/16)*5), src...))
	})
}

// BenchmarkCut cuts texts of one kind, stretch by stretch.
func BenchmarkCut(b *testing.B) {
	k := plainClasses()
	rng := rand.New(rand.NewPCG(1, 2))
	for name, letters := range map[string]string{"ASCII": "abcdefgh", "two bytes": "абвгдежз", "three bytes": "中国文字你好"} {
		var text []byte
		for len(text) < 64<<10 {
			for range 1 + rng.IntN(10) {
				letters := []rune(letters)
				text = utf8.AppendRune(text, letters[rng.IntN(len(letters))])
			}
			text = append(text, ' ')
		}
		for _, v := range availableCuts() {
			b.Run(name+"/"+v.String(), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				var c Cuts
				var hashes []uint64
				for b.Loop() {
					for at := 0; at < len(text); {
						used, _, _ := k.cut(v, &c, text[at:])
						hashes = c.AppendAllHashes(hashes[:0])
						at += used
					}
				}
			})
		}
	}
}
