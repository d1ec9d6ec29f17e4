package shingle

import (
	"slices"

	"github.com/alike-dev/alike/internal/simd"
	"github.com/alike-dev/alike/text"
)

// characters makes the features of FNV1, block by block, with the last n−1 characters of
// the previous block before each.
type characters struct {
	n      int
	fold   bool
	window []byte
	whole  bool // a shingle is complete
}

// characterBlock is how many bytes of a document one call processes.
const characterBlock = 16 << 10

func (c *characters) reset() { c.window, c.whole = c.window[:0], false }

func (c *characters) appendFrom(dst []uint64, doc []byte, from int) ([]uint64, int) {
	next := min(from+characterBlock, len(doc))
	c.window = text.AppendASCII(c.window, doc[from:next], c.fold)
	n := c.n
	if next == len(doc) && !c.whole {
		n = min(n, len(c.window))
	}
	runs := len(c.window) - n + 1
	if n == 0 || runs <= 0 {
		return dst, next
	}
	dst = slices.Grow(dst, runs)
	simd.FNV1(dst[len(dst):][:runs], c.window, n)
	c.whole = true
	kept := copy(c.window, c.window[runs:])
	c.window = c.window[:kept]
	return dst[:len(dst)+runs], next
}
