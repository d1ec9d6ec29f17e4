package simd

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/internal/hashing"
)

// slowWordHashes is the definition: byte by byte, hashing.Bytes of each word.
func slowWordHashes(dst []uint64, src []byte, fold bool) ([]uint64, int) {
	start := -1 // of the open word
	for i := 0; i <= len(src); i++ {
		if i < len(src) && src[i] >= 0x80 {
			if start >= 0 {
				return dst, start
			}
			return dst, i
		}
		if i < len(src) && slowIsWordByte(src[i]) {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 {
			word := src[start:i]
			if fold {
				word = bytes.ToLower(word)
			}
			dst = append(dst, hashing.Bytes(word))
			start = -1
		}
	}
	return dst, len(src)
}

// The masks of what follows a byte above 0x7f are free.
func TestClassifyEqualsTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		byteOf := rapid.OneOf(rapid.Byte(), rapid.SampledFrom([]byte("/09:@AZ[`az{ \x00\x7f\x80\xff")))
		block := [wordBlock]byte(rapid.SliceOfN(byteOf, wordBlock, wordBlock).Draw(t, "block"))
		var word, high uint64
		for i, c := range block {
			if slowIsWordByte(c) {
				word |= 1 << i
			}
			if c >= 0x80 {
				high |= 1 << i
			}
		}
		valid := high&-high - 1
		for name, f := range map[string]func(*[wordBlock]byte) (uint64, uint64){"classify": classify, "classifyGeneric": classifyGeneric} {
			if w, h := f(&block); h != high || (w^word)&valid != 0 {
				t.Fatalf("%s: %b, %b; want %b, %b", name, w, h, word, high)
			}
		}
	})
}

func slowIsWordByte(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// checkWords compares every variant with the definition.
func checkWords(t interface {
	Helper()
	Fatalf(string, ...any)
}, src []byte) {
	t.Helper()
	for _, fold := range []bool{false, true} {
		want, wantN := slowWordHashes([]uint64{1, 2, 3}, src, fold)
		for _, v := range availableWords() {
			got, n := appendWordHashes(v, []uint64{1, 2, 3}, src, fold)
			if n != wantN || !slices.Equal(got, want) {
				t.Fatalf("%v, fold %v, %q: %d words, consumed %d; want %d words, consumed %d\n%x\n%x",
					v, fold, src, len(got), n, len(want), wantN, got, want)
			}
		}
	}
}

// prose returns n bytes like text: words of 1 to 12 letters, now and then a long
// one, between separators of every kind.
func prose(rng *rand.Rand, n int) []byte {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	const separators = "      ,.-_'@[`{/:\x00\x10\x19\n\x7f"
	var b []byte
	for len(b) < n {
		l := 1 + rng.IntN(12)
		if rng.IntN(30) == 0 {
			l = rng.IntN(90)
		}
		for range l {
			b = append(b, letters[rng.IntN(len(letters))])
		}
		for range 1 + rng.IntN(2) {
			b = append(b, separators[rng.IntN(len(separators))])
		}
	}
	return b[:n]
}

func TestTheWordsOfASentence(t *testing.T) {
	src := []byte("Don't panic: 42_x!")
	var want []uint64
	for _, w := range []string{"don", "t", "panic", "42", "x"} {
		want = append(want, hashing.Bytes([]byte(w)))
	}
	got, n := AppendWordHashes(nil, src, true)
	if !slices.Equal(got, want) || n != len(src) {
		t.Errorf("got %x, consumed %d; want %x, %d", got, n, want, len(src))
	}
}

func TestConsumedBytesBeforeNonASCII(t *testing.T) {
	for _, c := range []struct {
		name, src string
		n, words  int
	}{
		{"nothing at all", "", 0, 0},
		{"a word at the end is complete", "one two", 7, 2},
		{"a separator precedes the non-ASCII byte", "one two é", 8, 2},
		{"a word touches the non-ASCII byte", "one cafés", 4, 1},
		{"the first byte is not ASCII", "état", 0, 0},
		{"only separators precede it", " ,.é", 3, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, v := range availableWords() {
				got, n := appendWordHashes(v, nil, []byte(c.src), true)
				if n != c.n || len(got) != c.words {
					t.Errorf("%v: %d words, consumed %d; want %d, %d", v, len(got), n, c.words, c.n)
				}
			}
		})
	}
}

func TestWordsOfEveryLengthAtEveryBorder(t *testing.T) {
	for l := 1; l <= 70; l++ {
		for at := range 130 {
			src := bytes.Repeat([]byte{'.'}, at)
			for i := range l {
				src = append(src, "aZ09zAqM"[i%8])
			}
			for _, after := range []string{"", " next words of it", "é", " é"} {
				checkWords(t, append(src[:len(src):len(src)], after...))
			}
			checkWords(t, append(src, bytes.Repeat([]byte{' ', 'x'}, 100)...))
		}
	}
}

func TestTextsOfEveryLengthAtEveryAlignment(t *testing.T) {
	text := prose(rand.New(rand.NewPCG(1, 1)), 400)
	for align := range 64 {
		for n := range 301 {
			checkWords(t, text[align:align+n:align+n])
		}
	}
}

func TestNonASCIIByteAtEveryPosition(t *testing.T) {
	for _, size := range []int{40, 300, 2200} {
		text := prose(rand.New(rand.NewPCG(2, uint64(size))), size)
		for at := range size {
			src := slices.Clone(text)
			src[at] = 0xc3
			checkWords(t, src)
		}
	}
}

func TestWordsOfEveryByteValue(t *testing.T) {
	for c := range 256 {
		for _, before := range []string{"", "long word ahead of the byte, so that it comes in a block of its own, or nearly"} {
			checkWords(t, []byte(before+"a"+string([]byte{byte(c)})+"b "+string([]byte{byte(c)})))
			checkWords(t, append(bytes.Repeat([]byte{byte(c)}, 64), before...))
		}
	}
}

func TestWordsLongerThanAStep(t *testing.T) {
	for _, l := range []int{63, 64, 65, 144, 255, 256, 257, 2047, 2048, 2049, 4096, 5000, 10_000} {
		for _, at := range []int{0, 1, 63, 64, 2000, 2047, 2048} {
			src := bytes.Repeat([]byte{' ', 'x'}, at/2+1)[:at]
			src = append(src, '.')
			src = append(src, bytes.Repeat([]byte("LongWord"), l/8+1)[:l]...)
			for _, after := range []string{"", " ", " and more", "é", " é"} {
				checkWords(t, append(src[:len(src):len(src)], after...))
			}
		}
	}
}

func TestWordsOfRandomText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		src := prose(rng, rapid.IntRange(0, 10_000).Draw(t, "size"))
		if at := rapid.IntRange(0, 20_000).Draw(t, "non-ASCII byte at"); at < len(src) {
			src[at] |= 0x80
		}
		checkWords(t, src)
	})
}

func TestWordsAreAppendedToAnySlice(t *testing.T) {
	src := prose(rand.New(rand.NewPCG(3, 3)), 3000)
	want, _ := slowWordHashes(nil, src, true)
	for _, v := range availableWords() {
		for _, room := range []int{0, 1, 31, 32, 33, 500, 5000} {
			got, _ := appendWordHashes(v, make([]uint64, 0, room), src, true)
			if !slices.Equal(got, want) {
				t.Errorf("%v: wrong words with room for %d", v, room)
			}
		}
	}
}

func TestWordsDoNotAllocateWhenWarm(t *testing.T) {
	src := prose(rand.New(rand.NewPCG(4, 4)), 5000)
	for _, v := range availableWords() {
		var dst []uint64
		if n := testing.AllocsPerRun(10, func() { dst, _ = appendWordHashes(v, dst[:0], src, true) }); n != 0 {
			t.Errorf("%v: %v allocations a text", v, n)
		}
	}
}

func FuzzWords(f *testing.F) {
	f.Add([]byte("Plain words, 123 of_them."), uint8(0))
	f.Add(fmt.Appendf(nil, "%070d caf\xc3\xa9", 7), uint8(90))
	f.Fuzz(func(t *testing.T, src []byte, pad uint8) {
		// Short inputs are what a fuzzer likes; the padding brings them to borders.
		checkWords(t, append(bytes.Repeat([]byte("ab "), int(pad)), src...))
	})
}

// slowEdges is the definition of WordEdges, byte by byte.
func slowEdges(src []byte) (edges []uint16, used int, ascii bool) {
	stretch := len(src)
	if stretch >= 64 {
		stretch = min(stretch/64*64, EdgeBytes)
	}
	for i, c := range src[:stretch] {
		if c >= 0x80 {
			if len(edges)%2 == 1 {
				return edges[:len(edges)-1], int(edges[len(edges)-1]), false
			}
			return edges, i, false
		}
		if slowIsWordByte(c) != (len(edges)%2 == 1) {
			edges = append(edges, uint16(i))
		}
	}
	if len(edges)%2 == 0 {
		return edges, stretch, true
	}
	if len(src) < 64 {
		return append(edges, uint16(stretch)), stretch, true
	}
	return edges[:len(edges)-1], int(edges[len(edges)-1]), true
}

func TestWordEdgesOfRandomText(t *testing.T) {
	piece := rapid.SampledFrom([]string{"a", "B", "0", " ", "_", ", ", "word ", "\x7f", "é", strings.Repeat("x", 64), strings.Repeat("a ", 1100), strings.Repeat("y", 2100)})
	rapid.Check(t, func(t *rapid.T) {
		src := []byte(strings.Join(rapid.SliceOfN(piece, 0, 100).Draw(t, "src"), ""))
		want, wantUsed, wantASCII := slowEdges(src)
		for _, v := range availableWords() {
			var edges [EdgeBytes]uint16
			words, used, ascii := wordEdges(v, &edges, src)
			if used != wantUsed || ascii != wantASCII || !slices.Equal(edges[:2*words], want) {
				t.Fatalf("%v, %q: %v, %d, %v; want %v, %d, %v", v, src, edges[:2*words], used, ascii, want, wantUsed, wantASCII)
			}
		}
	})
}
