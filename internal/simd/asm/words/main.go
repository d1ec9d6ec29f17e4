// Command words generates words_amd64.s of package simd. Run it by go generate
// in that package.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/alike-dev/alike/internal/simd/asm/tokens"
)

const (
	block     = 64   // bytes classified at once
	prefetch  = 2048 // bytes ahead, as many as one call processes
	maxBlocks = 32   // in one call: wordBlocks in words_amd64.go
)

func main() {
	ConstraintExpr("!purego")
	masks := tokens.Masks("wordMasks")
	with512, with2 := newAVX512(), newAVX2()
	generate("wordHashesAVX512", "AVX-512 (BW, VBMI, VBMI2)", masks, with512)
	generate("wordHashesAVX2", "AVX2", masks, with2)
	generateEdges("wordEdgesAVX512", "AVX-512 (BW, VBMI, VBMI2)", with512)
	generateEdges("wordEdgesAVX2", "AVX2", with2)
	Generate()
}

// classifier is the part of the kernel that differs between instruction sets.
type classifier interface {
	// constants loads the constants that stay in registers.
	constants()
	// load takes the next 64 bytes and sets word to the mask of letters and
	// digits, high to that of the bytes above 0x7f.
	load(src Mem, word, high reg.GPVirtual)
	// positions writes the positions of the bits of t, each plus 64 times the number of calls
	// before, as 16-bit words to index, and adds their number to count. It may write up to 64 words
	// whatever their number, and change t.
	positions(t reg.GPVirtual, index Mem, count reg.GPVirtual)
	// done leaves the vector state clean.
	done()
}

func generate(name, isa string, masks Mem, c classifier) {
	TEXT(name, 0, "func(dst *uint64, src *byte, blocks int, or uint64) (words, used int, ascii bool)")
	Pragma("noescape")
	Doc(name+" is hashBlocks for at most wordBlocks blocks, with "+isa+".",
		"src must have 64*blocks+16 bytes, dst room for 32*blocks words.")
	k := kernel{
		dst: Load(Param("dst"), GP64()), src: Load(Param("src"), GP64()),
		blocks: Load(Param("blocks"), GP64()), or: Load(Param("or"), GP64()),
		count: GP64(), index: AllocLocal(2 * block * maxBlocks), at: GP64(),
		c: c,
	}
	k.findEdges()
	k.hashWords(masks)
	RET()
}

// generateEdges is generate without the second loop: it returns the edges.
func generateEdges(name, isa string, c classifier) {
	TEXT(name, 0, "func(edges *uint16, src *byte, blocks int) (words, used int, ascii bool)")
	Pragma("noescape")
	Doc(name+" is edgesOfBlocks for at most wordBlocks blocks, with "+isa+".",
		"src must have 64*blocks bytes, edges room for 64*blocks.")
	k := kernel{
		src: Load(Param("src"), GP64()), blocks: Load(Param("blocks"), GP64()),
		count: GP64(), index: Mem{Base: Load(Param("edges"), GP64())}, at: GP64(),
		c: c,
	}
	k.findEdges()
	RET()
}

type kernel struct {
	dst, src, blocks, or reg.Register
	count                reg.GPVirtual // positions found
	at                   reg.GPVirtual // bytes processed
	index                Mem
	c                    classifier
}

// findEdges writes the positions at which words start and end, alternately.
func (k *kernel) findEdges() {
	word, high, t := GP64(), GP64(), GP64()
	carry, end := GP64(), GP64()
	k.c.constants()
	XORL(k.count.As32(), k.count.As32())
	XORL(carry.As32(), carry.As32())
	XORL(k.at.As32(), k.at.As32())
	MOVQ(k.blocks, end)
	SHLQ(Imm(6), end)
	ascii, _ := ReturnIndex(2).Resolve()
	MOVB(U8(1), ascii.Addr)

	Label("block")
	PREFETCHT0(Mem{Base: k.src, Index: k.at, Scale: 1, Disp: prefetch})
	k.c.load(Mem{Base: k.src, Index: k.at, Scale: 1}, word, high)
	TESTQ(high, high)
	JNZ(LabelRef("high"))
	Comment("An edge is where a bit differs from its lower neighbour.")
	LEAQ(Mem{Base: carry, Index: word, Scale: 2}, t)
	XORQ(word, t)
	MOVQ(word, carry)
	SHRQ(Imm(63), carry)
	k.c.positions(t, k.index.Idx(k.count, 2), k.count)
	ADDQ(Imm(block), k.at)
	CMPQ(k.at, end)
	JNE(LabelRef("block"))
	JMP(LabelRef("edges"))

	Label("high")
	Comment("Nothing counts from the first non-ASCII byte on.")
	MOVB(U8(0), ascii.Addr)
	LEAQ(Mem{Base: carry, Index: word, Scale: 2}, t)
	XORQ(word, t)
	BLSMSKQ(high, word)
	SHRQ(Imm(1), word)
	ANDQ(word, t)
	k.c.positions(t, k.index.Idx(k.count, 2), k.count)
	TZCNTQ(high, high)
	ADDQ(high, k.at)

	Label("edges")
	k.c.done()
	Comment("An odd number of edges: the last word is open, and begins at the last of them.")
	BTQ(Imm(0), k.count)
	JCC(LabelRef("closed"))
	MOVWQZX(k.index.Offset(-2).Idx(k.count, 2), k.at)
	Label("closed")
	SHRQ(Imm(1), k.count)
	Store(k.count, ReturnIndex(0))
	Store(k.at, ReturnIndex(1))
}

// hashWords hashes the words between the edges.
func (k *kernel) hashWords(masks Mem) {
	i, edges := GP64(), GP64()
	h := tokens.Hash{Text: k.src, Or: k.or, Start: GP64(), Length: GP64()}
	TESTQ(k.count, k.count)
	JZ(LabelRef("done"))
	h.Prepare(masks)
	Comment("The number of the word runs from -words up to 0.")
	LEAQ(k.index.Idx(k.count, 4), edges)
	LEAQ(Mem{Base: k.dst, Index: k.count, Scale: 8}, k.dst)
	MOVQ(k.count, i)
	NEGQ(i)

	Label("word")
	MOVWQZX(Mem{Base: edges, Index: i, Scale: 4}, h.Start)
	MOVWQZX(Mem{Base: edges, Index: i, Scale: 4, Disp: 2}, h.Length)
	SUBQ(h.Start, h.Length)
	h.Write(func(hash reg.GPVirtual) {
		MOVQ(hash, Mem{Base: k.dst, Index: i, Scale: 8})
		INCQ(i)
		JNZ(LabelRef("word"))
		JMP(LabelRef("done"))
	})
	Label("done")
}

// avx512 classifies by one look-up in a table of 128 bytes.
type avx512 struct {
	table, iota            Mem
	tableLow, tableHigh    reg.VecVirtual
	numbers, base, advance reg.VecVirtual
}

func newAVX512() *avx512 {
	c := &avx512{}
	var table [128]byte
	for i := range table {
		if i >= '0' && i <= '9' || i >= 'A' && i <= 'Z' || i >= 'a' && i <= 'z' {
			table[i] = 0x80
		}
	}
	c.table = tokens.Bytes("wordTable", table[:])
	c.iota = tokens.Numbers("wordIota")
	return c
}

func (c *avx512) constants() {
	c.tableLow, c.tableHigh = ZMM(), ZMM()
	c.numbers, c.base, c.advance = ZMM(), ZMM(), ZMM()
	VMOVDQU64(c.table, c.tableLow)
	VMOVDQU64(c.table.Offset(64), c.tableHigh)
	VMOVDQU64(c.iota, c.numbers)
	VPXORQ(c.base, c.base, c.base)
	r := GP32()
	MOVL(U32(block), r)
	VPBROADCASTW(r, c.advance)
}

func (c *avx512) load(src Mem, word, high reg.GPVirtual) {
	x, class := ZMM(), ZMM()
	kw, kh := K(), K()
	VMOVDQU64(src, x)
	VMOVDQA64(x, class)
	VPERMI2B(c.tableHigh, c.tableLow, class)
	VPMOVB2M(class, kw)
	VPMOVB2M(x, kh)
	KMOVQ(kw, word)
	KMOVQ(kh, high)
}

func (c *avx512) positions(t reg.GPVirtual, index Mem, count reg.GPVirtual) {
	label := tokens.Unique("positions")
	n, packed, wide, upper := GP64(), ZMM(), ZMM(), YMM()
	k := K()
	KMOVQ(t, k)
	tokens.CompressBytes(c.numbers, k, packed)
	POPCNTQ(t, n)
	VPMOVZXBW(packed.AsY(), wide)
	VPADDW(c.base, wide, wide)
	VMOVDQU16(wide, index)
	CMPQ(n, Imm(32))
	JBE(LabelRef(label))
	VEXTRACTI64X4(Imm(1), packed, upper)
	VPMOVZXBW(upper, wide)
	VPADDW(c.base, wide, wide)
	VMOVDQU16(wide, index.Offset(64))
	Label(label)
	ADDQ(n, count)
	VPADDW(c.advance, c.base, c.base)
}

func (c *avx512) done() { VZEROUPPER() }
