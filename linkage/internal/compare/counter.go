package compare

import "sync/atomic"

// A counter adds to counts that several goroutines share. Each goroutine counts the tokens with the lowest numbers by
// itself, since most records have these.
type counter struct{ own, shared []uint32 }

// ownCounts is the number of tokens that each goroutine counts by itself.
const ownCounts = 1 << 16

func NewCounter(shared []uint32) counter {
	return counter{make([]uint32, min(ownCounts, len(shared))), shared}
}

func (c *counter) Add(i uint32) {
	if int(i) < len(c.own) {
		c.own[i]++
	} else {
		atomic.AddUint32(&c.shared[i], 1)
	}
}

// End adds the goroutine's own counts to the shared ones.
func (c *counter) End() {
	for i, n := range c.own {
		if n > 0 {
			atomic.AddUint32(&c.shared[i], n)
		}
	}
}
