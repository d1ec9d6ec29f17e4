package main

import (
	"bytes"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/alike-dev/alike/internal/simd/asm/tokens"
)

// avx2 looks up the code points one after the other in place, and stores the classes of all bytes.
type avx2 struct {
	lower, capitals, upper     reg.VecVirtual // bits of halves of bytes, see front
	token                      reg.VecVirtual // its class
	fifteen, c0                reg.VecVirtual
	caseBit, swap              Mem
	e0, below, sameC0, allBut1 Mem
	bits                       Mem
	eight                      reg.VecVirtual
}

// both loads 16 bytes into both halves of a register.
func both(from Mem) reg.VecVirtual {
	v := YMM()
	VBROADCASTI128(from, v)
	return v
}

// all32 defines a byte, 32 times.
func all32(name string, c uint8) Mem { return tokens.Bytes(name, bytes.Repeat([]byte{c}, 32)) }

func (c *avx2) constants(k *kernel) {
	c.lower = both(Mem{Base: k.of, Disp: classesHalves})
	c.capitals = both(Mem{Base: k.of, Disp: classesHalves + 16})
	c.upper = both(tokens.Bytes("cutUpperHalves", []byte{1, 2, 4, 8, 16, 32, 64, 128, 0, 0, 0, 0, 0, 0, 0, 0}))
	c.token = YMM()
	VPBROADCASTQ(Mem{Base: k.of, Disp: classesOfToken}, c.token)
	c.fifteen, c.c0 = YMM(), YMM()
	c.sameC0 = all32("cutC0", 0xc0)
	VMOVDQU(all32("cutFifteen", 15), c.fifteen)
	VMOVDQU(c.sameC0, c.c0)
	c.caseBit, c.swap = all32("cutCase", 0x20), all32("cutSwap", classSwap)
	c.e0, c.below, c.allBut1 = all32("cutE0", 0xe0), all32("cut9F", 0x9f), all32("cutFE", 0xfe)
	c.bits = tokens.BitPlaces("cutBits")
	c.eight = XMM()
	r := GP32()
	MOVL(U32(8), r)
	VMOVD(r, c.eight)
	VPBROADCASTW(c.eight, c.eight)
}

// front: a byte of ASCII is part of a token if the table entry of its lower half has the bit of its
// upper half; for bytes above 0x7f VPSHUFB gives 0.
func (c *avx2) front(k *kernel, lead, three, wrong, cont reg.GPVirtual) {
	for i := range 2 {
		at := Mem{Base: k.src, Index: k.at, Scale: 1, Disp: 32 * i}
		x, upper, t, t2, u := YMM(), YMM(), YMM(), YMM(), YMM()
		zero := YMM()
		VPXOR(zero, zero, zero)
		VMOVDQU(at, x)
		VPSRLW(Imm(4), x, upper)
		VPAND(c.fifteen, upper, upper)
		VPSHUFB(upper, c.upper, upper)
		VPSHUFB(x, c.lower, t)
		VPAND(upper, t, t)
		VPCMPEQB(zero, t, t)
		VPANDN(c.token, t, t)
		VPSHUFB(x, c.capitals, u)
		VPAND(upper, u, u)
		VPCMPEQB(zero, u, u)
		VPANDN(c.swap, u, upper)
		VPOR(upper, t, t)
		VMOVDQU(t, Mem{Base: k.notes, Index: k.at, Scale: 1, Disp: 32 * i})
		VPANDN(c.caseBit, u, u)
		VPOR(x, u, u)
		VMOVDQU(u, Mem{Base: k.text, Index: k.at, Scale: 1, Disp: 32 * i})

		Comment("Bit 7 is set and bit 6 not: cont. All of 7, 6 and 5: three. Of 7 to 4: wrong.")
		VPCMPGTB(x, c.c0, t)
		addMask(i, t, cont)
		VPSLLW(Imm(2), x, t)
		VPAND(x, t, t)
		VPSLLW(Imm(1), x, upper)
		VPAND(upper, t, t)
		addMask(i, t, three)
		VPSLLW(Imm(3), x, u)
		VPAND(t, u, t)
		Comment("Wrong as well: C0, C1, and E0 before a byte below A0.")
		VPAND(c.allBut1, x, u)
		VPCMPEQB(c.sameC0, u, u)
		VPOR(u, t, t)
		VPCMPEQB(c.e0, x, u)
		VMOVDQU(at.Offset(1), upper)
		VPMINUB(c.below, upper, t2)
		VPCMPEQB(upper, t2, upper)
		VPAND(upper, u, u)
		VPOR(u, t, t)
		addMask(i, t, wrong)
		addMask(i, x, lead)
	}
	ANDNQ(lead, cont, lead)
}

// addMask sets the i-th half of to to the top bits of the bytes of v.
func addMask(i int, v reg.VecVirtual, to reg.GPVirtual) {
	if i == 0 {
		VPMOVMSKB(v, to.As32())
		return
	}
	half := GP64()
	VPMOVMSKB(v, half.As32())
	SHLQ(Imm(32), half)
	ORQ(half, to)
}

func (c *avx2) classes(k *kernel, lead, any reg.GPVirtual) {
	p, x, y, src, notes := GP64(), GP64(), GP64(), GP64(), GP64()
	XORL(any.As32(), any.As32())
	LEAQ(Mem{Base: k.src, Index: k.at, Scale: 1}, src)
	LEAQ(Mem{Base: k.notes, Index: k.at, Scale: 1}, notes)
	each := func(label string, decode func()) {
		JMP(LabelRef(label + "Test"))
		Label(label)
		TZCNTQ(lead, p)
		BLSRQ(lead, lead)
		MOVL(Mem{Base: src, Index: p, Scale: 1}, x.As32())
		MOVL(x.As32(), y.As32())
		decode()
		ORL(y.As32(), x.As32())
		MOVWQZX(x.As16(), x)
		MOVBQZX(Mem{Base: k.of, Index: x, Scale: 1}, x)
		MOVB(x.As8(), Mem{Base: notes, Index: p, Scale: 1})
		ORQ(x, any)
		Label(label + "Test")
		TESTQ(lead, lead)
		JNZ(LabelRef(label))
	}
	Comment("Those of two bytes.")
	MOVQ(k.ofBlock(k.three), p)
	ANDNQ(lead, p, lead)
	each("two", func() {
		ANDL(Imm(0x1f), x.As32())
		SHLL(Imm(6), x.As32())
		SHRL(Imm(8), y.As32())
		ANDL(Imm(0x3f), y.As32())
	})
	MOVQ(k.ofBlock(k.three), lead)
	each("three", func() {
		z := GP64()
		MOVL(x.As32(), z.As32())
		SHLL(Imm(12), x.As32())
		SHRL(Imm(2), y.As32())
		ANDL(U32(0xfc0), y.As32())
		SHRL(Imm(16), z.As32())
		ANDL(Imm(0x3f), z.As32())
		ORL(z.As32(), y.As32())
	})
}

func (c *avx2) masks(k *kernel) {
	noted := [2]reg.VecVirtual{YMM(), YMM()}
	for i := range noted {
		VMOVDQU(Mem{Base: k.notes, Index: k.at, Scale: 1, Disp: 32 * i}, noted[i])
	}
	bit := func(class int) reg.GPVirtual {
		to, t := GP64(), YMM()
		for i, v := range noted {
			VPSLLW(Imm(uint64(7-class)), v, t)
			addMask(i, t, to)
		}
		return to
	}
	both := func(a, b reg.GPVirtual, slot int) {
		ORQ(a, b)
		MOVQ(b, k.slot[slot])
	}
	run, solo := bit(0), bit(1)
	MOVQ(run, k.slot[slotRun])
	MOVQ(solo, k.slot[slotSolo])
	both(run, solo, slotToken)
	stop := bit(5)
	MOVQ(stop, k.slot[slotStop])
	mark, last := bit(3), bit(4)
	both(last, mark, slotMark)
	ANDQ(run, mark)
	MOVQ(mark, k.slot[slotJoin])
	MOVQ(bit(7), k.slot[slotLate])
	swap := bit(2)
	ORQ(bit(6), swap)
	both(swap, last, slotChanged)
	ANDQ(k.ofBlock(k.lead), swap)
	MOVQ(swap, k.slot[slotSwap])
}

func (c *avx2) positions(k *kernel, m, list reg.GPVirtual) {
	bits, b := GP64(), GP64()
	base, x := XMM(), XMM()
	LEAQ(c.bits, bits)
	VMOVQ(k.at, base)
	VPBROADCASTW(base, base)
	for i := range 8 {
		MOVBQZX(m.As8(), b)
		if i < 7 {
			SHRQ(Imm(8), m)
		}
		VPMOVZXBW(Mem{Base: bits, Index: b, Scale: 8}, x)
		VPADDW(base, x, x)
		VMOVDQU(x, Mem{Base: list})
		POPCNTQ(b, b)
		LEAQ(Mem{Base: list, Index: b, Scale: 2}, list)
		if i < 7 {
			VPADDW(c.eight, base, base)
		}
	}
}

func (c *avx2) next() {}
