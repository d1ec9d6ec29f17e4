//go:build !purego

package simd

import "golang.org/x/sys/cpu"

//go:generate sh -c "cd asm && go run ./majority -out ../majority_amd64.s -stubs ../majority_stub_amd64.go -pkg simd"

var (
	hasMajorityAVX512 = cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasBMI2
	hasMajorityAVX2   = cpu.X86.HasAVX2
)

// instructions is the instruction set of a kernel.
type instructions bool

const (
	withAVX2   instructions = false
	withAVX512 instructions = true
)

func majority(dst, hashes []uint64, tie uint64, scratch *MajorityScratch) {
	switch {
	case len(hashes) == 0:
		majorityGeneric(dst, hashes, tie, scratch)
	case hasMajorityAVX512:
		majorityVectors(withAVX512, dst, hashes, tie, scratch)
	case hasMajorityAVX2:
		majorityVectors(withAVX2, dst, hashes, tie, scratch)
	default:
		majorityGeneric(dst, hashes, tie, scratch)
	}
}

// majorityVectors is majority for a set that is not empty.
func majorityVectors(with instructions, dst, hashes []uint64, tie uint64, scratch *MajorityScratch) {
	// aWord is the cost of a word that is processed alone, in vectors, in addition to the vectors
	// of its elements: sums over lanes.
	n, lanes, aWord := len(hashes), 4, 8
	if with == withAVX512 {
		lanes, aWord = 8, 12
	}
	w := 0
	for ; w+lanes <= len(dst); w += lanes {
		with.words(dst[w:], hashes, uint64(w+1)*gamma, tie, scratch)
	}
	if rest := len(dst) - w; rest > 0 && rest*(n/lanes+aWord) > n {
		with.words(scratch.spare[:], hashes, uint64(w+1)*gamma, tie, scratch)
		copy(dst[w:], scratch.spare[:rest])
		return
	}
	for ; w < len(dst); w++ {
		with.elements(dst[w:], hashes, uint64(w+1)*gamma, tie, scratch)
	}
}

// words writes as many words as a vector has lanes.
func (with instructions) words(dst, hashes []uint64, offset, tie uint64, scratch *MajorityScratch) {
	if with == withAVX512 {
		majorityWordsAVX512(&dst[0], &hashes[0], len(hashes), offset, tie, &scratch.planes[0][0])
	} else {
		majorityWordsAVX2(&dst[0], &hashes[0], len(hashes), offset, tie, &scratch.planes[0][0])
	}
}

// elements writes one word.
func (with instructions) elements(dst, hashes []uint64, offset, tie uint64, scratch *MajorityScratch) {
	if with == withAVX512 {
		majorityElementsAVX512(&dst[0], &hashes[0], len(hashes), offset, tie, &scratch.planes[0][0])
	} else {
		majorityElementsAVX2(&dst[0], &hashes[0], len(hashes), offset, tie, &scratch.planes[0][0])
	}
}
