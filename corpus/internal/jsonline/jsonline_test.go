package jsonline

import (
	"fmt"
	"strings"
	"testing"
)

func TestSpecialFindsTheFirstQuoteBackslashOrControlCharacter(t *testing.T) {
	slow := func(s []byte, i int) int {
		for ; i < len(s); i++ {
			if s[i] == '"' || s[i] == '\\' || s[i] < 0x20 {
				break
			}
		}
		return i
	}
	for n := range 80 {
		for c := range 256 {
			for _, fill := range []byte{'x', 0x80, 0xff, '!', '#', 0x20, 0x7f} {
				s := make([]byte, 80)
				for i := range s {
					s[i] = fill
				}
				s[n] = byte(c)
				if have, want := special(s, n%9), slow(s, n%9); have != want {
					t.Fatalf("byte %#x at %d among %#x: %d, want %d", c, n, fill, have, want)
				}
			}
		}
	}
}

// BenchmarkSpecial looks for the end of a string without escapes.
func BenchmarkSpecial(b *testing.B) {
	for _, n := range []int{10, 100, 10000} {
		s := []byte(strings.Repeat("x", n) + `"`)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(n))
			for b.Loop() {
				if special(s, 0) != n {
					b.Fatal("wrong place")
				}
			}
		})
	}
}
