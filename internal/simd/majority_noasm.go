//go:build !amd64 || purego

package simd

func majority(dst, hashes []uint64, tie uint64, scratch *MajorityScratch) {
	majorityGeneric(dst, hashes, tie, scratch)
}
