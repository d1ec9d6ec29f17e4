// Package stream writes the parts that are common to the AVX-512 kernels that process words of 64
// bits, a vector at a time.
package stream

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Lanes is the number of words in a vector.
const Lanes = 8

// Word returns a register with a constant.
func Word(c uint64) reg.GPVirtual {
	r := GP64()
	MOVQ(U64(c), r)
	return r
}

// Loop runs body for all whole vectors of src, then once more, under a mask, for the remaining
// words. It leaves n at zero.
func Loop(src, n reg.GPVirtual, body func(x reg.VecVirtual, mask reg.OpmaskVirtual)) {
	Label("loop")
	CMPQ(n, Imm(Lanes))
	JL(LabelRef("tail"))
	x := ZMM()
	VMOVDQU64(Mem{Base: src}, x)
	body(x, nil)
	ADDQ(Imm(8*Lanes), src)
	SUBQ(Imm(Lanes), n)
	JMP(LabelRef("loop"))

	Label("tail")
	TESTQ(n, n)
	JZ(LabelRef("done"))
	ones, mask := GP64(), K()
	MOVQ(I64(-1), ones)
	BZHIQ(n, ones, ones)
	KMOVB(ones.As32(), mask)
	x = ZMM()
	VMOVDQU64_Z(Mem{Base: src}, mask, x)
	body(x, mask)
	Label("done")
}

// Keep appends the words of x in pass to dst, of which count words are used.
func Keep(x reg.VecVirtual, pass reg.OpmaskVirtual, dst, count reg.GPVirtual) {
	packed, bits := ZMM(), GP64()
	VPCOMPRESSQ_Z(x, pass, packed)
	VMOVDQU64(packed, Mem{Base: dst, Index: count, Scale: 8})
	KMOVB(pass, bits.As32())
	POPCNTQ(bits, bits)
	ADDQ(bits, count)
}
