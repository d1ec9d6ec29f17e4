package corpus

import (
	"bytes"
	"errors"
	"io"

	"github.com/alike-dev/alike/corpus/internal/units"
)

// Compressed files whose parts decode independently (gzip members, zstd frames, bzip2
// blocks) are decoded in parallel, without goroutines of their own. Each call of Next:
//
//	claim   under the lock: read the next unit's compressed bytes
//	decode  outside it, in parallel
//	cut     when its turn comes, in the order of the file: put the carry of
//	        the previous unit in front, cut at the last record end
//
// This cannot deadlock: a call that waits for its turn waits only for calls with earlier
// claims, and those wait for no lock. After an error the remaining units pass through
// without being used.
//
// If a file is not divided into units of up to units.Max, or in UTF-16, the rest of the file is decoded
// in one stream, from the first part on that is none. So a worker holds at most units.Max of decoded
// bytes, whatever the file.

// unitRoom is left free before a decoded unit, for the carry.
const unitRoom = 64 << 10

// errAgain means that the way of reading has changed.
var errAgain = errors.New("to be read in another way")

// nextUnit claims, decodes and cuts one unit.
func (f *File) nextUnit(b *Block) error {
	f.mu.Lock()
	if f.stream != nil {
		defer f.mu.Unlock()
		return f.nextStream(b)
	}
	var unit []byte
	err := io.EOF
	at := f.units.Place()
	switch {
	case f.serial.Load() != nil:
		err = units.ErrSerial
	case !f.failed.Load():
		unit, err = f.units.Claim(&b.scratch)
	}
	if err != nil {
		defer f.mu.Unlock()
		f.turn.wait(f.unitSeq)
		return f.endUnits(b, at, err)
	}
	seq := f.unitSeq
	f.unitSeq++
	f.read.Add(int64(len(unit)))
	f.mu.Unlock()

	buf, err := f.units.Decode(b.room(unitRoom), unit)
	b.buf = buf
	f.turn.wait(seq)
	defer f.turn.leave()
	switch {
	case f.serial.Load() != nil:
		return errAgain
	case err == units.ErrSerial:
		f.serial.Store(&at)
		return errAgain
	case !f.cut.known && (f.cut.begin(buf[unitRoom:], false) || f.encoding.Wide()):
		f.cut.known = false
		f.serial.Store(&at)
		return errAgain
	}
	return f.cutUnit(b, buf, err)
}

// cutUnit makes a block of the carry and the decoded unit buf[unitRoom:]. damage is the
// error of its decoder.
func (f *File) cutUnit(b *Block, buf []byte, damage error) error {
	c := &f.cut
	if c.done || c.err != nil {
		return c.finish()
	}
	if c.bomb() {
		return c.finish()
	}
	fresh := c.dropped(buf[unitRoom:])
	if damage == nil && c.waits(fresh) {
		c.number(b)
		b.setLines(c.f.encoding)
		c.lines += b.Lines
		if c.carry = append(c.carry, fresh...); c.hold(c.carry) {
			c.carry = c.carry[:0]
		}
		c.searched = len(c.carry)
		return nil
	}
	carry := len(c.carry)
	if start := len(buf) - len(fresh); start >= carry {
		buf = buf[start-carry:]
	} else {
		b.buf = make([]byte, carry+len(fresh))
		copy(b.buf[carry:], fresh)
		buf = b.buf
	}
	copy(buf, c.carry)
	searched := c.searched
	all, err := c.join(b, buf, false)
	if err != nil {
		return err
	}
	if len(all) > len(buf) {
		buf, searched = all, 0
	}
	n, long := c.boundary(buf, searched, false)
	if damage == nil {
		c.take(b, buf, n, long)
		return nil
	}
	f.failed.Store(true)
	if n > 0 || long {
		c.take(b, buf, n, long)
		c.err = c.damage(damage)
		return nil
	}
	c.err = c.damage(damage)
	return c.finish()
}

// waits reports whether fresh bytes only extend the carry, so that it need not be copied
// or searched again: otherwise a file of tiny units would cost the square of the length
// of a record.
func (c *cutter) waits(fresh []byte) bool {
	if c.held.Size+int64(len(c.carry)+len(fresh)) > c.f.o.MaxRecord {
		return false
	}
	if c.f.kind.quoted && c.held.Size == 0 {
		return len(c.carry)+len(fresh) < 2*c.tried
	}
	return bytes.IndexByte(fresh, '\n') < 0
}

// endUnits ends the file, or continues with one stream, from the place where claiming has
// ended. The caller has the lock, and all claimed units were cut.
func (f *File) endUnits(b *Block, at units.Place, err error) error {
	c := &f.cut
	if from := f.serial.Load(); from != nil {
		at, err = *from, units.ErrSerial
	}
	if !c.done && c.err == nil {
		err = c.ended(err)
	}
	switch {
	case c.done || c.err != nil || c.bomb():
		return c.finish()
	case err == units.ErrSerial:
		f.read.Store(at.Bit / 8)
		d, err := f.units.Stream(at)
		if err != nil {
			c.err = c.damage(err)
			return c.finish()
		}
		f.stream = d
		return f.nextStream(b)
	case err != io.EOF:
		c.err = c.damage(err)
		return c.finish()
	case len(c.carry) == 0 && c.held.Size == 0:
		return c.finish()
	}
	buf := b.room(len(c.carry))
	copy(buf, c.carry)
	searched := c.searched
	all, err := c.join(b, buf, true)
	if err != nil {
		return err
	}
	if len(all) > len(buf) {
		buf, searched = all, 0
	}
	n, long := c.boundary(buf, searched, true)
	c.take(b, buf, n, long)
	return nil
}
