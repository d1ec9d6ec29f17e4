package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/alike-dev/alike/internal/simd/asm/tokens"
)

// avx512 packs the code points of a block as 16-bit words, looks them up one after the other, and
// stores their classes packed. It does not store the classes of ASCII, which are quicker to compute
// again.
type avx512 struct {
	asciiLow, asciiHigh, foldLow, foldHigh reg.VecVirtual
	c0, c2, e0, a0, f0                     reg.VecVirtual
	numbers, base, advance                 reg.VecVirtual
	tested                                 [len(tested)]reg.VecVirtual
	points                                 Mem
}

const (
	lessThan    = 1 // predicates of VPCMPB and VPCMPUB
	greaterSame = 5
	equal       = 0
)

// choose is the truth table of VPTERNLOG for a choice by the second operand, a mask: the last
// operand where the mask is 1, the third operand where it is 0.
const choose = 0xe4

func byteOf(c uint8) reg.VecVirtual {
	r, v := GP32(), ZMM()
	MOVL(U32(uint32(c)), r)
	VPBROADCASTB(r, v)
	return v
}

func (c *avx512) constants(k *kernel) {
	load := func(offset int) reg.VecVirtual {
		v := ZMM()
		VMOVDQU64(Mem{Base: k.of, Disp: offset}, v)
		return v
	}
	c.asciiLow, c.asciiHigh = load(classesASCII), load(classesASCII+64)
	c.foldLow, c.foldHigh = load(classesFold), load(classesFold+64)
	c.c0, c.c2, c.e0, c.a0, c.f0 = byteOf(0xc0), byteOf(0xc2), byteOf(0xe0), byteOf(0xa0), byteOf(0xf0)
	c.numbers = ZMM()
	VMOVDQU64(tokens.Numbers("cutNumbers"), c.numbers)
	c.base, c.advance = ZMM(), ZMM()
	VPXORQ(c.base, c.base, c.base)
	r := GP32()
	MOVL(U32(block), r)
	VPBROADCASTW(r, c.advance)
	for i, t := range tested {
		c.tested[i] = byteOf(t.bits)
	}
	c.points = AllocLocal(2 * block)
}

func (c *avx512) front(k *kernel, lead, three, wrong, cont reg.GPVirtual) {
	x, folded := ZMM(), ZMM()
	high, kCont, kThree := K(), K(), K()
	VMOVDQU64(Mem{Base: k.src, Index: k.at, Scale: 1}, x)
	VPMOVB2M(x, high)
	VMOVDQA64(x, folded)
	VPERMI2B(c.foldHigh, c.foldLow, folded)
	VMOVDQU8(x, high, folded)
	VMOVDQU64(folded, Mem{Base: k.text, Index: k.at, Scale: 1})
	VPCMPB(Imm(lessThan), c.c0, x, kCont)
	KMOVQ(kCont, cont)
	KMOVQ(high, lead)
	ANDNQ(lead, cont, lead)
	VPCMPUB(Imm(greaterSame), c.e0, x, kThree)
	KMOVQ(kThree, three)
	Comment("Wrong are first bytes of four, C0 and C1, and E0 before a byte below A0.")
	x1, four, kE0, kLead := ZMM(), K(), K(), K()
	VMOVDQU64(Mem{Base: k.src, Index: k.at, Scale: 1, Disp: 1}, x1)
	VPCMPUB(Imm(greaterSame), c.f0, x, four)
	VPCMPUB(Imm(equal), c.e0, x, kE0)
	VPCMPUB(Imm(lessThan), c.a0, x1, kE0, kE0)
	KORQ(kE0, four, four)
	KANDNQ(high, kCont, kLead)
	VPCMPUB(Imm(lessThan), c.c2, x, kLead, kE0)
	KORQ(kE0, four, four)
	KMOVQ(four, wrong)
}

func (c *avx512) classes(k *kernel, lead, any reg.GPVirtual) {
	n, p, r, t := GP64(), GP64(), GP64(), GP64()
	XORL(any.As32(), any.As32())
	TESTQ(lead, lead)
	JZ(LabelRef("noSequences"))
	x, x1, x2 := ZMM(), ZMM(), ZMM()
	at := Mem{Base: k.src, Index: k.at, Scale: 1}
	VMOVDQU64(at, x)
	VMOVDQU64(at.Offset(1), x1)
	VMOVDQU64(at.Offset(2), x2)
	Comment("A, B and C are the bytes of a sequence, 0, B and C those of a shorter one.")
	kThree, kLead := K(), K()
	VPCMPUB(Imm(greaterSame), c.e0, x, kThree)
	A, B, C := ZMM(), ZMM(), ZMM()
	VMOVDQU8_Z(x, kThree, A)
	VPBLENDMB(x1, x, kThree, B)
	VPBLENDMB(x2, x1, kThree, C)
	Comment("Lower byte: 2 bits of B, 6 of C. Upper byte: 4 bits of A, 4 of B.")
	low, high := ZMM(), ZMM()
	VPSLLW(Imm(6), B, low)
	VPTERNLOGQ(Imm(choose), c.c0, C, low)
	VPSLLW(Imm(4), A, high)
	VPSRLW(Imm(2), B, B)
	VPTERNLOGQ(Imm(choose), c.f0, B, high)
	KMOVQ(lead, kLead)
	tokens.CompressBytes(low, kLead, low)
	tokens.CompressBytes(high, kLead, high)
	VPMOVZXBW(low.AsY(), low)
	VPMOVZXBW(high.AsY(), high)
	VPSLLW(Imm(8), high, high)
	VPORQ(high, low, low)
	VMOVDQU64(low, c.points)
	POPCNTQ(lead, n)
	XORL(p.As32(), p.As32())
	Label("point")
	for i := range 4 {
		MOVWQZX(c.points.Offset(2*i).Idx(p, 2), r)
		MOVBQZX(Mem{Base: k.of, Index: r, Scale: 1}, t)
		MOVB(t.As8(), Mem{Base: k.notes, Index: p, Scale: 1, Disp: i})
		ORQ(t, any)
	}
	ADDQ(Imm(4), p)
	CMPQ(p, n)
	JB(LabelRef("point"))
	ADDQ(n, k.notes)
	Label("noSequences")
}

func (c *avx512) masks(k *kernel) {
	x, noted := ZMM(), ZMM()
	high, kLead := K(), K()
	n := GP64()
	VMOVDQU64(Mem{Base: k.src, Index: k.at, Scale: 1}, x)
	VPMOVB2M(x, high)
	KNOTQ(high, high)
	VPERMI2B_Z(c.asciiHigh, c.asciiLow, high, x)
	KMOVQ(k.ofBlock(k.lead), kLead)
	tokens.ExpandBytes(Mem{Base: k.notes}, kLead, noted)
	VPORQ(x, noted, noted)
	POPCNTQ(k.ofBlock(k.lead), n)
	ADDQ(n, k.notes)
	var run reg.OpmaskVirtual
	for i, bits := range c.tested {
		m := K()
		VPTESTMB(bits, noted, m)
		switch tested[i].slot {
		case slotRun:
			run = m
		case slotSwap:
			KANDQ(kLead, m, m)
		case slotMark:
			join := K()
			KANDQ(run, m, join)
			KMOVQ(join, k.slot[slotJoin])
		}
		KMOVQ(m, k.slot[tested[i].slot])
	}
}

// tested lists the slots and the bits of classes that they show.
var tested = [...]struct {
	slot int
	bits uint8
}{
	{slotRun, classRun},
	{slotToken, classRun | classSolo},
	{slotSolo, classSolo},
	{slotSwap, classSwap | classRebuild}, // of sequences only
	{slotMark, classMark | classLastMark},
	{slotLate, classLate},
	{slotChanged, classSwap | classLastMark | classRebuild},
	{slotStop, classStop},
}

func (c *avx512) positions(k *kernel, m, list reg.GPVirtual) {
	label := tokens.Unique("positions")
	packed, wide, upper, bits := ZMM(), ZMM(), YMM(), K()
	KMOVQ(m, bits)
	tokens.CompressBytes(c.numbers, bits, packed)
	POPCNTQ(m, m)
	VPMOVZXBW(packed.AsY(), wide)
	VPADDW(c.base, wide, wide)
	VMOVDQU16(wide, Mem{Base: list})
	CMPQ(m, Imm(32))
	JBE(LabelRef(label))
	VEXTRACTI64X4(Imm(1), packed, upper)
	VPMOVZXBW(upper, wide)
	VPADDW(c.base, wide, wide)
	VMOVDQU16(wide, Mem{Base: list, Disp: 64})
	Label(label)
	LEAQ(Mem{Base: list, Index: m, Scale: 2}, list)
}

func (c *avx512) next() { VPADDW(c.advance, c.base, c.base) }
