// Command bottomk generates the AVX-512 kernel of bottom-k sketching. bottomk.go of package simd
// describes its results, bottomk_generic.go is the twin.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/alike-dev/alike/internal/simd/asm/stream"
)

func main() {
	ConstraintExpr("!purego")
	xxh3Below()
	below()
	Generate()
}

// hasher holds the constants of xxh3 in vectors.
type hasher struct{ flip, prime, length reg.VecVirtual }

func newHasher() hasher {
	h := hasher{flip: ZMM(), prime: ZMM(), length: ZMM()}
	VPBROADCASTQ(Load(Param("flip"), GP64()), h.flip)
	VPBROADCASTQ(stream.Word(0x9fb21c651e98df25), h.prime)
	VPBROADCASTQ(stream.Word(8), h.length)
	return h
}

// hash replaces the words of x by their hashes.
func (h hasher) hash(x reg.VecVirtual) {
	t, u := ZMM(), ZMM()
	VPRORQ(Imm(32), x, x)
	VPXORQ(h.flip, x, x)
	VPRORQ(Imm(64-49), x, t)
	VPRORQ(Imm(64-24), x, u)
	VPTERNLOGQ(Imm(0x96), t, u, x) // x ^ t ^ u
	VPMULLQ(h.prime, x, x)
	VPSRLQ(Imm(35), x, t)
	VPADDQ(h.length, t, t)
	VPXORQ(t, x, x)
	VPMULLQ(h.prime, x, x)
	VPSRLQ(Imm(28), x, t)
	VPXORQ(t, x, x)
}

func xxh3Below() {
	TEXT("xxh3BelowAVX512", NOSPLIT, "func(dst, src *uint64, n int, flip, mask, bound uint64) int")
	Pragma("noescape")
	Doc("xxh3BelowAVX512 is xxh3Below; n is above 0.")
	dst := Load(Param("dst"), GP64()).(reg.GPVirtual)
	src := Load(Param("src"), GP64()).(reg.GPVirtual)
	n := Load(Param("n"), GP64()).(reg.GPVirtual)
	h := newHasher()
	significant := ZMM()
	VPBROADCASTQ(Load(Param("mask"), GP64()), significant)
	keepBelow(dst, src, n, func(x reg.VecVirtual) {
		h.hash(x)
		VPANDQ(significant, x, x)
	})
}

func below() {
	TEXT("belowAVX512", NOSPLIT, "func(dst, src *uint64, n int, shift, bound uint64) int")
	Pragma("noescape")
	Doc("belowAVX512 is below; n is above 0.")
	dst := Load(Param("dst"), GP64()).(reg.GPVirtual)
	src := Load(Param("src"), GP64()).(reg.GPVirtual)
	n := Load(Param("n"), GP64()).(reg.GPVirtual)
	shift := XMM()
	VMOVQ(Load(Param("shift"), GP64()), shift)
	keepBelow(dst, src, n, func(x reg.VecVirtual) { VPSLLQ(shift, x, x) })
}

// keepBelow ends a function: it calls hash to replace the words of src, stores those below the
// parameter bound to dst, and returns their number.
func keepBelow(dst, src, n reg.GPVirtual, hash func(x reg.VecVirtual)) {
	bound := ZMM()
	VPBROADCASTQ(Load(Param("bound"), GP64()), bound)
	count := GP64()
	XORQ(count, count)
	stream.Loop(src, n, func(x reg.VecVirtual, some reg.OpmaskVirtual) {
		hash(x)
		pass := K()
		if some == nil {
			VPCMPUQ(Imm(1), bound, x, pass) // x < bound
		} else {
			VPCMPUQ(Imm(1), bound, x, some, pass)
		}
		stream.Keep(x, pass, dst, count)
	})
	VZEROUPPER()
	Store(count, ReturnIndex(0))
	RET()
}
