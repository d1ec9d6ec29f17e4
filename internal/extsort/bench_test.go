package extsort

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/alike-dev/alike/vfs"
)

// diskFolder is a Dir in a temporary folder.
func diskFolder(b *testing.B) *folder {
	b.Helper()
	b.Chdir(b.TempDir())
	return newFolder(vfs.OS)
}

func benchEntries(n int) []Entry {
	return makeEntries(rand.New(rand.NewPCG(1, 2)), n, "uniform", 64)
}

// BenchmarkEach adds, sorts and visits uniform entries in memory, as package
// radix's BenchmarkEachPart does without the adding.
func BenchmarkEach(b *testing.B) {
	for _, n := range []int{1 << 20, 1 << 24} {
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("n=%d/threads=%d", n, threads), func(b *testing.B) {
				benchEach(b, Options{Threads: threads}, benchEntries(n))
			})
		}
	}
}

// BenchmarkSpilled does the same with runs on disk: 256 MB of entries in 32 MiB.
func BenchmarkSpilled(b *testing.B) {
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) {
			benchEach(b, Options{Dir: diskFolder(b), Name: "x", Memory: 32 << 20, Threads: threads}, benchEntries(1<<24))
		})
	}
}

func benchEach(b *testing.B, o Options, entries []Entry) {
	n := len(entries)
	s, err := New(o)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := add(s, entries, o.Threads); err != nil {
			b.Fatal(err)
		}
		sorted, err := s.Sort(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		err = sorted.Each(context.Background(), o.Threads, func(int, []Entry, bool) error { return nil })
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Reset(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/entry")
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkReader(b *testing.B) {
	const n = 1 << 22
	for _, memory := range []int64{0, 16 << 20} {
		b.Run(fmt.Sprintf("memory=%d", memory), func(b *testing.B) {
			s, err := New(Options{Dir: diskFolder(b), Name: "x", Memory: memory})
			if err != nil {
				b.Fatal(err)
			}
			if err := add(s, benchEntries(n), 1); err != nil {
				b.Fatal(err)
			}
			sorted, err := s.Sort(context.Background())
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				r := sorted.Reader()
				for _, ok := r.Next(); ok; _, ok = r.Next() {
				}
				if err := r.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/entry")
			if err := sorted.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkKinds sorts entries that are not uniform.
func BenchmarkKinds(b *testing.B) {
	const n = 1 << 22
	for _, kind := range kinds {
		for _, memory := range []int64{0, 16 << 20} {
			b.Run(fmt.Sprintf("%s/memory=%d", kind, memory), func(b *testing.B) {
				entries := makeEntries(rand.New(rand.NewPCG(1, 2)), n, kind, 64)
				benchEach(b, Options{Dir: diskFolder(b), Name: "x", Memory: memory, Threads: 1}, entries)
			})
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	s, err := New(Options{})
	if err != nil {
		b.Fatal(err)
	}
	a := s.Appender()
	for b.Loop() {
		for i := range uint64(1 << 20) {
			if err := a.Add(i, i); err != nil {
				b.Fatal(err)
			}
		}
		if err := a.Flush(); err != nil {
			b.Fatal(err)
		}
		if err := s.Reset(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(1<<20), "ns/entry")
}
