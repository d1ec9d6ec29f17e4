//go:build !amd64 || purego

package simd

const bestCut = cutGo

func availableCuts() []cutVariant { return []cutVariant{cutGo} }

func (cutVariant) cut(k *Classes, c *Cuts, src []byte, blocks int) (starts, ends, swaps, stop int) {
	return cutBlocksGeneric(k, c, src, blocks)
}

func appendCutHashes(dst []uint64, c *Cuts, from, to int) []uint64 {
	return appendCutHashesGeneric(dst, c, from, to)
}
