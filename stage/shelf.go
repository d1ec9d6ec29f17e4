package stage

import (
	"context"
	"encoding/binary"
	"errors"
	"io"

	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/vfs"
)

// A spool stores bytes by offset: in memory up to a limit, then in a file.
type spool struct {
	space   *scratch.Space
	most    int64 // bytes in memory; 0: no limit
	name    string
	file    vfs.File
	chunks  [][]byte // bytes that are not in the file yet, spoolChunk in all but the last; never moved
	written int64    // bytes in the file
	size    int64    // all bytes
	read    []byte
}

// spoolChunk is how many bytes are in one piece, and written to the file at once.
const spoolChunk = 1 << 20

func newSpool(space *scratch.Space, share int64) *spool {
	return &spool{space: space, most: space.Share(share)}
}

func (t *task) spool(share int64) *spool {
	s := newSpool(t.space, share)
	t.own(s.close)
	return s
}

// add appends bytes and returns where they are.
func (s *spool) add(parts ...[]byte) (offset int64, err error) {
	offset = s.size
	for _, b := range parts {
		s.size += int64(len(b))
		for len(b) > 0 {
			last := len(s.chunks) - 1
			if last < 0 || len(s.chunks[last]) == spoolChunk {
				s.chunks = append(s.chunks, make([]byte, 0, spoolChunk))
				last++
			}
			n := min(len(b), spoolChunk-len(s.chunks[last]))
			s.chunks[last] = append(s.chunks[last], b[:n]...)
			b = b[n:]
		}
	}
	limit := s.most
	if s.file != nil {
		limit = spoolChunk
	}
	if limit == 0 || s.size-s.written < limit {
		return offset, nil
	}
	if s.file == nil {
		s.name = s.space.Unique("spool", "")
		if s.file, err = s.space.Create(s.name); err != nil {
			return 0, err
		}
	}
	s.space.Spilled(s.size - s.written)
	for _, chunk := range s.chunks {
		if _, err := s.file.Write(chunk); err != nil {
			return 0, fault.InWorkFolder(err)
		}
	}
	s.written = s.size
	clear(s.chunks[1:])
	s.chunks = append(s.chunks[:0], s.chunks[0][:0])
	return offset, nil
}

// at returns n bytes from an offset on. They are valid until the next call.
func (s *spool) at(offset int64, n int) ([]byte, error) {
	if from := offset - s.written; from >= 0 && from%spoolChunk+int64(n) <= spoolChunk && n > 0 {
		return s.chunks[from/spoolChunk][from%spoolChunk:][:n], nil
	}
	s.read = scratch.Buffer(s.read, n)
	inFile := min(int64(n), max(s.written-offset, 0))
	if inFile > 0 {
		if _, err := s.file.ReadAt(s.read[:inFile], offset); err != nil && !(err == io.EOF) {
			return nil, fault.InWorkFolder(err)
		}
	}
	for done := inFile; done < int64(n); {
		from := offset + done - s.written
		done += int64(copy(s.read[done:], s.chunks[from/spoolChunk][from%spoolChunk:]))
	}
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
	rows   *spool
	sorter *extsort.Sorter
	to     *extsort.Appender
	sorted *extsort.Sorted
	head   []byte
	words  []uint64
}

// shelf returns a shelf that uses 1/share of the memory for rows, and as much for sorting.
func (t *task) shelf(share int64) (*shelf, error) {
	sorter, err := extsort.New(t.space.Sorting("shelf", share, 64))
	if err != nil {
		return nil, err
	}
	s := &shelf{rows: t.spool(share), sorter: sorter, to: sorter.Appender()}
	t.own(s.close)
	return s, nil
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
	if s.sorted != nil {
		return s.sorted.Close()
	}
	return s.sorter.Close()
}
