package simd

// Digest returns the sum of the words and the sum of the products of each word's
// halves, both modulo 2⁶⁴.
func Digest(words []uint64) (sum, products uint64) {
	done, sum, products := digestVector(words)
	s, p := digestGeneric(words[done:])
	return sum + s, products + p
}
