// Command cut generates cut_amd64.s of package simd. cut.go there describes the results of the
// kernels.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/alike-dev/alike/internal/simd/asm/tokens"
)

const (
	block     = 64 // bytes that have a mask
	maxBlocks = 32 // in one call: wordBlocks of package simd

	// The bits of a class, as in cut.go.
	classRun      = 1 << 0
	classSolo     = 1 << 1
	classSwap     = 1 << 2
	classMark     = 1 << 3
	classLastMark = 1 << 4
	classStop     = 1 << 5
	classRebuild  = 1 << 6
	classLate     = 1 << 7

	// Offsets of the fields of simd.Classes.
	classesASCII   = 1 << 16
	classesFold    = classesASCII + 128
	classesHalves  = classesFold + 128    // lower halves of tokens' bytes, of capitals' bytes
	classesOfToken = classesHalves + 2*16 // eight times the class of a token
)

func main() {
	ConstraintExpr("!purego")
	generate("cutAVX512Blocks", "AVX-512 (BW, VBMI, VBMI2)", &avx512{})
	generate("cutAVX2Blocks", "AVX2", &avx2{})
	hashes()
	Generate()
}

// machine is the part of the kernel that differs between instruction sets.
type machine interface {
	// constants loads the constants that stay in registers through both passes.
	constants(k *kernel)
	// front folds the next block into text and sets masks of its bytes: first bytes of sequences,
	// first bytes of three-byte sequences, bytes that cannot be first, and other bytes above 0x7f.
	// All are 0 if no byte is above 0x7f.
	front(k *kernel, lead, three, wrong, cont reg.GPVirtual)
	// classes stores the classes of ASCII and of the code points that begin at the bits of lead, at
	// most 32, and sets any to their bits. It may change lead.
	classes(k *kernel, lead, any reg.GPVirtual)
	// masks sets the slots of k to masks of the classes that were stored for a block.
	masks(k *kernel)
	// positions writes the positions of the bits of m to list, as 16-bit words, and advances list.
	// It may write up to 64 words whatever their number, and change m.
	positions(k *kernel, m, list reg.GPVirtual)
	// next moves positions to the next block.
	next()
}

// Slots for masks of a block, and for the state that blocks pass to the next block.
const (
	slotRun     = iota // first bytes of code points of a class, and ASCII
	slotToken          // those that are parts of runs or solos
	slotSolo           //
	slotSwap           // or that change their token
	slotMark           // of both kinds
	slotLate           // marks that may follow anything
	slotChanged        // that no mark may follow
	slotJoin           // marks that are part of a token
	slotStop           //
	overRun            // bytes of the last code point that lie in the next block
	overToken          //
	overChanged        //
	overJoin           //
	lastRun            // 1: the last byte was part of a run
	lastSolo           //
	lastToken          //
	lastPlain          // 1: … of a code point that a mark may follow
	slots
)

type kernel struct {
	src, text, of reg.Register
	at            reg.GPVirtual // bytes processed
	end           Mem           // bytes in all
	// For each block: first bytes of sequences, of three-byte sequences, and invalid bytes.
	lead, three, bad Mem
	noted            Mem           // stored classes
	notes, eighth    reg.GPVirtual // where the next classes are stored; bytes processed, by 8
	slot             [slots]Mem
	m                machine
}

func generate(name, isa string, m machine) {
	TEXT(name, 0, "func(classes, text *byte, starts, ends, swaps *uint16, src *byte, blocks int) (nStarts, nEnds, nSwaps, stop int)")
	Pragma("noescape")
	Doc(name+" is cutBlocksGeneric for at most wordBlocks blocks, with "+isa+".",
		"src must have 64*blocks+16 bytes.")
	k := kernel{
		src: Load(Param("src"), GP64()), text: Load(Param("text"), GP64()), of: Load(Param("classes"), GP64()),
		at: GP64(), end: AllocLocal(8), notes: GP64(), eighth: GP64(), m: m,
		lead: AllocLocal(8 * maxBlocks), three: AllocLocal(8 * maxBlocks), bad: AllocLocal(8 * maxBlocks),
		noted: AllocLocal(block*maxBlocks + block),
	}
	for i := range k.slot {
		k.slot[i] = AllocLocal(8)
	}
	Load(Param("blocks"), k.at)
	SHLQ(Imm(6), k.at)
	MOVQ(k.at, k.end)
	m.constants(&k)
	k.lookUp()
	k.cut()
	VZEROUPPER()
	RET()
}

// ofBlock addresses the word of an array that belongs to the current block.
func (k *kernel) ofBlock(array Mem) Mem { return array.Idx(k.eighth, 1) }

// lookUp is the first pass: it folds the text, finds the sequences and looks up their classes. It
// ends early with the block in which something stops it.
func (k *kernel) lookUp() {
	lead, three, wrong, cont := GP64(), GP64(), GP64(), GP64()
	carry, t := k.slot[overToken], GP64()
	XORL(k.at.As32(), k.at.As32())
	XORL(k.eighth.As32(), k.eighth.As32())
	MOVQ(k.at, carry)
	LEAQ(k.noted, k.notes)
	Label("look")
	k.m.front(k, lead, three, wrong, cont)
	Comment("Where bytes that continue a sequence must be.")
	MOVQ(carry, t)
	LEAQ(Mem{Base: t, Index: lead, Scale: 2}, t)
	XORQ(t, cont)
	MOVQ(three, t)
	SHLQ(Imm(2), t)
	XORQ(t, cont)
	ORQ(cont, wrong)
	MOVQ(lead, cont)
	SHRQ(Imm(63), cont)
	MOVQ(three, t)
	SHRQ(Imm(62), t)
	ORQ(cont, t)
	MOVQ(t, carry)
	Comment("Only what precedes the first wrong byte is looked up.")
	BLSMSKQ(wrong, t)
	ANDNQ(t, wrong, t)
	ANDQ(t, lead)
	ANDQ(t, three)
	MOVQ(lead, k.ofBlock(k.lead))
	MOVQ(three, k.ofBlock(k.three))
	MOVQ(wrong, k.ofBlock(k.bad))
	k.m.classes(k, lead, t)
	ADDQ(Imm(8), k.eighth)
	ADDQ(Imm(block), k.at)
	TESTQ(wrong, wrong)
	JNZ(LabelRef("looked"))
	TESTB(U8(classStop), t.As8())
	JNZ(LabelRef("looked"))
	CMPQ(k.at, k.end)
	JNE(LabelRef("look"))
	Label("looked")
	MOVQ(k.at, k.end)
}

// cut is the second pass: it finds the tokens.
func (k *kernel) cut() {
	starts, ends, swaps := GP64(), GP64(), AllocLocal(8)
	Load(Param("swaps"), starts)
	MOVQ(starts, swaps)
	Load(Param("starts"), starts)
	Load(Param("ends"), ends)
	a, b, c, d, t, bad := GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	XORL(k.at.As32(), k.at.As32())
	for i := overRun; i < slots; i++ {
		MOVQ(k.at, k.slot[i])
	}
	LEAQ(k.noted, k.notes)
	XORL(k.eighth.As32(), k.eighth.As32())

	Label("cut")
	k.m.masks(k)
	lead, three := k.ofBlock(k.lead), k.ofBlock(k.three)
	Comment("All bytes of changed code points, of runs, of tokens.")
	fill := func(first, over int, to reg.GPVirtual) {
		MOVQ(k.slot[first], to)
		MOVQ(to, t)
		ANDQ(lead, t)
		ORQ(k.slot[over], to)
		LEAQ(Mem{Base: t, Index: t, Scale: 1}, bad)
		ORQ(bad, to)
		MOVQ(t, bad)
		ANDQ(three, t)
		SHRQ(Imm(63), bad)
		MOVQ(bad, k.slot[over])
		MOVQ(t, bad)
		SHLQ(Imm(2), bad)
		ORQ(bad, to)
		SHRQ(Imm(62), t)
		ORQ(t, k.slot[over])
	}
	fill(slotChanged, overChanged, a)
	fill(slotRun, overRun, b)
	fill(slotToken, overToken, c)
	fill(slotJoin, overJoin, d)
	shifted := func(m reg.GPVirtual, last int, to reg.GPVirtual) {
		MOVQ(k.slot[last], to)
		LEAQ(Mem{Base: to, Index: m, Scale: 2}, to)
		MOVQ(m, t)
		SHRQ(Imm(63), t)
		MOVQ(t, k.slot[last])
	}
	Comment("What stops: a mark that follows anything but a plain code point of a token.")
	ANDNQ(c, a, a)
	shifted(a, lastPlain, bad)
	ANDNQ(k.slot[slotMark], bad, bad)
	JZ(LabelRef("allowed"))
	Comment("But late marks may, which are recorded.")
	MOVQ(k.slot[slotLate], a)
	MOVQ(a, t)
	ANDQ(bad, t)
	ORQ(t, k.slot[slotSwap])
	ANDNQ(bad, a, bad)
	Label("allowed")
	ORQ(k.slot[slotStop], bad)
	ORQ(k.ofBlock(k.bad), bad)
	Comment("Marks in a row that begin behind a solo belong to it: adding a one where they begin")
	Comment("carries through all of them.")
	ANDNQ(c, b, a)
	MOVQ(a, t)
	ADDQ(t, t)
	ORQ(k.slot[lastSolo], t)
	ANDQ(d, t)
	ADDQ(d, t)
	ANDNQ(d, t, d)
	ORQ(d, a)
	SHRQ(Imm(63), a)
	MOVQ(a, k.slot[lastSolo])
	ANDNQ(b, d, b)
	Comment("Where tokens start, and where they have ended.")
	shifted(b, lastRun, a)
	ANDNQ(b, a, a)
	ORQ(k.slot[slotSolo], a)
	shifted(c, lastToken, b)
	NOTQ(c)
	ORQ(a, c)
	ANDQ(c, b)
	TESTQ(bad, bad)
	JNZ(LabelRef("bad"))
	k.m.positions(k, a, starts)
	k.m.positions(k, b, ends)
	MOVQ(k.slot[slotSwap], a)
	k.swap(a, swaps, "swap")
	k.m.next()
	ADDQ(Imm(8), k.eighth)
	ADDQ(Imm(block), k.at)
	CMPQ(k.at, k.end)
	JNE(LabelRef("cut"))
	JMP(LabelRef("done"))

	Label("bad")
	BLSMSKQ(bad, t)
	SHRQ(Imm(1), t)
	ANDQ(t, a)
	ANDQ(t, b)
	TZCNTQ(bad, bad)
	MOVQ(k.slot[slotSwap], c)
	ANDQ(t, c)
	k.m.positions(k, a, starts)
	k.m.positions(k, b, ends)
	k.swap(c, swaps, "swapBad")
	ADDQ(bad, k.at)

	Label("done")
	Store(k.at, ReturnIndex(3))
	for i, list := range []struct {
		name string
		at   Op
	}{{"starts", starts}, {"ends", ends}, {"swaps", swaps}} {
		MOVQ(list.at, a)
		Load(Param(list.name), t)
		SUBQ(t, a)
		SHRQ(Imm(1), a)
		Store(a, ReturnIndex(i))
	}
}

// swap appends the positions of the bits of m, of which there are few.
func (k *kernel) swap(m reg.GPVirtual, swaps Mem, label string) {
	place, list := GP64(), GP64()
	TESTQ(m, m)
	JZ(LabelRef(label + "Done"))
	MOVQ(swaps, list)
	Label(label)
	TZCNTQ(m, place)
	ADDQ(k.at, place)
	MOVW(place.As16(), Mem{Base: list})
	ADDQ(Imm(2), list)
	BLSRQ(m, m)
	JNZ(LabelRef(label))
	MOVQ(list, swaps)
	Label(label + "Done")
}

// hashes generates the loop over tokens: as in the kernels of words, but with the lists of starts
// and ends, and with text that is already folded.
func hashes() {
	TEXT("hashCutsBMI2", NOSPLIT, "func(dst *uint64, text *byte, starts, ends *uint16, n int)")
	Pragma("noescape")
	Doc("hashCutsBMI2 writes the hashes of n tokens of text, n above 0. 16 bytes of each token must be",
		"readable, however short it is.")
	n := Load(Param("n"), GP64()).(reg.GPVirtual)
	starts, ends, dst := GP64(), GP64(), GP64()
	h := tokens.Hash{Text: Load(Param("text"), GP64()), Start: GP64(), Length: GP64()}
	Load(Param("starts"), starts)
	Load(Param("ends"), ends)
	Load(Param("dst"), dst)
	LEAQ(Mem{Base: starts, Index: n, Scale: 2}, starts)
	LEAQ(Mem{Base: ends, Index: n, Scale: 2}, ends)
	LEAQ(Mem{Base: dst, Index: n, Scale: 8}, dst)
	Comment("The number of the token runs from -n up to 0.")
	NEGQ(n)
	h.Prepare(tokens.Masks("cutMasks"))
	Label("token")
	MOVWQZX(Mem{Base: starts, Index: n, Scale: 2}, h.Start)
	MOVWQZX(Mem{Base: ends, Index: n, Scale: 2}, h.Length)
	SUBQ(h.Start, h.Length)
	h.Write(func(hash reg.GPVirtual) {
		MOVQ(hash, Mem{Base: dst, Index: n, Scale: 8})
		INCQ(n)
		JNZ(LabelRef("token"))
		RET()
	})
}
