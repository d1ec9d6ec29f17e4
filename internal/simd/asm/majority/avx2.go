package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func avx2() *machine {
	m := &machine{
		name: "AVX2", laneBits: 2,
		vector: func() reg.VecVirtual { return YMM() },
		load:   func(from Op, v reg.VecVirtual) { VMOVDQU(from, v) },
		store:  func(v reg.VecVirtual, to Op) { VMOVDQU(v, to) },
		broadcast: func(r reg.GPVirtual, v reg.VecVirtual) {
			x := XMM()
			VMOVQ(r, x)
			VPBROADCASTQ(x, v)
		},
		xor: func(x Op, y, z reg.VecVirtual) { VPXOR(x, y, z) },
		and: func(x Op, y, z reg.VecVirtual) { VPAND(x, y, z) },
		add: func(x Op, y, z reg.VecVirtual) { VPADDQ(x, y, z) },
		addWord: func(word Mem, y, z reg.VecVirtual) {
			VPBROADCASTQ(word, z)
			VPADDQ(y, z, z)
		},
		shiftRight: func(n uint64, x, y reg.VecVirtual) { VPSRLQ(Imm(n), x, y) },
		fullAdd: func(plane, x, y reg.VecVirtual) {
			u := YMM()
			VPXOR(plane, x, u)
			VPAND(plane, x, x)
			VPXOR(u, y, plane)
			VPAND(u, y, y)
			VPOR(x, y, y)
		},
		above: func(bit, plane, borrow reg.VecVirtual) {
			either := YMM()
			VPOR(plane, borrow, either)
			VPAND(plane, borrow, borrow)
			VPANDN(either, bit, either)
			VPOR(either, borrow, borrow)
		},
		exchanges: []func(x, y reg.VecVirtual){
			func(x, y reg.VecVirtual) { VPERMQ(Imm(0x4e), x, y) },  // halves
			func(x, y reg.VecVirtual) { VPSHUFD(Imm(0x4e), x, y) }, // neighbours
		},
	}
	m.multiply = func(by uint64, x reg.VecVirtual) {
		// Of halves x = a·2³² + b, by = c·2³² + d: (a·d + b·c)·2³² + b·d.
		d := constant("factor"+hex(by), 4, func(int) uint64 { return by })
		c := constant("upper"+hex(by), 4, func(int) uint64 { return by >> 32 })
		ad, bc := YMM(), YMM()
		VPSRLQ(Imm(32), x, ad)
		VPMULUDQ(d, ad, ad)
		VPMULUDQ(c, x, bc)
		VPADDQ(bc, ad, ad)
		VPSLLQ(Imm(32), ad, ad)
		VPMULUDQ(d, x, x)
		VPADDQ(ad, x, x)
	}
	var mask reg.VecVirtual
	m.first = func(count reg.GPVirtual) func(v reg.VecVirtual) {
		ones := constant("firstLanes", 8, func(i int) uint64 {
			if i < 4 {
				return 1<<64 - 1
			}
			return 0
		})
		at, back := GP64(), GP64()
		LEAQ(ones.Offset(32), at)
		MOVQ(count, back)
		SHLQ(Imm(3), back)
		SUBQ(back, at)
		mask = m.memory(at)
		kept := mask
		return func(v reg.VecVirtual) { VPAND(kept, v, v) }
	}
	m.loadFirst = func(from Mem, v reg.VecVirtual) { VPMASKMOVQ(from, mask, v) }
	return m
}

func hex(x uint64) string { return fmt.Sprintf("%x", x) }
