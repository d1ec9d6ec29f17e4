package units

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"io"
	"slices"

	"github.com/alike-dev/alike/corpus/internal/codec"
)

// gzipUnits takes the members of a gzip file as units, small ones together, if there is more than one unit. Nothing in
// a file says where its members begin:
//
//	1f 8b 08 │ flags │ time 4 │ xfl │ os │ … │ blocks … │ checksum 4 │ size 4 │ 1f 8b 08 │ …
//
// so a unit ends before what looks like the next header. Decoding decides: a unit that does not end where a member ends
// was cut at bytes that only look so, or is damaged, and the rest of the file from its beginning on is one stream.
type gzipUnits struct {
	walked
	group int // decoded size up to which members are one unit
}

const (
	// maxPacked bounds the search for the end of a unit, so that a file of one member costs no more than that. Members
	// that a Writer makes are shorter, whatever their bytes.
	maxPacked = codec.PartSize + codec.PartSize/8
	// gzipHeader and gzipTrailer are the least lengths of a header, and of what follows the blocks.
	gzipHeader, gzipTrailer = 10, 8
)

func (z *gzipUnits) Stream(from Place) (codec.Reader, error) {
	d, err := z.decoder(from, codec.Gzip)
	return &gzipRest{d, from.Bit / 8}, err
}

// gzipRest decodes a file from a place on, and counts the place of damage from the start of the file.
type gzipRest struct {
	codec.Reader
	from int64
}

func (r *gzipRest) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if damage, ok := err.(flate.CorruptInputError); ok {
		err = damage + flate.CorruptInputError(r.from)
	}
	return n, err
}

func (z *gzipUnits) Claim(scratch *[]byte) ([]byte, error) {
	left := z.size - z.pos
	if left == 0 && z.pos > 0 {
		return nil, io.EOF
	}
	data := (*scratch)[:0]
	for want := z.guess; ; want *= 2 {
		want = int(min(int64(want), left, maxPacked))
		have := len(data)
		data = slices.Grow(data, want-have)[:want]
		if n, err := z.at.ReadAt(data[have:], z.pos+int64(have)); n < want-have {
			return nil, shortFile(err)
		}
		n := z.members(data, int64(want) == left)
		switch {
		case int64(n) == z.size: // as one stream it is parsed while it is decoded
			*scratch = data
			return nil, ErrSerial
		case n > 0:
			*scratch = data
			z.pass(n)
			return data[:n], nil
		case want == int(min(left, maxPacked)):
			*scratch = nil
			return nil, ErrSerial
		}
	}
}

// members returns the length of the members at the start of data that make a unit: one of up to Max, or several of up to
// group together; 0 if there is none. ends: data are the rest of the file.
func (z *gzipUnits) members(data []byte, ends bool) (n int) {
	decoded := 0
	for n < len(data) {
		end := nextHeader(data, n+gzipHeader+gzipTrailer)
		if end < 0 {
			if end = len(data); !ends || end < n+gzipHeader+gzipTrailer {
				break
			}
		}
		size := binary.LittleEndian.Uint32(data[end-4:])
		if size > Max || n > 0 && decoded+int(size) > z.group {
			break
		}
		decoded += int(size)
		n = end
	}
	return n
}

// nextHeader returns the place of the first bytes from from on that look like the header of a member, or -1. Flags, xfl
// and system are compared with those that programs write: in other data one place in 2³⁷ looks like that.
func nextHeader(data []byte, from int) int {
	for at := from; at+gzipHeader <= len(data); at++ {
		i := bytes.Index(data[at:], []byte{0x1f, 0x8b, 8})
		if i < 0 {
			return -1
		}
		at += i
		if h := data[at:]; len(h) >= gzipHeader && h[3] < 0x20 && (h[8] == 0 || h[8] == 2 || h[8] == 4) && (h[9] < 16 || h[9] == 255) {
			return at
		}
	}
	return -1
}

// Decode decodes the members of a unit.
func (z *gzipUnits) Decode(dst, unit []byte) ([]byte, error) {
	d, err := codec.NewReader(bytes.NewReader(unit), codec.Gzip)
	if err != nil {
		return dst, ErrSerial
	}
	defer d.Release()
	size := min(binary.LittleEndian.Uint32(unit[len(unit)-4:]), Max) // of the last member, most often the only one
	out, err := readOn(slices.Grow(dst, int(size)+minRead), io.LimitReader(d, Max+1))
	if err != nil || len(out)-len(dst) > Max {
		return out[:len(dst)], ErrSerial
	}
	return out, nil
}
