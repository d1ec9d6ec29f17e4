package dedup

import (
	"fmt"
	"io"
	"os"
	"sync"
)

// segmentSize is what a spool allocates at once.
const segmentSize = 4 << 20

// spool keeps byte strings for a run: in memory up to a limit, beyond it in a
// file of the work folder. Put and ReadAt may be called concurrently.
type spool struct {
	dir   *workDir
	limit int64

	mu       sync.Mutex
	segments [][]byte
	held     int64 // bytes in segments
	file     *os.File
	written  int64
}

// span is where a byte string lies: in a segment, or in the file when segment
// is negative.
type span struct {
	offset  int64
	length  uint32
	segment int32
}

func newSpool(dir *workDir, limit int64) *spool { return &spool{dir: dir, limit: limit} }

// put stores a copy of b.
func (s *spool) put(b []byte) (span, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held+int64(len(b)) > s.limit {
		return s.putInFile(b)
	}
	last := len(s.segments) - 1
	if last < 0 || cap(s.segments[last])-len(s.segments[last]) < len(b) {
		s.segments = append(s.segments, make([]byte, 0, max(segmentSize, len(b))))
		last++
	}
	at := len(s.segments[last])
	s.segments[last] = append(s.segments[last], b...)
	s.held += int64(len(b))
	return span{segment: int32(last), offset: int64(at), length: uint32(len(b))}, nil
}

func (s *spool) putInFile(b []byte) (span, error) {
	if s.file == nil {
		file, err := s.dir.create("spool")
		if err != nil {
			return span{}, err
		}
		s.file = file
	}
	at := s.written
	if _, err := s.file.WriteAt(b, at); err != nil {
		return span{}, fmt.Errorf("work folder: %w", err)
	}
	s.written += int64(len(b))
	return span{segment: -1, offset: at, length: uint32(len(b))}, nil
}

// get returns the stored bytes, in dst when they have to be read back.
func (s *spool) get(dst []byte, at span) ([]byte, error) {
	if at.segment >= 0 {
		s.mu.Lock()
		segment := s.segments[at.segment]
		s.mu.Unlock()
		return segment[at.offset : at.offset+int64(at.length)], nil
	}
	dst = grow(dst, int(at.length))
	if _, err := s.file.ReadAt(dst, at.offset); err != nil && err != io.EOF {
		return nil, fmt.Errorf("work folder: %w", err)
	}
	return dst, nil
}

// close releases the memory and the file.
func (s *spool) close() {
	s.segments = nil
	if s.file != nil {
		_ = s.file.Close() // nothing in it is needed any more
		s.file = nil
	}
}

// grow returns a slice of length n that reuses b's memory where that suffices.
func grow(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n)
	}
	return b[:n]
}
