// Command overlap generates the kernels that count common elements of sorted sets block by block.
// overlap.go of package simd describes their results.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("!purego")
	for _, size := range []int{4, 8} {
		generate("AVX512", size, 64/size, unequal512)
	}
	for _, size := range []int{4, 8} {
		generate("AVX2", size, 32/size, unequal2)
	}
	Generate()
}

// generate makes the kernel for elements of size bytes, in blocks of lanes elements. unequal
// returns how many elements of the block at a are not in the block at b.
func generate(isa string, size, lanes int, unequal func(a, b Mem, size, lanes int) reg.GPVirtual) {
	element := fmt.Sprintf("uint%d", 8*size)
	name := fmt.Sprintf("overlap%d%s", 8*size, isa)
	TEXT(name, NOSPLIT, fmt.Sprintf("func(a *%s, na int, b *%s, nb int, spareA, spareB int) (common, i, j int)", element, element))
	Pragma("noescape")
	Doc(fmt.Sprintf("%s is overlapBlocks for blocks of %d; na and nb are at least that.", name, lanes))
	param := func(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }
	a, na, b, nb := param("a"), param("na"), param("b"), param("nb")
	spareA, spareB := param("spareA"), param("spareB")
	SUBQ(Imm(uint64(lanes)), na) // the last places where blocks may begin
	SUBQ(Imm(uint64(lanes)), nb)
	common, i, j := GP64(), GP64(), GP64()
	for _, r := range []reg.GPVirtual{common, i, j} {
		XORQ(r, r)
	}

	Label("loop")
	atA := Mem{Base: a, Index: i, Scale: uint8(size)}
	atB := Mem{Base: b, Index: j, Scale: uint8(size)}
	missing := unequal(atA, atB, size, lanes)
	ADDQ(Imm(uint64(lanes)), common)
	SUBQ(missing, common)

	Comment("The block that ends lower is done, both if they end alike.")
	last, stepA, stepB := GP64(), GP64(), GP64()
	XORQ(stepA, stepA)
	XORQ(stepB, stepB)
	end := (lanes - 1) * size
	if size == 4 {
		MOVL(atA.Offset(end), last.As32())
		CMPL(last.As32(), atB.Offset(end))
	} else {
		MOVQ(atA.Offset(end), last)
		CMPQ(last, atB.Offset(end))
	}
	SETLS(stepA.As8())
	SETCC(stepB.As8())
	shift := map[int]uint64{4: 2, 8: 3, 16: 4}[lanes]
	SHLQ(Imm(shift), stepA)
	SHLQ(Imm(shift), stepB)
	ADDQ(stepA, i)
	ADDQ(stepB, j)

	Comment("Elements of blocks that are done and have no partner.")
	alone := GP64()
	MOVQ(i, alone)
	SUBQ(common, alone)
	CMPQ(alone, spareA)
	JGT(LabelRef("done"))
	MOVQ(j, alone)
	SUBQ(common, alone)
	CMPQ(alone, spareB)
	JGT(LabelRef("done"))
	CMPQ(i, na)
	JGT(LabelRef("done"))
	CMPQ(j, nb)
	JLE(LabelRef("loop"))

	Label("done")
	VZEROUPPER()
	Store(common, ReturnIndex(0))
	Store(i, ReturnIndex(1))
	Store(j, ReturnIndex(2))
	RET()
}

// unequal512 narrows masks of the elements that differ from all elements so far, in four chains
// that do not wait for each other.
func unequal512(a, b Mem, size, lanes int) reg.GPVirtual {
	const notEqual = 4
	x := ZMM()
	VMOVDQU64(a, x)
	chains := [4]reg.OpmaskVirtual{K(), K(), K(), K()}
	for r := range lanes {
		chain := chains[r%len(chains)]
		from := b.Offset(r * size)
		switch first := r < len(chains); {
		case size == 4 && first:
			VPCMPUD_BCST(Imm(notEqual), from, x, chain)
		case size == 4:
			VPCMPUD_BCST(Imm(notEqual), from, x, chain, chain)
		case first:
			VPCMPUQ_BCST(Imm(notEqual), from, x, chain)
		default:
			VPCMPUQ_BCST(Imm(notEqual), from, x, chain, chain)
		}
	}
	KANDW(chains[0], chains[1], chains[1])
	KANDW(chains[2], chains[3], chains[3])
	KANDW(chains[1], chains[3], chains[3])
	n := GP64()
	KMOVW(chains[3], n.As32())
	POPCNTQ(n, n)
	return n
}

// unequal2 collects elements that are equal to any, in two chains.
func unequal2(a, b Mem, size, lanes int) reg.GPVirtual {
	x := YMM()
	VMOVDQU(a, x)
	var chains [2]reg.VecVirtual
	for r := range lanes {
		y := YMM()
		from := b.Offset(r * size)
		if size == 4 {
			VPBROADCASTD(from, y)
			VPCMPEQD(x, y, y)
		} else {
			VPBROADCASTQ(from, y)
			VPCMPEQQ(x, y, y)
		}
		if chain := &chains[r%2]; r < 2 {
			*chain = y
		} else {
			VPOR(y, *chain, *chain)
		}
	}
	VPOR(chains[0], chains[1], chains[1])
	n := GP64()
	if size == 4 {
		VMOVMSKPS(chains[1], n.As32())
	} else {
		VMOVMSKPD(chains[1], n.As32())
	}
	XORQ(Imm(uint64(1<<lanes-1)), n)
	POPCNTQ(n, n)
	return n
}
