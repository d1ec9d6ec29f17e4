package lsh

import "github.com/alike-dev/alike/internal/hashing"

// AppendKeys appends one 64-bit key a band to dst: a hash of the band's rows and
// of its number, so that keys of different bands do not meet when they are sorted
// together. Band i holds components i·Rows to (i+1)·Rows−1 of sig; components
// behind the last band are not used. It panics when sig is too short. Keys are
// uniform: their top bits may serve as bucket numbers.
func (p Params) AppendKeys(dst []uint64, sig []uint32) []uint64 {
	rows := p.Rows
	sig = sig[:p.Bands*rows]
	band := uint64(hashing.Key2)
	for len(sig) >= rows && rows > 0 {
		row := sig[:rows]
		sig = sig[rows:]
		band += hashing.Key0
		h := band
		for len(row) >= 2 {
			h = hashing.Fold(h^(uint64(row[0])|uint64(row[1])<<32), hashing.Key1)
			row = row[2:]
		}
		if len(row) > 0 {
			h = hashing.Fold(h^uint64(row[0]), hashing.Key3)
		}
		dst = append(dst, hashing.Mix(h))
	}
	return dst
}

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

// FirstBand returns the band from which a pair with these keys is emitted, the
// MinBands-th in which they agree, and −1 if they are no candidates.
func (p Params) FirstBand(a, b []uint64) int {
	need := p.minBands()
	b = b[:len(a)]
	for i, x := range a {
		if x == b[i] {
			if need--; need == 0 {
				return i
			}
		}
	}
	return -1
}

// Emits says whether a pair that is known to agree in band is emitted from there:
// so that every candidate pair is emitted once however many buckets it shares,
// FirstBand(a, b) == band. Only the keys of bands up to this one are looked at.
func (p Params) Emits(band int, a, b []uint64) bool {
	return Agree(a[:band], b[:band]) == p.minBands()-1
}
