//go:build !purego

package simd

import (
	"slices"

	"golang.org/x/sys/cpu"
)

//go:generate sh -c "cd asm && go run ./cut -out ../cut_amd64.s -stubs ../cut_stub_amd64.go -pkg simd"

var bestCut = availableCuts()[0]

// availableCuts lists the variants that can run here, best first.
func availableCuts() (v []cutVariant) {
	for _, words := range availableWords() { // they use the same instructions
		v = append(v, [...]cutVariant{wordsGo: cutGo, wordsAVX2: cutAVX2, wordsAVX512: cutAVX512}[words])
	}
	return v
}

func (v cutVariant) cut(k *Classes, c *Cuts, src []byte, blocks int) (starts, ends, swaps, stop int) {
	_ = src[blocks*wordBlock+wordPad-1]
	classes, text := &k.of[0], &c.text[0]
	switch v {
	case cutAVX512:
		return cutAVX512Blocks(classes, text, &c.starts[0], &c.ends[0], &c.swaps[0], &src[0], blocks)
	case cutAVX2:
		return cutAVX2Blocks(classes, text, &c.starts[0], &c.ends[0], &c.swaps[0], &src[0], blocks)
	}
	return cutBlocksGeneric(k, c, src, blocks)
}

var hasBMI2 = cpu.X86.HasBMI2

func appendCutHashes(dst []uint64, c *Cuts, from, to int) []uint64 {
	if n := to - from; hasBMI2 && n > 0 {
		dst = slices.Grow(dst, n)
		hashCutsBMI2(&dst[:len(dst)+1][len(dst)], &c.text[0], &c.starts[from:to][0], &c.ends[from:to][0], n)
		return dst[:len(dst)+n]
	}
	return appendCutHashesGeneric(dst, c, from, to)
}
