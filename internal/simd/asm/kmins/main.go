// Command kmins generates the kernels of k-mins sketching. kmins.go of package simd describes their
// results, kmins_generic.go has the twins.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("!purego")
	// A chunk is as many permutations as fit the registers: three vectors for
	// each group of lanes (multiplier, offset, minimum), and temporaries.
	lowerAffine("AVX512", ZMM, 16, []int{8, 1})
	lowerAffine("AVX2", YMM, 8, []int{4, 2})
	mixHigh()
	Generate()
}

// lowerAffine writes the kernel for vectors of the given number of lanes. It takes
// chunks of groups[0] vectors as long as there are that many, then of groups[1].
//
//	for every chunk of permutations:
//	    for every x of src:
//	        minimum = min(minimum, multiplier·x + offset)   in every lane
//
// so the inner loop reads only x for a whole chunk.
func lowerAffine(name string, vector func() reg.VecVirtual, lanes int, groups []int) {
	TEXT("lowerAffine"+name, NOSPLIT, "func(low, mul, add *uint32, k int, src *uint32, n int)")
	Pragma("noescape")
	Doc("lowerAffine" + name + " is lowerAffine; k is a multiple of 16, k and n are above 0.")
	low := Load(Param("low"), GP64()).(reg.GPVirtual)
	mul := Load(Param("mul"), GP64()).(reg.GPVirtual)
	add := Load(Param("add"), GP64()).(reg.GPVirtual)
	k := Load(Param("k"), GP64()).(reg.GPVirtual)
	src := Load(Param("src"), GP64()).(reg.GPVirtual)
	n := Load(Param("n"), GP64()).(reg.GPVirtual)
	for _, g := range groups {
		chunk, inner, next := fmt.Sprintf("chunk%d", g), fmt.Sprintf("inner%d", g), fmt.Sprintf("below%d", g)
		Label(chunk)
		CMPQ(k, U32(g*lanes))
		JL(LabelRef(next))
		at := func(base reg.GPVirtual, i int) Mem { return Mem{Base: base, Disp: 4 * lanes * i} }
		var minimum, multiplier, offset []reg.VecVirtual
		for i := range g {
			l, m, a := vector(), vector(), vector()
			minimum, multiplier, offset = append(minimum, l), append(multiplier, m), append(offset, a)
			move(lanes, at(low, i), l)
			move(lanes, at(mul, i), m)
			move(lanes, at(add, i), a)
		}
		i := GP64()
		XORQ(i, i)
		Label(inner)
		x := vector()
		VPBROADCASTD(Mem{Base: src, Index: i, Scale: 4}, x)
		for j := range g {
			t := vector()
			VPMULLD(multiplier[j], x, t)
			VPADDD(offset[j], t, t)
			VPMINUD(t, minimum[j], minimum[j])
		}
		INCQ(i)
		CMPQ(i, n)
		JL(LabelRef(inner))
		for j := range g {
			move(lanes, minimum[j], at(low, j))
		}
		for _, p := range []reg.GPVirtual{low, mul, add} {
			ADDQ(U32(4*lanes*g), p)
		}
		SUBQ(U32(lanes*g), k)
		JMP(LabelRef(chunk))
		Label(next)
	}
	VZEROUPPER()
	RET()
}

// move is the unaligned move of a vector of the given number of 32-bit lanes.
func move(lanes int, from, to Op) {
	if lanes == 16 {
		VMOVDQU32(from, to)
	} else {
		VMOVDQU(from, to)
	}
}

func mixHigh() {
	TEXT("mixHighAVX512", NOSPLIT, "func(dst *uint32, src *uint64, n int, key uint64)")
	Pragma("noescape")
	Doc("mixHighAVX512 is mixHigh for a multiple of 8 words.")
	dst := Load(Param("dst"), GP64()).(reg.GPVirtual)
	src := Load(Param("src"), GP64()).(reg.GPVirtual)
	n := Load(Param("n"), GP64()).(reg.GPVirtual)
	key, m1, m2 := ZMM(), ZMM(), ZMM()
	VPBROADCASTQ(Load(Param("key"), GP64()), key)
	c := GP64()
	MOVQ(U64(0xbf58476d1ce4e5b9), c)
	VPBROADCASTQ(c, m1)
	MOVQ(U64(0x94d049bb133111eb), c)
	VPBROADCASTQ(c, m2)
	Label("loop")
	CMPQ(n, Imm(8))
	JL(LabelRef("done"))
	x, t := ZMM(), ZMM()
	VPXORQ(Mem{Base: src}, key, x)
	VPSRLQ(Imm(30), x, t)
	VPXORQ(t, x, x)
	VPMULLQ(m1, x, x)
	VPSRLQ(Imm(27), x, t)
	VPXORQ(t, x, x)
	VPMULLQ(m2, x, x)
	VPSRLQ(Imm(31), x, t)
	VPXORQ(t, x, x)
	VPSRLQ(Imm(32), x, x)
	VPMOVQD(x, Mem{Base: dst})
	ADDQ(Imm(64), src)
	ADDQ(Imm(32), dst)
	SUBQ(Imm(8), n)
	JMP(LabelRef("loop"))
	Label("done")
	VZEROUPPER()
	RET()
}
