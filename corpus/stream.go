package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
)

// A cutter divides a decoded stream into blocks of whole records. What follows
// the last whole record of a block is carried to the next one:
//
//	carry │ fresh bytes …………………………………… │
//	└──────── block ─────────────┘ └ carry ┘
//
// It belongs to whoever has the File's lock, or the turn among units.
type cutter struct {
	f        *File
	carry    []byte
	offset   int64 // of the carry in the decoded stream
	lines    int64 // before the carry
	seq      int64 // of the next block
	searched int   // carry[:searched] has no line end
	drop     int   // bytes to drop: the header, which was read apart
	skipping bool  // inside a record over MaxRecord, until its line ends
	begun    bool  // a first block was made (it owns the header's lines)
	eof      bool  // the stream has ended
	done     bool  // nothing more comes
	err      error // to be returned next, once
}

func (c *cutter) init(f *File) { c.f = f }

// finish is the result of Next when nothing is left.
func (c *cutter) finish() error {
	c.done = true
	if err := c.err; err != nil {
		c.err = nil
		return err
	}
	return io.EOF
}

// damage makes the error for a stream that cannot be read on. The carry, a
// record without its end, is lost.
func (c *cutter) damage(cause error) error {
	text, kind := decodeDamage(c.f.src.Compression, cause)
	var unread *objectError
	if errors.Is(cause, ErrChanged) {
		text, kind = cause.Error(), ErrChanged
	} else if c.f.src.Compression == Plain {
		text, kind = fmt.Sprintf("cannot read on (%v)", cause), ErrCorrupt
	}
	where := "in line 1, none of its records is read"
	if c.lines > 0 {
		where = fmt.Sprintf("after line %d, records after it are lost", c.lines)
	} else if c.f.src.Format == Text {
		where = "in the document"
	}
	if errors.Is(cause, gzip.ErrChecksum) { // of all that was read: the place is not known
		where = fmt.Sprintf("any of the records up to line %d may be wrong", c.lines)
		text += ","
	}
	if cause == io.EOF { // to a caller that would be the regular end
		cause = io.ErrUnexpectedEOF
	}
	if errors.As(cause, &unread) { // its text has a remedy
		return &Problem{Path: c.f.src.Label(), Line: c.lines, Offset: c.offset, Err: &reason{
			kind: unread, text: fmt.Sprintf("%v (%s)", unread, where)}}
	}
	r := &reason{kind: kind, cause: cause, text: fmt.Sprintf("%s %s; get a whole copy of the file", text, where)}
	return &Problem{Path: c.f.src.Label(), Line: c.lines, Offset: c.offset, Err: r}
}

// boundary returns the length of the whole records at the start of buf.
// from: buf[:from] has no record end. long: what follows them is a record over
// MaxRecord.
func (c *cutter) boundary(buf []byte, from int, eof bool) (n int, long bool) {
	limit := c.f.o.MaxRecord
	switch c.f.src.Format {
	case Text:
		if int64(len(buf)) > limit {
			return 0, true
		}
		if eof {
			n = len(buf)
		}
		return n, false
	case CSV:
		for n < len(buf) {
			m, state := csvRecord(buf[n:], limit, eof)
			switch state {
			case csvMore:
				return n, false
			case csvLong:
				return n, true
			}
			n += m
		}
		return n, false
	}
	if eof {
		return len(buf), false
	}
	n = from + bytes.LastIndexByte(buf[from:], '\n') + 1
	if n == from {
		n = 0
	}
	return n, int64(len(buf)-n) > limit
}

// take makes buf[:n] the records of b and the rest the carry. buf belongs to b.
func (c *cutter) take(b *Block, buf []byte, n int, long bool) {
	b.Seq, b.Offset = c.seq, c.offset
	c.seq++
	if !c.begun {
		b.firstLine = c.f.headerLines
		c.begun = true
	}
	b.data, b.tail = buf[:n], long
	rest := buf[n:]
	c.offset += int64(n)
	if c.f.src.Format == Text {
		b.whole, b.Lines = !long, 1
		c.done = true
		return
	}
	b.setLines()
	c.lines += b.Lines
	if long {
		rest = c.skip(rest)
	}
	c.carry = append(c.carry[:0], rest...)
	c.searched = len(c.carry)
	if long {
		c.searched = 0
	}
	if cap(c.carry) > 4*(c.f.o.BlockSize+len(rest))+(1<<20) {
		c.carry = append([]byte(nil), rest...)
	}
}

// skip drops bytes of a record over MaxRecord and returns what follows it.
func (c *cutter) skip(buf []byte) []byte {
	i := bytes.IndexByte(buf, '\n')
	c.skipping = i < 0
	if c.skipping {
		i = len(buf) - 1
	}
	c.offset += int64(i) + 1
	return buf[i+1:]
}

// nextStream cuts the next block off the stream. The caller has the lock.
func (f *File) nextStream(b *Block) error {
	c := &f.cut
	if c.done || c.err != nil {
		return c.finish()
	}
	buf := b.room(c.firstRead() + len(c.carry))
	have, searched := copy(buf, c.carry), c.searched
	c.carry = c.carry[:0]
	for {
		n, err := c.fill(buf[have:])
		fresh := buf[have : have+n]
		if c.drop > 0 || c.skipping { // the carry is empty
			n = copy(buf[have:], c.dropped(fresh))
		}
		have += n
		c.eof = err == io.EOF
		n, long := c.boundary(buf[:have], searched, c.eof)
		switch {
		case n > 0 || long || c.eof && (have > 0 || f.src.Format == Text):
			c.take(b, buf[:have], n, long)
			if err != nil && !c.eof {
				c.err = c.damage(err)
			}
			return nil
		case c.eof:
			return c.finish()
		case err != nil:
			c.err = c.damage(err)
			return c.finish()
		}
		searched = have
		if have == len(buf) {
			buf = b.extend(buf, c.larger(len(buf)))
		}
	}
}

// larger returns the next size of a buffer in which a record does not end: twice
// as large, but no larger than it takes to see that the record is over MaxRecord.
func (c *cutter) larger(size int) int {
	enough := int(c.f.o.MaxRecord) + c.f.o.BlockSize
	if size < enough {
		return min(2*size, enough)
	}
	return 2 * size
}

// firstRead is how much to read before looking for records: one more than a
// document has, so that its end is seen at once.
func (c *cutter) firstRead() int {
	if f := c.f; f.src.Format == Text && f.size > 0 && f.src.Compression == Plain {
		return int(min(f.size, f.o.MaxRecord)) + 1
	}
	return c.f.o.BlockSize
}

// fill reads until p is full. err is io.EOF where the stream ends as it should.
func (c *cutter) fill(p []byte) (n int, err error) {
	if c.eof {
		return 0, io.EOF
	}
	for idle := 0; n < len(p) && err == nil; {
		var m int
		m, err = c.f.stream.Read(p[n:])
		n += m
		if idle++; m > 0 {
			idle = 0
		} else if idle == 100 && err == nil {
			err = io.ErrNoProgress
		}
	}
	return n, err
}

// dropped cuts off fresh bytes what was read before (the header) or belongs to
// a record over MaxRecord.
func (c *cutter) dropped(fresh []byte) []byte {
	n := min(c.drop, len(fresh))
	c.drop -= n
	fresh = fresh[n:]
	if c.skipping {
		fresh = c.skip(fresh)
	}
	return fresh
}

// header reads the header of a table: the blank lines at the start and the
// record after them. What was read beyond it becomes the carry.
func (c *cutter) header() ([]byte, error) {
	buf := make([]byte, 0, min(c.f.o.BlockSize, 64<<10))
	for {
		n, err := c.fill(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err != nil && err != io.EOF {
			return nil, c.damage(err)
		}
		c.eof = err == io.EOF
		if len(buf) == 0 {
			return nil, nil
		}
		if n := c.headerLength(buf); n > 0 {
			c.carry, c.offset = append(c.carry, buf[n:]...), int64(n)
			return buf[:n:n], nil
		}
		if c.eof || int64(len(buf)) > c.f.o.MaxRecord {
			return nil, &Problem{Path: c.f.src.Label(), Line: 1, Err: because(ErrMalformed, "the header does not end; correct it")}
		}
		buf = append(buf, 0)[:len(buf)]
	}
}

// headerLength returns the length of the header at the start of buf, 0 if it
// does not end there.
func (c *cutter) headerLength(buf []byte) int {
	pos := 0
	if bytes.HasPrefix(buf, byteOrderMark) {
		pos = len(byteOrderMark)
	}
	for pos < len(buf) {
		n := bytes.IndexByte(buf[pos:], '\n') + 1
		if n == 0 && c.eof {
			n = len(buf) - pos
		}
		if n == 0 {
			return 0
		}
		if len(withoutLineEnd(buf[pos:pos+n])) == 0 {
			pos += n
			continue
		}
		if c.f.src.Format == CSV {
			n, _ = csvRecord(buf[pos:], c.f.o.MaxRecord, c.eof)
			if n == 0 {
				return 0
			}
		}
		return pos + n
	}
	if c.eof {
		return pos
	}
	return 0
}
