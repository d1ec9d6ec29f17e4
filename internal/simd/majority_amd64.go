//go:build !purego

package simd

import "golang.org/x/sys/cpu"

//go:generate sh -c "cd asm && go run ./majority -out ../majority_amd64.s -stubs ../majority_stub_amd64.go -pkg simd"

var hasMajorityAVX512 = cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasBMI2

func majority(dst, hashes []uint64, tie uint64, scratch *MajorityScratch) {
	if len(hashes) == 0 || !hasMajorityAVX512 {
		majorityGeneric(dst, hashes, tie, scratch)
		return
	}
	majorityAVX512(dst, hashes, tie, scratch)
}

// aLane is what a word of its own costs, in elements, besides its share of the
// vectors: sums over lanes.
const aLane = 12

func majorityAVX512(dst, hashes []uint64, tie uint64, scratch *MajorityScratch) {
	n := len(hashes)
	w := 0
	for ; w+8 <= len(dst); w += 8 {
		majorityWordsAVX512(&dst[w], 0xff, &hashes[0], n, uint64(w+1)*gamma, tie, &scratch.planes[0][0])
	}
	if rest := len(dst) - w; rest*(n/8+aLane) > n {
		if rest > 0 {
			majorityWordsAVX512(&dst[w], 1<<rest-1, &hashes[0], n, uint64(w+1)*gamma, tie, &scratch.planes[0][0])
		}
		return
	}
	for ; w < len(dst); w++ {
		majorityElementsAVX512(&dst[w], &hashes[0], n, uint64(w+1)*gamma, tie, &scratch.planes[0][0])
	}
}
