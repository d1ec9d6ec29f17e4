// Package splat fills vector registers, for the generators of kernels.
package splat

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Byte returns a register with c in each of its 32 bytes.
func Byte(c byte) reg.VecVirtual {
	x, v := GP32(), YMM()
	MOVL(U32(uint32(c)), x)
	VMOVD(x, v.AsX())
	VPBROADCASTB(v.AsX(), v)
	return v
}
