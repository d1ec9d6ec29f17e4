package lsh

import (
	"slices"

	"github.com/alike-dev/alike/internal/hashing"
)

// AppendKeys appends one 64-bit key a band to dst: a hash of the band's rows and of its
// number, so that keys of different bands differ when they are sorted together. Band i
// holds components i·Rows to (i+1)·Rows−1 of sig; components after the last band are not
// used. It panics when sig is too short. Keys are uniform: their top bits may serve as
// bucket numbers.
func (p Params) AppendKeys(dst []uint64, sig []uint32) []uint64 {
	n, rows := len(dst), p.Rows
	dst = slices.Grow(dst, p.Bands)[:n+p.Bands]
	sig = sig[:p.Bands*rows]
	fours, rest := rows/4, rows%4
	h0, j := hashing.Key2, 0
	for i := n; i < len(dst); i++ {
		h0 += hashing.Key0
		h := h0
		for range fours {
			r := sig[j : j+4 : j+4]
			h = hashing.Fold(pair(r[0], r[1])^h, pair(r[2], r[3])^hashing.Key1)
			j += 4
		}
		switch r := sig[j : j+rest]; len(r) {
		case 1:
			h = hashing.Fold(uint64(r[0])^h, hashing.Key3)
		case 2:
			h = hashing.Fold(pair(r[0], r[1])^h, hashing.Key3)
		case 3:
			h = hashing.Fold(pair(r[0], r[1])^h, uint64(r[2])^hashing.Key1)
		}
		j += rest
		dst[i] = h
	}
	return dst
}

// pair packs two components into a word.
func pair(lo, hi uint32) uint64 { return uint64(lo) | uint64(hi)<<32 }

// Agree returns the number of bands in which two documents' keys agree. Both must
// have the same number of keys.
func Agree(a, b []uint64) int {
	agree := 0
	b = b[:len(a)]
	for i, x := range a {
		if x == b[i] {
			agree++
		}
	}
	return agree
}
