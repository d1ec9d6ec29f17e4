// Package units divides compressed files into parts that decode independently: zstd
// frames and bzip2 blocks.
package units

import (
	"errors"
	"io"
	"sync/atomic"

	"github.com/alike-dev/alike/corpus/internal/codec"
	"github.com/alike-dev/alike/internal/fault"
)

// Max is the largest decoded size of a unit: the size of frames that pzstd makes at its
// default level.
const Max = 8 << 20

var (
	// ErrSerial means that the rest of a file is no sequence of units.
	ErrSerial = errors.New("not divided into units")
	// ErrLarge means that a unit is larger than Max.
	ErrLarge = errors.New("unit is too large")
)

// A Reader finds the units of one file.
type Reader interface {
	// Claim reads the next unit into scratch, which it may replace. It returns io.EOF at the
	// end, and ErrSerial if the rest must be decoded in one stream.
	Claim(scratch *[]byte) (unit []byte, err error)
	// Decode appends the decoded unit to dst; with an error, as much of it as is reliable.
	// ErrLarge: it is larger than Max. Safe for concurrent use.
	Decode(dst, unit []byte) ([]byte, error)
	// Place returns the place of the next unit.
	Place() Place
	// Stream decodes everything from a place on.
	Stream(from Place) (codec.Reader, error)
}

// Place is where a unit of a file starts, with the state needed to continue there.
type Place struct {
	Bit      int64
	level    byte   // of bzip2Units
	combined uint32 // of bzip2Units
}

// file is the file of the units.
type file struct {
	at   io.ReaderAt
	size int64
	read *atomic.Int64 // counts the bytes that streams read
}

// Of returns a reader of the units of a file, nil if its compression has no units. read
// counts the bytes that its streams read.
func Of(c codec.Name, at io.ReaderAt, size int64, read *atomic.Int64) Reader {
	switch c {
	case codec.Zstd:
		return &zstdUnits{file: file{at, size, read}, guess: 1 << 20}
	case codec.Bzip2:
		return Bzip2(at, size, read, 1<<20)
	}
	return nil
}

// Bzip2 is Of for a bzip2 file that is read by chunk bytes at once.
func Bzip2(at io.ReaderAt, size int64, read *atomic.Int64, chunk int) Reader {
	return &bzip2Units{file: file{at, size, read}, chunk: chunk}
}

// Counted adds the number of bytes read from r to n.
func Counted(r io.Reader, n *atomic.Int64) io.Reader { return &counted{r, n} }

type counted struct {
	r io.Reader
	n *atomic.Int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// Whole reads the size bytes of a file from a place on; the file must hold them.
func Whole(at io.ReaderAt, from, size int64) io.Reader {
	return &whole{io.NewSectionReader(at, from, size), size}
}

type whole struct {
	r    io.Reader
	left int64
}

func (w *whole) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	w.left -= int64(n)
	if err == io.EOF && w.left > 0 {
		err = fault.Because(fault.ErrChanged, "the file became shorter while it was read")
	}
	return n, err
}
