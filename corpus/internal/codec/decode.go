// Package codec compresses and decompresses streams.
package codec

import (
	"bufio"
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

// The compressions.
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
		d, err := inflate.NewReader(r)
		if err != nil {
			return nil, err
		}
		return d, nil
	case Zstd:
		d, err := GetZstd()
		if err != nil {
			return nil, err
		}
		if err := d.Reset(&nonEmpty{r: r}); err != nil {
			d.Release()
			return nil, err
		}
		return d, nil
	case Xz:
		return getXz(&nonEmpty{r: r})
	case Bzip2:
		return Stored{bzip2.NewReader(bufio.NewReaderSize(r, 64<<10))}, nil
	}
	return Stored{r}, nil
}

// Stored is a stream that is not compressed, or decoded already.
type Stored struct{ io.Reader }

func (Stored) Release() {}

// ZstdDecoder decodes on the goroutine that calls it.
type ZstdDecoder struct{ *zstd.Decoder }

// MaxZstdWindow is the most memory that a zstd stream may ask for, also the limit of the
// zstd program (without --long=31).
const MaxZstdWindow = 128 << 20

var zstdPool sync.Pool

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

// Damage returns the kind of damage that a decoder has found, and a remedy.
func Damage(c Name, err error) (text, remedy string, kind error) {
	remedy = "get a whole copy of the file"
	switch {
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
