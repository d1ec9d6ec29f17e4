package extsort

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"pgregory.net/rapid"
)

// drawOptions draws a small sorter's options and the entries for it.
func drawOptions(t *rapid.T, dir Dir) (Options, []Entry) {
	o := Options{
		Dir: dir, Name: "x", Scheme: "test/v1", sizes: small,
		Memory:  rapid.SampledFrom([]int64{0, 1, smallMemory, 2 * smallMemory, 1 << 20}).Draw(t, "memory"),
		Threads: rapid.IntRange(1, 3).Draw(t, "threads"),
		KeyBits: rapid.SampledFrom([]int{0, 24, 52, 64}).Draw(t, "keyBits"),
		Sum:     rapid.Bool().Draw(t, "sum"),
	}
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	n := rapid.SampledFrom([]int{0, 1, 25, 1000, 5000, 30_000}).Draw(t, "n")
	kind := rapid.SampledFrom(kinds).Draw(t, "kind")
	bits := o.KeyBits
	if bits == 0 {
		bits = 64
	} else if rapid.Bool().Draw(t, "keys above KeyBits") {
		bits = min(64, bits+8)
	}
	return o, makeEntries(rng, n, kind, bits)
}

func TestWhatComesOutIsWhatWentInInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir := newFolder(vfs.NewMem())
		o, entries := drawOptions(t, dir)
		ctx := context.Background()
		s, err := New(o)
		if err != nil {
			t.Fatalf("New: %v", err)
		}
		for round := range 2 { // the second uses the memory of the first
			entries := entries[:len(entries)/(1+round)]
			if err := add(s, entries, rapid.IntRange(1, 3).Draw(t, "goroutines")); err != nil {
				t.Fatalf("Add: %v", err)
			}
			sorted, err := s.Sort(ctx)
			if err != nil {
				t.Fatalf("Sort: %v", err)
			}
			want := twin(entries, o.Sum)
			checkSorted(t, sorted, want, o.Threads)
			if o.Memory == 0 && sorted.Spilled() {
				t.Fatalf("spilled without a limit")
			}
			if n := sorted.Len(); n < int64(len(want)) || !o.Sum && n > int64(len(want)) {
				t.Fatalf("Len = %d for %d entries", n, len(want))
			}
			if err := s.Reset(); err != nil {
				t.Fatalf("Reset: %v", err)
			}
			if names, _ := dir.fs.List("runs"); len(names) > 0 {
				t.Fatalf("left after Reset: %v", names)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
	})
}

// checkSorted reads in all ways there are.
func checkSorted(t *rapid.T, sorted *Sorted, want []Entry, threads int) {
	t.Helper()
	order := rapid.Permutation([]string{"each", "reader", "from"}).Draw(t, "order")
	for _, way := range order {
		switch way {
		case "each":
			if got := collectParts(t, sorted, threads); !slices.Equal(got, want) {
				t.Fatalf("Each: %d entries, want %d, or others", len(got), len(want))
			}
		case "reader":
			first, second := sorted.Reader(), sorted.Reader()
			for range min(10, len(want)) {
				first.Next()
			}
			for _, r := range []*Reader{second, first} {
				skipped := 0
				if r == first {
					skipped = min(10, len(want))
				}
				if got, err := readAll(r); err != nil || !slices.Equal(got, want[skipped:]) {
					t.Fatalf("Reader: %d entries, want %d, or others; %v", len(got), len(want)-skipped, err)
				}
			}
		case "from":
			from := rapid.Uint64().Draw(t, "from")
			if len(want) > 0 && rapid.Bool().Draw(t, "from a key") {
				from = want[rapid.IntRange(0, len(want)-1).Draw(t, "which")].Key
			}
			got, err := readAll(sorted.ReaderFrom(from))
			if err != nil || !slices.Equal(got, want[searchKey(want, from):]) {
				t.Fatalf("ReaderFrom(%x): %d entries of %d; %v", from, len(got), len(want), err)
			}
		}
	}
}

func TestSavedRunsAreGoneOnWithByAnotherProcess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir := newFolder(vfs.NewMem())
		o, entries := drawOptions(t, dir)
		ctx := context.Background()
		saves := rapid.IntRange(1, 4).Draw(t, "saves")
		for i := range saves { // each as a process of its own, that dies after saving
			s, err := New(o)
			if err != nil {
				t.Fatalf("New: %v", err)
			}
			if err := add(s, entries[len(entries)*i/saves:len(entries)*(i+1)/saves], 2); err != nil {
				t.Fatalf("Add: %v", err)
			}
			if o.Runs, err = s.Save(ctx); err != nil {
				t.Fatalf("Save: %v", err)
			}
			if err := add(s, []Entry{{1, 1}, {2, 2}}, 1); err != nil { // never saved
				t.Fatalf("Add: %v", err)
			}
			if err := s.Detach(); err != nil {
				t.Fatalf("Detach: %v", err)
			}
			o.Memory = rapid.SampledFrom([]int64{0, smallMemory}).Draw(t, "memory afterwards")
		}
		s, err := New(o)
		if err != nil {
			t.Fatalf("New: %v", err)
		}
		sorted, err := s.Sort(ctx)
		if err != nil {
			t.Fatalf("Sort: %v", err)
		}
		want := twin(entries, o.Sum)
		checkSorted(t, sorted, want, o.Threads)
		names, err := sorted.Save(ctx)
		if err != nil {
			t.Fatalf("Save: %v", err)
		}
		for _, run := range o.Runs { // the old checkpoint still holds
			if _, err := dir.fs.Stat("runs/" + run.Name); err != nil {
				t.Fatalf("%s is gone: %v", run.Name, err)
			}
		}
		if err := sorted.Detach(); err != nil {
			t.Fatalf("Detach: %v", err)
		}
		left, err := dir.fs.List("runs")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range left { // the next process removes what no checkpoint names
			if !slices.ContainsFunc(names, func(r Run) bool { return r.Name == name }) {
				if err := dir.fs.Remove("runs/" + name); err != nil {
					t.Fatal(err)
				}
			}
		}
		o.Runs = names
		reopened, err := Open(ctx, o)
		if err != nil {
			t.Fatalf("Open: %v", err)
		}
		checkSorted(t, reopened, want, o.Threads)
		if err := reopened.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
		if left, _ := dir.fs.List("runs"); len(left) > 0 {
			t.Fatalf("left after Close: %v", left)
		}
	})
}

// Combining once lost what it had left in the chunk that Flush was about to
// replace.
func TestSumsAreRightWhenAppendersFlushOften(t *testing.T) {
	for _, memory := range []int64{0, smallMemory} {
		s, err := New(Options{Dir: newFolder(vfs.NewMem()), Name: "x", Memory: memory, Sum: true, sizes: small})
		if err != nil {
			t.Fatal(err)
		}
		entries := makeEntries(rand.New(rand.NewPCG(4, 4)), 20_000, "hot", 64)
		for piece := range slices.Chunk(entries, 7) {
			if err := add(s, piece, 1); err != nil {
				t.Fatal(err)
			}
		}
		sorted, err := s.Sort(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if got := collectParts(t, sorted, 1); !slices.Equal(got, twin(entries, true)) {
			t.Errorf("memory %d: other sums than the twin's", memory)
		}
		if err := s.Reset(); err != nil {
			t.Fatal(err)
		}
	}
}
