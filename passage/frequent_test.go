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
		var tokens []uint64
		for range 1 + random.IntN(30) {
			start := len(tokens)
			for range random.IntN(40) {
				tokens = append(tokens, uint64(random.IntN(2)))
			}
			c.add(tokens[start:])
		}
		least := 1 + random.IntN(4)
		type key [window]uint64
		texts := map[key][]int{}
		for i := range tokens {
			if of := c.of(i); i+window <= c.ends[of] {
				texts[key(tokens[i:])] = append(texts[key(tokens[i:])], of)
			}
		}
		c.count(least)
		for i := range tokens {
			in := 0
			if i+window <= c.ends[c.of(i)] {
				in = len(slices.Compact(slices.Clone(texts[key(tokens[i:])])))
			}
			switch found := c.windows[i]; {
			case in >= least && (found == 0 || int(c.found[found-1].texts) != in):
				t.Fatalf("seed %d: the window at %d stands in %d texts, and is number %d of those found", seed, i, in, found)
			case in < least && found > 0:
				t.Fatalf("seed %d: the window at %d stands in %d texts only", seed, i, in)
			}
		}
	}
}
