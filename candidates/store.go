package candidates

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/simjoin"
)

// chunkVectors is how many vectors are written, read and searched together.
const chunkVectors = 4096

// Store is a collection of vectors that is filled once and then read any number of times. Vectors
// are in memory up to a limit, and in a file beyond it. One goroutine appends; after Finish any
// number of goroutines may read.
type Store struct {
	dir      extsort.Dir
	name     string
	memory   int64
	largest  uint32  // largest weight
	features int64   // of all vectors
	numbers  int     // one more than the largest feature
	chunks   []chunk // all except the last have chunkVectors vectors
	kept     int64   // bytes of chunks in memory
	created  bool
	file     io.WriteCloser // until it is closed
	written  int64
	reader   extsort.RunFile
	buffer   []byte
	length   int
	whole    *simjoin.Vectors // set by StoreOf
}

// chunk is in memory or at an offset of the file.
type chunk struct {
	vectors      *simjoin.Vectors // nil: in the file
	offset, size int64
}

// NewStore returns an empty store that holds up to memory bytes of vectors (0: no limit). Vectors
// beyond that go into the file name of dir.
func NewStore(dir extsort.Dir, name string, memory int64) *Store {
	return &Store{dir: dir, name: name, memory: memory}
}

// StoreOf returns a finished store that shares the vectors v. It takes 8 bytes a vector.
func StoreOf(v *simjoin.Vectors) *Store {
	s := &Store{whole: v, length: v.Len(), features: int64(v.Features())}
	for first := 0; first < v.Len(); first += chunkVectors {
		s.chunks = append(s.chunks, chunk{vectors: v.Slice(first, min(first+chunkVectors, v.Len()))})
	}
	for i := range v.Len() {
		s.note(v.At(i))
	}
	return s
}

// note updates the largest feature number and weight.
func (s *Store) note(v simjoin.Vector) {
	if n := len(v.Features); n > 0 {
		s.numbers = max(s.numbers, int(v.Features[n-1])+1)
		s.largest = max(s.largest, slices.Max(v.Weights))
	}
}

// Append adds a copy of a vector, with the same requirements as simjoin.Vectors.Append.
func (s *Store) Append(features, weights []uint32) error {
	if s.length%chunkVectors == 0 {
		if err := s.seal(); err != nil {
			return err
		}
		s.chunks = append(s.chunks, chunk{vectors: new(simjoin.Vectors)})
	}
	if err := s.chunks[len(s.chunks)-1].vectors.Append(features, weights); err != nil {
		return err
	}
	s.length++
	s.features += int64(len(features))
	s.note(simjoin.Vector{Features: features, Weights: weights})
	return nil
}

// seal ends the last chunk: keeps it in memory or writes it to the file.
func (s *Store) seal() error {
	if len(s.chunks) == 0 {
		return nil
	}
	last := &s.chunks[len(s.chunks)-1]
	if last.vectors == nil {
		return nil
	}
	s.kept += bytesOf(last.vectors)
	if s.memory == 0 || s.kept <= s.memory {
		return nil
	}
	s.kept -= bytesOf(last.vectors)
	if s.file == nil {
		f, err := s.dir.Create(s.name)
		if err != nil {
			return err
		}
		s.file, s.created = f, true
	}
	s.buffer, _ = last.vectors.AppendBinary(s.buffer[:0])
	if _, err := s.file.Write(s.buffer); err != nil {
		return err
	}
	*last = chunk{offset: s.written, size: int64(len(s.buffer))}
	s.written += last.size
	return nil
}

// bytesOf estimates the memory of a chunk, including spare capacity of its slices.
func bytesOf(v *simjoin.Vectors) int64 { return 10 * (int64(v.Features()) + int64(v.Len())) }

// Finish ends appending.
func (s *Store) Finish() error {
	if err := s.seal(); err != nil {
		return err
	}
	s.buffer = nil
	if s.file == nil {
		return nil
	}
	file := s.file
	s.file = nil
	if err := file.Close(); err != nil {
		return err
	}
	s.dir.Spilled(s.written)
	reader, err := s.dir.Open(s.name)
	s.reader = reader
	return err
}

// Len returns the number of vectors.
func (s *Store) Len() int { return s.length }

// Features returns the number of features of all vectors together.
func (s *Store) Features() int64 { return s.features }

// Spilled returns the number of bytes in the file.
func (s *Store) Spilled() int64 { return s.written }

// Close removes the file.
func (s *Store) Close() error {
	if !s.created {
		return nil
	}
	s.created = false
	var err error
	if s.file != nil {
		err = s.file.Close()
	}
	if s.reader != nil {
		err = errors.Join(err, s.reader.Close())
	}
	s.file, s.reader = nil, nil
	return errors.Join(err, s.dir.Remove(s.name))
}

// block reads chunks for one goroutine.
type block struct {
	vectors simjoin.Vectors
	bytes   []byte
}

// read returns chunk i, whose vector 0 is vector i·chunkVectors of the store. The result is valid
// until the next call with the same block.
func (s *Store) read(i int, b *block) (*simjoin.Vectors, error) {
	c := s.chunks[i]
	if c.vectors != nil {
		return c.vectors, nil
	}
	if int64(cap(b.bytes)) < c.size {
		b.bytes = make([]byte, c.size)
	}
	bytes := b.bytes[:c.size]
	if n, err := s.reader.ReadAt(bytes, c.offset); n < len(bytes) {
		return nil, fmt.Errorf("candidates: %s at %d: %w", s.name, c.offset, err)
	}
	if err := b.vectors.UnmarshalBinary(bytes); err != nil {
		return nil, fmt.Errorf("candidates: %s at %d: %w", s.name, c.offset, err)
	}
	return &b.vectors, nil
}

// join returns the vectors of chunks first … end−1 as one collection.
func (s *Store) join(first, end int) (*simjoin.Vectors, error) {
	if s.whole != nil {
		return s.whole.Slice(first*chunkVectors, min(end*chunkVectors, s.length)), nil
	}
	all := new(simjoin.Vectors)
	var b block
	for i := first; i < end; i++ {
		v, err := s.read(i, &b)
		if err != nil {
			return nil, err
		}
		for k := range v.Len() {
			one := v.At(k)
			if err := all.Append(one.Features, one.Weights); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// some returns about n vectors, evenly spread over the store.
func (s *Store) some(n int) (*simjoin.Vectors, error) {
	v := new(simjoin.Vectors)
	err := s.sample(max(1, s.Len()/n), func(one simjoin.Vector) error { return v.Append(one.Features, one.Weights) })
	return v, err
}

// sample calls visit for every stride-th vector.
func (s *Store) sample(stride int, visit func(simjoin.Vector) error) error {
	var b block
	for i := 0; i < s.Len(); {
		chunk := i / chunkVectors
		vectors, err := s.read(chunk, &b)
		if err != nil {
			return err
		}
		for ; i < s.Len() && i/chunkVectors == chunk; i += stride {
			if err := visit(vectors.At(i % chunkVectors)); err != nil {
				return err
			}
		}
	}
	return nil
}
