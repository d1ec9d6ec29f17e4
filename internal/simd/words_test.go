package simd

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

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

func slowIsWordByte(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func checkWords(t *testing.T, src []byte) {
	t.Helper()
	for _, fold := range []bool{false, true} {
		prefix := []uint64{1, 2, 3}
		want, wantN := slowWordHashes(slices.Clone(prefix), src, fold)
		for _, v := range availableWords() {
			got, n := appendWordHashes(v, slices.Clone(prefix), src, fold)
			if n != wantN || !slices.Equal(got, want) {
				t.Fatalf("%v, fold %v, %q: %d words, consumed %d; want %d words, consumed %d\n%x\n%x",
					v, fold, src, len(got), n, len(want), wantN, got, want)
			}
		}
	}
}

func TestWordsOfEveryLengthAtEveryBorder(t *testing.T) {
	for l := 1; l <= 70; l++ {
		for at := range 130 {
			for _, after := range []string{"", " ", " next words of it", "é", " é"} {
				src := bytes.Repeat([]byte{'.'}, at)
				for i := range l {
					src = append(src, "aZ09zAqM"[i%8])
				}
				src = append(src, after...)
				checkWords(t, src)
				src = append(src, bytes.Repeat([]byte{' ', 'x'}, 70)...)
				checkWords(t, src)
			}
		}
	}
}

func TestWordsOfEveryByteValue(t *testing.T) {
	for c := range 256 {
		checkWords(t, []byte(fmt.Sprintf("ab%cc %cd %c e", c, c, c)))
		checkWords(t, []byte{'a', byte(c), 'b', ' ', byte(c)})
	}
}
