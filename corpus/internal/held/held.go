// Package held keeps the beginnings of long records in little memory.
package held

import (
	"slices"

	"github.com/klauspost/compress/s2"
)

// Bytes hold the beginning of a long record until its end is found, or until it proves to
// be over MaxRecord. A stream cannot be read twice, so all of a record that may still be
// valid must be held. It is held compressed, because whole files of one line tend to be
// very repetitive. The code is S2, which costs less than the decoders of the formats
// here.
type Bytes struct {
	pieces  [][]byte
	Size    int64 // uncompressed
	scratch []byte
}

// Add appends a copy of p to the held bytes.
func (h *Bytes) Add(p []byte) {
	if len(p) == 0 {
		return
	}
	h.scratch = s2.Encode(h.scratch[:cap(h.scratch)], p)
	h.pieces = append(h.pieces, slices.Clone(h.scratch))
	h.Size += int64(len(p))
}

// AppendTo appends all held bytes to dst and drops them, piece by piece.
func (h *Bytes) AppendTo(dst []byte) []byte {
	for i, piece := range h.pieces {
		n, err := s2.DecodedLen(piece)
		if err == nil {
			dst = slices.Grow(dst, n)
			_, err = s2.Decode(dst[len(dst):len(dst)+n], piece)
		}
		if err != nil {
			panic("corpus: a piece of a record is not what was kept: " + err.Error())
		}
		dst = dst[:len(dst)+n]
		h.pieces[i] = nil
	}
	h.Drop()
	return dst
}

// Drop drops the held bytes.
func (h *Bytes) Drop() { *h = Bytes{} }
