// Command parity generates the kernel that compares one bitmap with many. parity.go of package simd
// describes its result.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	words  = 4
	column = 64 * 8 // bytes from a word of a bitmap to its next one
	lanes  = 8
)

func main() {
	ConstraintExpr("!purego")
	TEXT("paritiesWithinAVX512", NOSPLIT, "func(tile *uint64, vectors int, row *uint64, most uint64) uint64")
	Pragma("noescape")
	Doc("paritiesWithinAVX512 is ParitiesWithin for 1 to 8 vectors of eight bitmaps.")
	tile := Load(Param("tile"), GP64())
	vectors := Load(Param("vectors"), GP64())
	rowAt := Load(Param("row"), GP64())
	var row [words]reg.VecVirtual
	for w := range row {
		row[w] = ZMM()
		VPBROADCASTQ(Mem{Base: rowAt}.Offset(8*w), row[w])
	}
	most := ZMM()
	VPBROADCASTQ(Load(Param("most"), GP64()), most)
	mask, at := GP64(), GP64()
	XORQ(mask, mask)
	MOVQ(vectors, at)

	Comment("From the last vector to the first, whose bits are the lowest.")
	Label("vector")
	DECQ(at)
	offset := GP64()
	MOVQ(at, offset)
	SHLQ(Imm(6), offset)
	var differ [words]reg.VecVirtual
	for w := range row {
		differ[w] = ZMM()
		VPXORQ(Mem{Base: tile, Index: offset, Scale: 1}.Offset(w*column), row[w], differ[w])
		VPOPCNTQ(differ[w], differ[w])
	}
	VPADDQ(differ[0], differ[1], differ[1])
	VPADDQ(differ[2], differ[3], differ[3])
	VPADDQ(differ[1], differ[3], differ[3])
	const lessOrEqual = 2
	within := K()
	VPCMPUQ(Imm(lessOrEqual), most, differ[3], within)
	eight := GP64()
	KMOVW(within, eight.As32())
	SHLQ(Imm(lanes), mask)
	ORQ(eight, mask)
	TESTQ(at, at)
	JNZ(LabelRef("vector"))
	VZEROUPPER()
	Store(mask, ReturnIndex(0))
	RET()
	Generate()
}
