package corpus

import (
	"bytes"
	"io"
	"slices"
	"sync/atomic"

	"github.com/alike-dev/alike/internal/fault"
)

// Plain files of lines need no lock: block k is the range
// [start + k·BlockSize, start + (k+1)·BlockSize) of the file, claimed by one atomic
// addition, and owns the records that start in it.
//
//	… r e c 1 \n r e c 2 \n | r e c 3 \n r e c | 4 \n …
//	                        lo                 hi
//
// The owner reads from lo−1 (a line starts at lo iff the byte before it is a line end) to
// a little beyond hi, so that the record that crosses hi is usually complete already. If
// it is not, its end is located first, and the record is read only if it is within
// MaxRecord: a line of any length costs no memory.

// slackSize is how far beyond its range a block reads at once: a few thousand bytes hold
// the rest of most records, and the cost stays below 2 %.
func slackSize(blockSize int) int64 { return int64(max(blockSize/64, 512)) }

// When looking for the end of a record, firstSearch bytes are read at once, then more, up to mostSearch.
const firstSearch, mostSearch = 16 << 10, 256 << 10

// A small file has fewBlocks blocks, but none below leastBlock: with a few large ones, one worker would
// wait for another's last, and each would touch memory for a large block for the first time.
const (
	fewBlocks  = 32
	leastBlock = 64 << 10
)

// blockSizeFor returns the size of the blocks of a plain file if the options leave it open.
func blockSizeFor(size int64) int {
	return int(min(max(size/fewBlocks, leastBlock), DefaultBlockSize))
}

// plainBlocks are the blocks of a plain file of lines.
type plainBlocks struct {
	f       *File
	start   int64 // after the header
	n       int64
	claimed atomic.Int64
}

func newPlainBlocks(f *File) *plainBlocks {
	if f.anyBlock {
		f.o.BlockSize = blockSizeFor(f.size)
	}
	start := int64(len(f.header))
	return &plainBlocks{f: f, start: start, n: (f.size - start + int64(f.o.BlockSize) - 1) / int64(f.o.BlockSize)}
}

func (p *plainBlocks) next(b *Block) error {
	f := p.f
	k := p.claimed.Add(1) - 1
	for f.skip != nil && k < p.n && f.skip(k) {
		k = p.claimed.Add(1) - 1
	}
	if k >= p.n || f.failed.Load() {
		return io.EOF
	}
	b.Seq = k
	if k == 0 {
		b.firstLine = f.headerLines
	}
	lo := p.start + k*int64(f.o.BlockSize)
	hi := min(lo+int64(f.o.BlockSize), f.size)
	from := lo
	if k > 0 {
		from--
	}
	buf := b.room(int(min(hi+slackSize(f.o.BlockSize), f.size) - from))
	if err := f.readAt(buf, from); err != nil {
		return err
	}
	begin := 0
	if k > 0 {
		begin = bytes.IndexByte(buf[:hi-from], '\n') + 1
		if begin == 0 || from+int64(begin) == hi {
			b.Offset = hi
			return nil // no record starts here
		}
	}
	end, err := p.recordEnd(b, &buf, from, begin, hi)
	if err != nil {
		return err
	}
	b.data = buf[begin:end]
	b.Offset = from + int64(begin)
	b.setLines(f.encoding)
	return nil
}

// recordEnd returns the index in buf after the last record that starts before hi; it
// reads more bytes if necessary. If that record is over MaxRecord, the end is before it
// and b.tail is set.
func (p *plainBlocks) recordEnd(b *Block, buf *[]byte, from int64, begin int, hi int64) (int, error) {
	f := p.f
	if hi == f.size {
		return len(*buf), nil
	}
	last := int(hi-from) - 1 // the record with this byte is the last one
	if i := bytes.IndexByte((*buf)[last:], '\n'); i >= 0 {
		return last + i + 1, nil
	}
	start := max(bytes.LastIndexByte((*buf)[:last], '\n')+1, begin)
	end, err := p.findLineEnd(b, from+int64(len(*buf)), from+int64(start)+f.o.MaxRecord)
	if err != nil {
		return 0, err
	}
	if end < 0 {
		b.tail = true
		return start, nil
	}
	have := len(*buf)
	if err := b.admit(f.ctx, &f.o, int(end-from)); err != nil {
		return 0, err
	}
	*buf = b.extend(*buf, int(end-from))
	return len(*buf), f.readAt((*buf)[have:], from+int64(have))
}

// findLineEnd returns the place after the first line end at or after pos (the
// end of the file counts as one), or -1 if it is beyond limit.
func (p *plainBlocks) findLineEnd(b *Block, pos, limit int64) (int64, error) {
	f := p.f
	for size := int64(firstSearch); pos < f.size; size = min(2*size, mostSearch) {
		if pos > limit {
			return -1, nil
		}
		size = min(size, f.size-pos)
		b.scratch = slices.Grow(b.scratch[:0], int(size))
		chunk := b.scratch[:size]
		if err := f.readAt(chunk, pos); err != nil {
			return 0, err
		}
		if i := bytes.IndexByte(chunk, '\n'); i >= 0 {
			pos += int64(i) + 1
			break
		}
		pos += int64(len(chunk))
	}
	if pos > limit {
		return -1, nil
	}
	return pos, nil
}

// readAt fills p with the bytes of the file at off. An error ends the file for all
// workers.
func (f *File) readAt(p []byte, off int64) error {
	n, err := f.file.ReadAt(p, off)
	if n == len(p) {
		return nil
	}
	if f.failed.Swap(true) {
		return io.EOF // another worker has reported it
	}
	off += int64(n)
	if err == io.EOF {
		err = fault.Because(ErrChanged, "the file became shorter while it was read (no byte %d), some of its records are lost; run again when nothing writes to it", off)
	} else {
		err = fault.Caused(ErrCorrupt, err, "cannot read any further at byte %d: %v; some of its records are lost", off, err)
	}
	return &Problem{Path: f.src.Label(), Offset: off, Err: err}
}
