// Command roll generates roll_amd64.s of package simd. Run it by go generate in
// that package.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("!purego")
	TEXT("rollAVX512", NOSPLIT, "func(dst, enter, leave *uint64, groups int, h uint64, powers *uint64, baseN, xor, mul uint64) uint64")
	Pragma("noescape")
	Doc("rollAVX512 is Roll for 8 words a group, groups above 0. powers are the first",
		"eight powers of base.")
	dst := Load(Param("dst"), GP64())
	enter := Load(Param("enter"), GP64())
	leave := Load(Param("leave"), GP64())
	groups := Load(Param("groups"), GP64())
	powers := Load(Param("powers"), GP64())

	h := broadcast("h")
	baseN := broadcast("baseN")
	f := newFold(broadcast("xor"), broadcast("mul"))
	power := ZMM()
	VMOVDQU64(Mem{Base: powers}, power)
	var shifted [3]reg.VecVirtual // base, base², base⁴ in all lanes
	for i := range shifted {
		shifted[i] = ZMM()
		VPBROADCASTQ(Mem{Base: powers, Disp: 8 * (1<<i - 1)}, shifted[i])
	}
	zero, last := ZMM(), ZMM()
	VPXORQ(zero, zero, zero)
	seven := GP64()
	MOVQ(U64(7), seven)
	VPBROADCASTQ(seven, last)

	Label("group")
	x, y := ZMM(), ZMM()
	VPMULLQ(Mem{Base: leave}, baseN, y)
	VMOVDQU64(Mem{Base: enter}, x)
	VPSUBQ(y, x, x)
	for i := range shifted {
		VALIGNQ(Imm(uint64(8-1<<i)), zero, x, y)
		VPMULLQ(shifted[i], y, y)
		VPADDQ(y, x, x)
	}
	VPMULLQ(h, power, y)
	VPADDQ(y, x, x)
	VPERMQ(x, last, h)
	VMOVDQU64(f.apply(x), Mem{Base: dst})
	ADDQ(Imm(64), dst)
	ADDQ(Imm(64), enter)
	ADDQ(Imm(64), leave)
	DECQ(groups)
	JNZ(LabelRef("group"))

	result := GP64()
	VMOVQ(h.AsX(), result)
	VZEROUPPER()
	Store(result, ReturnIndex(0))
	RET()
	Generate()
}

func broadcast(param string) reg.VecVirtual {
	v := ZMM()
	VPBROADCASTQ(Load(Param(param), GP64()), v)
	return v
}

// fold is hashing.Fold(x ^ xor, mul) of eight x.
type fold struct {
	xor, mul, mulHigh, low reg.VecVirtual
}

func newFold(xor, mul reg.VecVirtual) fold {
	f := fold{xor: xor, mul: mul, mulHigh: ZMM(), low: ZMM()}
	VPSRLQ(Imm(32), mul, f.mulHigh)
	VPTERNLOGQ(U8(0xff), f.low, f.low, f.low)
	VPSRLQ(Imm(32), f.low, f.low)
	return f
}

func (f fold) apply(x reg.VecVirtual) reg.VecVirtual {
	low, high := ZMM(), ZMM()
	ll, lh, hl, hh := ZMM(), ZMM(), ZMM(), ZMM()
	VPXORQ(f.xor, x, low)
	VPSRLQ(Imm(32), low, high)
	VPMULUDQ(f.mul, low, ll)
	VPMULUDQ(f.mulHigh, low, lh)
	VPMULUDQ(f.mul, high, hl)
	VPMULUDQ(f.mulHigh, high, hh)
	carry, middle := ZMM(), ZMM()
	Comment("hl + ll>>32 and lh + 2^32-1 stay below 2^64.")
	VPSRLQ(Imm(32), ll, carry)
	VPADDQ(carry, hl, hl)
	VPANDQ(f.low, hl, middle)
	VPADDQ(middle, lh, lh)
	VPSRLQ(Imm(32), hl, hl)
	VPADDQ(hl, hh, hh)
	VPSRLQ(Imm(32), lh, carry)
	VPADDQ(carry, hh, hh)
	Comment("Low half of the product: lh<<32 | ll&(2^32-1); xor with the high half.")
	VPSLLQ(Imm(32), lh, lh)
	VPANDQ(f.low, ll, ll)
	VPTERNLOGQ(U8(0x96), lh, ll, hh)
	return hh
}
