package inflate

import (
	"compress/flate"
	"encoding/binary"
	"io"
)

// input is the file that is decoded, through a buffer of bytes and one of bits.
type input struct {
	src   io.Reader
	ended error // of src
	buf   [inputSize]byte
	have  int   // bytes in buf
	base  int64 // place of buf in the file
	place
}

// place is a place in the input. It can be kept, and gone back to as long as nothing is read into the buffer.
type place struct {
	pos  int    // of the next byte of the buffer that is not in bits
	bits uint64 // the next bits, the first one lowest; zeros above
	n    uint   // how many
}

func (in *input) reset(src io.Reader) {
	in.src, in.ended, in.have, in.base, in.place = src, nil, 0, 0, place{}
}

// rest returns the bytes of the buffer from pos on.
func (in *input) rest() []byte { return in.buf[in.pos:in.have] }

// fill reads more of the file. At its end it returns io.ErrUnexpectedEOF, but nil once if nothing is left in the buffer:
// a file may end behind a member.
func (in *input) fill() error {
	in.returnBytes()
	in.base += int64(in.pos)
	in.have = copy(in.buf[:], in.rest())
	in.pos = 0
	for range 100 {
		if in.ended == io.EOF {
			return io.ErrUnexpectedEOF
		}
		if in.ended != nil {
			return in.ended
		}
		var n int
		n, in.ended = in.src.Read(in.buf[in.have:])
		in.have += n
		if n > 0 || in.ended == io.EOF && in.have == 0 {
			return nil
		}
	}
	return io.ErrNoProgress
}

// returnBytes returns the whole bytes in bits to the buffer.
func (in *input) returnBytes() {
	in.pos -= int(in.n >> 3)
	in.n &= 7
	in.bits &= 1<<in.n - 1
}

// align drops the bits up to the next byte.
func (in *input) align() {
	in.returnBytes()
	in.bits, in.n = 0, 0
}

// refill makes bits hold 56 or more, or all that the buffer has.
func (in *input) refill() {
	if in.pos+8 <= in.have {
		in.bits |= binary.LittleEndian.Uint64(in.buf[in.pos:]) << in.n
		in.pos += int((63 - in.n) >> 3)
		in.n |= 56
		in.bits &= 1<<in.n - 1
		return
	}
	for in.n <= 56 && in.pos < in.have {
		in.bits |= uint64(in.buf[in.pos]) << in.n
		in.pos++
		in.n += 8
	}
}

// take returns the next n ≤ 16 bits; errShort if there are fewer.
func (in *input) take(n uint) (uint, error) {
	if in.n < n {
		if in.refill(); in.n < n {
			return 0, errShort
		}
	}
	v := uint(in.bits & (1<<n - 1))
	in.drop(n)
	return v, nil
}

// symbol reads a symbol of c. It needs no more bits than the symbol has.
func (in *input) symbol(c *code) (int, error) {
	if in.n < maxBits {
		in.refill()
	}
	symbol, length := c.decode(in.bits)
	if length > in.n {
		return 0, errShort
	}
	in.drop(length)
	if symbol < 0 {
		return 0, in.corrupt()
	}
	return symbol, nil
}

func (in *input) drop(n uint) {
	in.bits >>= n
	in.n -= n
}

// corrupt is the error for damage at the current place.
func (in *input) corrupt() error {
	return flate.CorruptInputError(in.base + int64(in.pos) - int64(in.n>>3))
}
