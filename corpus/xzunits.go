package corpus

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"sync"

	"github.com/mikelolasagasti/xz"
)

// xzStreams takes the streams of an xz file as units. Where a stream ends is found
// by walking the chunks of its blocks (the .xz file format 1.2.1, sections 2 to
// 4; the chunks of LZMA2 as XZ for Java describes them):
//
//	header 12 │ { block header │ { chunk header 1–6 │ chunk }… 0 │ padding │ check }… │ index │ footer 12
//
// Streams may be followed by padding, four zero bytes at a time.
type xzStreams struct{}

const (
	xzMagic  = "\xfd7zXZ\x00"
	xzHeader = 12
	xzFooter = 12
	// maxXzDictionary is the memory an xz stream may ask for, twice that of
	// xz -9.
	maxXzDictionary = 128 << 20
)

func (xzStreams) look(data []byte) (frame, error) {
	fr, _, err := walkXz(data)
	return fr, err
}

// walkXz is look, and also tells the places of the headers of blocks that ask for
// a dictionary larger than maxUnit.
func walkXz(data []byte) (fr frame, large []int, err error) {
	if n := xzPadding(data); n > 0 {
		return frame{length: int64(n), skip: true}, nil, nil
	}
	if len(data) < xzHeader {
		return frame{length: xzHeader}, nil, nil
	}
	flags := data[6:8]
	if string(data[:6]) != xzMagic || flags[0] != 0 || flags[1] > 15 || crc32.ChecksumIEEE(flags) != binary.LittleEndian.Uint32(data[8:]) {
		return frame{}, nil, errSerial
	}
	w := xzWalk{data: data, at: xzHeader}
	for w.has(1) && data[w.at] != 0 {
		w.block(xzCheckSize(flags[1]))
	}
	w.index()
	w.skip(xzFooter)
	return frame{length: int64(w.at), decoded: w.decoded}, w.large, w.err
}

// xzPadding returns the length of the padding at the start of data.
func xzPadding(data []byte) int {
	n := 0
	for n < len(data) && data[n] == 0 {
		n++
	}
	return n &^ 3
}

// xzCheckSize is the length of a check of a type.
func xzCheckSize(kind byte) int {
	if kind == 0 {
		return 0
	}
	return 4 << ((kind - 1) / 3)
}

// xzWalk walks over a stream. When the data end, or something is not as it
// should be, it stays where it is; at is then how much data are needed to go
// on.
type xzWalk struct {
	data    []byte
	at      int
	decoded int
	large   []int
	short   bool
	err     error
}

// has reports whether n more bytes are there.
func (w *xzWalk) has(n int) bool {
	if w.short || w.err != nil {
		return false
	}
	if w.at+n > len(w.data) {
		w.at += n
		w.short = true
	}
	return !w.short
}

func (w *xzWalk) skip(n int) {
	if !w.short && w.err == nil {
		w.at += n
	}
}

// block walks over one block.
func (w *xzWalk) block(check int) {
	size := (int(w.data[w.at]) + 1) * 4
	if !w.has(size) {
		return
	}
	h := w.data[w.at : w.at+size]
	code := xzDictionary(h)
	if code < 0 || xzSum(h) != binary.LittleEndian.Uint32(h[size-4:]) {
		w.err = errSerial
		return
	}
	if h[code] > unitDictionary {
		w.large = append(w.large, w.at)
	}
	w.skip(size)
	start := w.at
	for w.chunk() {
	}
	w.skip((start - w.at) & 3)
	w.skip(check)
}

// chunk walks over one chunk; it is false at the end of a block.
func (w *xzWalk) chunk() bool {
	if !w.has(1) {
		return false
	}
	control := w.data[w.at]
	if control == 0 {
		w.skip(1)
		return false
	}
	if !w.has(6) { // a block has as many bytes behind its last chunk
		return false
	}
	h := w.data[w.at+1:]
	size := int(binary.BigEndian.Uint16(h)) + 1
	switch {
	case control >= 0x80: // compressed
		w.decoded += int(control&0x1f)<<16 + size
		w.skip(5 + int(binary.BigEndian.Uint16(h[2:])) + 1)
		if control >= 0xc0 { // with new properties
			w.skip(1)
		}
	case control <= 2: // stored
		w.decoded += size
		w.skip(3 + size)
	default:
		w.err = errSerial
	}
	if w.decoded > maxUnit {
		w.err = errSerial
	}
	return w.err == nil
}

// index walks over the index.
func (w *xzWalk) index() {
	if !w.has(1) {
		return
	}
	start := w.at
	w.skip(1)
	for records := w.number(); records > 0 && !w.short && w.err == nil; records-- {
		w.number()
		w.number()
	}
	w.skip((start - w.at) & 3)
	w.skip(4) // its check sum
}

// number walks over a number of 7 bits a byte.
func (w *xzWalk) number() (v uint64) {
	for shift := 0; w.has(1); shift += 7 {
		b := w.data[w.at]
		w.skip(1)
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
		if shift > 56 {
			w.err = errSerial
		}
	}
	return 0
}

// unitDictionary is the code of a dictionary of maxUnit bytes.
const unitDictionary = 22

// xzDictionary returns the place in a block header of the code for the size of
// the dictionary: 2 or 3 bits shifted, of two codes each power of two. It is -1
// if the block is not plain LZMA2.
func xzDictionary(h []byte) int {
	if h[1]&0x3f != 0 { // more filters than one
		return -1
	}
	w := xzWalk{data: h[:len(h)-4], at: 2}
	for _, given := range []byte{0x40, 0x80} { // compressed and uncompressed size
		if h[1]&given != 0 {
			w.number()
		}
	}
	at := w.at
	if !w.has(3) || h[at] != 0x21 || h[at+1] != 1 || h[at+2] > 40 {
		return -1
	}
	return at + 2
}

// xzSum is the check sum of a block header.
func xzSum(h []byte) uint32 { return crc32.ChecksumIEEE(h[:len(h)-4]) }

// modest makes all dictionaries in a unit no larger than a unit is: xz -9 asks
// for 64 MiB, however short a file is, and each worker would hold as much.
func modest(unit []byte) {
	for len(unit) > 0 {
		fr, large, err := walkXz(unit)
		if err != nil || fr.length > int64(len(unit)) {
			return
		}
		for _, at := range large {
			h := unit[at : at+(int(unit[at])+1)*4]
			h[xzDictionary(h)] = unitDictionary
			binary.LittleEndian.PutUint32(h[len(h)-4:], xzSum(h))
		}
		unit = unit[fr.length:]
	}
}

func (xzStreams) decode(dst, unit []byte) ([]byte, error) {
	modest(unit)
	d, err := getXz(bytes.NewReader(unit))
	if err != nil {
		return dst, err
	}
	defer d.release()
	out, err := readOn(dst, d)
	if err != nil {
		return dst, err
	}
	return out, nil
}

// salvage gives nothing: the codes of xz go on behind damage, and give bytes
// that are wrong until a check sum tells.
func (xzStreams) salvage(dst, _ []byte, damage error) ([]byte, error) { return dst, damage }

// xzDecoder is a pooled decoder. It keeps its dictionary.
type xzDecoder struct{ *xz.Reader }

func (d *xzDecoder) Read(p []byte) (int, error) {
	n, err := d.Reader.Read(p)
	if err == xz.ErrBuf {
		err = errXzEnd
	}
	return n, err
}

var errXzEnd = because(ErrTruncated, "the data end in the middle")

var xzPool sync.Pool

// getXz begins to decode r.
func getXz(r io.Reader) (*xzDecoder, error) {
	d, _ := xzPool.Get().(*xzDecoder)
	if d == nil {
		x, err := xz.NewReader(nil, maxXzDictionary)
		if err != nil {
			return nil, err
		}
		d = &xzDecoder{x}
	}
	if err := d.Reset(r); err != nil {
		d.release()
		if errors.Is(err, xz.ErrBuf) {
			err = errXzEnd
		}
		return nil, err
	}
	return d, nil
}

func (d *xzDecoder) release() {
	_ = d.Reset(bytes.NewReader(nil)) // the end of no data is what is expected
	xzPool.Put(d)
}
