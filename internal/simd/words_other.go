package simd

func appendWordHashes(dst []uint64, src []byte, fold bool) ([]uint64, int) {
	return appendWordHashesGeneric(dst, src, fold)
}
