package simd

// fnv1Generic is the pure Go twin of the kernels: it computes four hashes at a time, since each
// product of a hash waits for the one before.
func fnv1Generic(dst []uint64, text []byte, n int) {
	i := 0
	for ; i+4 <= len(dst); i += 4 {
		var a, b, c, d uint64 = fnvOffset, fnvOffset, fnvOffset, fnvOffset
		run := text[i : i+n+3]
		for j := 3; j < len(run); j++ {
			a = a*fnvPrime ^ uint64(run[j-3])
			b = b*fnvPrime ^ uint64(run[j-2])
			c = c*fnvPrime ^ uint64(run[j-1])
			d = d*fnvPrime ^ uint64(run[j])
		}
		dst[i], dst[i+1], dst[i+2], dst[i+3] = a, b, c, d
	}
	for ; i < len(dst); i++ {
		h := uint64(fnvOffset)
		for _, c := range text[i : i+n] {
			h = h*fnvPrime ^ uint64(c)
		}
		dst[i] = h
	}
}
