package index

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/alike-dev/alike/internal/plant"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
)

// feed checks documents from to to on so many goroutines, in order.
func feed(x *Index, workers, from, to, size int) error {
	var turn sync.Mutex
	ready := sync.NewCond(&turn)
	taken, next := from, from
	var failed error
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			b, news := x.NewCheck(), plant.NewStamped(2048)
			for {
				turn.Lock()
				start := taken
				end := min(start+size, to)
				taken = end
				turn.Unlock()
				if start == end {
					return
				}
				b.Reset()
				for n := start; n < end; n++ {
					b.Add(Document{ID: strconv.AppendInt(nil, int64(n), 10), Text: news.Text(n, 1)})
				}
				turn.Lock()
				for next != start {
					ready.Wait()
				}
				if _, err := x.Check(b, nil); err != nil {
					failed = err
				}
				next = end
				turn.Unlock()
				ready.Broadcast()
			}
		})
	}
	group.Wait()
	return failed
}

func defaultRecipe(b testing.TB) recipe.Recipe {
	t, err := measure.NewThreshold(measure.Jaccard, 0.8)
	if err != nil {
		b.Fatal(err)
	}
	r, err := recipe.New(recipe.Options{Threshold: t})
	if err != nil {
		b.Fatal(err)
	}
	return r
}

// BenchmarkCheck checks and adds texts of 2 KB in a window that is full. ALIKE_WINDOW sets its
// documents.
func BenchmarkCheck(b *testing.B) {
	window := 100_000
	if n, err := strconv.Atoi(os.Getenv("ALIKE_WINDOW")); err == nil {
		window = n
	}
	for workers := 1; workers <= runtime.GOMAXPROCS(0); workers++ {
		b.Run(fmt.Sprintf("window=%d/workers=%d", window, workers), func(b *testing.B) {
			x, err := New(Options{Recipe: defaultRecipe(b), Window: Window{Docs: window}})
			if err != nil {
				b.Fatal(err)
			}
			if err := feed(x, workers, 0, window, 64); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(2048)
			b.ResetTimer()
			if err := feed(x, workers, window, window+b.N, 64); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "docs/s")
			s := x.Stats()
			b.ReportMetric(float64(s.TableBytes+s.SlotBytes)/float64(s.Documents), "bytes/doc")
		})
	}
}

// BenchmarkEntries applies entries of texts of 2 KB that another index has prepared, 64 at once, as a replica does.
func BenchmarkEntries(b *testing.B) {
	o := Options{Recipe: defaultRecipe(b), Keep: KeepText, ByID: true}
	sender, err := New(o)
	if err != nil {
		b.Fatal(err)
	}
	const size, prepared = 64, 256 * 64
	entries, news := make([][]byte, prepared), plant.NewStamped(2048)
	made := sender.NewCheck()
	for n := range entries {
		made.Reset()
		made.Add(Document{ID: strconv.AppendInt(nil, int64(n), 10), Text: news.Text(n, 1)})
		entries[n] = made.AppendEntry(nil, 0)
	}
	var x *Index
	var batch *Batch
	for n := 0; b.Loop(); n++ {
		if n*size%prepared == 0 {
			if x, err = New(o); err != nil {
				b.Fatal(err)
			}
			batch = x.NewCheck()
		}
		batch.Reset()
		bytes := 0
		for i := range size {
			bytes += EntryBytes(entries[(n*size+i)%prepared])
		}
		batch.Grow(bytes)
		for i := range size {
			if err := batch.AddEntry(entries[(n*size+i)%prepared], nil); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := x.Check(batch, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/size, "µs/doc")
}
