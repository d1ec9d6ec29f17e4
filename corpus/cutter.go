package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/alike-dev/alike/corpus/internal/codec"
	"github.com/alike-dev/alike/corpus/internal/delimited"
	"github.com/alike-dev/alike/corpus/internal/held"
	"github.com/alike-dev/alike/internal/bom"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/setting"
)

// A cutter divides a decoded stream into blocks of whole records. The bytes after the
// last whole record of a block are carried to the next one:
//
//	carry │ fresh bytes …………………………………… │
//	└──────── block ─────────────┘ └ carry ┘
//
// The beginning of a record that is much longer than a block is held in addition, before
// the carry.
//
// The goroutine that has the File's lock, or whose turn it is among units, owns the
// cutter.
type cutter struct {
	f        *File
	held     held.Bytes
	carry    []byte
	offset   int64 // of the held bytes and the carry in the decoded stream
	lines    int64 // before offset
	seq      int64 // of the next block
	searched int   // there is no line end in carry[:searched]
	tried    int   // carry[:tried] does not hold a whole CSV record
	drop     int   // bytes to drop: the header, which was read separately
	skipping bool  // inside a record over MaxRecord, until its line ends
	half     byte  // the last byte skipped
	expanded expansion
	known    bool  // the encoding is known
	begun    bool  // the first block was made (it counts the header's lines)
	eof      bool  // the stream has ended
	done     bool  // nothing more follows
	err      error // to be returned once by the next call
	garbage  error // what follows the stream, which is complete; to be returned after all records
}

// finish returns the result of Next when nothing is left.
func (c *cutter) finish() error {
	c.done = true
	c.held.Drop()
	if c.err == nil && c.garbage != nil {
		c.err = c.damage(c.garbage)
	}
	if err := c.err; err != nil {
		c.err, c.garbage = nil, nil
		return err
	}
	return io.EOF
}

// ended returns io.EOF in place of an error that says only that something follows the complete stream, which it keeps.
func (c *cutter) ended(err error) error {
	var garbage *codec.Garbage
	if errors.As(err, &garbage) {
		c.garbage, err = err, io.EOF
	}
	return err
}

// damage makes the error for a stream that cannot be read any further. The carry, a
// record without its end, is lost.
func (c *cutter) damage(cause error) error {
	text, remedy, kind := codec.Damage(codec.Name(c.f.src.Compression), cause)
	if errors.Is(cause, ErrChanged) {
		text, remedy, kind = cause.Error(), "run again when nothing writes to it", ErrChanged
	} else if c.f.src.Compression == Plain {
		text, kind = fmt.Sprintf("cannot read any further (%v)", cause), ErrCorrupt
	}
	where := "in line 1, none of its records is read"
	if cause == c.garbage {
		where = "(everything before it is used)"
	} else if c.lines > 0 {
		where = fmt.Sprintf("after line %d, records after it are lost", c.lines)
	} else if c.f.kind.whole {
		where = "in the document"
	}
	// The place is unknown if a checksum of all bytes read has found the damage, or if that comes after bytes that no
	// checksum covers. Of units with checksums, a damaged one is not used.
	if unchecked, summed := codec.IsUnchecked(cause); c.lines > 0 && (unchecked || summed && c.f.stream != nil) {
		where = fmt.Sprintf("any of the records up to line %d may be wrong, those after it are lost", c.lines)
		text += ","
	}
	var unread *fault.Unread
	if errors.As(cause, &unread) { // its text has a remedy already
		return &Problem{Path: c.f.src.Label(), Line: c.lines, Offset: c.offset, Err: fault.Because(unread, "%v (%s)", unread, where)}
	}
	if cause == io.EOF { // a caller would take io.EOF as the regular end
		cause = io.ErrUnexpectedEOF
	}
	return &Problem{Path: c.f.src.Label(), Line: c.lines, Offset: c.offset, Err: fault.Caused(kind, cause, "%s %s; %s", text, where, remedy)}
}

// boundary returns the length of the whole records at the start of buf. from: buf[:from]
// has no record end. long: a record over MaxRecord follows them.
func (c *cutter) boundary(buf []byte, from int, eof bool) (n int, long bool) {
	limit := c.f.o.MaxRecord
	if c.held.Size > 0 {
		return 0, c.held.Size+int64(c.lineLength(buf)) > limit
	}
	if c.f.kind.whole {
		if int64(len(buf)) > limit {
			return 0, true
		}
		if eof {
			n = len(buf)
		}
		return n, false
	}
	if e := c.f.encoding; e.Wide() {
		n, long = c.wholeRecords(e.AppendNarrow(nil, wholeCharacters(buf, eof)), from/2, limit/2, eof)
		return min(2*n, len(buf)), long
	}
	return c.wholeRecords(buf, from, limit, eof)
}

// wholeRecords is boundary for a file whose characters take a byte and more, and in which no record is held.
func (c *cutter) wholeRecords(buf []byte, from int, limit int64, eof bool) (n int, long bool) {
	if c.f.kind.quoted {
		for n < len(buf) {
			m, state := delimited.CSVRecord(buf[n:], c.f.comma, limit, eof)
			switch state {
			case delimited.More:
				return n, false
			case delimited.Long:
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

// begin takes note of the byte order mark, given the first bytes of the stream. more reports that they are too few to
// tell; with ends no more follow.
func (c *cutter) begin(start []byte, ends bool) (more bool) {
	if c.f.kind.whole {
		c.known = true
		return false
	}
	e, more := bom.Of(start, ends)
	if more {
		return true
	}
	c.known, c.f.encoding = true, e
	if !c.f.kind.header {
		c.f.header = bytes.Clone(start[:e.Len()])
		c.drop, c.offset = e.Len(), int64(e.Len())
	}
	return false
}

// lineLength returns the length of the line at the start of buf, or of buf if the line
// does not end there.
func (c *cutter) lineLength(buf []byte) int {
	if c.f.src.Format != Text {
		if i := bytes.IndexByte(buf, '\n'); i >= 0 {
			return i + 1
		}
	}
	return len(buf)
}

// hold holds buf, the beginning of a record or its continuation, and returns true if buf
// is long enough to be held. A CSV record of several lines is not held, because it may
// turn out to be malformed, which would make each of its lines a record. Nor is one in
// UTF-16, of which a part may end within a character.
func (c *cutter) hold(buf []byte) bool {
	if len(buf) < 4*c.f.o.BlockSize || c.f.encoding.Wide() || c.f.kind.quoted && bytes.IndexByte(buf, '\n') >= 0 {
		return false
	}
	c.held.Add(buf)
	return true
}

// join returns the held bytes together with buf if the held line ends in buf and is not
// over MaxRecord; otherwise buf itself. The memory belongs to b. It returns the error of
// the context if that ends while join waits for b's admission.
func (c *cutter) join(b *Block, buf []byte, eof bool) ([]byte, error) {
	line := c.lineLength(buf)
	ends := eof || line > 0 && buf[line-1] == '\n' && c.f.src.Format != Text
	if c.held.Size == 0 || !ends || c.held.Size+int64(line) > c.f.o.MaxRecord {
		return buf, nil
	}
	if err := b.admit(c.f.ctx, &c.f.o, int(c.held.Size)+len(buf)); err != nil {
		return nil, err
	}
	all := c.held.AppendTo(make([]byte, 0, int(c.held.Size)+len(buf)))
	b.buf = append(all, buf...)
	return b.buf, nil
}

// number makes b the next block, without records so far.
func (c *cutter) number(b *Block) {
	b.Seq, b.Offset = c.seq, c.offset
	c.seq++
	if !c.begun {
		b.firstLine = c.f.headerLines
		c.begun = true
	}
}

// take makes buf[:n] the records of b and the rest the carry. buf belongs to b. long: the
// held bytes and the rest begin a record over MaxRecord.
func (c *cutter) take(b *Block, buf []byte, n int, long bool) {
	c.number(b)
	b.data, b.tail = buf[:n], long
	rest := buf[n:]
	c.offset += int64(n)
	if c.f.kind.whole {
		b.whole, b.Lines = !long, 1
		c.done = true
		c.held.Drop()
		return
	}
	b.setLines(c.f.encoding)
	c.lines += b.Lines
	c.expanded.add(b.Lines, int64(n))
	c.expanded.tally(c.f.kind, b.data)
	if long {
		c.expanded.idle = c.held.Size
		c.offset += c.held.Size
		c.held.Drop()
		rest = c.skip(rest)
	}
	c.carry = append(c.carry[:0], rest...)
	c.searched, c.tried = len(rest), len(rest)
	if long {
		c.searched, c.tried = 0, 0
	}
	if cap(c.carry) > 4*(c.f.o.BlockSize+len(rest))+(1<<20) {
		c.carry = append([]byte(nil), rest...)
	}
}

// skip drops bytes of a record over MaxRecord and returns the bytes after it.
func (c *cutter) skip(buf []byte) []byte {
	i := c.lineEnd(buf)
	c.skipping = i < 0
	c.expanded.idle += int64(len(buf))
	if c.skipping {
		i = len(buf) - 1
	} else {
		c.expanded.idle = 0
	}
	c.offset += int64(i) + 1
	return buf[i+1:]
}

// lineEnd returns the place of the last byte of the first line end in buf, which begins at c.offset, or -1.
func (c *cutter) lineEnd(buf []byte) int {
	e := c.f.encoding
	if !e.Wide() {
		return bytes.IndexByte(buf, '\n')
	}
	first := int(c.offset & 1) // the first whole character: before it is the other half of one
	if first == 1 && len(buf) > 0 && e.IsLineEnd(c.half, buf[0]) {
		return 0
	}
	for i := first; i+1 < len(buf); i += 2 {
		if e.IsLineEnd(buf[i], buf[i+1]) {
			return i + 1
		}
	}
	if len(buf) > 0 {
		c.half = buf[len(buf)-1]
	}
	return -1
}

// dropped removes from fresh the bytes that were read before (the header) or belong to a
// record over MaxRecord.
func (c *cutter) dropped(fresh []byte) []byte {
	n := min(c.drop, len(fresh))
	c.drop -= n
	fresh = fresh[n:]
	if c.skipping {
		fresh = c.skip(fresh)
	}
	return fresh
}

// bomb reports whether the file seems to be made to expand without end; if so, it also
// ends the file.
func (c *cutter) bomb() bool {
	f := c.f
	if f.src.Compression == Plain && !f.kind.packed {
		return false
	}
	err := c.expanded.problem(f.o.MaxRecord, max(f.size, f.read.Load()))
	if err == nil {
		return false
	}
	c.err = &Problem{Path: f.src.Label(), Line: c.lines, Offset: c.offset, Err: err}
	f.failed.Store(true)
	return true
}

// wholeCharacters returns buf without half a character at its end, unless that is the end of the stream.
func wholeCharacters(buf []byte, eof bool) []byte {
	if eof {
		return buf
	}
	return buf[:len(buf)&^1]
}

const (
	// bombRecords is how many times MaxRecord a compressed file may decode to without a
	// record. Deflate makes at most about a thousand bytes of one, zstd and bzip2 tens of
	// thousands: a small file may seem endless.
	bombRecords = 16
	// recordCost is what a record counts for in addition to its bytes: about the memory that
	// a run keeps of it, and far more than `{}` has.
	recordCost = 256
	// bombRatio is the limit of the cost of a file's records, beyond bombAnyway, as a
	// multiple of the file's size. Logs that compress 200 to 1 come to a fifth of it.
	bombRatio  = 4096
	bombAnyway = 1 << 30
	// bombText is the same for their bytes alone, at least bombTexts times MaxRecord: to compare
	// texts costs far more than to decode them.
	bombText  = 256 << 20
	bombTexts = 4
)

// expansion counts how many bytes and records come out of a compressed file, or of a
// Parquet file, whose dictionaries repeat a value for a few bits. The counts depend on
// the file and the options alone, so that the file ends at the same record for any number
// of workers.
type expansion struct {
	idle    int64 // bytes decoded without a record: blank lines, or a record over MaxRecord
	bytes   int64 // decoded, in records
	records int64
}

func (e *expansion) add(records, bytes int64) {
	e.records += records
	e.bytes += bytes
}

// tally counts data, the whole lines of a block, as idle if all of them are blank.
func (e *expansion) tally(k *kind, data []byte) {
	if k.blank == nil || len(bytes.TrimLeft(data, k.blanks+"\n")) > 0 {
		e.idle = 0
		return
	}
	e.idle += int64(len(data))
}

// problem returns an error if the file seems to be made to expand without end, otherwise
// nil. maxRecord is Options.MaxRecord, size that of the file.
func (e *expansion) problem(maxRecord, size int64) error {
	if e.idle/bombRecords > maxRecord {
		return fault.Because(ErrBomb, "expands to more than %d bytes without a record; %s", bombRecords*maxRecord, bombRemedy)
	}
	cost, text := max(bombAnyway, bombRecords*maxRecord), max(bombText, bombTexts*maxRecord)
	if over := max(e.bytes+recordCost*e.records-cost, e.bytes-text); over > 0 && over/bombRatio > size {
		return fault.Because(ErrBomb, "expands to %d records of %d bytes so far, from a file of %d bytes; %s", e.records, e.bytes, size, bombRemedy)
	}
	return nil
}

var bombRemedy = setting.Textf("looks like a decompression bomb; leave it out, or raise the limit (%s) if it is none", setting.MaxRecord)
