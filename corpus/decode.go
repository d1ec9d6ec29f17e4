package corpus

import (
	"bufio"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/mikelolasagasti/xz"

	"github.com/alike-dev/alike/internal/fault"
)

// A decoder is a decoded stream. Read returns io.EOF only where the data ends
// as its format wants it. release gives back what it holds.
type decoder interface {
	io.Reader
	release()
}

// newDecoder starts to decode r. Decoders are pooled: a folder of many small
// files makes few of them.
func newDecoder(r io.Reader, c Compression) (decoder, error) {
	switch c {
	case Gzip:
		d, _ := gzipPool.Get().(*gzipDecoder)
		if d == nil {
			d = &gzipDecoder{buf: bufio.NewReaderSize(nil, 64<<10)}
		}
		d.buf.Reset(r)
		if err := d.Reset(d.buf); err != nil {
			d.release()
			return nil, err
		}
		return d, nil
	case Zstd:
		d, err := getZstd()
		if err != nil {
			return nil, err
		}
		if err := d.Reset(&nonEmpty{r: r}); err != nil {
			d.release()
			return nil, err
		}
		return d, nil
	case Xz:
		return getXz(&nonEmpty{r: r})
	case Bzip2:
		return plainDecoder{bzip2.NewReader(bufio.NewReaderSize(r, 64<<10))}, nil
	}
	return plainDecoder{r}, nil
}

type plainDecoder struct{ io.Reader }

func (plainDecoder) release() {}

type gzipDecoder struct {
	gzip.Reader
	buf *bufio.Reader
}

var gzipPool sync.Pool

func (d *gzipDecoder) release() {
	d.buf.Reset(nil)
	gzipPool.Put(d)
}

// zstdDecoder decodes on the goroutine that calls it.
type zstdDecoder struct{ *zstd.Decoder }

// maxZstdWindow is the memory a zstd stream may ask for, the limit of the zstd
// program too (without --long=31).
const maxZstdWindow = 128 << 20

var zstdPool sync.Pool

// nonEmpty makes a stream of no bytes, which the zstd decoder accepts, a
// truncated one.
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

var errNoBytes = fault.Because(ErrTruncated, "the file has no bytes")

func getZstd() (*zstdDecoder, error) {
	if d, ok := zstdPool.Get().(*zstdDecoder); ok {
		return d, nil
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxZstdWindow))
	if err != nil {
		return nil, err
	}
	return &zstdDecoder{d}, nil
}

func (d *zstdDecoder) release() {
	if d.Reset(nil) == nil {
		zstdPool.Put(d)
	}
}

// decodeDamage names the kind of damage that a decoder has found, and what to do.
func decodeDamage(c Compression, err error) (text, remedy string, kind error) {
	remedy = "get a whole copy of the file"
	switch {
	case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, ErrTruncated):
		return fmt.Sprintf("unexpected end of %s data", c), remedy, ErrTruncated
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return fmt.Sprintf("corrupt zstd data, or a window of more than %d MiB (%v)", maxZstdWindow>>20, err),
			"decompress it first if it was compressed with --long, else " + remedy, ErrCorrupt
	case errors.Is(err, xz.ErrMemlimit):
		return fmt.Sprintf("xz data that need a dictionary of more than %d MiB", maxXzDictionary>>20), "decompress the file first", ErrUnsupported
	case errors.Is(err, xz.ErrOptions) || errors.Is(err, xz.ErrUnsupportedCheck):
		return fmt.Sprintf("xz data of a kind that cannot be read (%v)", err), "decompress the file first", ErrUnsupported
	case errors.Is(err, zstd.ErrUnknownDictionary):
		return "zstd data that need a dictionary", "decompress the file first", ErrUnsupported
	}
	return fmt.Sprintf("corrupt %s data (%v)", c, err), remedy, ErrCorrupt
}
