// Command digest generates digest_amd64.s of package simd. Run it by go generate in
// that package.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("!purego")
	TEXT("digestAVX2", NOSPLIT, "func(words *uint64, groups int) (sum, products uint64)")
	Pragma("noescape")
	Doc("digestAVX2 is Digest for 8 words a group, groups above 0.")
	words := Load(Param("words"), GP64())
	groups := Load(Param("groups"), GP64())
	var sums, products [2]reg.VecVirtual
	for i := range sums {
		sums[i], products[i] = YMM(), YMM()
		VPXOR(sums[i], sums[i], sums[i])
		VPXOR(products[i], products[i], products[i])
	}
	Label("group")
	for i := range sums {
		x, high := YMM(), YMM()
		VMOVDQU(Mem{Base: words, Disp: 32 * i}, x)
		VPSRLQ(Imm(32), x, high)
		VPADDQ(x, sums[i], sums[i])
		VPMULUDQ(x, high, high)
		VPADDQ(high, products[i], products[i])
	}
	ADDQ(Imm(64), words)
	DECQ(groups)
	JNZ(LabelRef("group"))
	for i, v := range [2][2]reg.VecVirtual{sums, products} {
		VPADDQ(v[0], v[1], v[0])
		high := XMM()
		VEXTRACTI128(Imm(1), v[0], high)
		low := v[0].AsX()
		VPADDQ(high, low, low)
		a, b := GP64(), GP64()
		VMOVQ(low, a)
		VPEXTRQ(Imm(1), low, b)
		ADDQ(b, a)
		Store(a, ReturnIndex(i))
	}
	VZEROUPPER()
	RET()
	Generate()
}
