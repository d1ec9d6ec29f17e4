package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Truth tables of VPTERNLOGQ; the destination operand is the highest bit of the index.
const (
	xor3  = 0x96
	carry = 0xb2 // of y, sum, x: y where x = y, else the sum's complement
	above = 0xd4 // majority of borrow, plane, ¬bit
)

func avx512() *machine {
	m := &machine{
		name: "AVX512", laneBits: 3,
		vector:     func() reg.VecVirtual { return ZMM() },
		load:       func(from Op, v reg.VecVirtual) { VMOVDQU64(from, v) },
		store:      func(v reg.VecVirtual, to Op) { VMOVDQU64(v, to) },
		broadcast:  func(r reg.GPVirtual, v reg.VecVirtual) { VPBROADCASTQ(r, v) },
		xor:        func(x Op, y, z reg.VecVirtual) { VPXORQ(x, y, z) },
		and:        func(x Op, y, z reg.VecVirtual) { VPANDQ(x, y, z) },
		add:        func(x Op, y, z reg.VecVirtual) { VPADDQ(x, y, z) },
		addWord:    func(word Mem, y, z reg.VecVirtual) { VPADDQ_BCST(word, y, z) },
		shiftRight: func(n uint64, x, y reg.VecVirtual) { VPSRLQ(Imm(n), x, y) },
		fullAdd: func(plane, x, y reg.VecVirtual) {
			VPTERNLOGQ(Imm(xor3), x, y, plane)
			VPTERNLOGQ(Imm(carry), x, plane, y)
		},
		above: func(bit, plane, borrow reg.VecVirtual) { VPTERNLOGQ(Imm(above), bit, plane, borrow) },
		exchanges: []func(x, y reg.VecVirtual){
			func(x, y reg.VecVirtual) { VSHUFI64X2(Imm(0x4e), x, x, y) }, // halves
			func(x, y reg.VecVirtual) { VPERMQ(Imm(0x4e), x, y) },        // quarters
			func(x, y reg.VecVirtual) { VPERMQ(Imm(0xb1), x, y) },        // neighbours
		},
	}
	m.multiply = func(by uint64, x reg.VecVirtual) {
		VPMULLQ_BCST(constant("factor"+hex(by), 4, func(int) uint64 { return by }), x, x)
	}
	var mask reg.OpmaskVirtual
	m.first = func(count reg.GPVirtual) func(v reg.VecVirtual) {
		ones := GP64()
		mask = K()
		MOVQ(I64(-1), ones)
		BZHIQ(count, ones, ones)
		KMOVB(ones.As32(), mask)
		kept := mask
		return func(v reg.VecVirtual) { VMOVDQA64_Z(v, kept, v) }
	}
	m.loadFirst = func(from Mem, v reg.VecVirtual) { VMOVDQU64_Z(from, mask, v) }
	return m
}
