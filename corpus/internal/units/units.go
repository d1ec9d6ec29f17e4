// Package units divides compressed files into parts that decode independently: gzip
// members, zstd frames and bzip2 blocks.
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

// ErrSerial means that the rest of a file is no sequence of units of up to Max, and must be
// decoded in one stream.
var ErrSerial = errors.New("not divided into units")

// A Reader finds the units of one file.
type Reader interface {
	// Claim reads the next unit into scratch, which it may replace. It returns io.EOF at the
	// end, and ErrSerial if the rest is no unit.
	Claim(scratch *[]byte) (unit []byte, err error)
	// Decode appends the decoded unit to dst; with an error, as much of it as is reliable.
	// ErrSerial: it is no unit. Safe for concurrent use.
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

type file struct {
	at   io.ReaderAt
	size int64
	read *atomic.Int64 // counts the bytes that streams read
}

// walked is a file whose units begin at whole bytes, one behind the other.
type walked struct {
	file
	pos   int64 // of the next unit
	guess int   // compressed bytes to read at first
}

func (w *walked) Place() Place { return Place{Bit: w.pos * 8} }

// pass goes on behind a unit of n bytes. The next one is probably about as long.
func (w *walked) pass(n int) {
	w.pos += int64(n)
	w.guess = max(n+n/8, 64<<10)
}

// walk begins at the start of a file.
func walk(at io.ReaderAt, size int64, read *atomic.Int64) walked {
	return walked{file: file{at, size, read}, guess: 1 << 20}
}

// after says what follows the units of a file before the byte at, the error there being damage: see codec.After.
func (f *file) after(c codec.Name, at int64, damage error) error {
	return codec.After(c, Whole(f.at, at, f.size-at), damage)
}

func (f *file) decoder(from Place, c codec.Name) (codec.Reader, error) {
	at := from.Bit / 8
	return codec.NewReader(Counted(Whole(f.at, at, f.size-at), f.read), c)
}

// Of returns a reader of the units of a file, nil if its compression has no units. read
// counts the bytes that its streams read.
func Of(c codec.Name, at io.ReaderAt, size int64, read *atomic.Int64) Reader {
	switch c {
	case codec.Gzip:
		return Gzip(at, size, read, groupSize)
	case codec.Zstd:
		return &zstdUnits{walk(at, size, read)}
	case codec.Bzip2:
		return Bzip2(at, size, read, 1<<20)
	}
	return nil
}

// groupSize is the decoded size up to which small members or frames are one unit: each
// unit costs a read of the file and a turn.
const groupSize = 1 << 20

// Gzip is Of for a gzip file whose members of up to group bytes together are one unit.
func Gzip(at io.ReaderAt, size int64, read *atomic.Int64, group int) Reader {
	return &gzipUnits{walk(at, size, read), group}
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
