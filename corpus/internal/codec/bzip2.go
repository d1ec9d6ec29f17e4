package codec

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"io"
)

// noStream is the error of the decoder for bytes behind a whole stream that begin no other one.
const noStream = bzip2.StructuralError("bad magic value in continuation file")

// bzip2Reader is a decoder that knows what may follow the last stream.
type bzip2Reader struct {
	io.Reader
	source bzip2Source
	after  error // what follows the last stream; nil: not known
}

func newBzip2(r io.Reader) Reader {
	d := &bzip2Reader{source: bzip2Source{Reader: bufio.NewReaderSize(r, 64<<10)}}
	d.Reader = bzip2.NewReader(&d.source)
	return d
}

func (d *bzip2Reader) Release() {}

func (d *bzip2Reader) Read(p []byte) (int, error) {
	if d.after != nil {
		return 0, d.after
	}
	n, err := d.Reader.Read(p)
	if err == noStream {
		d.after = After(Bzip2, io.MultiReader(bytes.NewReader(d.source.last[:]), d.source.Reader), err)
		err = d.after
	}
	return n, err
}

// bzip2Source keeps the last two bytes, which are those that the decoder has looked at when it finds no stream.
type bzip2Source struct {
	*bufio.Reader
	last [2]byte
}

func (s *bzip2Source) ReadByte() (byte, error) {
	c, err := s.Reader.ReadByte()
	if err == nil {
		s.last = [2]byte{s.last[1], c}
	}
	return c, err
}
