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
