package index

import "github.com/alike-dev/alike/index/internal/keytable"

// recent tells which keys the last documents may have. A batch has looked for its documents in a view, so that the writer
// need only look for what came since, which is hardly ever there: with these marks it asks the table for one key in ten.
// It belongs to the writer.
//
//	marks[some bits of a key]    bit g: a document may have got such a key in generation g
//	from[g]                      the first slot that was given out in generation g
//
// Generations take turns. When the current one has enough keys, the oldest one is forgotten.
type recent struct {
	marks [1 << markBits / 8]uint64 // eight marks each
	from  [generations]uint64
	begun int // generations so far; the current one is the last of them
	keys  int // that were marked in it

	unused bool // see use
}

const (
	markBits    = 16 // the marks fit into the second cache beside all else
	generations = 8
	// generationKeys are those of two hundred documents. What the other goroutines add while a block is prepared is in two
	// generations, and a key that no document has is marked there in one of ten cases.
	generationKeys = 1 << markBits / 16
)

// markOf returns the place of a key's mark. Keys that are one to the table have one mark.
func markOf(key uint64) uint64 { return keytable.Print(key) >> 1 % (1 << markBits) }

// add marks keys. next is the slot of the document that gets them, or a later one if that was there before; no slot from
// next on has a key.
func (r *recent) add(next uint64, keys ...uint64) {
	if r.unused {
		return
	}
	if r.begun == 0 || r.keys >= generationKeys {
		r.begun++
		r.keys = 0
		r.from[r.begun%generations] = next
		of := uint64(0x0101010101010101) << (r.begun % generations)
		for i := range r.marks {
			r.marks[i] &^= of
		}
	}
	for _, key := range keys {
		at := markOf(key)
		r.marks[at/8] |= 1 << (at%8*8 + uint64(r.begun%generations))
	}
	r.keys += len(keys)
}

// use is called before a batch is decided, and says whether its keys are to be marked. What follows a log looks in no view
// beforehand, and marks would take 0.3 µs of a document's 4.
func (r *recent) use(use bool) {
	if r.unused = !use; r.unused {
		r.begun = 0 // all is forgotten
	}
}

// since appends those of the keys that documents from the slot first on may have. It appends all if first is too long
// ago.
func (r *recent) since(dst []uint64, first uint64, keys []uint64) []uint64 {
	mask, g := byte(0), r.begun
	for ; ; g-- {
		if g == 0 || g == r.begun-generations {
			return append(dst, keys...)
		}
		mask |= 1 << (g % generations)
		if r.from[g%generations] <= first {
			break
		}
	}
	for _, key := range keys {
		if at := markOf(key); byte(r.marks[at/8]>>(at%8*8))&mask != 0 {
			dst = append(dst, key)
		}
	}
	return dst
}
