package simd

import "github.com/alike-dev/alike/internal/hashing"

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

// rollGeneric is the pure Go twin of the kernel. It takes two words at a step, so
// that the chain from one h to the next is one product for both:
//
//	h₂ = h·base² + (x₁·base + x₂)
//
// 0.87 ns a word, against 1.36 with one word a step.
func rollGeneric(dst, enter, leave []uint64, h, base, baseN, xor, mul uint64) uint64 {
	dst, leave = dst[:len(enter)], leave[:len(enter)]
	square := base * base
	for i := 1; i < len(enter); i += 2 {
		x1 := enter[i-1] - leave[i-1]*baseN
		x2 := enter[i] - leave[i]*baseN
		h1 := h*base + x1
		h = h*square + (x1*base + x2)
		dst[i-1] = hashing.Fold(h1^xor, mul)
		dst[i] = hashing.Fold(h^xor, mul)
	}
	if i := len(enter) - 1; i >= 0 && i%2 == 0 {
		h = h*base + (enter[i] - leave[i]*baseN)
		dst[i] = hashing.Fold(h^xor, mul)
	}
	return h
}
