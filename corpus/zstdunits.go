package corpus

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/alike-dev/alike/internal/fault"
)

// zstdUnits takes the frames of a zstd file as units: each begins with a header and
// can be walked over without decoding it. Small ones that follow each other are one
// unit. One that decodes to more than maxUnit, or anything odd, is left to the stream
// decoder, which says exactly what is wrong.
type zstdUnits struct {
	f     *File
	pos   int64 // of the next frame
	guess int   // compressed bytes to read at first
}

// frame is what lookZstd finds.
type frame struct {
	length  int64 // compressed; if that is more than is there, up to where more must be read to know
	decoded int   // no more than so many bytes
	skip    bool  // nothing to decode
}

// groupSize is the decoded size up to which small frames are one unit: each
// unit costs a read of the file and a turn.
const groupSize = 1 << 20

func (z *zstdUnits) place() place { return place{bit: z.pos * 8} }

func (z *zstdUnits) stream(from place) (decoder, error) {
	at := from.bit / 8
	left := z.f.size - at
	r := &wholeFile{io.NewSectionReader(z.f.file, at, left), left}
	return newDecoder(&counter{r, &z.f.read}, z.f.src.Compression)
}

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
		fr, err := lookZstd(data)
		switch {
		case err != nil:
			return nil, errSerial
		case fr.skip && fr.length <= left:
			z.pos += fr.length
			want = z.guess
		case fr.length <= int64(want) && !fr.skip:
			unit := data[:fr.length+z.small(data[fr.length:], groupSize-fr.decoded)]
			z.pos += int64(len(unit))
			z.guess = max(len(unit)+len(unit)/8, 64<<10)
			return unit, nil
		case fr.length > left || fr.skip || fr.length > maxUnit+maxUnit/8:
			return nil, errSerial
		default:
			want = max(int(fr.length), min(2*want, maxUnit))
		}
	}
}

// small returns the length of the frames at the start of data that stand
// there as a whole and decode to no more than most.
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

// shortFile is the error for a file that has fewer bytes than it had.
func shortFile(err error) error {
	if err == io.EOF {
		return fault.Because(ErrChanged, "the file became shorter while it was read")
	}
	return err
}

// decode decodes the frames of a unit; if one is damaged, those before it.
func (z *zstdUnits) decode(dst, unit []byte) ([]byte, error) {
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

// smallText decodes a document that is a short compressed file at once, which
// takes no more memory than it needs, whatever its frames ask for; nil if it is
// not that, or is damaged.
func (f *File) smallText() decoder {
	z, ok := newUnitReader(f).(*zstdUnits)
	if !ok || f.src.Format != Text || f.size == 0 || f.size > maxUnit/4 {
		return nil
	}
	data := make([]byte, f.size)
	if _, err := f.file.ReadAt(data, 0); err != nil || z.small(data, maxUnit) < f.size {
		return nil
	}
	out, err := decodeZstd(nil, data)
	if err != nil {
		return nil
	}
	f.read.Store(f.size)
	return plainDecoder{bytes.NewReader(out)}
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

const (
	zstdBlockMax  = 128 << 10
	zstdHeaderMax = 18
)

// lookZstd finds the end of the frame at the start of data, by walking the headers of
// its blocks (RFC 8878, section 3.1.1). errSerial: it is no unit.
//
//	magic 4 │ frame header 2–14 │ { block header 3 │ block }… │ [checksum 4]
func lookZstd(data []byte) (frame, error) {
	var h zstd.Header
	if err := h.Decode(data); err != nil {
		if len(data) < zstdHeaderMax {
			return frame{length: zstdHeaderMax}, nil
		}
		return frame{}, errSerial
	}
	if h.Skippable {
		return frame{length: int64(h.HeaderSize) + int64(h.SkippableSize), skip: true}, nil
	}
	if h.DictionaryID != 0 || h.HasFCS && h.FrameContentSize > maxUnit || h.WindowSize > maxZstdWindow {
		return frame{}, errSerial
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
			return frame{}, errSerial
		}
		if decoded += size; decoded > maxUnit && !h.HasFCS || stored > zstdBlockMax {
			return frame{}, errSerial
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

// decodeZstd appends a decoded unit to dst, or gives dst with an error.
func decodeZstd(dst, unit []byte) ([]byte, error) {
	d, err := getZstd()
	if err != nil {
		return dst, err
	}
	defer d.release()
	out, err := d.DecodeAll(unit, dst)
	if err != nil {
		return dst, err
	}
	return out, nil
}

// salvageZstd decodes a damaged frame as a stream, which gives what stands before
// the damage. But if only the check sum is wrong, the damage may be anywhere.
func salvageZstd(dst, unit []byte, damage error) ([]byte, error) {
	if errors.Is(damage, zstd.ErrCRCMismatch) {
		return dst, damage
	}
	d, err := getZstd()
	if err != nil {
		return dst, err
	}
	defer d.release()
	if err := d.Reset(bytes.NewReader(unit)); err != nil {
		return dst, err
	}
	out, err := readOn(dst, d)
	if err == nil {
		err = damage
	}
	return out, err
}
