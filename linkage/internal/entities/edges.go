package entities

import "github.com/alike-dev/alike/internal/hashing"

// An edge is what is known between two clusters.
type edge struct {
	ends      uint64 // see key
	sum       int64  // evidence of the pairs that were compared, in steps
	compared  uint32 // their number
	best      uint32 // index of the strongest pair; none: there is none
	different bool   // somebody has said so of two of their records
}

const none = ^uint32(0)

// key names two roots, or two records, in either order.
func key(a, b uint32) uint64 { return uint64(min(a, b))<<32 | uint64(max(a, b)) }

// edges are a hash table with linear probing. Nothing is ever taken out: nobody asks for the edges of a cluster that
// has become part of another one.
type edges struct {
	list  []edge
	slots []uint32 // 1 + index in list; 0: free. At most half of them are used.
}

// newEdges returns an empty table with room for n edges.
func newEdges(n int) *edges {
	size := 4
	for size < 2*n {
		size *= 2
	}
	return &edges{make([]edge, 0, n), make([]uint32, size)}
}

// slot returns the place of an edge in slots, or the free one where it would be.
func (t *edges) slot(ends uint64) uint64 {
	mask := uint64(len(t.slots) - 1)
	at := hashing.Mix(ends) & mask
	for t.slots[at] != 0 && t.list[t.slots[at]-1].ends != ends {
		at = (at + 1) & mask
	}
	return at
}

// get returns an edge; nil: nothing is known. It is valid until the next put.
func (t *edges) get(a, b uint32) *edge {
	if i := t.slots[t.slot(key(a, b))]; i != 0 {
		return &t.list[i-1]
	}
	return nil
}

// put adds an edge that is not there yet.
func (t *edges) put(e edge) {
	t.list = append(t.list, e)
	if 2*len(t.list) <= len(t.slots) {
		t.slots[t.slot(e.ends)] = uint32(len(t.list))
		return
	}
	t.slots = make([]uint32, 2*len(t.slots))
	for i := range t.list {
		t.slots[t.slot(t.list[i].ends)] = uint32(i + 1)
	}
}
