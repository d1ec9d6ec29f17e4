package keytable

import (
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"
)

const most = 16

// A map of slices does the same, slowly.
func TestTableAgreesWithAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table, twin := New(most), map[uint64][]uint64{}
		first := rapid.Uint64Range(0, 1<<33).Draw(t, "first")
		r := Range{first, first}
		// Few keys of few shards, so that buckets fill and runs meet.
		key := rapid.Custom(func(t *rapid.T) uint64 {
			return rapid.Uint64Range(0, 2).Draw(t, "shard")<<52 | rapid.Uint64Range(0, 30).Draw(t, "print")<<27 | 1
		})
		find := func(k uint64) []uint64 {
			got := table.Append(nil, k, r)
			slices.Sort(got)
			return got
		}
		for range rapid.IntRange(1, 400).Draw(t, "steps") {
			k := key.Draw(t, "key")
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				r.First = min(r.First+rapid.Uint64Range(0, 40).Draw(t, "gone"), r.Next)
				for k := range twin {
					twin[k] = slices.DeleteFunc(twin[k], func(s uint64) bool { return s < r.First })
				}
			case 1:
				if found := find(k); len(found) > 0 {
					table.Remove(k, found[0], r)
					twin[k] = slices.DeleteFunc(twin[k], func(s uint64) bool { return s == found[0] })
				}
			default:
				inserted := table.Insert(k, r.Next, r)
				if want := len(twin[k]) < most; inserted != want {
					t.Fatalf("inserted %v into a bucket of %d", inserted, len(twin[k]))
				}
				if inserted {
					twin[k] = append(twin[k], r.Next)
				}
				r.Next++
			}
			for k := range twin {
				if got := find(k); !slices.Equal(got, twin[k]) {
					t.Fatalf("key %x: %v, want %v", k, got, twin[k])
				}
			}
		}
	})
}

// A window that moves on does not grow.
func TestMemoryStaysFlatWhileDocumentsComeAndGo(t *testing.T) {
	table, random := New(most), rand.New(rand.NewPCG(1, 2))
	const window = 200_000 // a shard has many lines
	var r Range
	var full int64
	for n := range 12 * window {
		table.Insert(random.Uint64(), r.Next, r)
		if r.Next++; r.Next-r.First > window {
			r.First++
		}
		if n == 2*window {
			full = table.Bytes()
		}
	}
	if now := table.Bytes(); float64(now) > 1.1*float64(full) {
		t.Errorf("%d bytes, %d after two windows", now, full)
	}
	if least := int64(window * 8 * 100 / mostFull); full < least || full > 3*least {
		t.Errorf("%d bytes for %d entries", full, window)
	}
}

// Readers find at any moment every slot that was published before they began.
func TestReadersMissNothingWhileOneWrites(t *testing.T) {
	table := New(most)
	keys := make([]uint64, 30_000)
	random := rand.New(rand.NewPCG(3, 4))
	for i := range keys {
		keys[i] = random.Uint64() &^ (0xff0 << 52) // of few shards, so that they are filled anew often
	}
	var first, next atomic.Uint64
	var readers sync.WaitGroup
	for seed := range uint64(3) {
		readers.Go(func() {
			random := rand.New(rand.NewPCG(seed, 5))
			for next.Load() < uint64(len(keys)) {
				r := Range{Next: next.Load()}
				r.First = first.Load()
				if r.Next < r.First+100 {
					continue
				}
				slot := r.Next - 1 - random.Uint64N(100)
				found := table.Append(nil, keys[slot], r)
				if !slices.Contains(found, slot) && slot >= first.Load() {
					t.Errorf("slot %d is missing", slot)
					return
				}
			}
		})
	}
	var r Range
	for i, key := range keys {
		table.Insert(key, uint64(i), r)
		r.Next = uint64(i) + 1
		next.Store(r.Next)
		if i > 5000 {
			r.First++
			first.Store(r.First)
		}
	}
	readers.Wait()
}

func BenchmarkInsertAndFind(b *testing.B) {
	table, random := New(128), rand.New(rand.NewPCG(1, 2))
	const window = 1_000_000
	var r Range
	keys := make([]uint64, 16)
	var found []uint64
	step := func() {
		for i := range keys {
			keys[i] = random.Uint64()
		}
		table.Touch(keys)
		found = found[:0]
		for _, key := range keys {
			found = table.Append(found, key, r)
		}
		for _, key := range keys {
			table.Insert(key, r.Next, r)
		}
		if r.Next++; r.Next-r.First > window {
			r.First++
		}
	}
	for range window {
		step()
	}
	for b.Loop() {
		step()
	}
	b.ReportMetric(float64(table.Bytes())/window, "bytes/doc")
}

// Room that is made beforehand changes nothing but how often shards are filled anew.
func TestRoomThatIsReservedChangesNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	plain, reserved := New(64), New(64)
	keys := make([]uint64, 60_000)
	for i := range keys {
		keys[i] = random.Uint64()
		if i == 1000 {
			reserved.Reserve(len(keys))
		}
		r := Range{Next: uint64(i)}
		if plain.Insert(keys[i], uint64(i), r) != reserved.Insert(keys[i], uint64(i), r) {
			t.Fatalf("key %d", i)
		}
	}
	if n := reserved.Bytes(); n < 8*int64(len(keys)) || n > 3*8*int64(len(keys)) {
		t.Errorf("%d bytes for %d keys", n, len(keys))
	}
	all := Range{Next: uint64(len(keys))}
	for i, key := range keys {
		a, b := plain.Append(nil, key, all), reserved.Append(nil, key, all)
		slices.Sort(a)
		slices.Sort(b)
		if !slices.Equal(a, b) {
			t.Fatalf("key %d: %v and %v", i, a, b)
		}
	}
}
