// Command oph generates the AVX-512 kernels of one-permutation sketching. oph.go of package simd
// describes their results, oph_generic.go has the twins.
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
	mixRounds()
	emptyBins()
	Generate()
}

// mixer holds the constants of hashing.Mix(x ^ key) in vectors.
type mixer struct{ key, m1, m2 reg.VecVirtual }

func newMixer() mixer {
	m := newKeylessMixer()
	VPBROADCASTQ(Load(Param("key"), GP64()), m.key)
	return m
}

func newKeylessMixer() mixer {
	m := mixer{key: ZMM(), m1: ZMM(), m2: ZMM()}
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
	Doc("mixAllAVX512 is mixBelow for the bound that all words pass; n is above 0.")
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
		stream.Keep(x, isOpen(binOf(x, k), open, one, mask), dst, count)
	})
	VZEROUPPER()
	Store(count, ReturnIndex(0))
	RET()
}

// binOf returns the bin, the high half of x·k, from the halves of x, since k < 2³².
func binOf(x, k reg.VecVirtual) reg.VecVirtual {
	bin, low := ZMM(), ZMM()
	VPSRLQ(Imm(32), x, bin)
	VPMULUDQ(k, bin, bin)
	VPMULUDQ(k, x, low)
	VPSRLQ(Imm(32), low, low)
	VPADDQ(low, bin, bin)
	VPSRLQ(Imm(32), bin, bin)
	return bin
}

// isOpen returns the bins that have a one in the map: the rotation itself takes the bin modulo 64.
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

func mixRounds() {
	TEXT("mixRoundsAVX512", NOSPLIT, "func(dst, bins, inner *uint64, nInner int, outer *uint64, nOuter int, tag, innerStep, outerStep, shift uint64, open *uint64) int")
	Pragma("noescape")
	Doc("mixRoundsAVX512 is mixPairs; both lengths are above 0.")
	dst := Load(Param("dst"), GP64()).(reg.GPVirtual)
	bins := Load(Param("bins"), GP64()).(reg.GPVirtual)
	inner := Load(Param("inner"), GP64()).(reg.GPVirtual)
	n := Load(Param("nInner"), GP64()).(reg.GPVirtual)
	outer := Load(Param("outer"), GP64()).(reg.GPVirtual)
	nOuter := Load(Param("nOuter"), GP64()).(reg.GPVirtual)
	m := newKeylessMixer()
	first, tag, step, stepOuter, open, one := ZMM(), ZMM(), ZMM(), ZMM(), ZMM(), ZMM()
	shift, low := XMM(), ZMM()
	VMOVQ(Load(Param("shift"), GP64()), shift)
	VPTERNLOGD(Imm(0xff), low, low, low)
	VPSLLQ(shift, low, low) // the bits of bin and tag
	Comment("The tags of eight words, and how they go up.")
	VPBROADCASTQ(Load(Param("innerStep"), GP64()), step)
	numbers := GLOBL("mixLanes", RODATA|NOPTR)
	for i := range stream.Lanes {
		DATA(8*i, U64(uint64(i)))
	}
	VPMULLQ(numbers, step, first)
	VPBROADCASTQ(Load(Param("tag"), GP64()), tag)
	VPADDQ(tag, first, first)
	VPSLLQ(Imm(3), step, step)
	VPBROADCASTQ(Load(Param("outerStep"), GP64()), stepOuter)
	VMOVDQU64(Mem{Base: Load(Param("open"), GP64())}, open)
	VPBROADCASTQ(stream.Word(1), one)
	Comment("All words but for the last one to eight, and a mask of those.")
	count, whole, at, bits, last := GP64(), GP64(), GP64(), GP64(), K()
	XORQ(count, count)
	LEAQ(Mem{Base: n, Disp: -1}, whole)
	ANDQ(I32(-stream.Lanes), whole)
	SUBQ(whole, n)
	MOVQ(I64(-1), bits)
	BZHIQ(n, bits, bits)
	KMOVB(bits.As32(), last)
	keep := func(x reg.VecVirtual, mask reg.OpmaskVirtual) {
		m.mix(x)
		bin, packed := ZMM(), ZMM()
		VPSRLQ(shift, x, bin)
		pass := isOpen(bin, open, one, mask)
		VPCOMPRESSQ_Z(bin, pass, packed)
		VMOVDQU64(packed, Mem{Base: bins, Index: count, Scale: 8})
		VPTERNLOGQ(Imm(0xd8), low, tag, x) // the tag where low is 1
		stream.Keep(x, pass, dst, count)
	}

	Label("outer")
	VPBROADCASTQ(Mem{Base: outer}, m.key)
	VMOVDQA64(first, tag)
	XORL(at.As32(), at.As32())
	JMP(LabelRef("test"))
	Label("words")
	x := ZMM()
	VMOVDQU64(Mem{Base: inner, Index: at, Scale: 8}, x)
	keep(x, nil)
	VPADDQ(step, tag, tag)
	ADDQ(Imm(stream.Lanes), at)
	Label("test")
	CMPQ(at, whole)
	JB(LabelRef("words"))
	x = ZMM()
	VMOVDQU64_Z(Mem{Base: inner, Index: at, Scale: 8}, last, x)
	keep(x, last)
	VPADDQ(stepOuter, first, first)
	ADDQ(Imm(8), outer)
	DECQ(nOuter)
	JNZ(LabelRef("outer"))
	VZEROUPPER()
	Store(count, ReturnIndex(0))
	RET()
}

func emptyBins() {
	TEXT("emptyBinsAVX512", NOSPLIT, "func(open *uint64, bins *uint64, words int) int")
	Pragma("noescape")
	Doc("emptyBinsAVX512 is emptyBins for 64 bins a word, words above 0.")
	open := Load(Param("open"), GP64()).(reg.GPVirtual)
	bins := Load(Param("bins"), GP64()).(reg.GPVirtual)
	words := Load(Param("words"), GP64()).(reg.GPVirtual)
	none, count, bits := ZMM(), GP64(), GP64()
	VPTERNLOGD(Imm(0xff), none, none, none)
	XORL(count.As32(), count.As32())
	Label("word")
	for i := range 8 {
		k := K()
		VPCMPEQQ(Mem{Base: bins, Disp: 64 * i}, none, k)
		KMOVB(k, bits.As32())
		MOVB(bits.As8(), Mem{Base: open, Disp: i})
		POPCNTQ(bits, bits)
		ADDQ(bits, count)
	}
	ADDQ(U32(512), bins)
	ADDQ(Imm(8), open)
	DECQ(words)
	JNZ(LabelRef("word"))
	VZEROUPPER()
	Store(count, ReturnIndex(0))
	RET()
}
