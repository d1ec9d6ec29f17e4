package units

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"

	"github.com/alike-dev/alike/corpus/internal/codec"
	"github.com/alike-dev/alike/internal/fault"
)

// zstdUnits takes the frames of a zstd file as units: each begins with a header and can
// be walked over without decoding it. Consecutive small frames are one unit. A frame that
// decodes to more than Max, or anything unusual, is left to the stream decoder, which
// says exactly what is wrong.
type zstdUnits struct{ walked }

// frame is the result of lookZstd.
type frame struct {
	length  int64 // compressed; if more than the data, how much must be read to find it
	decoded int   // upper bound of the decoded size
	skip    bool  // nothing to decode
}

func (z *zstdUnits) Stream(from Place) (codec.Reader, error) {
	return z.decoder(from, codec.Zstd)
}

func (z *zstdUnits) Claim(scratch *[]byte) ([]byte, error) {
	want := z.guess
	for {
		left := z.size - z.pos
		if left == 0 {
			if z.pos == 0 {
				return nil, io.ErrUnexpectedEOF // an empty file
			}
			return nil, io.EOF
		}
		want = int(min(int64(want), left))
		if cap(*scratch) < want {
			*scratch = make([]byte, want+want/8)
		}
		data := (*scratch)[:want]
		if n, err := z.at.ReadAt(data, z.pos); n < want {
			return nil, shortFile(err)
		}
		fr, err := lookZstd(data)
		switch {
		case err != nil:
			return nil, z.serial()
		case fr.skip && fr.length <= left:
			z.pos += fr.length
			want = z.guess
		case fr.length <= int64(want) && !fr.skip:
			unit := data[:fr.length+z.small(data[fr.length:], groupSize-fr.decoded)]
			z.pass(len(unit))
			return unit, nil
		case fr.length > left || fr.skip || fr.length > Max+Max/8:
			return nil, z.serial()
		default:
			want = max(int(fr.length), min(2*want, Max))
		}
	}
}

// serial returns the error for a rest that is no unit: ErrSerial, unless it is no frame either.
func (z *zstdUnits) serial() error {
	if z.pos == 0 {
		return ErrSerial
	}
	return z.after(codec.Zstd, z.pos, ErrSerial)
}

// small returns the length of the frames at the start of data that are complete and
// decode to at most most bytes.
func (z *zstdUnits) small(data []byte, most int) (n int64) {
	for {
		fr, err := lookZstd(data[n:])
		if err != nil || fr.decoded > most || n+fr.length > int64(len(data)) {
			return n
		}
		n += fr.length
		most -= fr.decoded
	}
}

// shortFile is the error for a file that has become shorter.
func shortFile(err error) error {
	if err == io.EOF {
		return fault.Because(fault.ErrChanged, "the file became shorter while it was read")
	}
	return err
}

// Decode decodes the frames of a unit; if one is damaged, those before it.
func (z *zstdUnits) Decode(dst, unit []byte) ([]byte, error) {
	out, err := decodeZstd(dst, unit)
	if err == nil {
		return out, nil
	}
	for len(unit) > 0 {
		fr, ferr := lookZstd(unit)
		if ferr != nil {
			return dst, err
		}
		one := unit[:fr.length]
		if dst, err = decodeZstd(dst, one); err != nil {
			return salvageZstd(dst, one, err)
		}
		unit = unit[fr.length:]
	}
	return dst, err
}

// Small decodes a short zstd file at once, in no more memory than it needs, whatever its
// frames ask for; ok is false if the file is not short, or is damaged. The stream ends with
// what codec.After says of the bytes behind the last frame.
func Small(at io.ReaderAt, size int64, read *atomic.Int64) (r codec.Reader, ok bool) {
	if size == 0 || size > Max/4 {
		return nil, false
	}
	data := make([]byte, size)
	z := &zstdUnits{}
	if _, err := at.ReadAt(data, 0); err != nil {
		return nil, false
	}
	n := z.small(data, Max)
	after := io.EOF
	if n < size {
		after = codec.After(codec.Zstd, bytes.NewReader(data[n:]), nil)
	}
	if n == 0 || after == nil {
		return nil, false
	}
	out, err := decodeZstd(nil, data[:n])
	if err != nil {
		return nil, false
	}
	read.Store(size)
	return codec.Stored{Reader: io.MultiReader(bytes.NewReader(out), ended{after})}, true
}

type ended struct{ err error }

func (e ended) Read([]byte) (int, error) { return 0, e.err }

// minRead is how much room there is at least for what readOn reads at once.
const minRead = 64 << 10

// readOn appends the bytes of r to dst; at io.EOF the error is nil.
func readOn(dst []byte, r io.Reader) ([]byte, error) {
	for {
		dst = slices.Grow(dst, minRead)
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

const (
	zstdBlockMax  = 128 << 10
	zstdHeaderMax = 18
)

// lookZstd finds the end of the frame at the start of data, by walking the headers of its
// blocks (RFC 8878, section 3.1.1). ErrSerial: the frame cannot be a unit.
//
//	magic 4 │ frame header 2–14 │ { block header 3 │ block }… │ [checksum 4]
func lookZstd(data []byte) (frame, error) {
	var h zstd.Header
	if err := h.Decode(data); err != nil {
		if len(data) < zstdHeaderMax {
			return frame{length: zstdHeaderMax}, nil
		}
		return frame{}, ErrSerial
	}
	if h.Skippable {
		return frame{length: int64(h.HeaderSize) + int64(h.SkippableSize), skip: true}, nil
	}
	if h.DictionaryID != 0 || h.HasFCS && h.FrameContentSize > Max || h.WindowSize > codec.MaxZstdWindow {
		return frame{}, ErrSerial
	}
	decoded := 0
	for p := h.HeaderSize; ; {
		if p+3 > len(data) {
			return frame{length: int64(p) + 3}, nil
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
			return frame{}, ErrSerial
		}
		if decoded += size; decoded > Max && !h.HasFCS || stored > zstdBlockMax {
			return frame{}, ErrSerial
		}
		p += 3 + stored
		if last {
			if h.HasFCS {
				decoded = int(h.FrameContentSize)
			}
			if h.HasCheckSum {
				p += 4
			}
			return frame{length: int64(p), decoded: decoded}, nil
		}
	}
}

// decodeZstd appends the decoded unit to dst; with an error it returns dst unchanged.
func decodeZstd(dst, unit []byte) ([]byte, error) {
	d, err := codec.GetZstd()
	if err != nil {
		return dst, err
	}
	defer d.Release()
	out, err := d.DecodeAll(unit, dst)
	if err != nil {
		return dst, err
	}
	return out, nil
}

// salvageZstd decodes a damaged frame as a stream, which gives the bytes before the
// damage. But if only the checksum is wrong, the damage may be anywhere.
func salvageZstd(dst, unit []byte, damage error) ([]byte, error) {
	if errors.Is(damage, zstd.ErrCRCMismatch) {
		return dst, damage
	}
	d, err := codec.GetZstd()
	if err != nil {
		return dst, err
	}
	defer d.Release()
	if err := d.Reset(bytes.NewReader(unit)); err != nil {
		return dst, err
	}
	out, err := readOn(dst, d)
	if err == nil {
		err = damage
	}
	return out, err
}
