package corpus

import (
	"bytes"
	"io"

	"github.com/alike-dev/alike/corpus/internal/delimited"
	"github.com/alike-dev/alike/corpus/internal/lines"
	"github.com/alike-dev/alike/internal/fault"
)

// nextStream cuts the next block off the stream. The caller has the lock.
func (f *File) nextStream(b *Block) error {
	c := &f.cut
	if c.done || c.err != nil {
		return c.finish()
	}
	if f.kind.whole && f.src.Compression == Plain && f.size > f.o.MaxRecord {
		c.take(b, nil, 0, true)
		return nil
	}
	if err := b.admit(f.ctx, &f.o, c.firstRead()+len(c.carry)); err != nil {
		return err
	}
	buf := b.room(c.firstRead() + len(c.carry))
	have, searched := copy(buf, c.carry), c.searched
	c.carry = c.carry[:0]
	for {
		if c.bomb() {
			return c.finish()
		}
		n, err := c.fill(buf[have:])
		fresh := buf[have : have+n]
		if !c.known { // all bytes so far are fresh
			fresh, have = buf[:have+n], 0
			if c.begin(fresh, err != nil) {
				if have = len(fresh); have == len(buf) {
					buf = b.extend(buf, c.larger(have))
				}
				continue
			}
			n = len(fresh)
		}
		if c.drop > 0 || c.skipping { // the carry is empty
			n = copy(buf[have:], c.dropped(fresh))
		}
		have += n
		c.eof = err == io.EOF
		all, cancelled := c.join(b, buf[:have], c.eof)
		if cancelled != nil {
			return cancelled
		}
		if len(all) > have {
			buf, have, searched = all, len(all), 0
		}
		n, long := c.boundary(buf[:have], searched, c.eof)
		switch {
		case n > 0 || long || c.eof && (have > 0 || f.kind.whole):
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
		if c.hold(buf[:have]) {
			have = 0
		}
		searched = have
		if have == len(buf) {
			size := c.larger(len(buf))
			if err := b.admit(f.ctx, &f.o, size); err != nil {
				return err
			}
			buf = b.extend(buf, size)
		}
	}
}

// larger returns the next size of a buffer that does not hold a whole record: twice as large, but no larger than
// needed to see that the record is over MaxRecord. A large buffer gets all of that at once: memory that is not
// written to costs nothing, while growing holds the old and the new buffer.
func (c *cutter) larger(size int) int {
	enough := int(c.f.o.MaxRecord) + c.f.o.BlockSize
	switch {
	case size >= enough:
		return 2 * size
	case size >= 16<<20:
		return enough
	}
	return min(2*size, enough)
}

// firstRead is how much to read before looking for records: one byte more than a document has, so that its end is
// found at once.
func (c *cutter) firstRead() int {
	if f := c.f; f.kind.whole && f.size > 0 && f.src.Compression == Plain {
		return int(min(f.size, f.o.MaxRecord)) + 1
	}
	return c.f.o.BlockSize
}

// fill reads until p is full or, with AtOnce, some bytes have arrived. err is io.EOF at the regular end of the
// stream.
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
			if c.f.o.AtOnce {
				break
			}
		} else if idle == 100 && err == nil {
			err = io.ErrNoProgress
		}
	}
	return n, c.ended(err)
}

// headerRead is how much of a table is read at least before its header is said not to end, whatever the size of blocks: a
// header may be longer than a record.
const headerRead = 64 << 10

// header reads the header of a table: the blank lines at the start and the record after them. Bytes read beyond it
// become the carry.
func (c *cutter) header() ([]byte, error) {
	most := max(headerRead, c.f.o.MaxRecord+1)
	buf := make([]byte, 0, min(c.f.o.BlockSize, headerRead))
	for {
		n, err := c.fill(buf[len(buf):min(int64(cap(buf)), most)])
		buf = buf[:len(buf)+n]
		if err != nil && err != io.EOF {
			return nil, c.damage(err)
		}
		c.eof = err == io.EOF
		if len(buf) == 0 {
			return nil, nil
		}
		if !c.known && c.begin(buf, c.eof) {
			buf = append(buf, 0)[:len(buf)]
			continue
		}
		if n := c.headerLength(buf); n > 0 {
			c.carry, c.offset = append(c.carry, buf[n:]...), int64(n)
			return buf[:n:n], nil
		}
		if c.eof || int64(len(buf)) == most {
			return nil, &Problem{Path: c.f.src.Label(), Line: 1, Err: fault.Because(ErrMalformed, "the header does not end; correct it")}
		}
		buf = append(buf, 0)[:len(buf)]
	}
}

// headerLength returns the length of the header at the start of buf, 0 if it does not end there.
func (c *cutter) headerLength(buf []byte) int {
	e := c.f.encoding
	if !e.Wide() {
		return c.tableStart(buf, e.Len(), c.f.o.MaxRecord)
	}
	return min(2*c.tableStart(e.AppendNarrow(nil, wholeCharacters(buf, c.eof)), 1, c.f.o.MaxRecord/2), len(buf))
}

// tableStart is headerLength for a file whose characters take a byte and more, from pos on, behind the mark.
func (c *cutter) tableStart(buf []byte, pos int, limit int64) int {
	said := false // what separates the columns
	for pos < len(buf) {
		n := bytes.IndexByte(buf[pos:], '\n') + 1
		if n == 0 && c.eof {
			n = len(buf) - pos
		}
		if n == 0 {
			return 0
		}
		if len(lines.WithoutEnd(buf[pos:pos+n])) == 0 {
			pos += n
			continue
		}
		if by, ok := delimited.Said(buf[pos : pos+n]); ok && c.f.kind.quoted && !said {
			c.f.comma, said, pos = by, true, pos+n
			continue
		}
		if c.f.kind.quoted {
			if !said {
				var more bool
				if c.f.comma, more = delimited.Delimiter(buf[pos:], limit-int64(pos), c.eof); more {
					return 0
				}
			}
			n, _ = delimited.CSVRecord(buf[pos:], c.f.comma, limit, c.eof)
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
