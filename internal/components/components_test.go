package components

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/testsize"
	"github.com/alike-dev/alike/vfs"
	"github.com/alike-dev/alike/vfs/vfstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// folder is an extsort.Dir.
type folder struct {
	fs      vfs.FS
	path    string
	spilled atomic.Int64
}

func newFolder(t rapid.TB, fs vfs.FS) *folder {
	t.Helper()
	if err := fs.MkdirAll("runs", 0o755); err != nil {
		t.Fatal(err)
	}
	return &folder{fs: fs, path: "runs"}
}

// runName is what the caller knows the runs by, given the name in Options.
var runName = regexp.MustCompile(`^[a-z]+\d*-\d{6}\.run$`)

func (f *folder) Create(name string) (vfs.File, error) {
	if !runName.MatchString(name) {
		return nil, fmt.Errorf("a run named %s", name)
	}
	return f.fs.Create(filepath.Join(f.path, name))
}
func (f *folder) Open(name string) (extsort.RunFile, error) {
	open := func(name string) (vfs.File, error) { return f.fs.Open(filepath.Join(f.path, name)) }
	return durable.NewPool(1, open).Open(name)
}
func (f *folder) Remove(name string) error { return f.fs.Remove(filepath.Join(f.path, name)) }
func (f *folder) Spilled(bytes int64)      { f.spilled.Add(bytes) }

func (f *folder) checkEmpty(t rapid.TB) {
	t.Helper()
	if left, err := f.fs.List(f.path); len(left) > 0 || err != nil {
		t.Errorf("runs left: %q, %v", left, err)
	}
}

// sortEdges makes edges as Components takes them, repeats included.
func sortEdges(t rapid.TB, dir extsort.Dir, memory int64, edges []cluster.Edge) *extsort.Sorted {
	t.Helper()
	sorter, err := extsort.New(extsort.Options{Dir: dir, Name: "edges", Memory: memory})
	if err != nil {
		t.Fatal(err)
	}
	a := sorter.Appender()
	for i, e := range edges {
		if err := a.Add(uint64(min(e.A, e.B))<<32|uint64(max(e.A, e.B)), uint64(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Flush(); err != nil {
		t.Fatal(err)
	}
	sorted, err := sorter.Sort(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return sorted
}

// twin is what cluster.Components says of the vertices that have an edge.
func twin(n int, edges []cluster.Edge) []extsort.Entry {
	labels := cluster.Components(n, edges)
	has := make([]bool, n)
	for _, e := range edges {
		has[e.A], has[e.B] = true, true
	}
	want := []extsort.Entry{}
	for v, label := range labels {
		if has[v] {
			want = append(want, extsort.Entry{Key: uint64(v), Value: uint64(label)})
		}
	}
	return want
}

// check compares the components of a graph with its twin's, and returns the rounds.
func check(t rapid.TB, n int, edges []cluster.Edge, memory int64, threads int) (rounds int, spilled int64) {
	t.Helper()
	dir := newFolder(t, vfstest.NewMem())
	sorted := sortEdges(t, dir, 0, edges)
	o := extsort.Options{Dir: dir, Name: "components", Memory: memory, Threads: threads}
	labels, rounds, err := solve(context.Background(), sorted, n, o)
	if err != nil {
		t.Fatal(err)
	}
	got := []extsort.Entry{}
	r := labels.Reader()
	for e, ok := r.Next(); ok; e, ok = r.Next() {
		got = append(got, e)
	}
	if err := errors.Join(r.Close(), labels.Close(), sorted.Close()); err != nil {
		t.Error(err)
	}
	if want := twin(n, edges); !slices.Equal(got, want) {
		t.Errorf("memory %d, %d vertices, %d edges: %d labels, want %d, or others", memory, n, len(edges), len(got), len(want))
	}
	dir.checkEmpty(t)
	return rounds, dir.spilled.Load()
}

// smallMemories lead all ways: everything in memory, contraction until nothing is
// left, contraction until 4 or 32 vertices are.
var smallMemories = []int64{0, 1, 64, 512}

func TestComponentsOfAnyGraphAreThoseOfUnionFind(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		n := rapid.IntRange(1, 200).Draw(t, "vertices")
		edges := make([]cluster.Edge, rapid.IntRange(0, 2*n).Draw(t, "edges"))
		near := rapid.SampledFrom([]int{2, 5, n}).Draw(t, "near")
		for i := range edges {
			a := r.IntN(n)
			b := (a + r.IntN(near)) % n
			if a == b && n > 1 {
				b = (a + 1) % n
			}
			edges[i] = cluster.Edge{A: uint32(a), B: uint32(b)}
		}
		if n == 1 {
			edges = nil
		}
		memory := rapid.SampledFrom(smallMemories).Draw(t, "memory")
		check(t, n, edges, memory, rapid.IntRange(1, 3).Draw(t, "threads"))
	})
}

// graphs are of shapes that are hard in one way or another.
func graphs(n int) map[string][]cluster.Edge {
	r := rand.New(rand.NewPCG(1, 2))
	path, shuffled, star, sparse, stars := []cluster.Edge{}, []cluster.Edge{}, []cluster.Edge{}, []cluster.Edge{}, []cluster.Edge{}
	order := r.Perm(n)
	for i := 1; i < n; i++ {
		path = append(path, cluster.Edge{A: uint32(i - 1), B: uint32(i)})
		shuffled = append(shuffled, cluster.Edge{A: uint32(order[i-1]), B: uint32(order[i])})
		star = append(star, cluster.Edge{A: uint32(n / 2), B: uint32((n/2 + i) % n)})
		if a, b := r.IntN(n), r.IntN(n); a != b {
			sparse = append(sparse, cluster.Edge{A: uint32(a), B: uint32(b)})
		}
		if i%10 != 0 {
			stars = append(stars, cluster.Edge{A: uint32(order[i]), B: uint32(order[i-i%10])})
		}
	}
	return map[string][]cluster.Edge{
		"path": path, "shuffled path": shuffled, "star": star, "random": sparse, "many stars": stars,
	}
}

func TestWhatFitsInMemoryIsNeitherContractedNorSpilled(t *testing.T) {
	const n = 10_000
	for name, edges := range graphs(n) {
		for _, memory := range []int64{0, 10 * n} {
			if rounds, spilled := check(t, n, edges, memory, 2); rounds > 0 || spilled > 0 {
				t.Errorf("%s, memory %d: %d rounds, %d bytes spilled", name, memory, rounds, spilled)
			}
		}
	}
}

func TestLongChainsAndStarsNeedFewRounds(t *testing.T) {
	n := 100_000
	if testsize.Small() {
		n = 20_000
	}
	for name, edges := range graphs(n) {
		t.Run(name, func(t *testing.T) {
			for _, memory := range []int64{1, int64(n) * 8 / 5} { // to the end, until a tenth is left
				rounds, spilled := check(t, n, edges, memory, 2)
				if rounds == 0 || rounds > 40 || spilled == 0 { // 40 is log n to the base 4/3
					t.Errorf("memory %d: %d rounds, %d bytes spilled", memory, rounds, spilled)
				}
			}
		})
	}
}

func TestVerticesMayHaveAnyNumber(t *testing.T) {
	const top = 1<<32 - 1
	dir := newFolder(t, vfstest.NewMem())
	edges := sortEdges(t, dir, 0, []cluster.Edge{{A: 0, B: 5}, {A: top, B: 1 << 31}, {A: 5, B: 1 << 31}, {A: top - 1, B: top - 2}})
	for _, memory := range []int64{1, 1 << 10} {
		labels, err := Components(context.Background(), edges, 1<<32, extsort.Options{Dir: dir, Name: "c", Memory: memory})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		r := labels.Reader()
		for e, ok := r.Next(); ok; e, ok = r.Next() {
			got = append(got, fmt.Sprint(e.Key, " ", e.Value))
		}
		want := []string{"0 0", "5 0", "2147483648 0", "4294967293 4294967293", "4294967294 4294967293", "4294967295 0"}
		if err := errors.Join(r.Close(), labels.Close()); err != nil || !slices.Equal(got, want) {
			t.Errorf("memory %d: %v, %v", memory, got, err)
		}
	}
	if err := edges.Close(); err != nil {
		t.Error(err)
	}
	dir.checkEmpty(t)
}

func TestEdgesOutOfRangeAreRefused(t *testing.T) {
	dir := newFolder(t, vfstest.NewMem())
	edges := sortEdges(t, dir, 0, []cluster.Edge{{A: 1, B: 2}, {A: 3, B: 10}})
	for _, memory := range smallMemories {
		_, err := Components(context.Background(), edges, 10, extsort.Options{Dir: dir, Name: "c", Memory: memory})
		if err == nil || !strings.Contains(err.Error(), "edge between 3 and 10 of 10 vertices") {
			t.Errorf("%v", err)
		}
	}
	for _, n := range []int{-1, 1<<32 + 1} {
		if _, err := Components(context.Background(), edges, n, extsort.Options{}); err == nil {
			t.Errorf("%d vertices", n)
		}
	}
	dir.checkEmpty(t)
}

func TestScramblingIsABijectionWithItsInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, round := rapid.Uint32().Draw(t, "x"), rapid.IntRange(0, 100).Draw(t, "round")
		if y := unscramble(scramble(x, round), round); y != x {
			t.Errorf("%d came back as %d", x, y)
		}
	})
}

func TestCancellingEndsTheWorkAndLeavesNothing(t *testing.T) {
	const n = 2000
	path := graphs(n)["path"]
	for _, memory := range []int64{0, 1, 1000} {
		for after := range 40 {
			dir := newFolder(t, vfstest.NewMem())
			edges := sortEdges(t, dir, 0, path)
			ctx := &countdown{Context: context.Background(), left: after}
			labels, err := Components(ctx, edges, n, extsort.Options{Dir: dir, Name: "c", Memory: memory})
			switch {
			case err == nil:
				err = labels.Close()
			case errors.Is(err, context.Canceled):
				err = nil
			}
			if err != nil {
				t.Errorf("cancelled at the %dth look: %v", after, err)
			}
			dir.checkEmpty(t)
		}
	}
}

// countdown is cancelled at the nth look at it.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left == 0 {
		return context.Canceled
	}
	c.left--
	return nil
}

func TestEveryOperationMayFailAndNothingIsLeft(t *testing.T) {
	edges := graphs(2000)["shuffled path"]
	for n := 0; ; n += 1 + n/20 {
		mem := vfstest.NewMem()
		count := 0
		dir := newFolder(t, vfstest.Inject(mem, func(op vfstest.Op) error {
			if op.Kind == vfstest.OpMkdirAll || op.Kind == vfstest.OpRemove {
				return nil
			}
			count++
			if count-1 == n {
				return syscall.ENOSPC
			}
			return nil
		}))
		sorted := sortEdges(t, dir, 0, edges)
		labels, err := Components(context.Background(), sorted, 2000, extsort.Options{Dir: dir, Name: "c", Memory: 1})
		if err == nil {
			err = labels.Close()
			if count <= n && err == nil {
				if n < 20 {
					t.Errorf("only %d operations", n)
				}
				break
			}
		}
		if err != nil && !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("operation %d: %v", n, err)
		}
		if err := sorted.Close(); err != nil {
			t.Error(err)
		}
		dir.checkEmpty(t)
	}
}

// BenchmarkComponents tells the peak of the heap too, beyond what was there before.
func BenchmarkComponents(b *testing.B) {
	const n = 4_000_000
	for _, name := range []string{"path", "random"} {
		edges := graphs(n)[name]
		for _, memory := range []int64{0, 64 << 20, 16 << 20} {
			b.Run(fmt.Sprintf("%s/%dMiB", name, memory>>20), func(b *testing.B) {
				dir := &folder{fs: vfs.OS, path: b.TempDir()}
				sorted := sortEdges(b, dir, 16<<20, edges)
				defer debug.SetGCPercent(debug.SetGCPercent(20))
				var peak uint64
				rounds := 0
				for b.Loop() {
					peak = max(peak, heapPeak(func() {
						labels, r, err := solve(context.Background(), sorted, n, extsort.Options{Dir: dir, Name: "c", Memory: memory, Threads: 2})
						if err != nil {
							b.Fatal(err)
						}
						rounds = r
						if err := labels.Close(); err != nil {
							b.Fatal(err)
						}
					}))
				}
				b.ReportMetric(float64(peak)/(1<<20), "peak-MiB")
				b.ReportMetric(float64(rounds), "rounds")
				if err := sorted.Close(); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}

// heapPeak returns how much the heap grew at most while do ran, looked at every few
// milliseconds.
func heapPeak(do func()) uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before, peak := m.HeapAlloc, m.HeapAlloc
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapAlloc)
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	do()
	close(stop)
	<-stopped
	return peak - before
}
