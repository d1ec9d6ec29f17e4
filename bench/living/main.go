//go:build unix

// Command living measures a living collection (package index): documents that are checked and
// added in a full window, hostile streams, searches, and how fast an index is opened.
//
//	go run ./bench/living check -docs 1000000 [-dir /tmp/x [-keys disk] [-sync 30ms]]
//	go run ./bench/living hostile -docs 100000
//	go run ./bench/living search -docs 1000000
//	go run ./bench/living hamming -docs 10000000
//	go run ./bench/living open -docs 1000000 -dir /tmp/x
//
// Each line has wall and processor seconds of a measurement, so that one can tell what the
// program needs from waiting on a busy machine.
package main

import (
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sort"
	"strconv"
	"sync"
	"time"

	"github.com/alike-dev/alike/bench/internal/cost"
	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/internal/plant"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/simhash"
)

func main() {
	if len(os.Args) < 2 {
		log.Fatal("name a measure: check, hostile, search, hamming or open")
	}
	flags := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	docs := flags.Int("docs", 100_000, "documents in the collection")
	dir := flags.String("dir", "", "folder for an index, of check and open; check: none is an index in memory")
	flags.StringVar(&keys, "keys", "memory", "where an index in a folder has its keys: memory or disk")
	flags.Int64Var(&cache, "cache", 0, "bytes of the store that memory keeps, of open; 0: the default")
	flags.DurationVar(&slowest, "sync", 0, "how long a slow disk takes for each sync of a log or folder, of check in a folder; 0: this disk")
	_ = flags.Parse(os.Args[2:]) // ends the program
	run, known := map[string]func(int, string) error{"check": check, "hostile": hostile, "search": search, "hamming": hamming, "open": open}[os.Args[1]]
	if !known {
		log.Fatalf("no measure %q", os.Args[1])
	}
	if err := run(*docs, *dir); err != nil {
		log.Fatal(err)
	}
}

var (
	keys    string
	cache   int64
	slowest time.Duration
)

func sets() recipe.Recipe {
	t, err := measure.NewThreshold(measure.Jaccard, 0.8)
	if err != nil {
		log.Fatal(err)
	}
	r, err := recipe.New(recipe.Options{Threshold: t})
	if err != nil {
		log.Fatal(err)
	}
	return r
}

// feed passes documents to the index in order, in batches of 64, on all processors, and returns
// how long each batch took.
func feed(x *index.Index, from, to, size int, document func(m *plant.Stamped, n int) index.Document, add bool) (took []time.Duration, err error) {
	var turn sync.Mutex
	ready := sync.NewCond(&turn)
	taken, next := from, from
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			b, m := x.NewCheck(), plant.NewStamped(size)
			if add {
				b = x.NewBatch()
			}
			for {
				turn.Lock()
				start := taken
				end := min(start+64, to)
				taken = end
				turn.Unlock()
				if start == end {
					return
				}
				began := time.Now()
				b.Reset()
				for n := start; n < end; n++ {
					b.Add(document(m, n))
				}
				turn.Lock()
				for next != start {
					ready.Wait()
				}
				e := error(nil)
				if add {
					e = x.Add(b)
				} else {
					_, e = x.Check(b, nil)
				}
				if e != nil && err == nil {
					err = e
				}
				took = append(took, time.Since(began))
				next = end
				turn.Unlock()
				ready.Broadcast()
			}
		})
	}
	group.Wait()
	return took, err
}

// timed prints the time of n documents.
func timed(name string, n int, what func() error) error {
	wall, cpu := time.Now(), cost.Processor()
	if err := what(); err != nil {
		return err
	}
	w, c := time.Since(wall), cost.Processor()-cpu
	fmt.Printf("%-28s %9d  wall %7.2f s %9.0f/s  processor %7.2f s %9.0f/s on 2 processors\n", name, n, w.Seconds(), float64(n)/w.Seconds(), c.Seconds(), 2*float64(n)/c.Seconds())
	return nil
}

func percentile(took []time.Duration, p float64) time.Duration {
	slices.Sort(took)
	return took[min(int(p*float64(len(took))), len(took)-1)]
}

func news(m *plant.Stamped, n int) index.Document {
	return index.Document{ID: strconv.AppendInt(nil, int64(n), 10), Text: m.Text(n, 1)}
}

func describe(x *index.Index) {
	s := x.Stats()
	fmt.Printf("%d documents, %.0f bytes each for keys, %.0f in all but the texts, %d keys beyond full buckets\n",
		s.Documents, float64(s.TableBytes)/float64(s.Documents), float64(s.TableBytes+s.SlotBytes)/float64(s.Documents), s.Full)
}

func check(docs int, dir string) error {
	o := index.Options{Recipe: sets(), Window: index.Window{Docs: docs}}
	x, err := index.New(o)
	if dir != "" {
		x, err = index.Create(dir, index.OpenOptions{Options: onDisk(o), FS: disk()})
	}
	if err != nil {
		return err
	}
	stop := func() {}
	if dir != "" {
		stop = syncEvery(x, 50*time.Millisecond)
	}
	if err := timed("fill", docs, func() error { _, err := feed(x, 0, docs, 2048, news, false); return err }); err != nil {
		return err
	}
	var took []time.Duration
	if err := timed("check and add, full", docs, func() (err error) { took, err = feed(x, docs, 2*docs, 2048, news, false); return err }); err != nil {
		return err
	}
	print("a batch of 64:", took)
	if err := oneByOne(x, 2*docs); err != nil {
		return err
	}
	describe(x)
	stop()
	return x.Close()
}

// oneByOne checks documents one after the other, and prints the wall time and the processor time of a document. The
// latter does not include waiting on a busy machine.
func oneByOne(x *index.Index, from int) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const n = 100_000
	m, took, worked := plant.NewStamped(2048), make([]time.Duration, 0, n), make([]time.Duration, 0, n)
	for i := range n {
		d := news(m, from+i)
		began, begun := time.Now(), cost.Thread()
		if _, err := x.CheckOne(d); err != nil {
			return err
		}
		took, worked = append(took, time.Since(began)), append(worked, cost.Thread()-begun)
	}
	print("one document:", took)
	print("of a processor:", worked)
	var gc debug.GCStats
	debug.ReadGCStats(&gc)
	print("pauses of the collector:", gc.Pause)
	return nil
}

// pause is what a living collection is asked not to wait longer than.
const pause = 10 * time.Millisecond

func print(what string, took []time.Duration) {
	if len(took) == 0 {
		return
	}
	fmt.Print(what)
	for _, p := range []float64{0.5, 0.9, 0.99, 0.999, 1} {
		fmt.Printf(" %v of 100 within %v", 100*p, percentile(took, p))
	}
	long := len(took) - sort.Search(len(took), func(i int) bool { return took[i] > pause })
	fmt.Printf("; %d of %d above %v\n", long, len(took), pause)
}

// onDisk returns options with the keys on disk, if the flag asks for that.
func onDisk(o index.Options) index.Options {
	if keys == "disk" {
		o.Keys = index.KeysOnDisk
	}
	return o
}

// syncEvery syncs an index at intervals, as a stream does. The function that it returns ends this.
func syncEvery(x *index.Index, every time.Duration) (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for tick := time.NewTicker(every); ; {
			select {
			case <-end:
				return
			case <-tick.C:
				if err := x.Sync(); err != nil {
					log.Fatal(err)
				}
			}
		}
	}()
	return func() { close(end); <-ended }
}

// hostile compares streams that are hard for the index with a stream of news.
func hostile(docs int, _ string) error {
	shuffled := rand.New(rand.NewPCG(2, 2))
	for _, c := range []struct {
		name     string
		window   index.Window
		document func(m *plant.Stamped, n int) index.Document
	}{
		{"news", index.Window{Docs: docs}, news},
		{"one text, a million copies", index.Window{Docs: docs}, func(m *plant.Stamped, n int) index.Document {
			return index.Document{ID: []byte("x"), Text: m.Text(0, 1)}
		}},
		{"copies, refreshed", index.Window{Docs: docs, Refresh: true}, func(m *plant.Stamped, n int) index.Document {
			return index.Document{ID: []byte("x"), Text: m.Text(0, 1)}
		}},
		{"template with a counter", index.Window{Docs: docs}, func(m *plant.Stamped, n int) index.Document {
			return index.Document{ID: []byte("x"), Text: m.Text(n, 0.05)}
		}},
		{"template, half of it unlike", index.Window{Docs: docs}, func(m *plant.Stamped, n int) index.Document {
			return index.Document{ID: []byte("x"), Text: m.Text(n, 0.5)}
		}},
		{"template, a third unlike", index.Window{Docs: docs}, func(m *plant.Stamped, n int) index.Document {
			return index.Document{ID: []byte("x"), Text: m.Text(n, 0.3)}
		}},
		{"a clock that runs backwards", index.Window{Age: time.Hour}, func(m *plant.Stamped, n int) index.Document {
			d := news(m, n)
			d.Time = time.Unix(2_000_000_000-int64(n), 0)
			return d
		}},
		{"times at random", index.Window{Age: time.Hour, Late: time.Hour}, func(m *plant.Stamped, n int) index.Document {
			d := news(m, n)
			d.Time = time.Unix(2_000_000_000+int64(n/100)+shuffledInt(shuffled), 0)
			return d
		}},
	} {
		x, err := index.New(index.Options{Recipe: sets(), Window: c.window})
		if err != nil {
			return err
		}
		if _, err := feed(x, 0, docs, 2048, c.document, false); err != nil {
			return err
		}
		if err := timed(c.name, docs, func() error { _, err := feed(x, docs, 2*docs, 2048, c.document, false); return err }); err != nil {
			return err
		}
		describe(x)
		if err := x.Close(); err != nil {
			return err
		}
		runtime.GC()
	}
	return nil
}

var shuffledMu sync.Mutex

func shuffledInt(r *rand.Rand) int64 {
	shuffledMu.Lock()
	defer shuffledMu.Unlock()
	return r.Int64N(7200)
}

// searches measures searches for texts, half of which are in the index.
func searches(x *index.Index, docs, size, n int) error {
	s, m := x.NewSearcher(), plant.NewStamped(size)
	random := rand.New(rand.NewPCG(3, 3))
	var took []time.Duration
	found := 0
	for range n {
		text := m.Text(random.IntN(2*docs), 1)
		began := time.Now()
		matches, err := s.Search(text, index.SearchOptions{})
		if err != nil {
			return err
		}
		took = append(took, time.Since(began))
		found += min(len(matches), 1)
	}
	fmt.Printf("search: median %v, p99 %v; %d of %d found\n", percentile(took, 0.5), percentile(took, 0.99), found, n)
	return nil
}

func search(docs int, _ string) error {
	x, err := index.New(index.Options{Recipe: sets()})
	if err != nil {
		return err
	}
	if err := timed("add", docs, func() error { _, err := feed(x, 0, docs, 500, news, true); return err }); err != nil {
		return err
	}
	describe(x)
	return searches(x, docs, 500, 20_000)
}

func hamming(docs int, _ string) error {
	r, err := recipe.New(recipe.Options{Sketch: recipe.SimHash(simhash.Default()), Distance: new(3)})
	if err != nil {
		return err
	}
	x, err := index.New(index.Options{Recipe: r})
	if err != nil {
		return err
	}
	if err := timed("add", docs, func() error { _, err := feed(x, 0, docs, 200, news, true); return err }); err != nil {
		return err
	}
	describe(x)
	return searches(x, docs, 200, 20_000)
}

// open opens the index in a folder, and makes it first if there is none.
func open(docs int, dir string) error {
	opening := index.OpenOptions{Cache: cache}
	creating := opening
	creating.Options = onDisk(index.Options{Recipe: sets()})
	x, err := index.Create(dir, creating)
	if err == nil {
		if err := timed("add", docs, func() error {
			_, err := feed(x, 0, docs, 500, news, true)
			if err == nil {
				err = x.Sync()
			}
			return err
		}); err != nil {
			return err
		}
		if err := x.Close(); err != nil {
			return err
		}
	}
	if err := timed("open", docs, func() (err error) { x, err = index.Open(dir, opening); return err }); err != nil {
		return err
	}
	describe(x)
	fmt.Printf("resident %d MiB after opening\n", resident()>>20)
	if err := timed("search", 20_000, func() error { return searches(x, docs, 500, 20_000) }); err != nil {
		return err
	}
	if err := timed("check and add", 20_000, func() error {
		from := 2*docs + int(x.Stats().Next) // texts that are new, also when it is run again
		_, err := feed(x, from, from+20_000, 500, news, false)
		return err
	}); err != nil {
		return err
	}
	fmt.Printf("resident %d MiB, %d MiB at most\n", resident()>>20, cost.PeakMemory()>>20)
	return x.Close()
}

// resident returns the resident memory of the process in bytes, 0 if it is not known.
func resident() (bytes int64) {
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var total, pages int64
	if _, err := fmt.Sscan(string(statm), &total, &pages); err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}
