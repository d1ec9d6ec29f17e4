package simd

import (
	"bytes"
	"fmt"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

// slowVisible is the definition.
func slowVisible(src []byte, fold bool) []byte {
	dst := []byte{}
	for _, c := range src {
		if c < 0x80 && !unicode.IsSpace(rune(c)) {
			if fold {
				c = byte(unicode.ToLower(rune(c)))
			}
			dst = append(dst, c)
		}
	}
	return dst
}

func TestVisibleEqualsItsTwins(t *testing.T) {
	every := make([]byte, 256)
	for c := range every {
		every[c] = byte(c)
	}
	check := func(t interface{ Fatalf(string, ...any) }, src []byte, fold bool) {
		want := slowVisible(src, fold)
		for name, f := range map[string]func(dst, src []byte, fold bool) int{"Visible": Visible, "visibleGeneric": visibleGeneric} {
			dst := bytes.Repeat([]byte{0xee}, len(src)+VisibleSlack)
			if n := f(dst, src, fold); !bytes.Equal(dst[:n], want) {
				t.Fatalf("%s of %q, fold %t: %q, want %q", name, src, fold, dst[:n], want)
			}
		}
	}
	check(t, every, true)
	check(t, every, false)
	rapid.Check(t, func(t *rapid.T) {
		bytes := rapid.OneOf(rapid.Byte(), rapid.SampledFrom([]byte(" \t\naAzZ@[\x00\x7f\x80\xff")))
		check(t, rapid.SliceOfN(bytes, 0, 200).Draw(t, "src"), rapid.Bool().Draw(t, "fold"))
	})
}

func BenchmarkVisible(b *testing.B) {
	src := bytes.Repeat([]byte("The quick brown fox jumps over the lazy dog. "), 100)
	dst := make([]byte, len(src)+VisibleSlack)
	for _, v := range []struct {
		name string
		f    func(dst, src []byte, fold bool) int
	}{{"best", Visible}, {"go", visibleGeneric}} {
		b.Run(fmt.Sprint(v.name), func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				v.f(dst, src, true)
			}
		})
	}
}
