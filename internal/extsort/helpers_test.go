package extsort

import (
	"cmp"
	"context"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// small is a layout whose runs have blocks of 1 KiB, so that 64 KiB are as tight
// as 4 MiB are for the real one.
var small = sizes{chunk: 64, combine: 4096, part: 256, partMax: 1024}

const smallMemory = 64 << 10

// folder is a Dir of any file system.
type folder struct {
	fs      vfs.FS
	pool    *durable.Pool // of fewer files than are merged at once
	spilled atomic.Int64
}

func newFolder(fs vfs.FS) *folder {
	if err := fs.MkdirAll("runs", 0o755); err != nil {
		panic(err)
	}
	open := func(name string) (vfs.File, error) { return fs.Open(filepath.Join("runs", name)) }
	return &folder{fs: fs, pool: durable.NewPool(2, open)}
}

func (f *folder) Create(name string) (vfs.File, error) {
	return f.fs.Create(filepath.Join("runs", name))
}
func (f *folder) Open(name string) (RunFile, error) { return f.pool.Open(name) }
func (f *folder) Remove(name string) error          { return f.fs.Remove(filepath.Join("runs", name)) }
func (f *folder) Spilled(bytes int64)               { f.spilled.Add(bytes) }

func (f *folder) list(t testing.TB) []string {
	t.Helper()
	names, err := f.fs.List("runs")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

func compare(a, b Entry) int {
	return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value))
}

// twin is what a sorter should make of entries, the slow and obvious way.
func twin(entries []Entry, sum bool) []Entry {
	want := slices.SortedFunc(slices.Values(entries), compare)
	if sum {
		sums := map[uint64]uint64{}
		for _, e := range want {
			sums[e.Key] += e.Value
		}
		want = slices.CompactFunc(want, func(a, b Entry) bool { return a.Key == b.Key })
		for i := range want {
			want[i].Value = sums[want[i].Key]
		}
	}
	return want
}

// makeEntries makes n entries of one of several kinds of keys below 1<<keyBits.
func makeEntries(rng *rand.Rand, n int, kind string, keyBits int) []Entry {
	mask := ^uint64(0) >> (64 - keyBits)
	entries := make([]Entry, n)
	for i := range entries {
		var key uint64
		switch kind {
		case "uniform":
			key = rng.Uint64()
		case "few":
			key = rng.Uint64N(3) * 0x9e3779b97f4a7c15
		case "repeated":
			key = rng.Uint64N(1000) * 0x9e3779b97f4a7c15
		case "small":
			key = rng.Uint64N(1 << 12)
		case "skewed":
			key = rng.Uint64() >> rng.UintN(64)
		case "hot":
			key = 1 << 20
			if rng.UintN(10) == 0 {
				key = rng.Uint64()
			}
		case "ascending":
			key = uint64(i)
		}
		value := uint64(i)
		if rng.UintN(8) == 0 {
			value = rng.Uint64N(4) << 60
		}
		entries[i] = Entry{key & mask, value}
	}
	return entries
}

var kinds = []string{"uniform", "few", "repeated", "small", "skewed", "hot", "ascending"}

// add adds entries from some goroutines at once.
func add(s *Sorter, entries []Entry, goroutines int) error {
	errs := make([]error, goroutines)
	var wait sync.WaitGroup
	for g := range goroutines {
		wait.Go(func() {
			a := s.Appender()
			for _, e := range entries[len(entries)*g/goroutines : len(entries)*(g+1)/goroutines] {
				if errs[g] = a.Add(e.Key, e.Value); errs[g] != nil {
					return
				}
			}
			errs[g] = a.Flush()
		})
	}
	wait.Wait()
	return cmp.Or(errs...)
}

type failer interface {
	Helper()
	Fatalf(string, ...any)
}

// collectParts returns what Each visits, in order, and checks what Each promises
// about parts.
func collectParts(t failer, s *Sorted, threads int) []Entry {
	t.Helper()
	parts, err := eachPart(s, threads)
	if err != nil {
		t.Fatalf("Each: %v", err)
	}
	partMax := s.store.plan.partMax
	sizes := map[uint64]int{}
	for _, workers := range parts {
		for i, p := range workers {
			switch {
			case len(p.entries) == 0 || len(p.entries) > partMax:
				t.Fatalf("a part of %d entries", len(p.entries))
			case !slices.IsSortedFunc(p.entries, compare):
				t.Fatalf("a part that is not sorted")
			case i > 0 && compare(workers[i-1].entries[len(workers[i-1].entries)-1], p.entries[0]) > 0:
				t.Fatalf("parts of a worker that do not rise")
			}
			first, last := p.entries[0].Key, p.entries[len(p.entries)-1].Key
			goesOn := i > 0 && workers[i-1].more
			if (p.more || goesOn) && first != last {
				t.Fatalf("a long key is not alone in its part")
			}
			if goesOn && workers[i-1].entries[0].Key != first {
				t.Fatalf("more is followed by another key")
			}
			for j, e := range p.entries {
				if j == 0 || p.entries[j-1].Key != e.Key {
					if sizes[e.Key] > 0 && !goesOn {
						t.Fatalf("key %x is in two parts", e.Key)
					}
				}
				sizes[e.Key]++
			}
			if goesOn && !p.more && sizes[first] <= partMax {
				t.Fatalf("a key of %d entries was cut", sizes[first])
			}
		}
		if n := len(workers); n > 0 && workers[n-1].more {
			t.Fatalf("more, and then nothing")
		}
	}
	var all []Entry
	flat := slices.Concat(parts...)
	slices.SortStableFunc(flat, func(a, b visited) int { return compare(a.entries[0], b.entries[0]) })
	for _, p := range flat {
		all = append(all, p.entries...)
	}
	return all
}

type visited struct {
	entries []Entry
	more    bool
}

func eachPart(s *Sorted, threads int) ([][]visited, error) {
	parts := make([][]visited, threads)
	err := s.Each(context.Background(), threads, func(worker int, part []Entry, more bool) error {
		parts[worker] = append(parts[worker], visited{slices.Clone(part), more})
		return nil
	})
	return parts, err
}

// readAll returns what a reader gives.
func readAll(r *Reader) ([]Entry, error) {
	var all []Entry
	for {
		peeked, more := r.Peek()
		e, ok := r.Next()
		if ok != more || e != peeked {
			panic("Peek and Next differ")
		}
		if !ok {
			return all, r.Close()
		}
		all = append(all, e)
	}
}
