// Command candidates measures the search for candidates among records (package topk): the
// time and memory of each step and how much of the truth the candidates hold. Run it with
// -h.
package main

import (
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/topk"
)

type settings struct {
	table, truth  string
	cut, profile  string
	measure       string
	k, threads    int
	least         float64
	rarest, queries int
}

func main() {
	var o settings
	flag.StringVar(&o.table, "table", "", "CSV with a header; the first column is the id: a number")
	flag.StringVar(&o.truth, "truth", "", "CSV with a header and pairs of ids")
	flag.StringVar(&o.cut, "cut", "words", "words, grams or both")
	flag.StringVar(&o.measure, "measure", "cosine", "")
	flag.IntVar(&o.k, "k", 10, "")
	flag.Float64Var(&o.least, "least", 0, "")
	flag.IntVar(&o.threads, "threads", 2, "")
	flag.IntVar(&o.rarest, "rarest", 0, "keep so many of the rarest features of a record, 0: all")
	flag.IntVar(&o.queries, "queries", 0, "only so many queries, 0: all")
	flag.StringVar(&o.profile, "cpuprofile", "", "")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "candidates:", err)
		os.Exit(1)
	}
}

var cpuBefore time.Duration

func lap(start *time.Time, what string) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	now := time.Duration(u.Utime.Nano() + u.Stime.Nano())
	fmt.Printf("%-10s %6.2f s  cpu %6.2f s heap %d MiB  max %d MiB\n", what, time.Since(*start).Seconds(), (now - cpuBefore).Seconds(), m.HeapAlloc>>20, u.Maxrss>>10)
	cpuBefore = now
	*start = time.Now()
}

func run(o settings) error {
	start := time.Now()
	rows, ids, err := read(o.table)
	if err != nil {
		return err
	}
	lap(&start, "read")
	v := vectorsOf(rows, o.cut, o.rarest)
	rows = nil
	runtime.GC()
	lap(&start, "vectors")
	fmt.Printf("%d vectors, %d features\n", v.Len(), v.Features())
	if o.profile != "" {
		f, err := os.Create(o.profile)
		if err != nil {
			return err
		}
		defer f.Close()
		_ = pprof.StartCPUProfile(f)
		defer pprof.StopCPUProfile()
	}
	m, err := measure.Parse(o.measure)
	if err != nil {
		return err
	}
	x, err := topk.NewIndex(v, topk.Options{Measure: m, K: o.k, MinSimilarity: o.least})
	if err != nil {
		return err
	}
	lap(&start, "index")
	n := v.Len()
	if o.queries > 0 {
		n = min(n, o.queries)
	}
	found := make([][]topk.Match, n)
	var next atomic.Int64
	var wg sync.WaitGroup
	var entries, compared atomic.Int64
	for range o.threads {
		wg.Go(func() {
			s := x.NewSearcher()
			var buf []topk.Match
			for {
				to := int(next.Add(256))
				for i := to - 256; i < min(to, n); i++ {
					buf = s.Others(buf[:0], i)
					found[i] = append([]topk.Match(nil), buf...)
				}
				if to >= n {
					entries.Add(int64(s.Work().Entries))
					compared.Add(int64(s.Work().Compared))
					return
				}
			}
		})
	}
	wg.Wait()
	lap(&start, "search")
	fmt.Printf("%.1f entries, %.1f compared a record\n", float64(entries.Load())/float64(n), float64(compared.Load())/float64(n))
	pairs := 0
	for _, f := range found {
		pairs += len(f)
	}
	fmt.Printf("%.2f matches a record\n", float64(pairs)/float64(n))
	if o.truth == "" {
		return nil
	}
	return recall(o, ids, found)
}

func recall(o settings, ids map[int]int, found [][]topk.Match) error {
	f, err := os.Open(o.truth)
	if err != nil {
		return err
	}
	defer f.Close()
	r := csv.NewReader(f)
	_, _ = r.Read()
	var at [2000]int
	total, hit := 0, 0
	place := func(a, b int) int {
		if a >= len(found) {
			return -1
		}
		for i, m := range found[a] {
			if int(m.Index) == b {
				return i
			}
		}
		return -1
	}
	for {
		rec, err := r.Read()
		if err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		x, _ := strconv.Atoi(rec[0])
		y, _ := strconv.Atoi(rec[1])
		a, b := ids[x], ids[y]
		if a >= len(found) && b >= len(found) {
			continue
		}
		total++
		pa, pb := place(a, b), place(b, a)
		if pa < 0 || pb >= 0 && pb < pa {
			pa = pb
		}
		if pa >= 0 {
			hit++
			at[min(pa, 1999)]++
		}
	}
	fmt.Printf("recall %.5f of %d;", float64(hit)/float64(total), total)
	sum := 0
	for i, c := range at {
		sum += c
		switch i {
		case 0, 1, 2, 4, 9, 19, 49, 99:
			fmt.Printf("  @%d %.5f", i+1, float64(sum)/float64(total))
		}
	}
	fmt.Println()
	return nil
}
