// Command oph generates the AVX-512 kernels of one-permutation sketching. See
// oph.go of package simd for what they compute, oph_generic.go for the twins.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/alike-dev/alike/internal/simd/asm/stream"
)

func main() {
	ConstraintExpr("!purego")
	mixAll()
	mixBelow()
	mixOpen()
	passOpen()
	Generate()
}

// mixer holds the constants of hashing.Mix(x ^ key) in vectors.
type mixer struct{ key, m1, m2 reg.VecVirtual }

func newMixer() mixer {
	m := mixer{key: ZMM(), m1: ZMM(), m2: ZMM()}
	VPBROADCASTQ(Load(Param("key"), GP64()), m.key)
	VPBROADCASTQ(stream.Word(0xbf58476d1ce4e5b9), m.m1)
	VPBROADCASTQ(stream.Word(0x94d049bb133111eb), m.m2)
	return m
}

// mix replaces the words of x by their hashes.
func (m mixer) mix(x reg.VecVirtual) {
	t := ZMM()
	VPXORQ(m.key, x, x)
	VPSRLQ(Imm(30), x, t)
	VPXORQ(t, x, x)
	VPMULLQ(m.m1, x, x)
	VPSRLQ(Imm(27), x, t)
	VPXORQ(t, x, x)
	VPMULLQ(m.m2, x, x)
	VPSRLQ(Imm(31), x, t)
	VPXORQ(t, x, x)
}

func mixAll() {
	TEXT("mixAllAVX512", NOSPLIT, "func(dst, src *uint64, n int, key uint64)")
	Pragma("noescape")
	Doc("mixAllAVX512 is mixBelow for the bound that lets all pass; n is above 0.")
	dst := Load(Param("dst"), GP64()).(reg.GPVirtual)
	src := Load(Param("src"), GP64()).(reg.GPVirtual)
	n := Load(Param("n"), GP64()).(reg.GPVirtual)
	m := newMixer()
	stream.Loop(src, n, func(x reg.VecVirtual, _ reg.OpmaskVirtual) {
		m.mix(x)
		VMOVDQU64(x, Mem{Base: dst})
		ADDQ(Imm(8*stream.Lanes), dst)
	})
	VZEROUPPER()
	RET()
}

func mixBelow() {
	TEXT("mixBelowAVX512", NOSPLIT, "func(dst, src *uint64, n int, key, k, bound uint64) int")
	Pragma("noescape")
	Doc("mixBelowAVX512 is mixBelow; n is above 0.")
	dst := Load(Param("dst"), GP64()).(reg.GPVirtual)
	src := Load(Param("src"), GP64()).(reg.GPVirtual)
	n := Load(Param("n"), GP64()).(reg.GPVirtual)
	m := newMixer()
	k, bound := ZMM(), ZMM()
	VPBROADCASTQ(Load(Param("k"), GP64()), k)
	VPBROADCASTQ(Load(Param("bound"), GP64()), bound)
	count := GP64()
	XORQ(count, count)
	stream.Loop(src, n, func(x reg.VecVirtual, mask reg.OpmaskVirtual) {
		m.mix(x)
		fraction, pass := ZMM(), K()
		VPMULLQ(k, x, fraction)
		if mask == nil {
			VPCMPUQ(Imm(2), bound, fraction, pass) // fraction ≤ bound
		} else {
			VPCMPUQ(Imm(2), bound, fraction, mask, pass)
		}
		stream.Keep(x, pass, dst, count)
	})
	VZEROUPPER()
	Store(count, ReturnIndex(0))
	RET()
}

func mixOpen() {
	TEXT("mixOpenAVX512", NOSPLIT, "func(dst, src *uint64, n int, key, k uint64, open *uint64) int")
	Pragma("noescape")
	Doc("mixOpenAVX512 is mixOpen; n is above 0.")
	dst := Load(Param("dst"), GP64()).(reg.GPVirtual)
	src := Load(Param("src"), GP64()).(reg.GPVirtual)
	n := Load(Param("n"), GP64()).(reg.GPVirtual)
	m := newMixer()
	k, open, one := ZMM(), ZMM(), ZMM()
	VPBROADCASTQ(Load(Param("k"), GP64()), k)
	VMOVDQU64(Mem{Base: Load(Param("open"), GP64())}, open)
	VPBROADCASTQ(stream.Word(1), one)
	count := GP64()
	XORQ(count, count)
	stream.Loop(src, n, func(x reg.VecVirtual, mask reg.OpmaskVirtual) {
		m.mix(x)
		// The bin, the high half of x·k, from the halves of x, since k < 2³².
		bin, low := ZMM(), ZMM()
		VPSRLQ(Imm(32), x, bin)
		VPMULUDQ(k, bin, bin)
		VPMULUDQ(k, x, low)
		VPSRLQ(Imm(32), low, low)
		VPADDQ(low, bin, bin)
		VPSRLQ(Imm(32), bin, bin)
		stream.Keep(x, isOpen(bin, open, one, mask), dst, count)
	})
	VZEROUPPER()
	Store(count, ReturnIndex(0))
	RET()
}

// isOpen tells which bins have a one in the map: a rotation takes the bin modulo
// 64 by itself.
func isOpen(bin, open, one reg.VecVirtual, mask reg.OpmaskVirtual) reg.OpmaskVirtual {
	word, pass := ZMM(), K()
	VPSRLQ(Imm(6), bin, word)
	VPERMQ(open, word, word)
	VPRORVQ(bin, word, word)
	if mask == nil {
		VPTESTMQ(one, word, pass)
	} else {
		VPTESTMQ(one, word, mask, pass)
	}
	return pass
}

func passOpen() {
	TEXT("passOpenAVX512", NOSPLIT, "func(dst, src *uint64, n int, open *uint64) int")
	Pragma("noescape")
	Doc("passOpenAVX512 is passOpen; n is above 0.")
	dst := Load(Param("dst"), GP64()).(reg.GPVirtual)
	src := Load(Param("src"), GP64()).(reg.GPVirtual)
	n := Load(Param("n"), GP64()).(reg.GPVirtual)
	open, one := ZMM(), ZMM()
	VMOVDQU64(Mem{Base: Load(Param("open"), GP64())}, open)
	VPBROADCASTQ(stream.Word(1), one)
	count := GP64()
	XORQ(count, count)
	stream.Loop(src, n, func(x reg.VecVirtual, mask reg.OpmaskVirtual) {
		bin := ZMM()
		VPSRLQ(Imm(64-9), x, bin)
		stream.Keep(x, isOpen(bin, open, one, mask), dst, count)
	})
	VZEROUPPER()
	Store(count, ReturnIndex(0))
	RET()
}
