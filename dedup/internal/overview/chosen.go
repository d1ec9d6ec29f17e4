package overview

import (
	"slices"

	"github.com/alike-dev/alike/internal/hashing"
)

// example is a removed document and its similarity to the kept one.
type example struct {
	doc        uint32
	similarity float64
}

// order is a number that is independent of the document's content.
func (x example) order() uint64 { return hashing.Mix(uint64(x.doc)) }

// chosen is the first few examples in an order without equals.
type chosen struct {
	most   int
	before func(a, b example) int
	all    []example // in their order
}

func (c *chosen) takes(x example) bool {
	return len(c.all) < c.most || c.before(x, c.all[len(c.all)-1]) < 0
}

// add takes an example, if it is among the first. O(most), but rarely: of n in random order, most ·
// log n are among the first when they come.
func (c *chosen) add(x example) {
	if !c.takes(x) {
		return
	}
	at, _ := slices.BinarySearchFunc(c.all, x, c.before)
	c.all = slices.Insert(c.all, at, x)
	c.all = c.all[:min(len(c.all), c.most)]
}
