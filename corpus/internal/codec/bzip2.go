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
	end    error // of the data; nil: not known
}

func newBzip2(r io.Reader) Reader {
	d := &bzip2Reader{source: bzip2Source{Reader: bufio.NewReaderSize(r, 64<<10)}}
	d.Reader = bzip2.NewReader(&d.source)
	return d
}

func (d *bzip2Reader) Release() {}

func (d *bzip2Reader) Read(p []byte) (int, error) {
	if d.end != nil {
		return 0, d.end
	}
	n, err := d.Reader.Read(p)
	if err != nil {
		d.end = d.endOf(err)
	}
	return n, d.end
}

// endOf returns what an error of the decoder means, which has seen bytes that the source made up.
func (d *bzip2Reader) endOf(err error) error {
	made := d.source.made
	switch {
	case made == 0 && err != noStream:
		return err
	case made > 0 && d.source.failed != io.EOF:
		return d.source.failed
	case made > 0 && err != noStream:
		return io.ErrUnexpectedEOF
	case made > 0:
		err = io.ErrUnexpectedEOF
	}
	last := d.source.last[:len(d.source.last)-made]
	return After(Bzip2, io.MultiReader(bytes.NewReader(last), d.source.Reader), err)
}

// bzip2Source keeps the last two bytes, which are those that the decoder has looked at when it finds no stream. Behind
// the last byte it makes up two, which begin no stream: the decoder says the same of one byte behind a stream as of a
// stream that breaks off, and can tell two bytes from it.
type bzip2Source struct {
	*bufio.Reader
	last   [2]byte
	made   int   // bytes made up
	failed error // why no more could be read
}

func (s *bzip2Source) ReadByte() (byte, error) {
	c, err := s.Reader.ReadByte()
	if err != nil {
		if s.made == len(s.last) {
			return 0, err
		}
		s.made++
		s.failed, c = err, 0xff
	}
	s.last = [2]byte{s.last[1], c}
	return c, nil
}
