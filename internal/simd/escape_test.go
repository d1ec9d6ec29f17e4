package simd

import (
	"fmt"
	"strings"
	"testing"
)

func TestJSONSpecialFindsTheFirstQuoteBackslashOrControlCharacter(t *testing.T) {
	slow := func(s []byte) int {
		for i, c := range s {
			if c == '"' || c == '\\' || c < 0x20 {
				return i
			}
		}
		return len(s)
	}
	check := func(s []byte) {
		want := slow(s)
		if have, twin := JSONSpecial(s), jsonSpecialGeneric(s, 0); have != want || twin != want {
			t.Fatalf("%q: %d, the twin %d, want %d", s, have, twin, want)
		}
	}
	for _, fill := range []byte{'x', 0x80, 0xff, '!', '#', 0x20, 0x7f} {
		s := []byte(strings.Repeat(string([]byte{fill}), 240))
		for _, n := range []int{0, 1, 7, 8, 31, 32, 63, 64, 95, 96, 97, 127, 128, 130, 159, 160, 200, 223, 224, 239} {
			for c := range 256 {
				s[n] = byte(c)
				check(s)
			}
			s[n], s[239] = '"', '\\' // of two the first
			check(s)
			s[n], s[239] = fill, fill
			check(s[:n])
		}
	}
}

// BenchmarkJSONSpecial looks for the end of a string without escapes.
func BenchmarkJSONSpecial(b *testing.B) {
	for _, n := range []int{10, 100, 300, 10000} {
		s := []byte(strings.Repeat("x", n) + `"`)
		for name, f := range map[string]func([]byte) int{"best": JSONSpecial, "go": func(s []byte) int { return jsonSpecialGeneric(s, 0) }} {
			b.Run(fmt.Sprint(n, "/", name), func(b *testing.B) {
				b.SetBytes(int64(n))
				for b.Loop() {
					if f(s) != n {
						b.Fatal("wrong place")
					}
				}
			})
		}
	}
}
