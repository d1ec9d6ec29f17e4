package index

import "errors"

// Slots are the places of an index's documents, in the order in which these came: from First, the smallest that is not
// expired, up to but not including Next, that of the next document. A deleted document leaves its slot empty.
type Slots struct {
	First, Next uint64

	of *Index
}

// Slots returns the slots that are there now. O(1).
func (x *Index) Slots() Slots {
	v := x.view.Load()
	return Slots{v.First, v.Next, x}
}

// ID returns the id of the document of a slot. ok is false if there is none.
func (s Slots) ID(slot uint64) (id []byte, ok bool, err error) {
	v := s.of.view.Load()
	if !v.has(slot) {
		return nil, false, nil
	}
	r, err := newFinder(s.of.collection).read(v)(slot)
	if errors.Is(err, errGone) {
		return nil, false, nil
	}
	return r.id, err == nil, err
}

// Delete removes the documents of slots from up to but not including to, and returns how
// many there were. It needs Options.ByID.
func (s Slots) Delete(from, to uint64) (n int, err error) {
	var ids [][]byte
	v, f := s.of.view.Load(), newFinder(s.of.collection)
	for slot := max(from, v.First); slot < min(to, v.Next); slot++ {
		if !v.has(slot) {
			continue
		}
		r, err := f.read(v)(slot)
		if err != nil {
			return 0, err
		}
		ids = append(ids, append([]byte{}, r.id...))
	}
	return s.of.Delete(ids...)
}
