package stage

import (
	"context"
	"encoding/binary"
	"errors"
	"io"

	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/vfs"
)

// A spool stores bytes by offset: in memory up to a limit, then in a file.
type spool struct {
	space *scratch.Space
	most  int64 // bytes in memory; 0: no limit
	name  string
	file  vfs.File
	buf   []byte // bytes that are not in the file yet
	size  int64  // all bytes, in the file and in buf
	read  []byte
}

// spoolWrite is how many bytes are written to the file at once.
const spoolWrite = 1 << 20

func newSpool(space *scratch.Space, share int64) *spool {
	return &spool{space: space, most: space.Share(share)}
}

// add appends bytes and returns where they are.
func (s *spool) add(parts ...[]byte) (offset int64, err error) {
	offset = s.size
	for _, b := range parts {
		s.buf = append(s.buf, b...)
		s.size += int64(len(b))
	}
	limit := s.most
	if s.file != nil {
		limit = spoolWrite
	}
	if limit == 0 || int64(len(s.buf)) < limit {
		return offset, nil
	}
	if s.file == nil {
		s.name = s.space.Unique("spool", "")
		if s.file, err = s.space.Create(s.name); err != nil {
			return 0, err
		}
	}
	s.space.Spilled(int64(len(s.buf)))
	if _, err := s.file.Write(s.buf); err != nil {
		return 0, scratch.Error(err)
	}
	if cap(s.buf) > 2*spoolWrite {
		s.buf = nil
	}
	s.buf = s.buf[:0]
	return offset, nil
}

// at returns n bytes from an offset on. They are valid until the next call.
func (s *spool) at(offset int64, n int) ([]byte, error) {
	written := s.size - int64(len(s.buf))
	if offset >= written {
		return s.buf[offset-written:][:n], nil
	}
	s.read = scratch.Buffer(s.read, n)
	inFile := min(int64(n), written-offset)
	if _, err := s.file.ReadAt(s.read[:inFile], offset); err != nil && !(err == io.EOF) {
		return nil, scratch.Error(err)
	}
	copy(s.read[inFile:], s.buf)
	return s.read[:n], nil
}

func (s *spool) close() error {
	if s.file == nil {
		return nil
	}
	return errors.Join(s.file.Close(), s.space.Remove(s.name))
}

// A shelf stores rows and returns them by ascending keys. Rows of one key come in the order in which
// they were added.
type shelf struct {
	space  *scratch.Space
	rows   *spool
	sorter *extsort.Sorter
	to     *extsort.Appender
	sorted *extsort.Sorted
	head   []byte
	words  []uint64
}

// newShelf returns a shelf that uses 1/share of the memory for rows, and as much for sorting.
func newShelf(space *scratch.Space, share int64) (*shelf, error) {
	sorter, err := extsort.New(space.Sorting("shelf", share, 64))
	if err != nil {
		return nil, err
	}
	return &shelf{space: space, rows: newSpool(space, share), sorter: sorter, to: sorter.Appender()}, nil
}

// add adds a row.
func (s *shelf) add(key uint64, payload []byte, words ...uint64) error {
	s.head = binary.LittleEndian.AppendUint32(s.head[:0], uint32(len(words)))
	s.head = binary.LittleEndian.AppendUint32(s.head, uint32(len(payload)))
	for _, w := range words {
		s.head = binary.LittleEndian.AppendUint64(s.head, w)
	}
	at, err := s.rows.add(s.head, payload)
	if err != nil {
		return err
	}
	return s.to.Add(key, uint64(at))
}

// end sorts the rows. Call it after the last add and before the first read.
func (s *shelf) end(ctx context.Context) (err error) {
	if err = s.to.Flush(); err == nil {
		s.sorted, err = s.sorter.Sort(ctx)
	}
	return err
}

// row returns the row at an offset. It is valid until the next call.
func (s *shelf) row(offset uint64) (r row, err error) {
	head, err := s.rows.at(int64(offset), 8)
	if err != nil {
		return r, err
	}
	words, payload := int(binary.LittleEndian.Uint32(head)), int(binary.LittleEndian.Uint32(head[4:]))
	b, err := s.rows.at(int64(offset)+8, 8*words+payload)
	if err != nil {
		return r, err
	}
	s.words = s.words[:0]
	for range words {
		s.words = append(s.words, binary.LittleEndian.Uint64(b))
		b = b[8:]
	}
	return row{s.words, b}, nil
}

// each visits all rows in ascending order of their keys.
func (s *shelf) each(visit func(key uint64, r row) error) error {
	return s.sorted.Visit(func(e extsort.Entry) error {
		r, err := s.row(e.Value)
		if err != nil {
			return err
		}
		return visit(e.Key, r)
	})
}

// eachGroup visits each key once, in ascending order, with the offsets of its rows.
func (s *shelf) eachGroup(visit func(key uint64, rows []uint64) error) error {
	var key uint64
	var rows []uint64
	flush := func() error {
		if len(rows) == 0 {
			return nil
		}
		err := visit(key, rows)
		rows = rows[:0]
		return err
	}
	err := s.sorted.Visit(func(e extsort.Entry) error {
		if e.Key != key {
			if err := flush(); err != nil {
				return err
			}
		}
		key = e.Key
		rows = append(rows, e.Value)
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

func (s *shelf) close() error {
	err := s.rows.close()
	if s.sorted != nil {
		return errors.Join(err, s.sorted.Close())
	}
	return errors.Join(err, s.sorter.Close())
}
