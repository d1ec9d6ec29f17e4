// Command candidates measures the search for candidate pairs of records (package
// candidates): seconds, processor seconds and memory of each step, and counts of the search. Run it
// with -h.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"time"

	"github.com/alike-dev/alike/bench/internal/cost"
	"github.com/alike-dev/alike/candidates"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/vfs"
)

const usage = `candidates measures the search for candidate pairs of records.

    go run ./bench/candidates -persons 1000000 [flags]           one table
    go run ./bench/candidates -persons 10000x10000000 [flags]    two tables
    go run ./bench/candidates -hostile equal|hot|zipf -persons N [flags]

Persons are made here: words of nine fields that are as frequent as those of a table of persons,
a fifth of them copies with up to four fields changed. Features weigh the logarithm of their
inverse document frequency. What joins of tables find is measured by bench/linkage.

Flags:
`

// job is the command line, parsed.
type job struct {
	persons, hostile, profile string
	config                    candidates.Config
	limit                     int64 // MiB of Go's heap, 0: none
}

func main() {
	j, err := parse(os.Args[1:])
	if err == nil {
		err = j.run(context.Background())
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "candidates:", err)
		os.Exit(1)
	}
}

func parse(args []string) (*job, error) {
	j := new(job)
	var method, name string
	f := flag.NewFlagSet("candidates", flag.ContinueOnError)
	f.Usage = func() { fmt.Fprint(f.Output(), usage); f.PrintDefaults() }
	f.StringVar(&j.persons, "persons", "", "number of records, or `LxR`")
	f.StringVar(&j.hostile, "hostile", "", "records that are hard in place of persons: equal, hot or zipf")
	f.StringVar(&method, "method", "topk", "topk, exact, lsh, or auto")
	f.StringVar(&name, "measure", "cosine", "cosine or weighted-jaccard")
	f.IntVar(&j.config.K, "k", 10, "candidates a record")
	f.Float64Var(&j.config.MinSimilarity, "least", 0, "least similarity")
	f.IntVar(&j.config.Threads, "threads", 2, "goroutines")
	f.Int64Var(&j.limit, "memory", 0, "ceiling in `MiB`; what exceeds it goes into a folder for temporary files")
	f.BoolVar(&j.config.Unfiltered, "unfiltered", false, "lsh: no Bloom filter")
	f.StringVar(&j.profile, "cpuprofile", "", "`file` for a profile of the search")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if j.config.Method = candidates.Method(method); method == "auto" {
		j.config.Method = candidates.Auto
	}
	m, err := measure.Parse(name)
	j.config.Measure = m
	return j, err
}

func (j *job) run(ctx context.Context) (err error) {
	memory := int64(0)
	if j.limit > 0 {
		folder, err := os.MkdirTemp("", "candidates")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
		debug.SetMemoryLimit(j.limit << 20)
		memory = j.limit << 20 / 4
		j.config.Memory, j.config.Dir = j.limit<<20/2, dir{folder}
	}
	t := newTimer()
	left := candidates.NewStore(j.config.Dir, "left", memory)
	right, err := j.fill(left, memory)
	if err != nil {
		return err
	}
	t.lap("make")
	fmt.Printf("%d records, %d features", left.Len(), left.Features())
	if right != nil {
		fmt.Printf(" × %d records, %d features", right.Len(), right.Features())
	}
	fmt.Println()
	pairs, err := j.find(ctx, left, right)
	if err != nil {
		return err
	}
	t.lap("find")
	n := 0
	for _, e := range pairs.All() {
		n, err = n+1, errors.Join(err, e)
	}
	fmt.Printf("%d pairs, %.2f a record\n", n, float64(n)/float64(left.Len()))
	t.lap("read pairs")
	if right != nil {
		err = errors.Join(err, right.Close())
	}
	return errors.Join(err, pairs.Close(), left.Close())
}

// fill puts records into the left store and, if there are two tables, into the right one.
func (j *job) fill(left *candidates.Store, memory int64) (right *candidates.Store, err error) {
	if j.hostile != "" {
		err = hostile(left, j.hostile, j.persons)
	} else {
		right, err = persons(left, j.persons, func() *candidates.Store { return candidates.NewStore(j.config.Dir, "right", memory) })
	}
	if err == nil {
		err = left.Finish()
	}
	return right, err
}

func (j *job) find(ctx context.Context, left, right *candidates.Store) (*candidates.Pairs, error) {
	if j.profile != "" {
		f, err := os.Create(j.profile)
		if err != nil {
			return nil, err
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return nil, err
		}
		defer func() { pprof.StopCPUProfile(); _ = f.Close() }() // a profile that is cut does no harm
	}
	pairs, s, err := candidates.Find(ctx, j.config, left, right)
	if err == nil {
		n := float64(max(s.Searched, 1))
		fmt.Printf("%s: %d parts; a record %.1f entries, %.1f compared; %d of %d records dropped (%.2f %%)", s.Method, s.Parts,
			float64(s.Entries)/n, float64(s.Compared)/n, s.Dropped, s.Searched, 100*float64(s.Dropped)/n)
		if s.Method == candidates.Bands {
			fmt.Printf("; %d bands of %d rows, %d buckets capped", s.Params.Bands, s.Params.Rows, s.Capped)
		}
		fmt.Println()
	}
	return pairs, err
}

// dir is a folder of the disk.
type dir struct{ path string }

func (d dir) Create(name string) (vfs.File, error) {
	return vfs.OS.Create(filepath.Join(d.path, name))
}

func (d dir) Open(name string) (extsort.RunFile, error) {
	f, err := vfs.OS.Open(filepath.Join(d.path, name))
	return run{f}, err
}

func (d dir) Remove(name string) error { return vfs.OS.Remove(filepath.Join(d.path, name)) }
func (d dir) Spilled(int64)            {}

type run struct{ vfs.File }

func (r run) Size() (int64, error) {
	info, err := r.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// timer prints the time since its last lap.
type timer struct {
	start, processor time.Duration
	zero             time.Time
}

func newTimer() *timer { return &timer{zero: time.Now(), processor: cost.Processor()} }

func (t *timer) lap(name string) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	now, processor := time.Since(t.zero), cost.Processor()
	fmt.Printf("%-10s %7.2f s, processors %7.2f s, heap %5d MiB, resident at most %5d MiB\n", name,
		(now - t.start).Seconds(), (processor - t.processor).Seconds(), m.HeapAlloc>>20, cost.PeakMemory()>>20)
	t.start, t.processor = now, processor
}
