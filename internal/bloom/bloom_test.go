package bloom

import (
	"encoding/binary"
	"math/rand/v2"
	"sync"
	"testing"
)

func hashes(seed uint64, n int) []uint64 {
	random := rand.New(rand.NewPCG(seed, 1))
	all := make([]uint64, n)
	for i := range all {
		all[i] = random.Uint64()
	}
	return all
}

func TestWhatWasAddedIsThereAndLittleElse(t *testing.T) {
	for _, n := range []int{0, 1, 3, 100, 200_000} {
		f := New(n)
		in := hashes(1, n)
		for _, h := range in {
			f.Add(h)
		}
		var stored Stored
		for _, w := range f.Words() {
			stored = binary.LittleEndian.AppendUint64(stored, w)
		}
		for _, h := range in {
			if !f.Has(h) || !stored.Has(h) {
				t.Fatalf("%d hashes: %x is missing", n, h)
			}
		}
		if n < 1000 {
			continue
		}
		const asked = 1_000_000
		passed := 0
		for _, h := range hashes(2, asked) {
			if f.Has(h) != stored.Has(h) {
				t.Fatalf("%d hashes: %x is in one form of the filter only", n, h)
			}
			if f.Has(h) {
				passed++
			}
		}
		if passed > asked/200 {
			t.Errorf("%d hashes: %d of %d others pass", n, passed, asked)
		}
	}
}

func TestAddingAtOnceIsAdding(t *testing.T) {
	in := hashes(3, 40_000)
	want, got := New(len(in)), New(len(in))
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for _, h := range in[worker*10_000:][:10_000] {
				got.AddShared(h)
			}
		})
	}
	for _, h := range in {
		want.Add(h)
	}
	group.Wait()
	for i, w := range want.words {
		if got.words[i] != w {
			t.Fatalf("word %d is %x, want %x", i, got.words[i], w)
		}
	}
}

func BenchmarkHas(b *testing.B) {
	f := New(2_000_000)
	for _, h := range hashes(1, 2_000_000) {
		f.Add(h)
	}
	asked := hashes(2, 1<<20)
	passed := 0
	for i := 0; b.Loop(); i++ {
		if f.Has(asked[i&(1<<20-1)]) {
			passed++
		}
	}
	b.ReportMetric(float64(passed)/float64(b.N), "passed/op")
}
