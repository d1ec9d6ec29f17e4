package simd

import (
	"bytes"
	"hash/fnv"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// slowFNV1 is the definition.
func slowFNV1(text []byte, n int) []uint64 {
	var dst []uint64
	for i := range len(text) - n + 1 {
		h := fnv.New64()
		_, _ = h.Write(text[i : i+n])
		dst = append(dst, h.Sum64())
	}
	return dst
}

// fnvFunctions are the variants that can run here, by name.
func fnvFunctions() map[string]func(dst []uint64, text []byte, n int) {
	f := fnvKernels()
	f["fnv1"], f["fnv1Generic"] = fnv1, fnv1Generic
	return f
}

func TestFNV1EqualsItsTwins(t *testing.T) {
	functions := fnvFunctions()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 70).Draw(t, "n")
		text := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "text")
		want := slowFNV1(text, n)
		got := make([]uint64, len(text)+1)
		if runs := FNV1(got, text, n); !slices.Equal(got[:runs], want) {
			t.Fatalf("FNV1 of %d bytes, n = %d: %x, want %x", len(text), n, got[:runs], want)
		}
		for name, f := range functions {
			got := append(make([]uint64, len(want)), 0xdead)
			if f(got[:len(want)], text, n); !slices.Equal(got[:len(want)], want) || got[len(want)] != 0xdead {
				t.Fatalf("%s of %d bytes, n = %d: %x, want %x", name, len(text), n, got, want)
			}
		}
	})
}

func BenchmarkFNV1(b *testing.B) {
	text := bytes.Repeat([]byte("thequickbrownfoxjumpsoverthelazydog."), 200)
	dst := make([]uint64, len(text)-53)
	for name, f := range fnvFunctions() {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(dst)))
			for b.Loop() {
				f(dst, text, 54)
			}
		})
	}
}
