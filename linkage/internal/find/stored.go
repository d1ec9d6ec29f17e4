package find

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/candidates"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/vfs"
)

// storedItems are the items of a table's rows in a file, as candidates.Streamed. A row has the number of its
// items, then the first item and the differences to the next ones, as variable-length integers.
type storedItems struct {
	side, rows int
	space      *scratch.Space
	name       string

	mu     sync.Mutex
	file   vfs.File
	size   int64
	frames []itemFrame
	reader extsort.RunFile
}

// itemFrame is a run of consecutive rows.
type itemFrame struct {
	first, rows uint32
	offset      int64
	size        int
}

// frameBytes is the size from which a frame is full.
const frameBytes = 1 << 18

// newStoredItems makes the file for the rows of a side. The caller must close it.
func newStoredItems(space *scratch.Space, side, rows int) (*storedItems, error) {
	s := &storedItems{side: side, rows: rows, space: space, name: space.Unique("items", ".part")}
	var err error
	s.file, err = space.Create(s.name)
	return s, err
}

// itemWriter adds rows, on one goroutine.
type itemWriter struct {
	to    *storedItems
	frame itemFrame
	bytes []byte
	err   error
}

// add adds the items of a row, ascending.
func (w *itemWriter) add(row uint32, items []uint32) {
	if row != w.frame.first+w.frame.rows || len(w.bytes) >= frameBytes {
		w.flush()
		w.frame = itemFrame{first: row}
	}
	w.frame.rows++
	w.bytes = binary.AppendUvarint(w.bytes, uint64(len(items)))
	before := uint32(0)
	for _, x := range items {
		w.bytes = binary.AppendUvarint(w.bytes, uint64(x-before))
		before = x
	}
}

// flush writes the rows that were added. It puts an error into err.
func (w *itemWriter) flush() {
	if len(w.bytes) == 0 || w.err != nil {
		return
	}
	s := w.to
	s.mu.Lock()
	defer s.mu.Unlock()
	w.frame.offset, w.frame.size = s.size, len(w.bytes)
	if _, err := s.file.Write(w.bytes); err != nil {
		w.err = fault.InWorkFolder(err)
		return
	}
	s.size += int64(len(w.bytes))
	s.frames = append(s.frames, w.frame)
	w.bytes = w.bytes[:0]
}

// finish ends writing, and opens the file for reading.
func (s *storedItems) finish() error {
	err := s.file.Close()
	s.file = nil
	if err == nil {
		s.space.Spilled(s.size)
		s.reader, err = s.space.Open(s.name)
	}
	return fault.InWorkFolder(err)
}

// close removes the file.
func (s *storedItems) close() (err error) {
	if s.file != nil {
		err = s.file.Close()
	}
	if s.reader != nil {
		err = errors.Join(err, s.reader.Close())
	}
	return fault.InWorkFolder(errors.Join(err, s.space.Remove(s.name)))
}

func (s *storedItems) Len() int { return s.rows }

// Append is needed for candidates.Items. It is not called for streams.
func (s *storedItems) Append([]uint32, int) []uint32 {
	panic("find: stored items are read from front to back")
}

// Each implements candidates.Streamed.
func (s *storedItems) Each(ctx context.Context, threads int, newVisit candidates.NewVisit) error {
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range threads {
		g.Go(func() error {
			visit, end := newVisit()
			var bytes []byte
			var items []uint32
			for {
				i := int(next.Add(1)) - 1
				if i >= len(s.frames) {
					return end()
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				frame := s.frames[i]
				bytes = scratch.Buffer(bytes, frame.size)
				if n, err := s.reader.ReadAt(bytes, frame.offset); n < len(bytes) {
					return fault.InWorkFolder(err)
				}
				for row, rest := frame.first, bytes; row < frame.first+frame.rows; row++ {
					var ok bool
					if items, rest, ok = readItems(items[:0], rest); !ok {
						return scratch.ErrDamaged
					}
					if err := visit(int(row), items); err != nil {
						return err
					}
				}
			}
		})
	}
	return g.Wait()
}

// readItems appends the items of a row, and returns the bytes after them.
func readItems(dst []uint32, from []byte) (items []uint32, rest []byte, ok bool) {
	count, n := binary.Uvarint(from)
	if n <= 0 || count > uint64(len(from)) {
		return dst, nil, false
	}
	from = from[n:]
	x := uint64(0)
	for range count {
		d, n := binary.Uvarint(from)
		if n <= 0 {
			return dst, nil, false
		}
		from = from[n:]
		x += d
		dst = append(dst, uint32(x))
	}
	return dst, from, true
}
