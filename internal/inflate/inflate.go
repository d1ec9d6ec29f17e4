// Package inflate decodes gzip files (RFC 1952) and the deflate blocks in them (RFC 1951). It is for reading large
// files of text, for which it takes about half the time of the libraries' decoders and less (bench/RESULTS.md). It
// accepts the files that compress/gzip of the standard library accepts, unless they have flags that RFC 1952 forbids,
// and returns its errors. It has no dictionaries, and drops what the headers say of names and times.
//
// The ways to be fast are those of other decoders, written anew: tables whose entries hold several symbols (ISA-L's
// igzip), a bit buffer that is refilled by one load of eight bytes, a loop without checks while there is plenty of
// input and output, and copies that may write beyond their end (libdeflate, zlib-ng).
package inflate

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"sync"
)

const (
	inputSize  = 128 << 10 // more than the longest header of a member
	windowSize = 32 << 10  // the largest distance
	freshSize  = 128 << 10 // decoded at once
	// slack is what one turn of the fast loop may write: literals, a match, and the rest of its last 16 bytes.
	slack = 512
)

// A Reader decodes a gzip file of one member or more. The zero value is ready for Reset. A Reader has about 330 kB and
// belongs to one goroutine.
type Reader struct {
	input
	// out holds history for matches, bytes for the caller, and room for more:
	//
	//	history of a member │ decoded │ room │ slack
	//	start            given       end   full
	out   [windowSize + freshSize + slack]byte
	start int // of what distances may reach
	given int // bytes before it are with the caller
	end   int // of what is decoded

	next  func(*Reader) error // decodes the part of the file that comes next
	first bool                // no member has begun
	whole bool                // the last member that has begun has ended
	err   error

	crc  uint32 // of the member
	size uint32 // of the member, modulo 2³²

	last   bool // the block is the last one of its member
	stored int  // bytes left of a stored block
	codes  *codes
	own    codes // of a block with codes of its own
}

// full is where decoding stops until the caller has taken what there is.
const full = windowSize + freshSize

// errShort means that the input ends before the part that was to be decoded.
var errShort = errors.New("more input is needed")

// Reset begins to decode src and reads the first header. It returns io.EOF if src is empty, gzip.ErrHeader if it is no
// gzip file.
func (d *Reader) Reset(src io.Reader) error {
	d.input.reset(src)
	d.start, d.given, d.end = 0, 0, 0
	d.next, d.first, d.whole, d.err = (*Reader).header, true, false, nil
	for d.first && d.err == nil {
		d.step()
	}
	return d.err
}

var pool = sync.Pool{New: func() any { return new(Reader) }}

// NewReader returns a Reader of src, with the memory of one that was released if there is one. Its errors are those of Reset.
func NewReader(src io.Reader) (*Reader, error) {
	d := pool.Get().(*Reader)
	if err := d.Reset(src); err != nil {
		d.Release()
		return nil, err
	}
	return d, nil
}

// Release gives the memory of the Reader to another one. It must not be used afterwards.
func (d *Reader) Release() {
	d.src, d.err = nil, io.EOF
	pool.Put(d)
}

// Read fills p with decoded bytes, at least one if there is no error. All bytes before damage are returned before its
// error: io.ErrUnexpectedEOF, flate.CorruptInputError, gzip.ErrHeader, gzip.ErrChecksum or that of the source. It does
// not wait for the source while there are bytes that it can return.
func (d *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for d.given == d.end {
		if d.err != nil {
			return 0, d.err
		}
		if d.end >= full {
			d.slide()
		}
		d.step()
	}
	n := copy(p, d.out[d.given:d.end])
	d.given += n
	return n, nil
}

// Behind returns the rest of the file behind the last member if the error of Read was found there, otherwise nil. Nothing
// can be decoded afterwards.
func (d *Reader) Behind() io.Reader {
	if !d.whole {
		return nil
	}
	return io.MultiReader(bytes.NewReader(d.rest()), d.src)
}

// slide moves the history to the front.
func (d *Reader) slide() {
	by := d.end - windowSize
	copy(d.out[:windowSize], d.out[by:d.end])
	d.start, d.given, d.end = max(d.start-by, 0), windowSize, windowSize
}

// step decodes until there are bytes for the caller and either room or input ends, or until an error.
func (d *Reader) step() {
	from := d.end
	err := d.next(d)
	fresh := d.out[from:d.end]
	d.crc, d.size = crc32.Update(d.crc, crc32.IEEETable, fresh), d.size+uint32(len(fresh))
	if err == errShort {
		if d.given < d.end {
			return
		}
		err = d.fill()
	}
	d.err = err
}

const (
	flagCRC = 1 << (iota + 1)
	flagExtra
	flagName
	flagComment
	flagReserved
)

// header reads the header of a member:
//
//	1f 8b 08 │ flags │ time 4 │ xfl │ os │ [length 2 │ extra] │ [name 0] │ [comment 0] │ [crc 2]
func (d *Reader) header() error {
	h := d.rest()
	if len(h) == 0 && d.ended == io.EOF {
		return io.EOF
	}
	if len(h) < 10 {
		return errShort
	}
	flags := h[3]
	if h[0] != 0x1f || h[1] != 0x8b || h[2] != 8 {
		return gzip.ErrHeader
	}
	n := 10
	if flags&flagExtra != 0 {
		if len(h) < n+2 {
			return errShort
		}
		if n += 2 + int(binary.LittleEndian.Uint16(h[n:])); len(h) < n {
			return errShort
		}
	}
	for _, f := range []byte{flagName, flagComment} {
		var err error
		if n, err = afterString(h, n, flags&f != 0); err != nil {
			return err
		}
	}
	if flags&flagCRC != 0 {
		if len(h) < n+2 {
			return errShort
		}
		if binary.LittleEndian.Uint16(h[n:]) != uint16(crc32.ChecksumIEEE(h[:n])) {
			return gzip.ErrHeader
		}
		n += 2
	}
	if flags >= flagReserved {
		return gzip.ErrHeader
	}
	d.pos += n
	d.crc, d.size = 0, 0
	d.start, d.first, d.whole, d.next = d.end, false, false, (*Reader).block
	return nil
}

// maxString is the length of the longest name or comment, with its end, that compress/gzip reads.
const maxString = 512

// afterString returns the place after the string that begins at n and ends with a zero, if there is one.
func afterString(h []byte, n int, present bool) (int, error) {
	if !present {
		return n, nil
	}
	for i := n; i < n+maxString; i++ {
		if i >= len(h) {
			return 0, errShort
		}
		if h[i] == 0 {
			return i + 1, nil
		}
	}
	return 0, gzip.ErrHeader
}

// trailer compares checksum and length.
func (d *Reader) trailer() error {
	d.align()
	t := d.rest()
	if len(t) < 8 {
		return errShort
	}
	if binary.LittleEndian.Uint32(t) != d.crc || binary.LittleEndian.Uint32(t[4:]) != d.size {
		return gzip.ErrChecksum
	}
	d.pos += 8
	d.whole, d.next = true, (*Reader).header
	return nil
}
