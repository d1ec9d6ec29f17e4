// Command wordfnv generates the AVX-512 kernel of FNV-1a over shingles. wordfnv.go of package simd
// describes its result.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	lanes = 16 // shingles in a vector
	width = 16 // letters that are loaded at once
	basis = 2166136261
	prime = 16777619

	basis64 = 14695981039346656037
	prime64 = 1099511628211

	greater = 6 // predicate of VPCMPD and VPCMPQ
)

func main() {
	ConstraintExpr("!purego")
	shingles()
	shingles64()
	Generate()
}

func shingles() {
	places := GLOBL("wordFNVPlaces", RODATA|NOPTR)
	for i := range width {
		DATA(4*i, U32(uint32(i)))
	}
	TEXT("wordFNVAVX512", NOSPLIT, "func(dst *uint64, letters *byte, starts *uint32, n, words int)")
	Pragma("noescape")
	Doc("wordFNVAVX512 is wordFNV; n is above 0. dst must have room for n rounded up to a multiple of 16,",
		"and the starts of shingles behind the n-th must be the end of the last letter.")
	dst := Load(Param("dst"), GP64()).(reg.GPVirtual)
	letters := Load(Param("letters"), GP64()).(reg.GPVirtual)
	starts := Load(Param("starts"), GP64()).(reg.GPVirtual)
	n := Load(Param("n"), GP64()).(reg.GPVirtual)
	words := Load(Param("words"), GP64()).(reg.GPVirtual)

	h, first, square, low, rest, zero := ZMM(), ZMM(), ZMM(), ZMM(), ZMM(), ZMM()
	broadcast := func(c uint32, to reg.VecVirtual) {
		r := GP32()
		MOVL(U32(c), r)
		VPBROADCASTD(r, to)
	}
	broadcast(basis, first)
	p := uint32(prime)
	broadcast(p*p, square)
	broadcast(0xff, low)
	advance := ZMM()
	broadcast(width, advance)
	VPXORD(zero, zero, zero)

	Label("shingles")
	VMOVDQA32(first, h)
	VMOVDQU32(Mem{Base: starts, Index: words, Scale: 4}, rest)
	VPSUBD(Mem{Base: starts}, rest, rest)
	at := GP64()
	MOVQ(letters, at)

	Label("letters")
	columns := load(at, starts)
	for i := range width {
		column, k := columns[i/4], K()
		VPCMPD_BCST(Imm(greater), places.Offset(4*i), rest, k)
		if i%4 > 0 {
			VPSRLD(Imm(8), column, column)
		}
		VPTERNLOGD(Imm(0x78), low, column, k, h) // h ^ (column & 0xff)
		VPMULLD(square, h, k, h)
	}
	VPSUBD(advance, rest, rest)
	ADDQ(Imm(width), at)
	more := K()
	VPCMPD(Imm(greater), zero, rest, more)
	KORTESTW(more, more)
	JNZ(LabelRef("letters"))

	wide, upper := ZMM(), YMM()
	VPMOVZXDQ(h.AsY(), wide)
	VMOVDQU64(wide, Mem{Base: dst})
	VEXTRACTI64X4(Imm(1), h, upper)
	VPMOVZXDQ(upper, wide)
	VMOVDQU64(wide, Mem{Base: dst, Disp: 64})
	ADDQ(Imm(8*lanes), dst)
	ADDQ(Imm(4*lanes), starts)
	SUBQ(Imm(lanes), n)
	JG(LabelRef("shingles"))
	VZEROUPPER()
	RET()
}

// load reads the next letters of each shingle and returns them in columns of four.
//
// Register i first holds the letters of shingles i, 4+i, 8+i and 12+i, one in each 128 bits;
// transposing four by four there leaves the shingles in order.
func load(at, starts reg.GPVirtual) (columns [4]reg.VecVirtual) {
	var rows [4]reg.VecVirtual
	for i := range rows {
		rows[i] = ZMM()
		for part := range 4 {
			start := GP64()
			MOVL(Mem{Base: starts, Disp: 4 * (4*part + i)}, start.As32())
			from := Mem{Base: at, Index: start, Scale: 1}
			if part == 0 {
				VMOVDQU(from, rows[i].AsX())
			} else {
				VINSERTI32X4(Imm(uint64(part)), from, rows[i], rows[i])
			}
		}
	}
	var pairs [4]reg.VecVirtual
	for i := range pairs {
		pairs[i], columns[i] = ZMM(), ZMM()
	}
	VPUNPCKLDQ(rows[1], rows[0], pairs[0]) // 0 1 of both, alternately
	VPUNPCKHDQ(rows[1], rows[0], pairs[1]) // 2 3
	VPUNPCKLDQ(rows[3], rows[2], pairs[2])
	VPUNPCKHDQ(rows[3], rows[2], pairs[3])
	VPUNPCKLQDQ(pairs[2], pairs[0], columns[0])
	VPUNPCKHQDQ(pairs[2], pairs[0], columns[1])
	VPUNPCKLQDQ(pairs[3], pairs[1], columns[2])
	VPUNPCKHQDQ(pairs[3], pairs[1], columns[3])
	return columns
}

// shingles64 generates the kernel of 64 bits: lanes are words of eight letters, so nothing has to
// be transposed.
func shingles64() {
	const lanes = 8
	places := GLOBL("wordFNV64Places", RODATA|NOPTR)
	for i := range lanes {
		DATA(8*i, U64(uint64(i)))
	}
	TEXT("wordFNV64AVX512", NOSPLIT, "func(dst *uint64, letters *byte, starts *uint32, n, words int)")
	Pragma("noescape")
	Doc("wordFNV64AVX512 is wordFNVAVX512 with 64 bits, and n is rounded up to a multiple of 8.")
	dst := Load(Param("dst"), GP64()).(reg.GPVirtual)
	letters := Load(Param("letters"), GP64()).(reg.GPVirtual)
	starts := Load(Param("starts"), GP64()).(reg.GPVirtual)
	n := Load(Param("n"), GP64()).(reg.GPVirtual)
	words := Load(Param("words"), GP64()).(reg.GPVirtual)
	broadcast := func(c uint64) reg.VecVirtual {
		r, v := GP64(), ZMM()
		MOVQ(U64(c), r)
		VPBROADCASTQ(r, v)
		return v
	}
	p := uint64(prime64)
	first, square, low, advance := broadcast(basis64), broadcast(p*p), broadcast(0xff), broadcast(lanes)
	h, start, rest, zero := ZMM(), ZMM(), ZMM(), ZMM()
	VPXORQ(zero, zero, zero)

	Label("shingles")
	VMOVDQA64(first, h)
	VPMOVZXDQ(Mem{Base: starts, Index: words, Scale: 4}, rest)
	VPMOVZXDQ(Mem{Base: starts}, start)
	VPSUBQ(start, rest, rest)
	at := GP64()
	MOVQ(letters, at)

	Label("letters")
	word := ZMM()
	gather(at, starts, word)
	for i := range lanes {
		k := K()
		VPCMPQ_BCST(Imm(greater), places.Offset(8*i), rest, k)
		VPTERNLOGQ(Imm(0x78), low, word, k, h) // h ^ (word & 0xff)
		VPMULLQ(square, h, k, h)
		if i < lanes-1 {
			VPSRLQ(Imm(8), word, word)
		}
	}
	VPSUBQ(advance, rest, rest)
	ADDQ(Imm(lanes), at)
	more := K()
	VPCMPQ(Imm(greater), zero, rest, more)
	KORTESTB(more, more)
	JNZ(LabelRef("letters"))

	VMOVDQU64(h, Mem{Base: dst})
	ADDQ(Imm(8*lanes), dst)
	ADDQ(Imm(4*lanes), starts)
	SUBQ(Imm(lanes), n)
	JG(LabelRef("shingles"))
	VZEROUPPER()
	RET()
}

// gather loads the next eight letters of eight shingles. Loading pairs is quicker than the gather
// instruction.
func gather(at, starts reg.GPVirtual, word reg.VecVirtual) {
	var halves [2]reg.VecVirtual
	for half := range halves {
		var pair [2]reg.VecVirtual
		for j := range pair {
			pair[j] = XMM()
			a, b := GP64(), GP64()
			MOVL(Mem{Base: starts, Disp: 4 * (4*half + 2*j)}, a.As32())
			MOVL(Mem{Base: starts, Disp: 4 * (4*half + 2*j + 1)}, b.As32())
			VMOVQ(Mem{Base: at, Index: a, Scale: 1}, pair[j])
			VPINSRQ(Imm(1), Mem{Base: at, Index: b, Scale: 1}, pair[j], pair[j])
		}
		halves[half] = YMM()
		VINSERTI128(Imm(1), pair[1], pair[0].AsY(), halves[half])
	}
	VINSERTI64X4(Imm(1), halves[1], halves[0].AsZ(), word)
}
