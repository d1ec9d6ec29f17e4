package codec

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"sync"

	"github.com/mikelolasagasti/xz"

	"github.com/alike-dev/alike/internal/fault"
)

// MaxXzDictionary is the most memory that an xz stream may ask for, twice that of xz -9.
const MaxXzDictionary = 128 << 20

// xzDecoder is a pooled decoder, which keeps its dictionary. It decodes one stream after the other: an error within a
// stream is none of what follows a whole one.
type xzDecoder struct {
	*xz.Reader
	source *xzSource
	after  error // what follows the last stream; nil: not known
}

func (d *xzDecoder) Read(p []byte) (int, error) {
	if d.after != nil {
		return 0, d.after
	}
	for {
		n, err := d.Reader.Read(p)
		if err == io.EOF && n > 0 {
			return n, nil
		}
		behind := err == io.EOF // a stream and the zero bytes behind it
		if behind {
			if err = d.Reset(nil); err == nil {
				d.Multistream(false)
				continue
			}
		}
		if err == nil || err == io.EOF {
			return n, err
		}
		if behind || d.source.padding%xzPadding != 0 {
			if d.after = d.source.garbage(); d.after != nil {
				return n, d.after
			}
		}
		if err == xz.ErrBuf {
			err = errXzEnd
		}
		return n, err
	}
}

var errXzEnd = fault.Because(fault.ErrTruncated, "the data end too early")

var xzPool sync.Pool

// getXz begins to decode r.
func getXz(r io.Reader) (*xzDecoder, error) {
	d, _ := xzPool.Get().(*xzDecoder)
	if d == nil {
		x, err := xz.NewReader(nil, MaxXzDictionary)
		if err != nil {
			return nil, err
		}
		d = &xzDecoder{Reader: x}
	}
	d.source, d.after = &xzSource{r: bufio.NewReaderSize(r, 16<<10)}, nil
	if err := d.Reset(d.source); err != nil {
		d.Release()
		if errors.Is(err, xz.ErrBuf) {
			err = errXzEnd
		}
		return nil, err
	}
	d.Multistream(false)
	return d, nil
}

func (d *xzDecoder) Release() {
	d.source, d.after = nil, nil
	_ = d.Reset(bytes.NewReader(nil)) // the error of an empty input is expected
	xzPool.Put(d)
}

// xzSource is the source of a decoder, which does not tell where a stream has ended. A stream ends with
//
//	CRC-32 of the next six bytes │ size 4 │ flags 2 │ "YZ"
//
// and xzSource ends a read there, so that it knows what the decoder has seen since.
type xzSource struct {
	r    *bufio.Reader
	last []byte // the last bytes before: fewer than a footer

	whole   bool   // a stream has ended
	since   int64  // bytes read since then
	padding int64  // zero bytes at their start
	head    []byte // the first bytes behind these
}

const (
	xzFooter  = 12
	xzPadding = 4 // streams begin at multiples of so many bytes
)

func (s *xzSource) Read(p []byte) (int, error) {
	if _, err := s.r.Peek(1); err != nil {
		return 0, err
	}
	next, _ := s.r.Peek(min(len(p), s.r.Buffered())) // of the buffer: without an error
	before := len(s.last)
	s.last = append(s.last, next...)
	end := xzEnd(s.last)
	if end > 0 {
		next = next[:end-before]
		s.whole, s.since, s.padding = true, 0, 0
		s.last, s.head = s.last[:0], s.head[:0]
	} else {
		s.look(next)
		s.last = append(s.last[:0], s.last[max(0, len(s.last)-xzFooter+1):]...)
	}
	n := copy(p, next)
	return s.r.Discard(n)
}

// xzEnd returns the place behind the first footer in data, 0 if there is none.
func xzEnd(data []byte) int {
	for at := xzFooter - 2; at < len(data); at++ {
		i := bytes.Index(data[at:], []byte("YZ"))
		if i < 0 {
			return 0
		}
		at += i
		footer := data[at+2-xzFooter : at+2]
		if binary.LittleEndian.Uint32(footer) == crc32.ChecksumIEEE(footer[4:10]) {
			return at + 2
		}
	}
	return 0
}

// look takes note of what begins behind the last footer.
func (s *xzSource) look(p []byte) {
	s.since += int64(len(p))
	if len(s.head) == 0 {
		rest := bytes.TrimLeft(p, "\x00")
		s.padding += int64(len(p) - len(rest))
		p = rest
	}
	s.head = append(s.head, p[:min(len(p), longestStart-len(s.head))]...)
}

// garbage returns the error for what follows the last whole stream, nil if that may be a stream, or if there is no
// whole one.
func (s *xzSource) garbage() error {
	stream := len(s.head) > 0 && begins(Xz, s.head)
	if !s.whole || s.padding%xzPadding == 0 && (stream || len(s.head) == 0) {
		return nil
	}
	rest, err := io.Copy(io.Discard, s.r)
	if err != nil {
		return err
	}
	return &Garbage{s.since + rest}
}
