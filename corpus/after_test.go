package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/alike-dev/alike/corpus/internal/codec"
	"github.com/alike-dev/alike/internal/testsize"
)

// archivesOf are archives of data in every shape that is read in its own way: one part, several, and one large one.
func archivesOf(t *testing.T, c Compression) map[string][]byte {
	size := 300 << 10
	if testsize.Small() {
		size = 60 << 10
	}
	small, large := small(40), benchLines(size, 500)
	return map[string][]byte{
		"one":                pack(t, c, small, 1),
		"three":              pack(t, c, small, 3),
		"without a line end": pack(t, c, bytes.TrimSuffix(small, []byte("\n")), 1),
		"large":              pack(t, c, large, 1),
	}
}

// readings are the ways in which the bytes of a file come: as a file, or as a stream, as a whole or in small pieces.
func readings(t *testing.T, c Compression, f Format) map[string]func(data []byte) ([]got, error) {
	write := rewriter(t, "a.jsonl"+suffix[c])
	stream := func(through func(io.Reader) io.Reader) func(data []byte) ([]got, error) {
		return func(data []byte) ([]got, error) {
			s := Source{Path: "-", Name: "stdin.jsonl", Format: f, Compression: c, Size: -1, Stream: true}
			return readAll(t, s, Options{Stdin: through(bytes.NewReader(data))}, 1)
		}
	}
	return map[string]func(data []byte) ([]got, error){
		"file": func(data []byte) ([]got, error) {
			s := write(data)
			s.Format = f
			return readAll(t, s, Options{BlockSize: 300}, 2)
		},
		"stream": stream(func(r io.Reader) io.Reader { return r }),
		"pieces": stream(iotest.HalfReader),
	}
}

func TestZeroBytesAfterAnArchiveAreItsEnd(t *testing.T) {
	for _, c := range compressions {
		for what, packed := range archivesOf(t, c) {
			for _, format := range []Format{JSONL, Text} {
				for how, read := range readings(t, c, format) {
					want, err := read(packed)
					must(t, err)
					for _, zeros := range []int{1, 2, 4, 8, 512, 10240, 200 << 10} {
						if zeros < 4 && (c == Xz || c == Zstd && how != "file") {
							continue // xz pads to multiples of four, and the decoder of zstd takes them for a frame that breaks off
						}
						have, err := read(append(bytes.Clone(packed), make([]byte, zeros)...))
						name := fmt.Sprintf("%s %s %s, %s, %d zeros", c, what, format, how, zeros)
						if err != nil {
							t.Errorf("%s: %v", name, err)
						}
						compare(t, name, have, want)
					}
				}
			}
		}
	}
}

func TestGarbageAfterAnArchiveIsCountedAndLosesNothing(t *testing.T) {
	const text = "garbage that is no archive\n"
	for _, c := range compressions {
		rests := map[string]string{"text": text, "one byte": "\n", "two bytes": "\n\n", "zeros and text": strings.Repeat("\x00", 1024) + text, "much": strings.Repeat(text, 10_000)}
		if c == Xz { // pads to multiples of four
			rests["three zeros"] = "\x00\x00\x00"
		}
		for what, packed := range archivesOf(t, c) {
			for _, format := range []Format{JSONL, Text} {
				for how, read := range readings(t, c, format) {
					want, err := read(packed)
					must(t, err)
					for kind, rest := range rests {
						if c == Zstd && len(rest) < 4 && how != "file" {
							continue // its decoder takes them for a frame that breaks off
						}
						have, err := read(append(bytes.Clone(packed), rest...))
						name := fmt.Sprintf("%s %s %s, %s, %s", c, what, format, how, kind)
						says := fmt.Sprintf("%v after complete %s data (everything before it is used); ", &codec.Garbage{Bytes: int64(len(rest))}, c)
						if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), says) {
							t.Errorf("%s: %v", name, err)
						}
						compare(t, name, have, want)
					}
				}
			}
		}
	}
}

func TestAnArchiveThatBreaksOffAfterAWholePartIsNoGarbage(t *testing.T) {
	for _, c := range compressions {
		packed := pack(t, c, small(20), 1)
		for how, read := range readings(t, c, JSONL) {
			for n := 3; n < len(packed); n += 5 {
				if _, err := read(append(bytes.Clone(packed), packed[:n]...)); err == nil || strings.Contains(err.Error(), "garbage") {
					t.Errorf("%s, %s: %d bytes of another part: %v", c, how, n, err)
				}
			}
		}
	}
}
