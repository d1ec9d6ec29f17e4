package codec

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
)

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
