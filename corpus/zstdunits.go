package corpus

import (
	"bytes"
	"io"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// zstdUnits takes the frames of a zstd file as units. Where a frame ends is found
// by walking the headers of its blocks (RFC 8878, section 3.1.1):
//
//	magic 4 │ frame header 2–14 │ { block header 3 │ block }… │ [checksum 4]
//
// A frame of more than maxUnit decoded, or anything odd, is left to the stream
// decoder, which says exactly what is wrong.
type zstdUnits struct {
	f     *File
	pos   int64 // of the next frame
	guess int   // compressed bytes to read at first
}

const (
	zstdBlockMax  = 128 << 10
	zstdHeaderMax = 18
)

func (z *zstdUnits) place() int64 { return z.pos }

func (z *zstdUnits) claim(b *Block) ([]byte, error) {
	want := z.guess
	for {
		left := z.f.size - z.pos
		if left == 0 {
			if z.pos == 0 {
				return nil, io.ErrUnexpectedEOF // an empty file
			}
			return nil, io.EOF
		}
		want = int(min(int64(want), left))
		if cap(b.scratch) < want {
			b.scratch = make([]byte, want+want/8)
		}
		data := b.scratch[:want]
		if n, err := z.f.file.ReadAt(data, z.pos); n < want {
			return nil, shortFile(err)
		}
		n, skip, err := zstdFrame(data)
		switch {
		case err != nil:
			return nil, errSerial
		case skip && n <= left:
			z.pos += n
			want = z.guess
		case n <= int64(want) && !skip:
			z.pos += n
			z.guess = max(int(n+n/8), 64<<10)
			return data[:n], nil
		case n > left || skip || n > maxUnit+maxUnit/8:
			return nil, errSerial
		default:
			want = max(int(n), min(2*want, maxUnit))
		}
	}
}

// shortFile is the error for a file that has fewer bytes than it had.
func shortFile(err error) error {
	if err == io.EOF {
		return because(ErrChanged, "the file became shorter while it was read")
	}
	return err
}

// zstdFrame returns the length of the frame at the start of data, or, if that
// is longer than data, a length up to which more must be read to know. skip says that it is a
// skippable frame. errSerial: not a unit.
func zstdFrame(data []byte) (n int64, skip bool, err error) {
	var h zstd.Header
	if err := h.Decode(data); err != nil {
		if len(data) < zstdHeaderMax {
			return zstdHeaderMax, false, nil
		}
		return 0, false, errSerial
	}
	if h.Skippable {
		return int64(h.HeaderSize) + int64(h.SkippableSize), true, nil
	}
	if h.DictionaryID != 0 || h.HasFCS && h.FrameContentSize > maxUnit || h.WindowSize > maxZstdWindow {
		return 0, false, errSerial
	}
	decoded := 0
	for p := h.HeaderSize; ; {
		if p+3 > len(data) {
			return int64(p) + 3, false, nil
		}
		block := int(data[p]) | int(data[p+1])<<8 | int(data[p+2])<<16
		last, kind, size := block&1 != 0, block>>1&3, block>>3
		stored := size
		switch kind {
		case 1: // one byte, repeated
			stored = 1
		case 2: // compressed
			size = zstdBlockMax
		case 3: // reserved
			return 0, false, errSerial
		}
		if decoded += size; decoded > maxUnit && !h.HasFCS || stored > zstdBlockMax {
			return 0, false, errSerial
		}
		p += 3 + stored
		if last {
			if h.HasCheckSum {
				p += 4
			}
			return int64(p), false, nil
		}
	}
}

// decode decodes one frame. A damaged one is decoded again as a stream, which
// gives what stands before the damage.
func (z *zstdUnits) decode(dst, unit []byte) ([]byte, error) {
	d, err := getZstd()
	if err != nil {
		return dst, err
	}
	defer d.release()
	out, err := d.DecodeAll(unit, dst)
	if err == nil {
		return out, nil
	}
	if err := d.Reset(bytes.NewReader(unit)); err != nil {
		return dst, err
	}
	return readOn(dst, d)
}

// readOn appends what r gives to dst; the error is nil at io.EOF.
func readOn(dst []byte, r io.Reader) ([]byte, error) {
	for {
		dst = slices.Grow(dst, 64<<10)
		n, err := r.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		if err == io.EOF {
			return dst, nil
		}
		if err != nil {
			return dst, err
		}
	}
}
