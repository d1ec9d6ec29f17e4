package extsort

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/alike-dev/alike/vfs/vfstest"
)

// held is the memory, in bytes, that a sorter holds.
func held(s *Sorter) int64 {
	entries := s.made*s.store.plan.chunk + cap(s.table.entries) + cap(s.store.out)
	for _, k := range s.table.kernels.free {
		entries += len(k.scratch) + cap(k.counts)/4
	}
	if s.result != nil { // lanes that are not cut from the table
		extra := -cap(s.table.entries)
		for _, lane := range s.result.lanes.free {
			extra += cap(lane)
		}
		entries += max(0, extra)
	}
	return int64(entries) * entryBytes
}

func TestMemoryStaysWithinItsLimit(t *testing.T) {
	for _, kind := range kinds {
		for _, sum := range []bool{false, true} {
			dir := newFolder(vfstest.NewMem())
			const memory = 2 * smallMemory
			s, err := New(Options{Dir: dir, Name: "x", Memory: memory, Threads: 2, Sum: sum, sizes: small})
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(1, 1))
			for round := range 3 {
				a := s.Appender()
				for i, e := range makeEntries(rng, 10_000*(1+round), kind, 64) {
					if err := a.Add(e.Key, e.Value); err != nil {
						t.Fatal(err)
					}
					if i%100 == 0 && held(s) > memory {
						t.Fatalf("%s sum=%t: %d bytes held while adding, %d allowed", kind, sum, held(s), memory)
					}
				}
				if err := a.Flush(); err != nil {
					t.Fatal(err)
				}
				sorted, err := s.Sort(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				collectParts(t, sorted, 2)
				if got := held(s); got > memory {
					t.Errorf("%s sum=%t: %d bytes held after merging, %d allowed", kind, sum, got, memory)
				}
				if err := s.Reset(); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestPlanFillsTheMemoryAndNoMore(t *testing.T) {
	for _, memory := range []int64{1, 4 << 20, 5 << 20, 16 << 20, 64 << 20, 1 << 30, 64 << 30} {
		for _, threads := range []int{0, 1, 2, 7, 64} {
			p := newPlan(Options{Memory: memory, Threads: threads})
			used := int64(p.limit*p.chunk+p.arena+p.threads*(scratchLen(p.part)+p.part/4)+writeBlocks*(1+p.chunk)) * entryBytes
			allowed := max(memory, 4<<20)
			if used > allowed || used < allowed*9/10 {
				t.Errorf("memory %d, %d threads: %d bytes planned", memory, threads, used)
			}
			lane := p.arena / p.threads
			if fan := (lane - p.partMax - p.part) / (1 + p.chunk); fan < 16 {
				t.Errorf("memory %d, %d threads: %d runs merged at once", memory, threads, fan)
			}
		}
	}
}

func TestRepeatsDoNotPileUpWithSums(t *testing.T) {
	s, err := New(Options{Sum: true, sizes: small})
	if err != nil {
		t.Fatal(err)
	}
	a := s.Appender()
	for i := range uint64(1_000_000) {
		if err := a.Add(i%1000, 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Flush(); err != nil {
		t.Fatal(err)
	}
	if s.made > 200 { // 12 800 entries
		t.Errorf("%d chunks for 1000 keys", s.made)
	}
	sorted, err := s.Sort(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range collectParts(t, sorted, 1) {
		if e.Value != 1000 {
			t.Fatalf("key %d was added %d times, want 1000", e.Key, e.Value)
		}
	}
	if err := s.Reset(); err != nil {
		t.Fatal(err)
	}
}

func TestAddingAllocatesNothingOnceWarm(t *testing.T) {
	s, err := New(Options{sizes: small})
	if err != nil {
		t.Fatal(err)
	}
	a := s.Appender()
	fill := func() {
		for i := range uint64(10_000) {
			if err := a.Add(i*0x9e3779b97f4a7c15, i); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if n := testing.AllocsPerRun(10, func() {
		fill()
		if err := s.Reset(); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
