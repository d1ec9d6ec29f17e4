package verify

import (
	"math/bits"

	"github.com/alike-dev/alike/internal/hashing"
)

// outlines are bitmaps of sets: an element stands for one of their bits. Each bit that one set has and another one
// lacks stands for an element that only the first one has, so the sets have no more in common than the first one has
// elements without these. That rules out nearly all pairs of texts that have little in common, in a tenth of the time
// that merging their sets takes.
type outlines struct {
	words int
	shift uint // of a mixed element to its bit
}

// Outlines have eight to sixteen bits for each element of a set of mean size, as far as they are within these bounds.
const (
	outlineBits  = 8
	outlineLeast = 64
	outlineMost  = 1 << 16
)

func outlinesFor(mean int) outlines {
	width := bits.Len(uint(min(max(outlineBits*mean, outlineLeast), outlineMost) - 1))
	return outlines{1 << width / 64, uint(64 - width)}
}

func (o outlines) of(set []uint64) []uint64 {
	outline := make([]uint64, o.words)
	for _, v := range set {
		bit := hashing.Mix(v) >> (o.shift & 63)
		outline[bit/64] |= 1 << (bit % 64)
	}
	return outline
}

// mostCommon returns how many elements two sets have in common at most.
func mostCommon(a, b made) int {
	onlyA, onlyB := 0, 0
	other := b.outline[:len(a.outline)]
	for i, x := range a.outline {
		y := other[i]
		onlyA += bits.OnesCount64(x &^ y)
		onlyB += bits.OnesCount64(y &^ x)
	}
	return min(len(a.set)-onlyA, len(b.set)-onlyB)
}
