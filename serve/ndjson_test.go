package serve

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestALineIsTooLongHoweverItsBytesArrive holds the limit of a line: with its end behind it or without, in one read or many.
func TestALineIsTooLongHoweverItsBytesArrive(t *testing.T) {
	const most = 3 * lineBlockSize
	for _, length := range []int{most, most + 1, most + lineBlockSize} {
		for _, end := range []string{"", "\n", "\nshort\n"} {
			for name, reader := range map[string]func(io.Reader) io.Reader{
				"at once": func(r io.Reader) io.Reader { return r }, "in halves": iotest.HalfReader, "with the error": iotest.DataErrReader,
			} {
				body := reader(strings.NewReader("first\n" + strings.Repeat("x", length) + end))
				read, err := readAll(body, most)
				var p *Problem
				if errors.As(err, &p) != (length > most) {
					t.Errorf("%d bytes, %q behind them, %s: error %v", length, end, name, err)
				}
				if want := 6 + length + len(end); err == io.EOF && read != want {
					t.Errorf("%d bytes, %q behind them, %s: %d bytes read, want %d", length, end, name, read, want)
				}
			}
		}
	}
}

// readAll reads blocks as readLines does. It returns how many bytes came in them and after the last line end.
func readAll(body io.Reader, most int64) (read int, err error) {
	var rest []byte
	for {
		b := &lineBlock{lines: rest}
		whole, err := readBlock(body, b, most)
		rest, read = bytes.Clone(b.lines[whole:]), read+whole
		if err != nil {
			return read + len(rest), err
		}
	}
}
