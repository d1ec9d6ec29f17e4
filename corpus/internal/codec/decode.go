// Package codec compresses and decompresses streams.
package codec

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/mikelolasagasti/xz"

	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/inflate"
)

// A Name names a compression; "" is none.
type Name string

const (
	Plain Name = ""
	Gzip  Name = "gzip"
	Zstd  Name = "zstd"
	Bzip2 Name = "bzip2"
	Xz    Name = "xz"
)

// A Reader is a decoded stream. Read returns io.EOF only at the regular end of the
// format. Release returns the decoder to its pool.
type Reader interface {
	io.Reader
	Release()
}

// NewReader starts to decode r. Decoders are pooled: a folder of many small
// files makes few of them.
func NewReader(r io.Reader, c Name) (Reader, error) {
	switch c {
	case Gzip:
		return newGzip(r)
	case Zstd:
		return newZstd(r)
	case Xz:
		return getXz(&nonEmpty{r: r})
	case Bzip2:
		return newBzip2(r), nil
	}
	return Stored{r}, nil
}

// Stored is a stream that is not compressed, or decoded already.
type Stored struct{ io.Reader }

func (Stored) Release() {}

// nonEmpty makes a stream of no bytes, which the zstd decoder accepts, a truncated one.
type nonEmpty struct {
	r     io.Reader
	begun bool
}

func (e *nonEmpty) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	if n > 0 {
		e.begun = true
	} else if err == io.EOF && !e.begun {
		err = errNoBytes
	}
	return n, err
}

var errNoBytes = fault.Because(fault.ErrTruncated, "the file has no bytes")

// Damage returns the kind of damage that a decoder has found, and a remedy.
func Damage(c Name, err error) (text, remedy string, kind error) {
	remedy = "get a whole copy of the file"
	var garbage *Garbage
	switch {
	case errors.As(err, &garbage):
		return fmt.Sprintf("%v after complete %s data", garbage, c), "cut it off if nothing is missing, else " + remedy, fault.ErrCorrupt
	case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, fault.ErrTruncated):
		return fmt.Sprintf("unexpected end of %s data", c), remedy, fault.ErrTruncated
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return fmt.Sprintf("corrupt zstd data, or a window of more than %d MiB (%v)", MaxZstdWindow>>20, err),
			"decompress it first if it was compressed with --long, else " + remedy, fault.ErrCorrupt
	case errors.Is(err, xz.ErrMemlimit):
		return fmt.Sprintf("xz data that need a dictionary of more than %d MiB", MaxXzDictionary>>20), "decompress the file first", fault.ErrUnsupported
	case errors.Is(err, xz.ErrOptions) || errors.Is(err, xz.ErrUnsupportedCheck):
		return fmt.Sprintf("xz data of a kind that cannot be read (%v)", err), "decompress the file first", fault.ErrUnsupported
	case errors.Is(err, zstd.ErrUnknownDictionary):
		return "zstd data that need a dictionary", "decompress the file first", fault.ErrUnsupported
	}
	return fmt.Sprintf("corrupt %s data (%v)", c, err), remedy, fault.ErrCorrupt
}

// IsUnchecked reports whether damage was found after bytes that no checksum covers;
// summed reports whether a checksum of all bytes has found it, so that its place is not
// known.
func IsUnchecked(damage error) (unchecked, summed bool) {
	var corrupt flate.CorruptInputError
	if errors.Is(damage, gzip.ErrChecksum) || errors.As(damage, &corrupt) {
		return true, false
	}
	for _, err := range []error{zstd.ErrCRCMismatch, xz.ErrData, xz.ErrFormat, xz.ErrOptions} {
		if errors.Is(damage, err) {
			return false, true
		}
	}
	return false, false
}

// Lazy makes its decoder at the first read: decoders read the start of their stream at
// once, and opening a source should not wait for a network.
type Lazy struct {
	From io.Reader
	Name Name

	decoder Reader
	err     error
}

func (l *Lazy) Read(p []byte) (int, error) {
	if l.decoder == nil && l.err == nil {
		l.decoder, l.err = NewReader(l.From, l.Name)
	}
	if l.err != nil {
		return 0, l.err
	}
	return l.decoder.Read(p)
}

// Release releases the decoder, if there is one.
func (l *Lazy) Release() {
	if l.decoder != nil {
		l.decoder.Release()
	}
}

// gzipReader is a decoder that knows what may follow the last member.
type gzipReader struct {
	*inflate.Reader
	after error // what follows the last member; nil: not known
}

func newGzip(r io.Reader) (Reader, error) {
	d, err := inflate.NewReader(r)
	if err != nil {
		return nil, err
	}
	return &gzipReader{Reader: d}, nil
}

func (d *gzipReader) Read(p []byte) (int, error) {
	if d.after != nil {
		return 0, d.after
	}
	n, err := d.Reader.Read(p)
	if err == gzip.ErrHeader || err == io.ErrUnexpectedEOF {
		if rest := d.Behind(); rest != nil {
			d.after = After(Gzip, rest, err)
			err = d.after
		}
	}
	return n, err
}

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

// ZstdDecoder decodes on the goroutine that calls it.
type ZstdDecoder struct{ *zstd.Decoder }

// MaxZstdWindow is the most memory that a zstd stream may ask for, also the limit of the
// zstd program (without --long=31).
const MaxZstdWindow = 128 << 20

var zstdPool sync.Pool

// GetZstd returns a pooled decoder. Release returns it to the pool.
func GetZstd() (*ZstdDecoder, error) {
	if d, ok := zstdPool.Get().(*ZstdDecoder); ok {
		return d, nil
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(MaxZstdWindow))
	if err != nil {
		return nil, err
	}
	return &ZstdDecoder{d}, nil
}

func (d *ZstdDecoder) Release() {
	if d.Reset(nil) == nil {
		zstdPool.Put(d)
	}
}

// zstdReader is a decoder that knows what may follow the last frame.
type zstdReader struct {
	*ZstdDecoder
	source *zstdSource
	after  error // what follows the last frame; nil: not known
}

func newZstd(r io.Reader) (Reader, error) {
	d, err := GetZstd()
	if err != nil {
		return nil, err
	}
	source := &zstdSource{r: &nonEmpty{r: r}}
	if err := d.Reset(source); err != nil {
		d.Release()
		return nil, err
	}
	return &zstdReader{ZstdDecoder: d, source: source}, nil
}

func (d *zstdReader) Read(p []byte) (int, error) {
	if d.after != nil {
		return 0, d.after
	}
	n, err := d.ZstdDecoder.Read(p)
	if errors.Is(err, zstd.ErrMagicMismatch) {
		if rest := d.source.behind(); rest != nil {
			d.after = After(Zstd, rest, err)
			err = d.after
		}
	}
	return n, err
}

// zstdSource is the source of a decoder, which reads the four bytes that begin a frame as one byte and three. So
// when the decoder finds that they begin none, they are the last ones from a read of one byte on.
type zstdSource struct {
	r    io.Reader
	read int64
	last []byte // up to four bytes from the last read of one byte on
}

func (s *zstdSource) Read(p []byte) (n int, err error) {
	if len(p) > 3 {
		n, err = s.r.Read(p)
	} else { // a short read would leave another one of one byte
		n, err = io.ReadFull(s.r, p)
	}
	if len(p) == 1 {
		s.last = s.last[:0]
	}
	s.last = append(s.last, p[:min(n, 4-len(s.last))]...)
	s.read += int64(n)
	return n, err
}

// behind returns the file behind the last whole frame, nil if there is no whole frame.
func (s *zstdSource) behind() io.Reader {
	if s.read == int64(len(s.last)) {
		return nil
	}
	return io.MultiReader(bytes.NewReader(s.last), s.r)
}
