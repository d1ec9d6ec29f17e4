// Command escape generates escape_amd64.s of package simd. Run it by go generate
// in that package.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/alike-dev/alike/internal/simd/asm/splat"
)

func main() {
	ConstraintExpr("!purego")
	TEXT("jsonSpecialAVX2", NOSPLIT, "func(s *byte, blocks int) int")
	Pragma("noescape")
	Doc("jsonSpecialAVX2 is JSONSpecial for so many blocks of 64 bytes, 1 or more; it returns",
		"their length if there is none.")
	begin := Load(Param("s"), GP64())
	blocks := Load(Param("blocks"), GP64())
	quote, backslash, control := splat.Byte('"'), splat.Byte('\\'), splat.Byte(0x1f)
	at := GP64()
	MOVQ(begin, at)

	Label("block")
	low, high, any := YMM(), YMM(), YMM()
	mark(Mem{Base: at}, low, quote, backslash, control)
	mark(Mem{Base: at, Disp: 32}, high, quote, backslash, control)
	VPOR(low, high, any)
	VPTEST(any, any)
	JNZ(LabelRef("found"))
	ADDQ(Imm(64), at)
	DECQ(blocks)
	JNZ(LabelRef("block"))
	SUBQ(begin, at)
	Store(at, ReturnIndex(0))
	VZEROUPPER()
	RET()

	Label("found")
	a, b := GP32(), GP32()
	VPMOVMSKB(low, a)
	VPMOVMSKB(high, b)
	SHLQ(Imm(32), b.As64())
	ORQ(b.As64(), a.As64())
	TZCNTQ(a.As64(), a.As64())
	SUBQ(begin, at)
	ADDQ(a.As64(), at)
	Store(at, ReturnIndex(0))
	VZEROUPPER()
	RET()
	Generate()
}

// mark sets the bytes of marks where the text has a quote, a backslash or a control character.
func mark(text Mem, marks, quote, backslash, control reg.VecVirtual) {
	x, y := YMM(), YMM()
	VMOVDQU(text, x)
	VPCMPEQB(quote, x, marks)
	VPCMPEQB(backslash, x, y)
	VPOR(y, marks, marks)
	Comment("At most 0x1f, unsigned.")
	VPMINUB(control, x, y)
	VPCMPEQB(x, y, y)
	VPOR(y, marks, marks)
}
