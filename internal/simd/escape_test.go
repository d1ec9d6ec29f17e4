package simd

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// twinMarks is JSONMarks byte by byte.
func twinMarks(s []byte) []uint64 {
	marks := make([]uint64, (len(s)+63)/64)
	for i, c := range s {
		if c == '"' || c == '\\' || c < 0x20 {
			marks[i/64] |= 1 << (i % 64)
		}
	}
	return marks
}

// checkMarks compares JSONMarks, and its twin in Go, with marks made byte by byte.
func checkMarks(t interface {
	Helper()
	Fatalf(string, ...any)
}, s []byte) {
	t.Helper()
	want := twinMarks(s)
	have := slices.Repeat([]uint64{0x5555555555555555}, len(want)) // old bits
	if JSONMarks(have, s); !slices.Equal(have, want) {
		t.Fatalf("%q: %x, want %x", s, have, want)
	}
	if jsonMarksGeneric(have[:len(s)/64], s); !slices.Equal(have, want) {
		t.Fatalf("%q: the twin has %x, want %x", s, have, want)
	}
}

func TestJSONMarksAreTheQuotesBackslashesAndControlCharacters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		char := rapid.OneOf(rapid.Byte(), rapid.SampledFrom([]byte{'"', '\\', '!', '#', '[', ']', 0x1f, 0x20, 0x7f, 0xa2, 0xdc}))
		checkMarks(t, rapid.SliceOfN(char, 0, 300).Draw(t, "text"))
	})
}

func TestJSONMarksOfEveryByteAtEveryPlace(t *testing.T) {
	for _, fill := range []byte{'x', 0x00, 0x80, 0xff, '"'} {
		s := bytes.Repeat([]byte{fill}, 64)
		for i := range s {
			for c := range 256 {
				s[i] = byte(c)
				checkMarks(t, s)
			}
			s[i] = fill
		}
	}
}

// twinUnescape is UnescapeJSON byte by byte.
func twinUnescape(src []byte) (out []byte, read int) {
	for read < len(src) {
		switch c := src[read]; {
		case c == '"' || c < 0x20:
			return out, read
		case c != '\\':
			out = append(out, c)
			read++
		default:
			i := strings.IndexByte(`"/bfnrt`, append(src, 0)[read+1])
			if i < 0 {
				return out, read
			}
			out = append(out, "\"/\b\f\n\r\t"[i])
			read += 2
		}
	}
	return out, read
}

func TestUnescapeJSONStopsWhereItsTwinDoes(t *testing.T) {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{`\"`, `\/`, `\b`, `\f`, `\n`, `\r`, `\t`, `\n\n`, "é", "語"}),
		rapid.StringMatching(`[a-z ]{0,70}`),
	)
	end := rapid.OneOf(rapid.SampledFrom([]string{"", `"`, `\`, `\\`, `\\"`, `\u0041`, `\x`, "\\\xa2", "\x1f", "\n", "\\\n"}), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		var src []byte
		for _, p := range rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces") {
			src = append(src, p...)
		}
		src = append(src, end.Draw(t, "end")...)
		src = append(src, rapid.StringN(0, 10, -1).Draw(t, "behind")...)
		src = src[:min(len(src), MaxUnescape)]
		want, wantRead := twinUnescape(src)

		for name, unescape := range map[string]func(dst, src []byte) (int, int){"best": UnescapeJSON, "Go": unescapeJSONGeneric} {
			dst := bytes.Repeat([]byte{'.'}, len(src)+64)
			if n, read := unescape(dst[:len(src)], src); read != wantRead || !bytes.Equal(dst[:n], want) || bytes.ContainsFunc(dst[len(src):], func(r rune) bool { return r != '.' }) {
				t.Fatalf("%s: %q: %q of %d bytes, want %q of %d", name, src, dst, read, want, wantRead)
			}
			before := rapid.IntRange(0, 70).Draw(t, "earlier")
			memory := append(make([]byte, before), src...)
			if n, read := unescape(memory, memory[before:]); read != wantRead || !bytes.Equal(memory[:n], want) {
				t.Fatalf("%s: %q, %d bytes before itself: %q of %d bytes, want %q of %d", name, src, before, memory[:n], read, want, wantRead)
			}
		}
	})
}

func BenchmarkJSONMarks(b *testing.B) {
	s := bytes.Repeat([]byte("etaoin shrdlu "), 300)
	marks := make([]uint64, len(s)/64+1)
	for _, k := range []struct {
		name string
		of   func([]uint64, []byte)
	}{{"best", JSONMarks}, {"go", func(marks []uint64, s []byte) { jsonMarksGeneric(marks[:len(s)/64], s) }}} {
		b.Run(k.name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				k.of(marks, s)
			}
		})
	}
}

// BenchmarkUnescapeJSON copies a text with an escape every 160 bytes.
func BenchmarkUnescapeJSON(b *testing.B) {
	s := []byte(strings.Repeat(strings.Repeat("etaoin shrdlu ", 11)+`\n etao`, 25))
	dst := make([]byte, len(s))
	for name, of := range map[string]func(dst, src []byte) (int, int){"best": UnescapeJSON, "go": unescapeJSONGeneric} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				of(dst, s)
			}
		})
	}
}
