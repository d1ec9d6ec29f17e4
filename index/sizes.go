package index

import (
	"errors"
)

// Sizes are the numbers of features of documents, by slot from From on; 0 of those that have gone.
type Sizes struct {
	From uint64
	Of   []uint32
}

// sizes are those that a searcher knows.
type sizes struct {
	known  Sizes
	ofSize map[uint32][]uint64 // by size, slots in ascending order, of the first listed ones of known
	listed int
}

// of returns the size of the document of a slot, 0 if it had gone when it was asked for.
func (s *sizes) of(slot uint64) uint64 {
	if at := slot - s.known.From; at < uint64(len(s.known.Of)) {
		return uint64(s.known.Of[at])
	}
	return 0
}

// slots returns the slots of each size, ascending. Some may have gone.
func (s *sizes) slots() map[uint32][]uint64 {
	if s.ofSize == nil {
		s.ofSize = map[uint32][]uint64{}
	}
	for ; s.listed < len(s.known.Of); s.listed++ {
		if size := s.known.Of[s.listed]; size > 0 {
			s.ofSize[size] = append(s.ofSize[size], s.known.From+uint64(s.listed))
		}
	}
	return s.ofSize
}

func (s *sizes) read(f *finder, v *view) error {
	if s.known.Of == nil {
		s.known.From = v.First
	}
	read := f.read(v)
	for slot := s.known.From + uint64(len(s.known.Of)); slot < v.Next; slot++ {
		size := 0
		if v.has(slot) {
			r, err := read(slot)
			if err == nil {
				size = len(f.setOf(r))
			} else if !errors.Is(err, errGone) {
				return err
			}
		}
		s.known.Of = append(s.known.Of, uint32(size))
	}
	return nil
}
