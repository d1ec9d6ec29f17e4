// Command majority generates the AVX-512 and AVX2 kernels of SimHash. majority.go of package simd
// describes their results and how they work; majority_generic.go is the twin.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Layout of simd.MajorityScratch.
const (
	levels  = 40
	row     = 64           // bytes of a plane, of which AVX2 uses half
	waiting = levels * row // from a plane to the carry that waits for it
)

const gamma = 0x9e3779b97f4a7c15

func main() {
	ConstraintExpr("!purego")
	for _, m := range []*machine{avx512(), avx2()} {
		words(m)
		elements(m)
	}
	Generate()
}

// kernel holds the registers and scratch memory that both kernels use.
type kernel struct {
	*machine
	raw    func(i int) reg.VecVirtual // the i-th input from here, not yet mixed
	step   int                        // bytes of hashes for one input
	hashes reg.GPVirtual
	planes [4]reg.VecVirtual // ones, twos, fours, eights
	base   reg.GPVirtual     // of the planes in memory
	done   reg.GPVirtual     // blocks processed
	half   reg.GPVirtual     // of n
	borrow reg.VecVirtual
}

func newKernel(m *machine, step int, n reg.GPVirtual) *kernel {
	k := &kernel{machine: m, step: step, hashes: gp("hashes"), base: gp("scratch"), done: GP64(), half: GP64()}
	MOVQ(n, k.half)
	SHRQ(Imm(1), k.half)
	for i := range k.planes {
		k.planes[i] = m.zero()
	}
	return k
}

func (k *kernel) input(i int) reg.VecVirtual {
	x := k.raw(i)
	k.mix(x)
	return x
}

// clear sets the planes from 4 on to zero, as many as blocks needs; at least one.
func (k *kernel) clear(blocks reg.GPVirtual) {
	z := k.zero()
	at, left := GP64(), GP64()
	LEAQ(Mem{Base: k.base, Disp: 4 * row}, at)
	MOVQ(blocks, left)
	Label("clear")
	k.store(z, Mem{Base: at})
	ADDQ(Imm(row), at)
	SHRQ(Imm(1), left)
	JNZ(LabelRef("clear"))
}

// pairs adds 2·count inputs, whose sum must not carry out of the planes.
func (k *kernel) pairs(count reg.GPVirtual, more ...reg.VecVirtual) {
	Label("pairs")
	TESTQ(count, count)
	JZ(LabelRef("whole"))
	x, y := k.input(0), k.input(1)
	k.fullAdd(k.planes[0], x, y)
	k.halfAdd(y, append([]reg.VecVirtual{k.planes[1], k.planes[2], k.planes[3]}, more...)...)
	ADDQ(I32(int32(2*k.step)), k.hashes)
	DECQ(count)
	JMP(LabelRef("pairs"))
	Label("whole")
}

// tree adds 2^level inputs from the first-th on and returns the carry of planes[level−1].
func (k *kernel) tree(level, first int) reg.VecVirtual {
	if level == 0 {
		return k.input(first)
	}
	x := k.tree(level-1, first)
	y := k.tree(level-1, first+1<<(level-1))
	k.fullAdd(k.planes[level-1], x, y)
	return y
}

// wholeBlocks adds blocks of 16 inputs.
func (k *kernel) wholeBlocks(blocks reg.GPVirtual) {
	XORQ(k.done, k.done)
	Label("block")
	CMPQ(k.done, blocks)
	JE(LabelRef("counted"))
	c := k.tree(4, 0)
	ADDQ(I32(int32(16*k.step)), k.hashes)

	at, bits := GP64(), GP64()
	LEAQ(Mem{Base: k.base, Disp: 4 * row}, at)
	MOVQ(k.done, bits)
	INCQ(k.done)
	Label("carry")
	SHRQ(Imm(1), bits)
	JCC(LabelRef("wait"))
	p, w := k.memory(at), k.vector()
	k.load(Mem{Base: at, Disp: waiting}, w)
	k.fullAdd(p, w, c)
	k.store(p, Mem{Base: at})
	ADDQ(Imm(row), at)
	JMP(LabelRef("carry"))
	Label("wait")
	k.store(c, Mem{Base: at, Disp: waiting})
	JMP(LabelRef("block"))
	Label("counted")
}

// compare compares planes with the next bits of half.
func (k *kernel) compare(planes ...reg.VecVirtual) {
	for _, p := range planes {
		k.above(k.spread(k.half), p, k.borrow)
	}
}

// takeIn returns the plane at a place from 4 on, including the carry that waits for it; c is the
// carry of the plane before, and becomes the carry of this one.
func (k *kernel) takeIn(at, blocks reg.GPVirtual, c reg.VecVirtual) reg.VecVirtual {
	w, p := k.spread(blocks), k.memory(at)
	k.and(Mem{Base: at, Disp: waiting}, w, w)
	k.fullAdd(p, w, c)
	return p
}

// words: several words at once, a lane each.
func words(m *machine) {
	TEXT("majorityWords"+m.name, NOSPLIT, "func(dst *uint64, hashes *uint64, n int, offset, tie uint64, scratch *uint64)")
	Pragma("noescape")
	Doc("majorityWords"+m.name+" writes the majorities of as many words as a vector has lanes;", "offset is γ times one more than the number of the first.")
	n := gp("n")
	k := newKernel(m, 8, n)
	offsets := m.param("offset")
	m.add(constant("laneOffsets", 8, func(i int) uint64 { return uint64(i) * gamma }), offsets, offsets)
	k.raw = func(i int) reg.VecVirtual {
		x := m.vector()
		m.addWord(Mem{Base: k.hashes, Disp: 8 * i}, offsets, x)
		return x
	}
	loose, blocks := GP64(), GP64()
	MOVQ(n, blocks)
	SHRQ(Imm(4), blocks)
	k.clear(blocks)
	MOVQ(n, loose)
	ANDQ(Imm(15), loose)
	SHRQ(Imm(1), loose)
	JCC(LabelRef("pairs"))
	m.xor(k.input(0), k.planes[0], k.planes[0])
	ADDQ(Imm(8), k.hashes)
	k.pairs(loose)
	k.wholeBlocks(blocks)

	k.borrow = m.param("tie")
	k.compare(k.planes[:]...)
	c, at := m.zero(), GP64()
	LEAQ(Mem{Base: k.base, Disp: 4 * row}, at)
	Label("compare")
	TESTQ(blocks, blocks)
	JZ(LabelRef("done"))
	k.compare(k.takeIn(at, blocks, c))
	ADDQ(Imm(row), at)
	JMP(LabelRef("compare"))
	Label("done")
	m.store(k.borrow, Mem{Base: gp("dst")})
	VZEROUPPER()
	RET()
}

// elements: one word at a time, a lane for each of several elements.
func elements(m *machine) {
	TEXT("majorityElements"+m.name, NOSPLIT, "func(dst *uint64, hashes *uint64, n int, offset, tie uint64, scratch *uint64)")
	Pragma("noescape")
	Doc("majorityElements"+m.name+" writes the majority of the word whose number is one", "less than offset/γ; n is above 0.")
	n := gp("n")
	bytes := 8 * m.lanes()
	k := newKernel(m, bytes, n)
	offset := m.param("offset")
	k.raw = func(i int) reg.VecVirtual {
		x := m.vector()
		m.add(Mem{Base: k.hashes, Disp: bytes * i}, offset, x)
		return x
	}
	vectors, blocks := GP64(), GP64()
	MOVQ(n, vectors)
	SHRQ(Imm(uint64(m.laneBits)), vectors) // whole ones
	MOVQ(vectors, blocks)
	SHRQ(Imm(4), blocks)

	sixteens := m.zero()
	k.lastVector(n, vectors, offset)
	ANDQ(Imm(15), vectors)
	SHRQ(Imm(1), vectors)
	JCC(LabelRef("pairs"))
	m.halfAdd(k.input(0), k.planes[0], k.planes[1])
	ADDQ(Imm(uint64(bytes)), k.hashes)
	k.pairs(vectors, sixteens)

	k.borrow = m.param("tie")
	CMPQ(n, Imm(uint64(2*m.lanes())))
	JBE(LabelRef("few"))
	TESTQ(blocks, blocks)
	JZ(LabelRef("some"))
	k.many(blocks, sixteens)
	JMP(LabelRef("done"))
	// With up to two elements a lane, or 16, the planes are in registers.
	Label("few")
	k.compare(k.sumInRegisters(k.planes[:2])...)
	JMP(LabelRef("done"))
	Label("some")
	k.compare(k.sumInRegisters(append(k.planes[:4:4], sixteens))...)
	Label("done")
	VMOVQ(k.borrow.AsX(), Mem{Base: gp("dst")})
	VZEROUPPER()
	RET()
}

// many adds blocks, sums the lanes and compares, with planes in memory.
func (k *kernel) many(blocks reg.GPVirtual, sixteens reg.VecVirtual) {
	k.clear(blocks)
	k.store(sixteens, Mem{Base: k.base, Disp: 4 * row})
	k.wholeBlocks(blocks)
	for i, p := range k.planes {
		k.store(p, Mem{Base: k.base, Disp: row * i})
	}
	c, end, at := k.zero(), GP64(), GP64()
	LEAQ(Mem{Base: k.base, Disp: 4 * row}, end)
	Label("take")
	k.store(k.takeIn(end, blocks, c), Mem{Base: end})
	ADDQ(Imm(row), end)
	TESTQ(blocks, blocks)
	JNZ(LabelRef("take"))
	k.store(c, Mem{Base: end})
	ADDQ(Imm(row), end)

	k.sumLanes(end)
	MOVQ(k.base, at)
	Label("compare")
	k.compare(k.memory(at))
	ADDQ(Imm(row), at)
	CMPQ(at, end)
	JB(LabelRef("compare"))
}

// lastVector adds the elements behind the last whole vector.
func (k *kernel) lastVector(n, vectors reg.GPVirtual, offset reg.VecVirtual) {
	rest, tail := GP64(), GP64()
	MOVQ(n, rest)
	ANDQ(Imm(uint64(k.lanes()-1)), rest)
	JZ(LabelRef("vectors"))
	MOVQ(vectors, tail)
	SHLQ(Imm(uint64(k.laneBits+3)), tail)
	keep, x := k.first(rest), k.vector()
	k.loadFirst(Mem{Base: k.hashes, Index: tail, Scale: 1}, x)
	k.add(offset, x, x)
	k.mix(x)
	keep(x)
	k.xor(x, k.planes[0], k.planes[0])
	Label("vectors")
}

// sumInRegisters adds the counts of all lanes in each lane; it returns one more
// plane for every step.
func (k *kernel) sumInRegisters(planes []reg.VecVirtual) []reg.VecVirtual {
	for _, exchange := range k.exchanges {
		sums := make([]reg.VecVirtual, len(planes))
		c := k.zero()
		for i, p := range planes {
			sums[i] = k.vector()
			exchange(p, sums[i])
			k.fullAdd(sums[i], p, c)
		}
		planes = append(sums, c)
	}
	return planes
}

// sumLanes is sumInRegisters for planes in memory. It moves their end.
func (k *kernel) sumLanes(end reg.GPVirtual) {
	for i, exchange := range k.exchanges {
		label := "sum" + string(rune('0'+i))
		c, at := k.zero(), GP64()
		MOVQ(k.base, at)
		Label(label)
		p, other := k.memory(at), k.vector()
		exchange(p, other)
		k.fullAdd(p, other, c)
		k.store(p, Mem{Base: at})
		ADDQ(Imm(row), at)
		CMPQ(at, end)
		JB(LabelRef(label))
		k.store(c, Mem{Base: end})
		ADDQ(Imm(row), end)
	}
}
