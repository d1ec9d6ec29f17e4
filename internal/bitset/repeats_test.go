package bitset

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
)

func TestWhatWasAddedAgainIsARepeatAndLittleElse(t *testing.T) {
	const n = leastHashes
	r, rng := RepeatsAmong(n, 0), rand.New(rand.NewPCG(1, 2))
	hashes := make([]uint64, n)
	for i := range hashes {
		hashes[i] = rng.Uint64()
	}
	twice := hashes[:n/8]
	var workers sync.WaitGroup
	for _, part := range [][]uint64{hashes[:n/2], hashes[n/2:], twice} {
		workers.Go(func() {
			r.AddAll(part)
		})
	}
	workers.Wait()
	has := make([]bool, len(twice))
	r.HasAll(twice, has)
	for i, h := range twice {
		if !has[i] || !r.Has(h) {
			t.Fatalf("%x was added twice and is no repeat", h)
		}
	}
	wrong := 0
	for _, h := range hashes[len(twice):] {
		if r.Has(h) {
			wrong++
		}
	}
	if wrong > n/6 {
		t.Errorf("%d of %d are taken for repeats", wrong, n-len(twice))
	}
}

func TestWhereThereIsNoRoomNoRepeatsAreLookedFor(t *testing.T) {
	for _, c := range []struct {
		hashes int
		memory int64
		bytes  int // 0: none
	}{{leastHashes - 1, 0, 0}, {leastHashes, 0, 1 << 17}, {leastHashes, 1 << 16, 1 << 16}, {leastHashes, 1 << 13, 0}, {1 << 30, 0, 0}, {1 << 28, 0, 1 << 26}} {
		r, bytes := RepeatsAmong(c.hashes, c.memory), 0
		if r != nil {
			bytes = 8 * len(r.words)
		}
		if bytes != c.bytes {
			t.Errorf("for %d hashes in %d bytes: %d bytes, want %d", c.hashes, c.memory, bytes, c.bytes)
		}
	}
}

func TestManyHashesTogetherAreAnsweredAsOneByOne(t *testing.T) {
	for _, n := range []uint64{0, 1, togetherMost, 3*togetherMost + 7} {
		one, many := NewRepeats(1<<12), NewRepeats(1<<12)
		hash := func(i uint64) uint64 { return i % (n/2 + 1) * 0x9e3779b97f4a7c15 }
		adding := many.Adding()
		for i := range n {
			one.Add(hash(i))
			if err := adding.Put(hash(i), 0); err != nil {
				t.Fatal(err)
			}
		}
		if err := adding.Flush(); err != nil {
			t.Fatal(err)
		}
		for _, r := range []*Repeats{many, nil} {
			next := uint64(0)
			asking := r.Asking(func(h, value uint64, again bool) error {
				if h != hash(next) || value != next || again != (r == nil || one.Has(h)) {
					t.Fatalf("of %d, number %d: %x, %d, %t", n, next, h, value, again)
				}
				next++
				return nil
			})
			for i := range n {
				if err := asking.Put(hash(i), i); err != nil {
					t.Fatal(err)
				}
			}
			if err := asking.Flush(); err != nil || next != n {
				t.Fatalf("%d of %d answers, %v", next, n, err)
			}
		}
	}
}

func TestAnErrorOfAnAnswerIsReturned(t *testing.T) {
	failed := errors.New("failed")
	asking := NewRepeats(64).Asking(func(uint64, uint64, bool) error { return failed })
	for i := range uint64(togetherMost - 1) {
		if err := asking.Put(i, i); err != nil {
			t.Fatal(err)
		}
	}
	if err := asking.Put(1, 1); err != failed {
		t.Fatal(err)
	}
}
