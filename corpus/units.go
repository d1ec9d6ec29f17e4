package corpus

import (
	"errors"
	"io"
	"sync"
)

// Compressed files whose parts decode independently (zstd frames, bzip2 blocks)
// are decoded in parallel, without goroutines of their own. Each call of Next:
//
//	claim   under the lock: read the next unit's compressed bytes
//	decode  outside it, in parallel
//	cut     when its turn comes, in the order of the file: put the carry of
//	        the unit before in front, cut at the last record end
//
// Nobody can be stuck: who waits for a turn waits for calls that have claimed
// before, and these wait for no lock. After an error the rest of the units are
// let through without being used.

// maxUnit is the largest decoded size of a zstd frame that is a unit.
const maxUnit = 16 << 20

// unitRoom is left free in front of a decoded unit for the carry.
const unitRoom = 64 << 10

// errSerial says that the rest of a file is no sequence of units.
var errSerial = errors.New("not divided into units")

// A unitReader finds the units of one file.
type unitReader interface {
	// claim reads the next unit into the scratch of b: io.EOF at the end, errSerial
	// where the rest must be decoded in one stream from place on.
	claim(b *Block) (unit []byte, err error)
	// decode appends the decoded unit to dst; with an error, as much of it as
	// there is. Safe for concurrent use.
	decode(dst, unit []byte) ([]byte, error)
	place() int64
}

func newUnitReader(f *File) unitReader {
	switch f.src.Compression {
	case Zstd:
		return &zstdUnits{f: f, guess: 1 << 20}
	case Bzip2:
		return &bzip2Units{f: f, chunk: 1 << 20}
	}
	return nil
}

// A turnstile lets numbered calls through in order.
type turnstile struct {
	mu   sync.Mutex
	cond sync.Cond
	next int64
}

func (t *turnstile) init() { t.cond.L = &t.mu }

// wait returns when all numbers before n have left.
func (t *turnstile) wait(n int64) {
	t.mu.Lock()
	for t.next != n {
		t.cond.Wait()
	}
	t.mu.Unlock()
}

func (t *turnstile) leave() {
	t.mu.Lock()
	t.next++
	t.mu.Unlock()
	t.cond.Broadcast()
}

// nextUnit claims, decodes and cuts one unit.
func (f *File) nextUnit(b *Block) error {
	f.mu.Lock()
	if f.stream != nil {
		defer f.mu.Unlock()
		return f.nextStream(b)
	}
	var unit []byte
	err := io.EOF
	if !f.failed.Load() {
		unit, err = f.units.claim(b)
	}
	if err != nil {
		defer f.mu.Unlock()
		f.turn.wait(f.unitSeq)
		return f.endUnits(b, err)
	}
	seq := f.unitSeq
	f.unitSeq++
	f.read.Add(int64(len(unit)))
	f.mu.Unlock()

	buf, err := f.units.decode(b.room(unitRoom), unit)
	b.buf = buf
	f.turn.wait(seq)
	defer f.turn.leave()
	return f.cutUnit(b, buf, err)
}

// cutUnit makes the decoded unit buf[unitRoom:], with the carry, a block. damage is
// the error of its decoder.
func (f *File) cutUnit(b *Block, buf []byte, damage error) error {
	c := &f.cut
	if c.done || c.err != nil {
		return c.finish()
	}
	fresh := c.dropped(buf[unitRoom:])
	carry := len(c.carry)
	if start := len(buf) - len(fresh); start >= carry {
		buf = buf[start-carry:]
	} else {
		b.buf = make([]byte, carry+len(fresh))
		copy(b.buf[carry:], fresh)
		buf = b.buf
	}
	copy(buf, c.carry)
	n, long := c.boundary(buf, c.searched, false)
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

// endUnits ends the file, or goes over to one stream. The caller has the lock,
// and all claimed units were cut.
func (f *File) endUnits(b *Block, err error) error {
	c := &f.cut
	switch {
	case c.done || c.err != nil:
		return c.finish()
	case err == errSerial:
		place := f.units.place()
		r := io.NewSectionReader(f.file, place, f.size-place)
		d, err := newDecoder(&counter{&wholeFile{r, f.size - place}, &f.read}, f.src.Compression)
		if err != nil {
			c.err = c.damage(err)
			return c.finish()
		}
		f.stream = d
		return f.nextStream(b)
	case err != io.EOF:
		c.err = c.damage(err)
		return c.finish()
	case len(c.carry) == 0:
		return c.finish()
	}
	buf := b.room(len(c.carry))
	copy(buf, c.carry)
	n, long := c.boundary(buf, c.searched, true)
	c.take(b, buf, n, long)
	return nil
}
