// Command escape generates escape_amd64.s of package simd. Run it by go generate
// in that package.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/alike-dev/alike/internal/simd/asm/splat"
	"github.com/alike-dev/alike/internal/simd/asm/tokens"
)

func main() {
	ConstraintExpr("!purego")
	marks()
	unescape()
	Generate()
}

func marks() {
	TEXT("jsonMarksAVX2", NOSPLIT, "func(marks *uint64, s *byte, blocks int)")
	Pragma("noescape")
	Doc("jsonMarksAVX2 is JSONMarks for so many blocks of 64 bytes, 1 or more.")
	marks := Load(Param("marks"), GP64())
	at := Load(Param("s"), GP64())
	blocks := Load(Param("blocks"), GP64())
	quote, backslash, control := splat.Byte('"'), splat.Byte('\\'), splat.Byte(0x1f)

	Label("block")
	low, high := YMM(), YMM()
	mark(Mem{Base: at}, low, quote, backslash, control)
	mark(Mem{Base: at, Disp: 32}, high, quote, backslash, control)
	a, b := GP32(), GP32()
	VPMOVMSKB(low, a)
	VPMOVMSKB(high, b)
	SHLQ(Imm(32), b.As64())
	ORQ(b.As64(), a.As64())
	MOVQ(a.As64(), Mem{Base: marks})
	ADDQ(Imm(64), at)
	ADDQ(Imm(8), marks)
	DECQ(blocks)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
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

// unescape generates the kernel that replaces escapes:
//
//	for every 64 bytes, or what is left of them with zeros behind:
//	    second  = bits behind backslashes
//	    new     = what the table has for each byte
//	    stops   = quotes and control characters that are not second,
//	              backslashes before a second byte for which the table has nothing,
//	              a backslash in the last place
//	    drop backslashes and what is behind the first stop, and store the rest
//	    return at a stop, except in the last place: there the next step begins
func unescape() {
	var table [128]byte
	for _, escape := range []struct{ second, char byte }{
		{'"', '"'}, {'/', '/'}, {'b', '\b'}, {'f', '\f'}, {'n', '\n'}, {'r', '\r'}, {'t', '\t'},
	} {
		table[escape.second] = escape.char
	}
	escapes := tokens.Bytes("jsonEscapes", table[:])
	TEXT("unescapeJSONAVX512", NOSPLIT, "func(dst, src *byte, n int) (written, read int)")
	Pragma("noescape")
	Doc("unescapeJSONAVX512 is UnescapeJSON for n bytes, 1 or more.")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	left := Load(Param("n"), GP64())
	first, begin := GP64(), GP64()
	MOVQ(dst, first)
	MOVQ(src, begin)
	ones := GP64()
	MOVQ(I64(-1), ones)
	low, high, quote, backslash, control := ZMM(), ZMM(), ZMM(), ZMM(), ZMM()
	VMOVDQU64(escapes, low)
	VMOVDQU64(escapes.Offset(64), high)
	fill('"', quote)
	fill('\\', backslash)
	fill(0x1f, control)

	Label("step")
	x, changed := ZMM(), ZMM()
	inside, mask := GP64(), K()
	MOVQ(U32(64), inside)
	CMPQ(left, inside)
	CMOVQLT(left, inside)
	BZHIQ(inside, ones, inside)
	KMOVQ(inside, mask)
	VMOVDQU8_Z(Mem{Base: src}, mask, x)
	quotes, slashes, controls := K(), K(), K()
	VPCMPEQB(quote, x, quotes)
	VPCMPEQB(backslash, x, slashes)
	VPCMPUB(Imm(2), control, x, controls)
	Comment("The table has seven bits of each byte; bytes above are no escapes.")
	none, above := K(), K()
	VMOVDQA64(x, changed)
	VPERMI2B(high, low, changed)
	VPTESTNMB(changed, changed, none)
	VPMOVB2M(x, above)
	KORQ(above, none, none)
	KORQ(controls, quotes, quotes)

	slash, second, bad, stops := GP64(), GP64(), GP64(), GP64()
	KMOVQ(slashes, slash)
	KMOVQ(none, bad)
	KMOVQ(quotes, stops)
	LEAQ(Mem{Base: slash, Index: slash, Scale: 1}, second)
	ANDNQ(stops, second, stops)
	ANDQ(second, bad)
	SHRQ(Imm(1), bad)
	ORQ(bad, stops)
	last := GP64()
	MOVQ(slash, last)
	SHRQ(Imm(63), last)
	SHLQ(Imm(63), last)
	ORQ(last, stops)

	KMOVQ(second, mask)
	VMOVDQU8(changed, mask, x)
	keep := GP64()
	TESTQ(stops, stops)
	JNZ(LabelRef("stop"))
	NOTQ(slash)
	store(x, slash, ones, dst)
	ADDQ(Imm(64), src)
	SUBQ(Imm(64), left)
	JNZ(LabelRef("step"))
	JMP(LabelRef("done"))

	Label("stop")
	Comment("Only bytes below the first stop are used.")
	TZCNTQ(stops, last)
	BZHIQ(last, ones, keep)
	ANDNQ(keep, slash, keep)
	store(x, keep, ones, dst)
	ADDQ(last, src)
	SUBQ(last, left)
	JZ(LabelRef("done"))
	CMPQ(last, Imm(63))
	JEQ(LabelRef("step"))

	Label("done")
	SUBQ(first, dst)
	SUBQ(begin, src)
	Store(dst, ReturnIndex(0))
	Store(src, ReturnIndex(1))
	VZEROUPPER()
	RET()
}

// store stores the bytes of x that keep has, one behind the other, and adds their number to dst.
func store(x reg.VecVirtual, keep, ones, dst reg.Register) {
	packed, count, mask := ZMM(), GP64(), K()
	KMOVQ(keep, mask)
	tokens.CompressBytes(x, mask, packed)
	POPCNTQ(keep, count)
	upTo := GP64()
	BZHIQ(count, ones, upTo)
	KMOVQ(upTo, mask)
	VMOVDQU8(packed, mask, Mem{Base: dst})
	ADDQ(count, dst)
}

func fill(c byte, v reg.VecVirtual) {
	r := GP32()
	MOVL(U32(uint32(c)), r)
	VPBROADCASTB(r, v)
}
