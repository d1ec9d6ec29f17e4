package main

import (
	"bytes"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/alike-dev/alike/internal/simd/asm/tokens"
)

// avx2 classifies by the two halves of each byte, and finds positions by a table
// of the bit positions of each byte value.
type avx2 struct {
	nibbles, bits, numbers Mem
	low, high, fifteen     reg.VecVirtual
	base, advance          reg.VecVirtual
}

func newAVX2() *avx2 {
	c := &avx2{}
	// A byte belongs to a word if its two halves have a class in common:
	// 1 digits (0x30…0x39), 2 A…O, a…o (0x41…0x4f), 4 P…Z, p…z (0x50…0x5a).
	var nibbles [64]byte // low halves twice, high halves twice
	for i := range 16 {
		if i <= 9 {
			nibbles[i] |= 1
		}
		if i >= 1 {
			nibbles[i] |= 2
		}
		if i <= 10 {
			nibbles[i] |= 4
		}
	}
	nibbles[32+3] = 1
	nibbles[32+4], nibbles[32+6] = 2, 2
	nibbles[32+5], nibbles[32+7] = 4, 4
	copy(nibbles[16:32], nibbles[:16])
	copy(nibbles[48:64], nibbles[32:48])
	c.nibbles = tokens.Bytes("wordNibbles", nibbles[:])
	c.numbers = tokens.Bytes("wordFifteen", bytes.Repeat([]byte{15}, 32))
	c.bits = tokens.BitPlaces("wordBits")
	return c
}

func (c *avx2) constants() {
	c.low, c.high, c.fifteen = YMM(), YMM(), YMM()
	c.base, c.advance = XMM(), XMM()
	VMOVDQU(c.nibbles, c.low)
	VMOVDQU(c.nibbles.Offset(32), c.high)
	VMOVDQU(c.numbers, c.fifteen)
	VPXOR(c.base, c.base, c.base)
	r := GP32()
	MOVL(U32(8), r)
	VMOVD(r, c.advance)
	VPBROADCASTW(c.advance, c.advance)
}

func (c *avx2) load(src Mem, word, high reg.GPVirtual) {
	var w, h [2]reg.GPVirtual
	zero := YMM()
	VPXOR(zero, zero, zero)
	for i := range 2 {
		w[i], h[i] = GP64(), GP64()
		x, lo, hi := YMM(), YMM(), YMM()
		VMOVDQU(src.Offset(32*i), x)
		VPMOVMSKB(x, h[i].As32())
		VPSHUFB(x, c.low, lo)
		VPSRLW(Imm(4), x, hi)
		VPAND(c.fifteen, hi, hi)
		VPSHUFB(hi, c.high, hi)
		VPAND(lo, hi, hi)
		VPCMPEQB(zero, hi, hi)
		VPMOVMSKB(hi, w[i].As32())
	}
	for _, p := range []struct {
		half [2]reg.GPVirtual
		to   reg.GPVirtual
	}{{w, word}, {h, high}} {
		MOVQ(p.half[1], p.to)
		SHLQ(Imm(32), p.to)
		ORQ(p.half[0], p.to)
	}
	NOTQ(word)
}

func (c *avx2) positions(t reg.GPVirtual, index Mem, count reg.GPVirtual) {
	bits := GP64()
	LEAQ(c.bits, bits)
	for i := range 8 {
		b, x := GP64(), XMM()
		MOVBQZX(t.As8(), b)
		if i < 7 {
			SHRQ(Imm(8), t)
		}
		VPMOVZXBW(Mem{Base: bits, Index: b, Scale: 8}, x)
		VPADDW(c.base, x, x)
		VPADDW(c.advance, c.base, c.base)
		VMOVDQU(x, index)
		POPCNTQ(b, b)
		ADDQ(b, count)
	}
}

func (c *avx2) done() { VZEROUPPER() }
