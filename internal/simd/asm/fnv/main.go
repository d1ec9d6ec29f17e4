// Command fnv generates fnv_amd64.s of package simd. Run it by go generate in that
// package.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// chains is the number of vectors of hashes that are computed at once.
const chains = 8

// The offset basis of FNV of 64 bits, and its prime, 2⁴⁰ + small.
const (
	offset = 0xcbf29ce484222325
	small  = 0x1b3
	prime  = 1<<40 + small
)

func main() {
	ConstraintExpr("!purego")
	kernel("fnv1AVX512", 8, func() reg.VecVirtual { return ZMM() }, multiplyAVX512)
	kernel("fnv1AVX2", 4, func() reg.VecVirtual { return YMM() }, multiplyAVX2)
	Generate()
}

// kernel writes the function for vectors of some lanes.
func kernel(name string, lanes int, vector func() reg.VecVirtual, multiplier func(vector func() reg.VecVirtual) func(h reg.VecVirtual)) {
	group := chains * lanes
	TEXT(name, NOSPLIT, "func(dst *uint64, text *byte, groups, n int)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s is FNV1 for %d shingles of n bytes a group, groups and n above 0.", name, group))
	dst := Load(Param("dst"), GP64())
	text := Load(Param("text"), GP64())
	groups := Load(Param("groups"), GP64())
	n := Load(Param("n"), GP64())
	multiply := multiplier(vector)
	basis := broadcast(vector, offset)

	Label("group")
	var h [chains]reg.VecVirtual
	for i := range h {
		h[i] = vector()
		move(lanes, basis, h[i])
	}
	at, left := GP64(), GP64()
	MOVQ(text, at)
	MOVQ(n, left)
	Label("step")
	for i := range h {
		c := vector()
		VPMOVZXBQ(Mem{Base: at, Disp: i * lanes}, c)
		multiply(h[i])
		xor(lanes, c, h[i])
	}
	INCQ(at)
	DECQ(left)
	JNZ(LabelRef("step"))
	for i := range h {
		move(lanes, h[i], Mem{Base: dst, Disp: i * lanes * 8})
	}
	ADDQ(U32(uint32(group*8)), dst)
	ADDQ(U32(uint32(group)), text)
	DECQ(groups)
	JNZ(LabelRef("group"))
	VZEROUPPER()
	RET()
}

// move and xor choose the instruction for the width.
func move(lanes int, from, to Op) {
	if lanes == 8 {
		VMOVDQU64(from, to)
	} else {
		VMOVDQU(from, to)
	}
}

func xor(lanes int, c, h reg.VecVirtual) {
	if lanes == 8 {
		VPXORQ(c, h, h)
	} else {
		VPXOR(c, h, h)
	}
}

func broadcast(vector func() reg.VecVirtual, c uint64) reg.VecVirtual {
	r, x, v := GP64(), XMM(), vector()
	MOVQ(U64(c), r)
	VMOVQ(r, x)
	VPBROADCASTQ(x, v)
	return v
}

func multiplyAVX512(vector func() reg.VecVirtual) func(h reg.VecVirtual) {
	p := broadcast(vector, prime)
	return func(h reg.VecVirtual) { VPMULLQ(p, h, h) }
}

// multiplyAVX2 has no product of 64 bits: h·prime = h<<40 + low·small + (high·small)<<32.
func multiplyAVX2(vector func() reg.VecVirtual) func(h reg.VecVirtual) {
	s := broadcast(vector, small)
	return func(h reg.VecVirtual) {
		high, top := vector(), vector()
		VPSRLQ(Imm(32), h, high)
		VPSLLQ(Imm(40), h, top)
		VPMULUDQ(s, high, high)
		VPMULUDQ(s, h, h)
		VPSLLQ(Imm(32), high, high)
		VPADDQ(top, h, h)
		VPADDQ(high, h, h)
	}
}
