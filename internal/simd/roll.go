package simd

// Roll adds the words of enter one by one to the polynomial h, and removes the words of leave:
//
//	h = h·base + enter[i] − leave[i]·baseN   (mod 2⁶⁴)
//	dst[i] = hashing.Fold(h ^ xor, mul)
//
// and returns the last h. With leave[i] the word that entered n steps before, and
// baseN the n-th power of base, h is a polynomial of the last n words. dst and
// leave must be at least as long as enter; dst may be neither of the two.
func Roll(dst, enter, leave []uint64, h, base, baseN, xor, mul uint64) uint64 {
	if len(enter) == 0 {
		return h
	}
	_, _ = dst[len(enter)-1], leave[len(enter)-1]
	done := rollVector(dst, enter, leave, &h, base, baseN, xor, mul)
	return rollGeneric(dst[done:], enter[done:], leave[done:], h, base, baseN, xor, mul)
}
