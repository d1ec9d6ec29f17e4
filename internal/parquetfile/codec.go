package parquetfile

import (
	"bytes"
	"fmt"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/compress"
	packbrotli "github.com/parquet-go/parquet-go/compress/brotli"
	"github.com/parquet-go/parquet-go/compress/gzip"
	packlz4 "github.com/parquet-go/parquet-go/compress/lz4"
	packsnappy "github.com/parquet-go/parquet-go/compress/snappy"
	"github.com/parquet-go/parquet-go/compress/uncompressed"
	packzstd "github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"github.com/alike-dev/alike/internal/inflate"
)

// codec is how the pages of a chunk are compressed.
type codec struct {
	id   format.CompressionCodec
	fast bool // at the fastest level of zstd or snappy
}

func codecOf(id int64) (codec, error) {
	c := codec{id: format.CompressionCodec(id)}
	switch c.id {
	case format.Uncompressed, format.Snappy, format.Gzip, format.Brotli, format.Zstd, format.Lz4Raw:
		return c, nil
	}
	return c, fmt.Errorf("%w: compression %v", ErrUnsupported, c.id)
}

// leveled says whether encode has two levels.
func (c codec) leveled() bool { return c.id == format.Zstd || c.id == format.Snappy }

// plain says whether pages are uncompressed.
func (c codec) plain() bool { return c.id == format.Uncompressed }

// encode returns compressed src, in the memory of dst if that suffices. The bytes depend only on
// src and the level.
func (c codec) encode(dst, src []byte) ([]byte, error) {
	switch {
	case c.id == format.Zstd:
		return zstdEncode(dst, src, c.fast)
	case c.id == format.Snappy && c.fast:
		return s2.EncodeSnappy(dst[:cap(dst)], src), nil
	}
	return encoders[c.id].Encode(dst[:0], src)
}

// encoders have the levels that parquet-go has by default.
var encoders = map[format.CompressionCodec]compress.Codec{
	format.Uncompressed: new(uncompressed.Codec),
	format.Snappy:       new(packsnappy.Codec),
	format.Gzip:         &gzip.Codec{Level: gzip.DefaultCompression},
	format.Brotli:       &packbrotli.Codec{Quality: packbrotli.DefaultQuality, LGWin: packbrotli.DefaultLGWin},
	format.Zstd:         &packzstd.Codec{Level: packzstd.DefaultLevel},
	format.Lz4Raw:       &packlz4.Codec{Level: packlz4.DefaultLevel},
}

// zstdEncode has a window of the size of most pages: it takes a third of the memory of parquet-go's
// codec, for the same bytes.
func zstdEncode(dst, src []byte, fast bool) ([]byte, error) {
	level, pool := zstd.SpeedDefault, &zstdEncoders
	if fast {
		level, pool = zstd.SpeedFastest, &zstdFastEncoders
	}
	z, _ := pool.Get().(*zstd.Encoder)
	if z == nil {
		var err error
		z, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true), zstd.WithEncoderCRC(false),
			zstd.WithEncoderLevel(level), zstd.WithWindowSize(2<<20), zstd.WithLowerEncoderMem(true))
		if err != nil {
			return nil, err
		}
	}
	defer pool.Put(z)
	return z.EncodeAll(src, dst[:0]), nil
}

// mostExpansion is how many bytes one compressed byte can yield (in zstd, four bytes give a block
// of 128 KiB). If a page header claims more, nothing is allocated for it. Brotli has no such bound.
var mostExpansion = map[format.CompressionCodec]int{
	format.Snappy: 64, format.Gzip: 1040, format.Lz4Raw: 256, format.Zstd: 32 << 10,
}

// decode returns the decompressed bytes of src, in the memory of dst if that suffices. It is an
// error if their number is not n, the number in the page header. The decoders of parquet-go are not
// used because they yield as much as src holds.
func (c codec) decode(dst, src []byte, n int) ([]byte, error) {
	if most := mostExpansion[c.id]; most > 0 && n > 64+most*len(src) {
		return nil, c.damage(fmt.Errorf("%d bytes cannot hold %d", len(src), n))
	}
	var have int
	var err error
	if c.id != format.Brotli {
		dst = grown(dst, n+1)[:n] // the byte more is for readUpTo
	}
	switch c.id {
	case format.Uncompressed:
		if have = len(src); have == n {
			copy(dst, src)
		}
	case format.Snappy:
		if have, err = snappy.DecodedLen(src); err == nil && have == n {
			_, err = snappy.Decode(dst, src)
		}
	case format.Lz4Raw:
		have, err = lz4.UncompressBlock(src, dst)
	case format.Zstd:
		have, err = zstdDecode(dst, src)
	case format.Gzip:
		var z *inflate.Reader
		if z, err = inflate.NewReader(bytes.NewReader(src)); err == nil {
			dst, err = readUpTo(dst, z, n)
			have = len(dst)
			z.Release()
		}
	case format.Brotli:
		dst, err = readUpTo(dst, brotli.NewReader(bytes.NewReader(src)), n)
		have = len(dst)
	}
	if err == nil && have != n {
		err = fmt.Errorf("%d bytes instead of %d", have, n)
	}
	if err != nil {
		return nil, c.damage(err)
	}
	return dst, nil
}

func (c codec) damage(err error) error {
	return fmt.Errorf("%w: %v data (%v)", ErrCorrupt, c.id, err)
}

var zstdEncoders, zstdFastEncoders, zstdDecoders sync.Pool

func zstdDecode(dst, src []byte) (int, error) {
	d, _ := zstdDecoders.Get().(*zstd.Decoder)
	if d == nil {
		var err error
		d, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return 0, err
		}
	}
	defer zstdDecoders.Put(d)
	out, err := d.DecodeAll(src, dst[:0:len(dst)])
	return len(out), err
}

// readUpTo reads n bytes and, if there are more, one more, in the memory of dst as far as that suffices.
// It allocates only as bytes arrive.
func readUpTo(dst []byte, r io.Reader, n int) ([]byte, error) {
	dst = dst[:0]
	for {
		if len(dst) == cap(dst) {
			dst = append(make([]byte, 0, min(max(2*cap(dst), 64<<10), n+1)), dst...)
		}
		m, err := r.Read(dst[len(dst):min(cap(dst), n+1)])
		if dst = dst[:len(dst)+m]; err == io.EOF || len(dst) > n {
			return dst, nil
		}
		if err != nil {
			return dst, err
		}
	}
}
