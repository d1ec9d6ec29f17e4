package corpus

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/alike-dev/alike/corpus/internal/units"
)

// xzByTheProgram is a file of two records as XZ Utils 5.4 compress it, with
// options.
var xzByTheProgram = map[string]string{
	"-C none":            "/Td6WFoAAAD/EtlBAgAhARYAAAB0L+Wj4AAdABxdAD2IioaUiBPg84lCoBtmUX3yTN0DI9oO+lkaq0AAAAEwHru+zwUGcp56AQAAAAAAWVo=",
	"-C crc32":           "/Td6WFoAAAFpIt42AgAhARYAAAB0L+Wj4AAdABxdAD2IioaUiBPg84lCoBtmUX3yTN0DI9oO+lkaq0AA/Xrd/QABNB6/e6NhkEKZDQEAAAAAAVla",
	"-C sha256":          "/Td6WFoAAArh+wyhAgAhARYAAAB0L+Wj4AAdABxdAD2IioaUiBPg84lCoBtmUX3yTN0DI9oO+lkaq0AARv5EVGOl5FQUPB4sQUeqgR3C3zsWAdubqaCzu2kSjRkAAVAeHNUyYBibS5oBAAAAAApZWg==",
	"--block-size=10":    "/Td6WFoAAATm1rRGAgAhARYAAAB0L+WjAQAJeyJ0ZXh0IjoiYQAAADleGu8yPq4xAgAhARYAAAB0L+WjAQAJIGIgYyJ9CnsidAAAAJsE3mzJc8mcAgAhARYAAAB0L+WjAQAJZXh0IjoiZCJ9CgAAAKV2VgQQ6jvkAAMiCiIKIgo1NNUUscRn+wIAAAAABFla",
	"--x86 --lzma2":      "/Td6WFoAAATm1rRGAgEEACEBFgANhjUf4AAdABxdAD2IioaUiBPg84lCoBtmUX3yTN0DI9oO+lkaq0AAfpqtbtcGS7MAATgeszQWzR+2830BAAAAAARZWg==",
	"--lzma2=dict=16MiB": "/Td6WFoAAATm1rRGAgAhARgAAABHWDpD4AAdABxdAD2IioaUiBPg84lCoBtmUX3yTN0DI9oO+lkaq0AAfpqtbtcGS7MAATgeszQWzR+2830BAAAAAARZWg==",
	"--lzma2=lp=2,lc=1":  "/Td6WFoAAATm1rRGAgAhARYAAAB0L+WjAQAdeyJ0ZXh0IjoiYSBiIGMifQp7InRleHQiOiJkIn0KAAAAfpqtbtcGS7MAATYePRmVUx+2830BAAAAAARZWg==",
}

// xzPrograms returns the files themselves.
func xzPrograms(t testing.TB) map[string][]byte {
	files := map[string][]byte{}
	for options, encoded := range xzByTheProgram {
		data, err := base64.StdEncoding.DecodeString(encoded)
		must(t, err)
		files[options] = data
	}
	return files
}

const xzText = "{\"text\":\"a b c\"}\n{\"text\":\"d\"}\n"

func TestXzOfAnyKindIsReadAndCutAndFlippedFound(t *testing.T) {
	want := twin([]byte(xzText), JSONL, Options{})
	for options, data := range xzPrograms(t) {
		write := rewriter(t, "a.jsonl.xz")
		for _, padding := range []int{0, 4, 16} {
			padded := append(bytes.Clone(data), make([]byte, padding)...)
			twice := append(bytes.Clone(padded), padded...)
			have, err := readAll(t, write(twice), Options{}, 2)
			must(t, err)
			compare(t, options, have, twin([]byte(xzText+xzText), JSONL, Options{}))
		}
		for _, bad := range []int{1, 2, 3, 5} {
			if _, err := readAll(t, write(append(bytes.Clone(data), make([]byte, bad)...)), Options{}, 1); err == nil {
				t.Errorf("%s: %d bytes of padding are accepted", options, bad)
			}
		}
		for n := range data {
			have, err := readAll(t, write(data[:n]), Options{}, 1)
			if !errors.Is(err, ErrTruncated) && !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s cut at %d: %v", options, n, err)
			}
			compare(t, fmt.Sprintf("%s cut at %d", options, n), have, want[:len(have)])
			flipped := bytes.Clone(data)
			flipped[n] ^= 4
			have, err = readAll(t, write(flipped), Options{}, 1)
			if options == "-C none" {
				continue // it has no check sum to find it by
			}
			if err == nil {
				compare(t, fmt.Sprintf("%s, byte %d flipped", options, n), have, want)
			} else if !strings.Contains(err.Error(), "may be wrong") && !errors.Is(err, ErrTruncated) {
				compare(t, fmt.Sprintf("%s, byte %d flipped", options, n), have, want[:min(len(have), len(want))])
			}
		}
	}
}

func TestLargeXzStreamIsReadPieceByPiece(t *testing.T) {
	head := small(100)
	data := bytes.Repeat([]byte(strings.Repeat("the same words ", 100)+"\n"), units.Max/1500+100)
	packed := append(pack(t, Xz, head, 1), pack(t, Xz, data, 1)...)
	packed = append(packed, pack(t, Xz, head, 1)...)
	s := sourceOf(t, "a.xz", packed)
	s.Format = Lines
	want := twin(bytes.Join([][]byte{head, data, head}, nil), Lines, Options{})
	have, err := readAll(t, s, Options{}, 3)
	must(t, err)
	compare(t, "large", have, want)

	packed[len(packed)/2] ^= 1
	s = sourceOf(t, "b.xz", packed)
	s.Format = Lines
	have, err = readAll(t, s, Options{}, 2)
	if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "any of the records up to line") {
		t.Errorf("%d records, error %v", len(have), err)
	}
}

func TestXzThatAsksForTooMuchIsToldWithTheRemedy(t *testing.T) {
	packed := pack(t, Xz, bytes.Repeat([]byte("a line of a large file\n"), units.Max/23+1000), 1)
	h := packed[12 : 12+(int(packed[12])+1)*4] // of the block: size, flags, LZMA2, one byte of properties
	h[4] = 32                                  // 256 MiB
	binary.LittleEndian.PutUint32(h[len(h)-4:], crc32.ChecksumIEEE(h[:len(h)-4]))
	_, err := readAll(t, sourceOf(t, "a.jsonl.xz", packed), Options{}, 1)
	if !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "a.jsonl.xz: xz data that need a dictionary of more than 128 MiB in line 1, none of its records is read; decompress the file first") {
		t.Errorf("error %v", err)
	}
}

func TestBombOfXzEndsItsFile(t *testing.T) {
	head := small(20)
	run := bytes.Repeat([]byte("x"), 1<<20)
	packed := append(pack(t, Xz, head, 1), bytes.Repeat(pack(t, Xz, run, 1), 5)...)
	have, err := readAll(t, sourceOf(t, "a.jsonl.xz", packed), Options{MaxRecord: 128 << 10}, 2)
	if !errors.Is(err, ErrBomb) || len(have) != 21 {
		t.Errorf("%d records, error %v", len(have), err)
	}
}
