package simd

import "github.com/alike-dev/alike/internal/hashing"

// affineVariant is a variant of lowerAffine.
type affineVariant struct {
	name string
	run  func(low, mul, add, src []uint32)
}

// mixHighGeneric is the pure Go twin of the assembly.
func mixHighGeneric(dst []uint32, src []uint64, key uint64) {
	dst = dst[:len(src)]
	for i, x := range src {
		dst[i] = uint32(hashing.Mix(x^key) >> 32)
	}
}

// lowerAffineGeneric is the pure Go twin of the assembly. Four permutations at a
// time keep their state in registers.
func lowerAffineGeneric(low, mul, add, src []uint32) {
	for i := 0; i+4 <= len(low); i += 4 {
		l, m, a := (*[4]uint32)(low[i:]), (*[4]uint32)(mul[i:]), (*[4]uint32)(add[i:])
		l0, l1, l2, l3 := l[0], l[1], l[2], l[3]
		m0, m1, m2, m3 := m[0], m[1], m[2], m[3]
		a0, a1, a2, a3 := a[0], a[1], a[2], a[3]
		for _, x := range src {
			l0 = min(l0, m0*x+a0)
			l1 = min(l1, m1*x+a1)
			l2 = min(l2, m2*x+a2)
			l3 = min(l3, m3*x+a3)
		}
		l[0], l[1], l[2], l[3] = l0, l1, l2, l3
	}
}
