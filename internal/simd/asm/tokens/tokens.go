// Package tokens writes the parts that are common to the kernels that find tokens and hash them.
package tokens

import (
	"encoding/binary"
	"strconv"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

const (
	key0 = 0x6a09e667f3bcc909 // hashing.Key0
	key1 = 0xbb67ae8584caa73b // hashing.Key1
)

// Masks lays out the data that hashing.Bytes needs for each length 0…16: the mask of the first
// eight bytes, the mask of the second eight, and the second key.
func Masks(name string) Mem {
	var rows [3 * 17]uint64
	for l := range 17 {
		rows[l] = 1<<(8*min(l, 8)) - 1
		rows[17+l] = 1<<(8*(max(l, 8)-8)) - 1
		rows[34+l] = key1 ^ uint64(l)<<56
	}
	m := GLOBL(name, RODATA|NOPTR)
	for i, v := range rows {
		DATA(8*i, U64(v))
	}
	return m
}

// A Hash is the loop body that hashes a token by hashing.Bytes.
type Hash struct {
	Text          reg.Register
	Or            reg.Register  // ored into every eight bytes first; nil: nothing is
	Start, Length reg.GPVirtual // of the token; both are overwritten
	masks, k0     reg.GPVirtual
}

// Prepare loads the constants that stay in registers.
func (h *Hash) Prepare(masks Mem) {
	h.masks, h.k0 = GP64(), GP64()
	LEAQ(masks, h.masks)
	MOVQ(U64(key0), h.k0)
}

// Write writes the hash of a token. done receives the register with it, and must write a jump.
func (h *Hash) Write(done func(hash reg.GPVirtual)) {
	a, b, hi, lo := reg.RDX, GP64(), GP64(), GP64()
	mask := func(row int) Mem { return Mem{Base: h.masks, Index: h.Length, Scale: 8, Disp: row * 17 * 8} }
	first, second := Mem{Base: h.Text, Index: h.Start, Scale: 1}, Mem{Base: h.Text, Index: h.Start, Scale: 1, Disp: 8}
	load := func(from Mem, to reg.Register) {
		MOVQ(from, to)
		if h.Or != nil {
			ORQ(h.Or, to)
		}
	}
	upTo16 := func(firstKey, secondKey Op) {
		load(first, a)
		ANDQ(mask(0), a)
		XORQ(firstKey, a)
		load(second, b)
		ANDQ(mask(1), b)
		XORQ(secondKey, b)
	}
	CMPQ(h.Length, Imm(16))
	JA(LabelRef("long"))
	upTo16(h.k0, mask(2))
	Label("multiply")
	MULXQ(b, lo, hi)
	XORQ(lo, hi)
	done(hi)

	Label("long")
	Comment("As hashing.Bytes: 16 bytes a step go into both keys.")
	c0, c1 := GP64(), GP64()
	MOVQ(h.Length, b)
	SHLQ(Imm(56), b)
	MOVQ(U64(key1), c1)
	XORQ(b, c1)
	MOVQ(h.k0, c0)
	Label("longer")
	load(first, a)
	XORQ(c0, a)
	load(second, b)
	XORQ(c1, b)
	MULXQ(b, lo, hi)
	XORQ(lo, hi)
	XORQ(hi, c0)
	ADDQ(hi, c1)
	ADDQ(Imm(16), h.Start)
	SUBQ(Imm(16), h.Length)
	CMPQ(h.Length, Imm(16))
	JA(LabelRef("longer"))
	upTo16(c0, c1)
	JMP(LabelRef("multiply"))
}

// Numbers defines the bytes 0 to 63.
func Numbers(name string) Mem {
	var numbers [64]byte
	for i := range numbers {
		numbers[i] = byte(i)
	}
	return Bytes(name, numbers[:])
}

// BitPlaces defines eight bytes for every byte: the numbers of the bits that are set,
// lowest first, then zeros.
func BitPlaces(name string) Mem {
	var places [8 * 256]byte
	for b := range 256 {
		n := 0
		for i := range 8 {
			if b>>i&1 == 1 {
				places[8*b+n] = byte(i)
				n++
			}
		}
	}
	return Bytes(name, places[:])
}

// Bytes defines a constant of a multiple of eight bytes.
func Bytes(name string, b []byte) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for i := 0; i < len(b); i += 8 {
		DATA(i, U64(binary.LittleEndian.Uint64(b[i:])))
	}
	return m
}

// CompressBytes is VPCOMPRESSB.Z, which avo lacks: it is encoded like VPCOMPRESSD.Z.
func CompressBytes(from reg.Register, k reg.Register, to reg.Register) {
	i, err := x86.VPCOMPRESSD_Z(from, k, to)
	if err != nil {
		panic(err)
	}
	i.Opcode, i.ISA = "VPCOMPRESSB", []string{"AVX512VBMI2"}
	Instruction(i)
}

// ExpandBytes is VPEXPANDB.Z, which avo lacks: it is encoded like VPEXPANDD.Z.
func ExpandBytes(from Op, k reg.Register, to reg.Register) {
	i, err := x86.VPEXPANDD_Z(from, k, to)
	if err != nil {
		panic(err)
	}
	i.Opcode, i.ISA = "VPEXPANDB", []string{"AVX512VBMI2"}
	Instruction(i)
}

var labels int

func Unique(label string) string {
	labels++
	return label + strconv.Itoa(labels)
}
