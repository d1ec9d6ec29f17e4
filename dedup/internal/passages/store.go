package passages

import (
	"io"

	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/vfs"
)

// A Store keeps bytes one after the other, up to Most in memory and the rest in a file. It belongs to one goroutine.
type Store struct {
	Space *scratch.Space
	Name  string
	Most  int // bytes; 0: no limit

	bytes []byte // not in the file yet
	file  vfs.File
	size  int64 // of the file
}

// Append adds bytes.
func (s *Store) Append(p []byte) error {
	s.bytes = append(s.bytes, p...)
	if s.Most == 0 || len(s.bytes) < s.Most {
		return nil
	}
	return s.spill()
}

func (s *Store) spill() (err error) {
	if s.file == nil {
		s.Name = s.Space.Unique(s.Name, ".part")
		if s.file, err = s.Space.Create(s.Name); err != nil {
			return err
		}
	}
	n, err := s.file.WriteAt(s.bytes, s.size)
	s.size += int64(n)
	s.Space.Spilled(int64(n))
	s.bytes = s.bytes[:0]
	return err
}

// Len returns the number of bytes.
func (s *Store) Len() int64 { return s.size + int64(len(s.bytes)) }

// ReadAt implements io.ReaderAt.
func (s *Store) ReadAt(p []byte, at int64) (n int, err error) {
	if at < s.size {
		n, err = s.file.ReadAt(p[:min(int64(len(p)), s.size-at)], at)
		if err != nil {
			return n, err
		}
		at += int64(n)
	}
	if n < len(p) {
		n += copy(p[n:], s.bytes[min(at-s.size, int64(len(s.bytes))):])
	}
	if n < len(p) {
		err = io.EOF
	}
	return n, err
}

// each calls visit for each record of that size.
func (s *Store) each(size int, visit func(i int64, record []byte) error) error {
	buf := make([]byte, 4096*size)
	i := int64(0)
	for at := int64(0); at < s.Len(); {
		n, err := s.ReadAt(buf[:min(int64(len(buf)), s.Len()-at)], at)
		if err != nil {
			return err
		}
		for from := 0; from < n; from += size {
			if err := visit(i, buf[from:from+size]); err != nil {
				return err
			}
			i++
		}
		at += int64(n)
	}
	return nil
}

// Close removes the file.
func (s *Store) Close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	if removed := s.Space.Remove(s.Name); err == nil {
		err = removed
	}
	return err
}
