// Command visible generates visible_amd64.s of package simd. Run it by go generate
// in that package.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/alike-dev/alike/internal/simd/asm/splat"
)

// lanes is the number of bytes in a vector.
const lanes = 32

func main() {
	ConstraintExpr("!purego")
	TEXT("visibleAVX2", NOSPLIT, "func(dst, src *byte, groups int, caseBit uint64) int")
	Pragma("noescape")
	Doc("visibleAVX2 is Visible for 32 bytes a group, groups above 0. caseBit is ored into",
		"capital letters: 0x20, or 0 to keep them.")
	begin := Load(Param("dst"), GP64())
	src := Load(Param("src"), GP64())
	groups := Load(Param("groups"), GP64())
	caseBit := YMM()
	low := XMM()
	VMOVQ(Load(Param("caseBit"), GP64()), low)
	VPBROADCASTB(low, caseBit)
	tab, range4, space := splat.Byte(9), splat.Byte(4), splat.Byte(' ')
	capitalA, range25, ones := splat.Byte('A'), splat.Byte(25), splat.Byte(0xff)
	dst := GP64()
	MOVQ(begin, dst)

	Label("group")
	text, x, drop := YMM(), YMM(), YMM()
	VMOVDQU(Mem{Base: src}, text)
	Comment("Tab to carriage return: x-9 is at most 4, unsigned.")
	VPSUBB(tab, text, x)
	VPMINUB(range4, x, drop)
	VPCMPEQB(x, drop, drop)
	VPCMPEQB(space, text, x)
	VPOR(x, drop, drop)
	Comment("Not ASCII: above as an unsigned byte, so negative.")
	VPXOR(x, x, x)
	VPCMPGTB(text, x, x)
	VPOR(x, drop, drop)
	VPXOR(ones, drop, drop) // from here on: keep
	VPSUBB(capitalA, text, x)
	upper := YMM()
	VPMINUB(range25, x, upper)
	VPCMPEQB(x, upper, upper)
	VPAND(caseBit, upper, upper)
	VPOR(upper, text, text)
	squeeze(dst, text.AsX(), drop.AsX())
	high, keep := XMM(), XMM()
	VEXTRACTI128(Imm(1), text, high)
	VEXTRACTI128(Imm(1), drop, keep)
	squeeze(dst, high, keep)
	ADDQ(Imm(lanes), src)
	DECQ(groups)
	JNZ(LabelRef("group"))

	SUBQ(begin, dst)
	VZEROUPPER()
	Store(dst, ReturnIndex(0))
	RET()
	Generate()
}

// squeeze stores the bytes of text for which keep has ones, and advances dst.
func squeeze(dst reg.GPVirtual, text, keep reg.Register) {
	for half := range 2 {
		word, mask, n := GP64(), GP64(), GP64()
		if half == 0 {
			VMOVQ(text, word)
			VMOVQ(keep, mask)
		} else {
			VPEXTRQ(Imm(1), text, word)
			VPEXTRQ(Imm(1), keep, mask)
		}
		PEXTQ(mask, word, word)
		POPCNTQ(mask, n)
		SHRQ(Imm(3), n)
		MOVQ(word, Mem{Base: dst})
		ADDQ(n, dst)
	}
}
