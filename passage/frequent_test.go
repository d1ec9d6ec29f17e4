package passage

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// The slow twin counts each window by its tokens: none that stands in enough texts may be missing.
func TestNoFrequentWindowIsLeftOut(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 4))
		c := commons{}
		for range 1 + random.IntN(30) {
			for range random.IntN(40) {
				c.tokens = append(c.tokens, uint64(random.IntN(2)))
			}
			c.ends = append(c.ends, len(c.tokens))
		}
		least := 1 + random.IntN(4)
		type key [window]uint64
		texts := map[key][]int{}
		for i := range c.tokens {
			if of := c.of(i); i+window <= c.ends[of] {
				texts[key(c.tokens[i:])] = append(texts[key(c.tokens[i:])], of)
			}
		}
		c.count(least)
		for i := range c.tokens {
			in := 0
			if i+window <= c.ends[c.of(i)] {
				in = len(slices.Compact(slices.Clone(texts[key(c.tokens[i:])])))
			}
			switch group := c.groups[i]; {
			case in >= least && (group < 0 || int(c.found[group].texts) != in):
				t.Fatalf("seed %d: the window at %d stands in %d texts, and is in group %d", seed, i, in, group)
			case in < least && group >= 0:
				t.Fatalf("seed %d: the window at %d stands in %d texts only", seed, i, in)
			}
		}
	}
}
