package units

import (
	"bytes"
	"compress/bzip2"
	"encoding/binary"
	"io"
	"slices"

	"github.com/alike-dev/alike/corpus/internal/codec"
	"github.com/alike-dev/alike/internal/fault"
)

// bzip2Units takes the blocks of a bzip2 file as units. A stream is
//
//	"BZh" level │ { block magic 48 bits │ CRC 32 │ block }… │ end magic 48 │ CRC 32 │ pad to a byte
//
// and blocks start at any bit, so the search for the next magic number covers all eight shifts. A
// unit is the block turned into a stream of its own, with a header before it and an end after it.
// While claiming, the checksums of the blocks are combined into that of the stream. (A magic
// number occurs inside a block by chance once in 2⁴⁸ bits; that block is then reported as
// corrupt.)
type bzip2Units struct {
	file
	buf      []byte // of the file
	base     int64  // place of buf in the file
	chunk    int    // bytes to read at once
	bit      int    // current place in buf, in bits
	level    byte   // '1'…'9'; 0 outside a stream
	combined uint32 // checksum of the stream's blocks
	begun    bool   // at least one stream has begun
}

const (
	blockMagic = 0x314159265359
	endMagic   = 0x177245385090
	magicBits  = 48
	magicMask  = 1<<magicBits - 1
	// maxBlockBytes bounds the compressed size of a block: 900 000 incompressible bytes take about 1
	// % more.
	maxBlockBytes = 2 << 20
)

func (z *bzip2Units) Place() Place {
	return Place{z.base*8 + int64(z.bit), z.level, z.combined}
}

// stream continues with the same blocks, one after the other and piece by piece.
func (z *bzip2Units) Stream(from Place) (codec.Reader, error) {
	z.buf, z.base, z.bit = z.buf[:0], from.Bit/8, int(from.Bit%8)
	z.level, z.combined = from.level, from.combined
	return &bzip2Stream{z: z}, nil
}

// bzip2Stream decodes blocks in order. A block with a wrong checksum is not used, so each block
// is decoded twice. It is for blocks that are too large to be kept.
type bzip2Stream struct {
	z       *bzip2Units
	scratch []byte
	unit    io.Reader // nil between blocks
}

func (s *bzip2Stream) Release() {}

func (s *bzip2Stream) Read(p []byte) (int, error) {
	for {
		if s.unit == nil {
			unit, err := s.z.Claim(&s.scratch)
			if err != nil {
				return 0, err
			}
			if _, err := io.Copy(io.Discard, bzip2.NewReader(bytes.NewReader(unit))); err != nil {
				return 0, err
			}
			s.z.read.Add(int64(len(unit)))
			s.unit = bzip2.NewReader(bytes.NewReader(unit))
		}
		n, err := s.unit.Read(p)
		if err != io.EOF {
			return n, err
		}
		s.unit = nil
		if n > 0 {
			return n, nil
		}
	}
}

func (z *bzip2Units) Claim(scratch *[]byte) ([]byte, error) {
	for {
		if z.level == 0 {
			if err := z.streamHeader(); err != nil {
				return nil, err
			}
		}
		if err := z.need(magicBits + 32); err != nil {
			return nil, err
		}
		magic, sum := z.bits(z.bit, magicBits), uint32(z.bits(z.bit+magicBits, 32))
		switch magic {
		case blockMagic:
			end, err := z.nextMagic(z.bit + magicBits + 32)
			if err != nil {
				return nil, err
			}
			z.combined = (z.combined<<1 | z.combined>>31) ^ sum
			unit := z.asStream((*scratch)[:0], end, sum)
			*scratch, z.bit = unit, end
			return unit, nil
		case endMagic:
			if sum != z.combined {
				return nil, fault.Because(fault.ErrCorrupt, "checksum of a stream does not match")
			}
			z.bit = (z.bit + magicBits + 32 + 7) &^ 7
			z.level, z.combined = 0, 0
		default:
			return nil, fault.Because(fault.ErrCorrupt, "no block where one should start")
		}
	}
}

// streamHeader reads the header of the next stream; io.EOF if there is none.
func (z *bzip2Units) streamHeader() error {
	err := z.need(32)
	if err == nil {
		if h := z.buf[z.bit>>3:]; h[0] != 'B' || h[1] != 'Z' || h[2] != 'h' || h[3] < '1' || h[3] > '9' {
			err = fault.Because(fault.ErrCorrupt, "no bzip2 header")
		}
	}
	if err != nil {
		if z.begun {
			return z.after(codec.Bzip2, z.base+int64(z.bit>>3), err)
		}
		return err
	}
	h := z.buf[z.bit>>3:]
	z.level, z.begun = h[3], true
	z.bit += 32
	return nil
}

// need reads until the buffer holds n bits from the current place on.
func (z *bzip2Units) need(n int) error {
	for z.bit+n > len(z.buf)*8 {
		if err := z.fill(); err != nil {
			return err
		}
	}
	return nil
}

// fill reads more of the file into the buffer and drops the bytes before the current place. At
// the end of the file it returns io.ErrUnexpectedEOF.
func (z *bzip2Units) fill() error {
	if done := z.bit >> 3; done > 0 {
		z.buf = z.buf[:copy(z.buf, z.buf[done:])]
		z.base += int64(done)
		z.bit &= 7
	}
	from := z.base + int64(len(z.buf))
	n := int(min(int64(z.chunk), z.size-from))
	if n == 0 {
		return io.ErrUnexpectedEOF
	}
	have := len(z.buf)
	z.buf = slices.Grow(z.buf, n)[:have+n]
	if got, err := z.at.ReadAt(z.buf[have:], from); got < n {
		z.buf = z.buf[:have]
		return shortFile(err)
	}
	return nil
}

// bits returns the n ≤ 48 bits at a place of the buffer, which must hold them.
func (z *bzip2Units) bits(at, n int) uint64 {
	var w [8]byte
	copy(w[:], z.buf[at>>3:])
	return binary.BigEndian.Uint64(w[:]) << (at & 7) >> (64 - n)
}

// nextMagic returns the place of the first magic number at or after the bit at,
// both counted from the start of the buffer, which it may move.
func (z *bzip2Units) nextMagic(at int) (int, error) {
	start := z.bit
	for {
		if found := findMagic(z.buf, at); found >= 0 {
			return found, nil
		}
		if len(z.buf)*8-z.bit > maxBlockBytes*8 {
			return 0, fault.Because(fault.ErrCorrupt, "a block does not end")
		}
		searched := max(at, len(z.buf)*8-magicBits+1)
		if err := z.fill(); err != nil {
			return 0, err
		}
		at = searched - (start - z.bit)
		start = z.bit
	}
}

// magicByte marks the values that the third byte wholly inside a magic number can have, at any
// shift.
var magicByte = func() (t [256]bool) {
	for shift := range 8 {
		for _, m := range [...]uint64{blockMagic, endMagic} {
			t[byte(m>>(16+shift))] = true
		}
	}
	return t
}()

// findMagic returns the place in bits of the first magic number at or after the
// bit at of buf, or -1.
//
// A magic number that starts in byte i at bit s covers bits s…s+47, and byte i+3 wholly for every
// s: only its 16 possible values need a closer look.
func findMagic(buf []byte, at int) int {
	for i := at >> 3; i+6 <= len(buf); i++ {
		if !magicByte[buf[i+3]] {
			continue
		}
		var w [8]byte
		copy(w[:], buf[i:])
		x := binary.BigEndian.Uint64(w[:])
		for s := range 8 {
			if m := x << s >> 16; (m == blockMagic || m == endMagic) && i*8+s >= at && i*8+s+magicBits <= len(buf)*8 {
				return i*8 + s
			}
		}
	}
	return -1
}

// asStream appends the block from the current place to end as a stream of its own.
func (z *bzip2Units) asStream(dst []byte, end int, sum uint32) []byte {
	dst = append(dst, 'B', 'Z', 'h', z.level)
	from, shift := z.bit>>3, z.bit&7
	n := end - z.bit
	for i := range (n + 7) >> 3 {
		c := z.buf[from+i] << shift
		if shift > 0 && from+i+1 < len(z.buf) {
			c |= z.buf[from+i+1] >> (8 - shift)
		}
		dst = append(dst, c)
	}
	var tail [10]byte
	binary.BigEndian.PutUint64(tail[:], endMagic<<16|uint64(sum>>16))
	binary.BigEndian.PutUint16(tail[8:], uint16(sum))
	used := n & 7 // bits of the last byte that belong to the block
	if used == 0 {
		return append(dst, tail[:]...)
	}
	last := len(dst) - 1
	dst[last] &= 0xff << (8 - used)
	for _, c := range tail {
		dst[len(dst)-1] |= c >> used
		dst = append(dst, c<<(8-used))
	}
	return dst
}

// Decode decodes one block. Nothing of a damaged block is used. The run lengths of the format let
// a block of a few dozen bytes become 46 MB.
func (z *bzip2Units) Decode(dst, unit []byte) ([]byte, error) {
	have := len(dst)
	out, err := readOn(dst, io.LimitReader(bzip2.NewReader(bytes.NewReader(unit)), Max+1))
	switch {
	case err != nil:
		return out[:have], err
	case len(out)-have > Max:
		return out[:have], ErrSerial
	}
	return out, nil
}
