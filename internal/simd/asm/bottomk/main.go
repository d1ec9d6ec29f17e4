// Command bottomk generates the AVX-512 kernel of bottom-k sketching. See bottomk.go
// of package simd for what it computes, bottomk_generic.go for the twin.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// lanes is the number of words in a vector.
const lanes = 8

func main() {
	ConstraintExpr("!purego")
	xxh3Below()
	below()
	Generate()
}

// hasher holds the constants of xxh3 in vectors.
type hasher struct{ flip, prime, length reg.VecVirtual }

func newHasher() hasher {
	h := hasher{flip: ZMM(), prime: ZMM(), length: ZMM()}
	VPBROADCASTQ(Load(Param("flip"), GP64()), h.flip)
	VPBROADCASTQ(constant(0x9fb21c651e98df25), h.prime)
	VPBROADCASTQ(constant(8), h.length)
	return h
}

// constant returns a register with a constant.
func constant(c uint64) reg.GPVirtual {
	r := GP64()
	MOVQ(U64(c), r)
	return r
}

// hash replaces the words of x by their hashes.
func (h hasher) hash(x reg.VecVirtual) {
	t, u := ZMM(), ZMM()
	VPRORQ(Imm(32), x, x)
	VPXORQ(h.flip, x, x)
	VPRORQ(Imm(64-49), x, t)
	VPRORQ(Imm(64-24), x, u)
	VPTERNLOGQ(Imm(0x96), t, u, x) // x ^ t ^ u
	VPMULLQ(h.prime, x, x)
	VPSRLQ(Imm(35), x, t)
	VPADDQ(h.length, t, t)
	VPXORQ(t, x, x)
	VPMULLQ(h.prime, x, x)
	VPSRLQ(Imm(28), x, t)
	VPXORQ(t, x, x)
}

func xxh3Below() {
	TEXT("xxh3BelowAVX512", NOSPLIT, "func(dst, src *uint64, n int, flip, mask, bound uint64) int")
	Pragma("noescape")
	Doc("xxh3BelowAVX512 is xxh3Below; n is above 0.")
	dst := Load(Param("dst"), GP64()).(reg.GPVirtual)
	src := Load(Param("src"), GP64()).(reg.GPVirtual)
	n := Load(Param("n"), GP64()).(reg.GPVirtual)
	h := newHasher()
	significant := ZMM()
	VPBROADCASTQ(Load(Param("mask"), GP64()), significant)
	keepBelow(dst, src, n, func(x reg.VecVirtual) {
		h.hash(x)
		VPANDQ(significant, x, x)
	})
}

func below() {
	TEXT("belowAVX512", NOSPLIT, "func(dst, src *uint64, n int, shift, bound uint64) int")
	Pragma("noescape")
	Doc("belowAVX512 is below; n is above 0.")
	dst := Load(Param("dst"), GP64()).(reg.GPVirtual)
	src := Load(Param("src"), GP64()).(reg.GPVirtual)
	n := Load(Param("n"), GP64()).(reg.GPVirtual)
	shift := XMM()
	VMOVQ(Load(Param("shift"), GP64()), shift)
	keepBelow(dst, src, n, func(x reg.VecVirtual) { VPSLLQ(shift, x, x) })
}

// keepBelow ends a function: it lets hash replace the words of src, stores those
// below the parameter bound to dst, and returns their number.
func keepBelow(dst, src, n reg.GPVirtual, hash func(x reg.VecVirtual)) {
	bound := ZMM()
	VPBROADCASTQ(Load(Param("bound"), GP64()), bound)
	count := GP64()
	XORQ(count, count)

	step := func(some reg.OpmaskVirtual) {
		x, packed, pass, bits := ZMM(), ZMM(), K(), GP64()
		if some == nil {
			VMOVDQU64(Mem{Base: src}, x)
		} else {
			VMOVDQU64_Z(Mem{Base: src}, some, x)
		}
		hash(x)
		if some == nil {
			VPCMPUQ(Imm(1), bound, x, pass) // x < bound
		} else {
			VPCMPUQ(Imm(1), bound, x, some, pass)
		}
		VPCOMPRESSQ_Z(x, pass, packed)
		VMOVDQU64(packed, Mem{Base: dst, Index: count, Scale: 8})
		KMOVB(pass, bits.As32())
		POPCNTQ(bits, bits)
		ADDQ(bits, count)
	}

	Label("loop")
	CMPQ(n, Imm(lanes))
	JL(LabelRef("tail"))
	step(nil)
	ADDQ(Imm(8*lanes), src)
	SUBQ(Imm(lanes), n)
	JMP(LabelRef("loop"))

	Label("tail")
	TESTQ(n, n)
	JZ(LabelRef("done"))
	ones, some := GP64(), K()
	MOVQ(I64(-1), ones)
	BZHIQ(n, ones, ones)
	KMOVB(ones.As32(), some)
	step(some)
	Label("done")
	VZEROUPPER()
	Store(count, ReturnIndex(0))
	RET()
}
