package simd

// The offset basis and the prime of FNV-1 of 64 bits.
const (
	fnvOffset = 0xcbf29ce484222325
	fnvPrime  = 1<<40 + 0x1b3
)

// FNV1 writes to dst the FNV-1 hash of every run of n ≥ 1 bytes of text: a hash begins with the
// offset basis and, for every byte, is multiplied by the prime, then xored with the byte. It
// returns the number of hashes, len(text)−n+1 (0 if text is shorter), for which dst must have room.
//
// FNV-1 cannot roll, so a hash costs n products. Eight vectors of hashes are computed at once,
// which hides the latency of a product.
func FNV1(dst []uint64, text []byte, n int) int {
	runs := len(text) - n + 1
	if runs <= 0 || n < 1 {
		return 0
	}
	fnv1(dst[:runs], text, n)
	return runs
}

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
