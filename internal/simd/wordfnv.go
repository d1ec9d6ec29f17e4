package simd

import "encoding/binary"

// The kernel of FNV-1a over shingles of words, taken as texts of UTF-16 units whose upper bytes are
// all 0: a letter's step is h = (h ^ letter) · prime².
//
//	copy the letters of the words one after the other, record where words start
//	for every 16 shingles, one in each lane:
//	    for every 16 of their letters:
//	        load 16 bytes of each, transpose to columns of four letters
//	        for each letter: h = (h ^ letter)·prime², in lanes that still have one
//
//  1. A letter's step waits 4 to 11 cycles for the one before, and one shingle has 15
//     of them; lanes share the wait. All of it takes 3.5 ns a shingle of three words,
//     where three hashes side by side in Go take 8 (BenchmarkWordFNV). Half of that
//     is copying.
//  2. Gathering the letters from memory takes longer than loading whole rows and
//     transposing them.
//  3. With 64 bits there are 8 lanes, each with 8 letters at a time in a word of its own.

const (
	// wordFNVLetters is the room for letters: behind the start of the last shingle as many are read
	// as the longest shingle has.
	wordFNVLetters = 2*EdgeBytes + 64
	wordFNVLanes   = 16
)

// WordFNVScratch is the scratch memory of AppendWordFNV.
type WordFNVScratch struct {
	letters [wordFNVLetters]byte
	starts  [EdgeBytes/2 + 1 + 2*wordFNVLanes]uint32
}

// HasWordFNV tells whether there is a vector kernel for AppendWordFNV. The twin is not worth using:
// hashing word by word is as fast.
func HasWordFNV() bool { return hasWordFNV }

// AppendWordFNV appends the hashes of all runs of n words of src: FNV-1a of 32 bits, or with wide
// of 64, over their letters without separators, with a zero byte behind each letter. The words are
// those of WordEdges, at least n of them; n is at least 1.
func AppendWordFNV(dst []uint64, s *WordFNVScratch, src []byte, edges []uint16, n int, wide bool) []uint64 {
	words := len(edges) / 2
	end := 0
	for i := range words {
		from, to := int(edges[2*i]), int(edges[2*i+1])
		s.starts[i] = uint32(end)
		if w := to - from; w <= 16 && from+16 <= len(src) {
			row := (*[16]byte)(src[from:])
			out := (*[16]byte)(s.letters[end:])
			binary.LittleEndian.PutUint64(out[:], binary.LittleEndian.Uint64(row[:]))
			binary.LittleEndian.PutUint64(out[8:], binary.LittleEndian.Uint64(row[8:]))
		} else {
			copy(s.letters[end:], src[from:to])
		}
		end += to - from
	}
	shingles := words - n + 1
	rounded := (shingles + wordFNVLanes - 1) &^ (wordFNVLanes - 1)
	// Starts behind the last shingle are the end, so that their lanes have no letters.
	last := s.starts[words:]
	for i := range last[:min(len(last), 2*wordFNVLanes)] {
		last[i] = uint32(end)
	}
	if cap(dst)-len(dst) < rounded {
		dst = append(make([]uint64, 0, 2*(len(dst)+rounded)), dst...)
	}
	wordFNV(dst[len(dst):len(dst)+rounded], s.letters[:], s.starts[:], shingles, n, wide)
	return dst[:len(dst)+shingles]
}

// wordFNVGeneric is the pure Go twin of the assembly.
func wordFNVGeneric(dst []uint64, letters []byte, starts []uint32, n, words int, wide bool) {
	const basis, square = uint32(2166136261), uint32(16777619 * 16777619 & (1<<32 - 1))
	const wideBasis, widePrime = uint64(fnvOffset), uint64(fnvPrime)
	for i := range n {
		run := letters[starts[i]:starts[i+words]]
		if wide {
			h := wideBasis
			for _, c := range run {
				h = (h ^ uint64(c)) * widePrime * widePrime
			}
			dst[i] = h
			continue
		}
		h := basis
		for _, c := range run {
			h = (h ^ uint32(c)) * square
		}
		dst[i] = uint64(h)
	}
}
