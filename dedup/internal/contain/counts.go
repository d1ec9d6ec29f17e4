package contain

import (
	"math/bits"
	"sync/atomic"

	"github.com/alike-dev/alike/internal/largepages"
)

// counts tells about how many documents have a key, up to countsMost, in a byte for every feature of the collection. Keys
// that share a byte are counted together, so a count may be too high, but never too low. It is the same in whatever
// order keys are added, and safe for use by several goroutines.
type counts struct{ words []uint64 }

const (
	countsMost  = 255
	countsLeast = 1 << 16 // bytes
)

// newCounts has room for some features, in at most so many bytes; 0: any number.
func newCounts(features, most int64) *counts {
	if most > 0 {
		features = min(features, most)
	}
	words := make([]uint64, max(features, countsLeast)/8)
	largepages.Ask(words)
	return &counts{words}
}

func (c *counts) place(key uint64) (word uint64, shift uint64) {
	word, _ = bits.Mul64(key, uint64(len(c.words)))
	return word, key & 7 << 3
}

// countBlock is how many keys are counted at once.
const countBlock = 64

// add counts keys. They are looked at before they are counted: without a fence in between, the processor waits for
// several words of memory at once.
func (c *counts) add(keys []uint64) {
	var full [countBlock]bool
	for len(keys) > 0 {
		block := keys[:min(countBlock, len(keys))]
		keys = keys[len(block):]
		for i, key := range block {
			full[i] = c.of(key) == countsMost
		}
		for i, key := range block {
			if !full[i] {
				c.addOne(key)
			}
		}
	}
}

func (c *counts) addOne(key uint64) {
	word, shift := c.place(key)
	at := &c.words[word]
	for {
		old := atomic.LoadUint64(at)
		if old>>shift&countsMost == countsMost || atomic.CompareAndSwapUint64(at, old, old+1<<shift) {
			return
		}
	}
}

func (c *counts) of(key uint64) uint8 {
	word, shift := c.place(key)
	return uint8(atomic.LoadUint64(&c.words[word]) >> shift)
}
