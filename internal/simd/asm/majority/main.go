// Command majority generates the AVX-512 and AVX2 kernels of SimHash. See
// majority.go of package simd for what they compute and how, majority_generic.go
// for the twins.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Layout of simd.MajorityScratch.
const (
	levels  = 40
	row     = 64           // bytes of a plane
	waiting = levels * row // from a plane to what waits for it
)

// Truth tables of VPTERNLOGQ; the operand that is written is the highest bit of
// the index.
const (
	xor3      = 0x96
	majority3 = 0xe8
	carry     = 0xb2 // of y, x and plane, from y, sum, x: y where x = y, else the sum's complement
	above     = 0xd4 // majority of borrow, plane, ¬bit
)

func main() {
	ConstraintExpr("!purego")
	words()
	elements()
	Generate()
}

// constant returns a vector of eight times c.
func constant(c uint64) reg.VecVirtual {
	r, v := GP64(), ZMM()
	MOVQ(U64(c), r)
	VPBROADCASTQ(r, v)
	return v
}

func zero() reg.VecVirtual {
	v := ZMM()
	VPXORQ(v, v, v)
	return v
}

// mixer holds the constants of hashing.Mix.
type mixer struct{ m1, m2 reg.VecVirtual }

func newMixer() mixer {
	return mixer{constant(0xbf58476d1ce4e5b9), constant(0x94d049bb133111eb)}
}

func (m mixer) mix(x reg.VecVirtual) {
	t := ZMM()
	VPSRLQ(Imm(30), x, t)
	VPXORQ(t, x, x)
	VPMULLQ(m.m1, x, x)
	VPSRLQ(Imm(27), x, t)
	VPXORQ(t, x, x)
	VPMULLQ(m.m2, x, x)
	VPSRLQ(Imm(31), x, t)
	VPXORQ(t, x, x)
}

// fullAdd adds x and y to plane and leaves in y what is carried.
func fullAdd(plane, x, y reg.VecVirtual) {
	VPTERNLOGQ(Imm(xor3), x, y, plane)
	VPTERNLOGQ(Imm(carry), x, plane, y)
}

// halfAdd adds c to planes, of which the last carries nothing.
func halfAdd(c reg.VecVirtual, planes ...reg.VecVirtual) {
	for i, p := range planes {
		if i == len(planes)-1 {
			VPXORQ(c, p, p)
			return
		}
		next := ZMM()
		VPANDQ(c, p, next)
		VPXORQ(c, p, p)
		c = next
	}
}

// kernel is what the two kernels have in common: registers and scratch memory.
type kernel struct {
	mixer
	load   func(i int) reg.VecVirtual // the i-th input from here, not yet mixed
	step   int                        // bytes of hashes an input takes
	hashes reg.GPVirtual
	planes [4]reg.VecVirtual // ones, twos, fours, eights
	base   reg.GPVirtual     // of the planes in memory
	blocks reg.GPVirtual     // taken in
}

func (k *kernel) input(i int) reg.VecVirtual {
	x := k.load(i)
	k.mix(x)
	return x
}

// clear sets the planes from 4 on to zero, as many as blocks needs; at least one.
func (k *kernel) clear(blocks reg.GPVirtual) {
	z := zero()
	at, left := GP64(), GP64()
	LEAQ(Mem{Base: k.base, Disp: 4 * row}, at)
	MOVQ(blocks, left)
	Label("clear")
	VMOVDQU64(z, Mem{Base: at})
	ADDQ(Imm(row), at)
	SHRQ(Imm(1), left)
	JNZ(LabelRef("clear"))
}

// pairs takes in 2·count inputs, which may not make the planes carry.
func (k *kernel) pairs(count reg.GPVirtual, above ...reg.VecVirtual) {
	Label("pairs")
	TESTQ(count, count)
	JZ(LabelRef("whole"))
	x, y := k.input(0), k.input(1)
	fullAdd(k.planes[0], x, y)
	halfAdd(y, append([]reg.VecVirtual{k.planes[1], k.planes[2], k.planes[3]}, above...)...)
	ADDQ(I32(int32(2*k.step)), k.hashes)
	DECQ(count)
	JMP(LabelRef("pairs"))
	Label("whole")
}

// tree adds 2^level inputs from the first-th on and returns what planes[level−1]
// carries.
func (k *kernel) tree(level, first int) reg.VecVirtual {
	if level == 0 {
		return k.input(first)
	}
	x := k.tree(level-1, first)
	y := k.tree(level-1, first+1<<(level-1))
	fullAdd(k.planes[level-1], x, y)
	return y
}

// wholeBlocks takes in count blocks of 16 inputs.
func (k *kernel) wholeBlocks(count reg.GPVirtual) {
	XORQ(k.blocks, k.blocks)
	Label("block")
	CMPQ(k.blocks, count)
	JE(LabelRef("counted"))
	c := k.tree(4, 0)
	ADDQ(I32(int32(16*k.step)), k.hashes)

	at, bits := GP64(), GP64()
	LEAQ(Mem{Base: k.base, Disp: 4 * row}, at)
	MOVQ(k.blocks, bits)
	INCQ(k.blocks)
	Label("carry")
	SHRQ(Imm(1), bits)
	JCC(LabelRef("wait"))
	p, w := ZMM(), ZMM()
	VMOVDQU64(Mem{Base: at}, p)
	VMOVDQU64(Mem{Base: at, Disp: waiting}, w)
	fullAdd(p, w, c)
	VMOVDQU64(p, Mem{Base: at})
	ADDQ(Imm(row), at)
	JMP(LabelRef("carry"))
	Label("wait")
	VMOVDQU64(c, Mem{Base: at, Disp: waiting})
	JMP(LabelRef("block"))
	Label("counted")
}

// spread returns a vector of ones if the lowest bit of r is one, else of zeros, and
// moves r on by one bit.
func spread(r reg.GPVirtual) reg.VecVirtual {
	bit, v := GP64(), ZMM()
	MOVQ(r, bit)
	ANDQ(Imm(1), bit)
	NEGQ(bit)
	VPBROADCASTQ(bit, v)
	SHRQ(Imm(1), r)
	return v
}

// words: eight words at once, a lane each.
func words() {
	TEXT("majorityWordsAVX512", NOSPLIT, "func(dst *uint64, lanes uint64, hashes *uint64, n int, offset, tie uint64, scratch *uint64)")
	Pragma("noescape")
	Doc("majorityWordsAVX512 writes the majorities of eight words, those that lanes", "has ones for; offset is γ times one more than the first's number.")
	k := kernel{mixer: newMixer(), hashes: gp("hashes"), base: gp("scratch"), blocks: GP64(), step: 8}
	n := gp("n")
	offsets := ZMM()
	VPBROADCASTQ(Load(Param("offset"), GP64()), offsets)
	VPADDQ(lanesOf("laneOffsets", func(i int) uint64 { return uint64(i) * 0x9e3779b97f4a7c15 }), offsets, offsets)
	k.load = func(i int) reg.VecVirtual {
		x := ZMM()
		VPADDQ_BCST(Mem{Base: k.hashes, Disp: 8 * i}, offsets, x)
		return x
	}
	loose, blocks := GP64(), GP64()
	MOVQ(n, blocks)
	SHRQ(Imm(4), blocks)
	k.clear(blocks)
	for i := range k.planes {
		k.planes[i] = zero()
	}
	MOVQ(n, loose)
	ANDQ(Imm(15), loose)
	SHRQ(Imm(1), loose)
	JCC(LabelRef("pairs"))
	VMOVDQA64(k.input(0), k.planes[0])
	ADDQ(Imm(8), k.hashes)
	k.pairs(loose)
	k.wholeBlocks(blocks)

	half, borrow := GP64(), ZMM()
	MOVQ(n, half)
	SHRQ(Imm(1), half)
	VPBROADCASTQ(Load(Param("tie"), GP64()), borrow)
	compareAll(k.planes[:], half, borrow)
	// The planes above, with what still waits for them.
	c := zero()
	at := GP64()
	LEAQ(Mem{Base: k.base, Disp: 4 * row}, at)
	Label("compare")
	TESTQ(blocks, blocks)
	JZ(LabelRef("done"))
	w, p := spread(blocks), ZMM()
	VPANDQ(Mem{Base: at, Disp: waiting}, w, w)
	VMOVDQU64(Mem{Base: at}, p)
	fullAdd(p, w, c)
	VPTERNLOGQ(Imm(above), spread(half), p, borrow)
	ADDQ(Imm(row), at)
	JMP(LabelRef("compare"))
	Label("done")
	mask := K()
	KMOVB(Load(Param("lanes"), GP64()).(reg.GPVirtual).As32(), mask)
	VMOVDQU64(borrow, mask, Mem{Base: gp("dst")})
	VZEROUPPER()
	RET()
}

// elements: one word at a time, a lane for each of eight elements.
func elements() {
	TEXT("majorityElementsAVX512", NOSPLIT, "func(dst *uint64, hashes *uint64, n int, offset, tie uint64, scratch *uint64)")
	Pragma("noescape")
	Doc("majorityElementsAVX512 writes the majority of the word whose number is one", "less than offset/γ; n is above 0.")
	k := kernel{mixer: newMixer(), hashes: gp("hashes"), base: gp("scratch"), blocks: GP64(), step: row}
	n := gp("n")
	offset := ZMM()
	VPBROADCASTQ(Load(Param("offset"), GP64()), offset)
	k.load = func(i int) reg.VecVirtual {
		x := ZMM()
		VPADDQ(Mem{Base: k.hashes, Disp: row * i}, offset, x)
		return x
	}
	vectors, blocks, half := GP64(), GP64(), GP64()
	MOVQ(n, vectors)
	SHRQ(Imm(3), vectors) // whole ones
	MOVQ(vectors, blocks)
	SHRQ(Imm(4), blocks)
	MOVQ(n, half)
	SHRQ(Imm(1), half)
	borrow := ZMM()
	VPBROADCASTQ(Load(Param("tie"), GP64()), borrow)

	for i := range k.planes {
		k.planes[i] = zero()
	}
	sixteens := zero()
	rest := GP64()
	MOVQ(n, rest)
	ANDQ(Imm(7), rest)
	JZ(LabelRef("vectors"))
	VMOVDQA64(k.lastVector(vectors, rest, offset), k.planes[0])
	Label("vectors")
	ANDQ(Imm(15), vectors)
	SHRQ(Imm(1), vectors)
	JCC(LabelRef("pairs"))
	halfAdd(k.input(0), k.planes[0], k.planes[1])
	ADDQ(Imm(row), k.hashes)
	k.pairs(vectors, sixteens)

	CMPQ(n, Imm(16))
	JBE(LabelRef("few"))
	TESTQ(blocks, blocks)
	JZ(LabelRef("some"))
	k.clear(blocks)
	VMOVDQU64(sixteens, Mem{Base: k.base, Disp: 4 * row})
	k.wholeBlocks(blocks)
	for i, p := range k.planes {
		VMOVDQU64(p, Mem{Base: k.base, Disp: row * i})
	}
	end, at := k.takeIn(blocks), GP64()
	k.sumLanes(end)
	MOVQ(k.base, at)
	Label("compare")
	VPTERNLOGQ(Imm(above), spread(half), memory(at), borrow)
	ADDQ(Imm(row), at)
	CMPQ(at, end)
	JB(LabelRef("compare"))
	JMP(LabelRef("done"))

	// Up to two elements a lane, or 16, have their planes in registers.
	Label("few")
	compareAll(sumInRegisters(k.planes[:2]), half, borrow)
	JMP(LabelRef("done"))
	Label("some")
	compareAll(sumInRegisters(append(k.planes[:4:4], sixteens)), half, borrow)
	Label("done")
	dst := gp("dst")
	VMOVQ(borrow.AsX(), Mem{Base: dst})
	VZEROUPPER()
	RET()
}

// lastVector returns the words of the elements behind the last whole vector, zero
// in the lanes that have none.
func (k *kernel) lastVector(vectors, rest reg.GPVirtual, offset reg.VecVirtual) reg.VecVirtual {
	tail, ones, mask := GP64(), GP64(), K()
	MOVQ(vectors, tail)
	SHLQ(Imm(6), tail)
	MOVQ(I64(-1), ones)
	BZHIQ(rest, ones, ones)
	KMOVB(ones.As32(), mask)
	x, y := ZMM(), ZMM()
	VMOVDQU64_Z(Mem{Base: k.hashes, Index: tail, Scale: 1}, mask, x)
	VPADDQ(offset, x, x)
	k.mix(x)
	VMOVDQA64_Z(x, mask, y)
	return y
}

// exchanges bring to a lane the one it is added to: of the other half, of the
// other quarter of its half, its neighbour.
var exchanges = []func(x, y reg.VecVirtual){
	func(x, y reg.VecVirtual) { VSHUFI64X2(Imm(0x4e), x, x, y) },
	func(x, y reg.VecVirtual) { VPERMQ(Imm(0x4e), x, y) },
	func(x, y reg.VecVirtual) { VPERMQ(Imm(0xb1), x, y) },
}

// sumInRegisters is sumLanes for few planes.
func sumInRegisters(planes []reg.VecVirtual) []reg.VecVirtual {
	for _, exchange := range exchanges {
		sums := make([]reg.VecVirtual, len(planes))
		var c reg.VecVirtual
		for i, p := range planes {
			sums[i] = ZMM()
			exchange(p, sums[i])
			next := ZMM()
			if i == 0 {
				VPANDQ(p, sums[i], next)
				VPXORQ(p, sums[i], sums[i])
			} else {
				VMOVDQA64(c, next)
				VPTERNLOGQ(Imm(majority3), p, sums[i], next)
				VPTERNLOGQ(Imm(xor3), c, p, sums[i])
			}
			c = next
		}
		planes = append(sums, c)
	}
	return planes
}

func compareAll(planes []reg.VecVirtual, half reg.GPVirtual, borrow reg.VecVirtual) {
	for _, p := range planes {
		VPTERNLOGQ(Imm(above), spread(half), p, borrow)
	}
}

// takeIn adds to the planes from 4 on what still waits for them and returns where
// the planes end.
func (k *kernel) takeIn(blocks reg.GPVirtual) (end reg.GPVirtual) {
	c := zero()
	end = GP64()
	LEAQ(Mem{Base: k.base, Disp: 4 * row}, end)
	Label("take")
	w, p := spread(blocks), memory(end)
	VPANDQ(Mem{Base: end, Disp: waiting}, w, w)
	fullAdd(p, w, c)
	VMOVDQU64(p, Mem{Base: end})
	ADDQ(Imm(row), end)
	TESTQ(blocks, blocks)
	JNZ(LabelRef("take"))
	VMOVDQU64(c, Mem{Base: end})
	ADDQ(Imm(row), end)
	return end
}

// sumLanes adds the counts of the eight lanes: of halves, of quarters, of
// neighbours. It moves the end of the planes up by three.
func (k *kernel) sumLanes(end reg.GPVirtual) {
	for round, exchange := range exchanges {
		label := []string{"halves", "quarters", "neighbours"}[round]
		c, at := zero(), GP64()
		MOVQ(k.base, at)
		Label(label)
		p, other := memory(at), ZMM()
		exchange(p, other)
		fullAdd(p, other, c)
		VMOVDQU64(p, Mem{Base: at})
		ADDQ(Imm(row), at)
		CMPQ(at, end)
		JB(LabelRef(label))
		VMOVDQU64(c, Mem{Base: end})
		ADDQ(Imm(row), end)
	}
}

func memory(at reg.GPVirtual) reg.VecVirtual {
	v := ZMM()
	VMOVDQU64(Mem{Base: at}, v)
	return v
}

func gp(param string) reg.GPVirtual { return Load(Param(param), GP64()).(reg.GPVirtual) }

// lanesOf returns constant memory with a word for each lane.
func lanesOf(name string, word func(i int) uint64) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for i := range 8 {
		DATA(8*i, U64(word(i)))
	}
	return m
}
