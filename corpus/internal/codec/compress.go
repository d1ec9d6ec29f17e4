package codec

import (
	"bytes"
	"fmt"
	"io"
	"sync"

	dsnet "github.com/dsnet/compress/bzip2"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
	"github.com/ulikunitz/xz/lzma"
)

// PartSize is how much of an output becomes one member, frame or stream. The bytes of an
// output depend on it.
const PartSize = 4 << 20

// A Compressor makes the parts of a compressed file.
type Compressor struct {
	// Part appends src, compressed as a member, frame or stream of its own, to
	// dst. It may be called by many goroutines at once.
	Part func(dst, src []byte) ([]byte, error)
	// Memory is about how many bytes a part needs while it is made: the input, the result if
	// it does not shrink, and the compressor.
	Memory int64
	// Fast takes two thirds of the time for 4 (gzip) or 10 (zstd) percent more bytes, still fewer than what gzip -1,
	// igzip and zstd -1 make; nil: there is none.
	Fast *Compressor
}

// ReadingMemory is about how many bytes it takes to read a file front to back.
func ReadingMemory(c Name) int64 {
	switch c {
	case Gzip, Zstd, Xz: // a unit and its compressed bytes, or a window of 8 MiB
		return 16 << 20
	case Bzip2:
		return 8 << 20
	}
	return 2 << 20
}

// CompressorOf returns the compressor of a compression; nil for no compression.
func CompressorOf(c Name) (*Compressor, error) {
	switch c {
	case Plain:
		return nil, nil
	case Gzip:
		return &Compressor{gzipUsual.part, 10 << 20, &Compressor{gzipFast.part, 10 << 20, nil}}, nil
	case Zstd:
		return &Compressor{zstdUsual.part, 16 << 20, &Compressor{zstdFast.part, 16 << 20, nil}}, nil
	case Bzip2:
		return &Compressor{bzip2Part, 28 << 20, nil}, nil
	case Xz:
		return &Compressor{xzPart, 28 << 20, nil}, nil
	}
	return nil, fmt.Errorf("unknown compression %q", string(c))
}

// gzipClass makes members at one level.
type gzipClass struct {
	level   int
	writers sync.Pool
}

// Level 1 is slower than level 2, and makes 3 percent more bytes.
var gzipUsual, gzipFast = gzipClass{level: gzip.DefaultCompression}, gzipClass{level: 2}

func (c *gzipClass) part(dst, src []byte) ([]byte, error) {
	out := bytes.NewBuffer(dst)
	z, _ := c.writers.Get().(*gzip.Writer)
	if z == nil {
		var err error
		if z, err = gzip.NewWriterLevel(out, c.level); err != nil {
			return dst, err
		}
	} else {
		z.Reset(out)
	}
	defer c.writers.Put(z)
	return writePart(z, out, src)
}

// zstdClass makes frames at one level.
type zstdClass struct {
	level   zstd.EncoderLevel
	writers sync.Pool
}

var zstdUsual, zstdFast = zstdClass{level: zstd.SpeedDefault}, zstdClass{level: zstd.SpeedFastest}

func (c *zstdClass) part(dst, src []byte) ([]byte, error) {
	z, _ := c.writers.Get().(*zstd.Encoder)
	if z == nil {
		var err error
		z, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true), zstd.WithEncoderLevel(c.level),
			zstd.WithWindowSize(PartSize), zstd.WithLowerEncoderMem(true)) // a third of the memory, for the same bytes
		if err != nil {
			return dst, err
		}
	}
	defer c.writers.Put(z)
	return z.EncodeAll(src, dst), nil
}

var bzip2Writers sync.Pool

func bzip2Part(dst, src []byte) ([]byte, error) {
	out := bytes.NewBuffer(dst)
	z, _ := bzip2Writers.Get().(*dsnet.Writer)
	if z == nil {
		var err error
		if z, err = dsnet.NewWriter(out, &dsnet.WriterConfig{Level: 9}); err != nil {
			return dst, err
		}
	} else if err := z.Reset(out); err != nil {
		return dst, err
	}
	defer bzip2Writers.Put(z)
	return writePart(z, out, src)
}

// xzPart makes a stream with a dictionary of at most 1 MiB. A larger one makes prose one
// percent smaller and takes twice the memory.
func xzPart(dst, src []byte) ([]byte, error) {
	out := bytes.NewBuffer(dst)
	z, err := xz.WriterConfig{DictCap: min(max(len(src), lzma.MinDictCap), 1<<20)}.NewWriter(out)
	if err != nil {
		return dst, err
	}
	return writePart(z, out, src)
}

// writePart compresses src by z into out.
func writePart(z io.WriteCloser, out *bytes.Buffer, src []byte) ([]byte, error) {
	if _, err := z.Write(src); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// mostExpanded is how many times more than stored of the beginning of a file is decoded at most. What expands more is
// packed tightly.
const mostExpanded = 8

// Suffices tells whether a compressor makes no more bytes, or up to a hundredth more, of what a file begins with than
// head, its first stored bytes.
func (z *Compressor) Suffices(c Name, head []byte) bool {
	if c == Zstd { // a cut block is not decoded
		head = head[:WholeBlocks(head)]
	}
	r, err := NewReader(bytes.NewReader(head), c)
	if err != nil {
		return false
	}
	defer r.Release()
	text := make([]byte, mostExpanded*len(head))
	n, err := io.ReadFull(r, text)
	if n == 0 || err == nil {
		return false
	}
	packed, err := z.Part(nil, text[:n])
	return err == nil && len(packed) <= len(head)+len(head)/100
}

// WholeBlocks returns the length of all whole blocks of zstd that data begins with.
func WholeBlocks(data []byte) (end int) {
	for end < len(data) {
		var h zstd.Header
		if h.Decode(data[end:]) != nil {
			return end
		}
		p, last := end+h.HeaderSize, false
		if h.Skippable {
			p, last = p+int(h.SkippableSize), true
		}
		for !last {
			if p+3 > len(data) {
				return end
			}
			size := int(data[p+1])<<5 | int(data[p+2])<<13 | int(data[p])>>3
			if data[p]>>1&3 == 1 { // one byte, repeated
				size = 1
			}
			last = data[p]&1 != 0
			if p += 3 + size; p > len(data) {
				return end
			}
			end = p
		}
		if h.HasCheckSum {
			p += 4
		}
		if p > len(data) {
			return end
		}
		end = p
	}
	return end
}
