package corpus

import (
	"bytes"
	"io"
	"slices"
)

// frameUnits takes the frames of a zstd file, or the streams of an xz file, as
// units: each begins with a header and can be walked over without decoding it.
// Small ones that follow each other are one unit. One that decodes to more than
// maxUnit, or anything odd, is left to the stream decoder, which says exactly
// what is wrong.
type frameUnits struct {
	f     *File
	kind  frames
	pos   int64 // of the next frame
	guess int   // compressed bytes to read at first
}

// frames are the frames of one compression. They are safe for concurrent use.
type frames interface {
	// look finds the end of the frame at the start of data. errSerial: it is no
	// unit.
	look(data []byte) (frame, error)
	// decode appends a decoded unit to dst, or gives dst with an error. It may
	// change the unit.
	decode(dst, unit []byte) ([]byte, error)
	// salvage appends as much of a damaged frame as can be relied on.
	salvage(dst, unit []byte, damage error) ([]byte, error)
}

// frame is what look finds.
type frame struct {
	length  int64 // compressed; if that is more than is there, up to where more must be read to know
	decoded int   // no more than so many bytes
	skip    bool  // nothing to decode
}

// groupSize is the decoded size up to which small frames are one unit: each
// unit costs a read of the file and a turn.
const groupSize = 1 << 20

func (z *frameUnits) place() place { return place{bit: z.pos * 8} }

func (z *frameUnits) stream(from place) (decoder, error) {
	at := from.bit / 8
	left := z.f.size - at
	r := &wholeFile{io.NewSectionReader(z.f.file, at, left), left}
	return newDecoder(&counter{r, &z.f.read}, z.f.src.Compression)
}

func (z *frameUnits) claim(b *Block) ([]byte, error) {
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
		fr, err := z.kind.look(data)
		switch {
		case err != nil, fr.skip && z.pos == 0 && z.f.src.Compression == Xz: // padding must follow on something
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
func (z *frameUnits) small(data []byte, most int) (n int64) {
	for {
		fr, err := z.kind.look(data[n:])
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
		return because(ErrChanged, "the file became shorter while it was read")
	}
	return err
}

// decode decodes the frames of a unit; if one is damaged, those before it.
func (z *frameUnits) decode(dst, unit []byte) ([]byte, error) {
	out, err := z.kind.decode(dst, unit)
	if err == nil {
		return out, nil
	}
	for len(unit) > 0 {
		fr, ferr := z.kind.look(unit)
		if ferr != nil {
			return dst, err
		}
		one := unit[:fr.length]
		if dst, err = z.kind.decode(dst, one); err != nil {
			return z.kind.salvage(dst, one, err)
		}
		unit = unit[fr.length:]
	}
	return dst, err
}

// smallText decodes a document that is a short compressed file at once, which
// takes no more memory than it needs, whatever its frames ask for; nil if it is
// not that, or is damaged.
func (f *File) smallText() decoder {
	z, ok := newUnitReader(f).(*frameUnits)
	if !ok || f.src.Format != Text || f.size == 0 || f.size > maxUnit/4 {
		return nil
	}
	data := make([]byte, f.size)
	if _, err := f.file.ReadAt(data, 0); err != nil || z.small(data, maxUnit) < f.size {
		return nil
	}
	out, err := z.kind.decode(nil, data)
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
