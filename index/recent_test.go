package index

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Of every key that a document from a slot on has, the marks say that it may have it; and they say so of few others.
func TestNoKeyOfTheLastDocumentsIsLeftOut(t *testing.T) {
	random := rand.New(rand.NewPCG(29, 1))
	var r recent
	last := map[uint64]uint64{} // the newest slot with a key
	var keys []uint64
	asked, passed := 0, 0
	for slot := range uint64(20_000) {
		keys = keys[:0]
		for range 17 {
			keys = append(keys, random.Uint64()>>uint(random.IntN(2)*40)) // some are met again
		}
		r.add(slot, keys...)
		for _, key := range keys {
			last[key] = slot
		}
		first := slot + 1 - min(uint64(random.IntN(300)), slot)
		if random.IntN(50) == 0 {
			first = random.Uint64N(slot + 1)
		}
		query := append(keys[random.IntN(17):], random.Uint64(), random.Uint64())
		got := r.since(nil, first, query)
		for _, key := range query {
			if newest, ok := last[key]; ok && newest >= first && !slices.Contains(got, key) {
				t.Fatalf("key %x is left out of slots from %d on; slot %d has it", key, first, newest)
			}
		}
		if first > slot-min(200, slot) {
			asked += 2
			for _, key := range query[len(query)-2:] {
				if slices.Contains(got, key) {
					passed++
				}
			}
		}
	}
	if passed*4 > asked {
		t.Errorf("of %d keys that no document has %d pass", asked, passed)
	}
}
