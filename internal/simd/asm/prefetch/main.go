// Command prefetch generates Prefetch of package simd.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

func main() {
	ConstraintExpr("!purego")
	TEXT("Prefetch", NOSPLIT, "func(p *uint64)")
	Pragma("noescape")
	Doc("Prefetch asks the processor to load the cache line of *p, and does not wait for it, as a load would that",
		"stands before other work. It costs a call: 1 ns.")
	PREFETCHT0(Mem{Base: Load(Param("p"), GP64())})
	RET()
	Generate()
}
