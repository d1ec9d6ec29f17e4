// Command simhash measures SimHash as hash4j's announcement does: sets whose
// elements' 64-bit hashes are generated on the fly, widths from 64 to 4096 bits,
// sizes from 10 to 100,000. Given what Hash4j.java of this folder has printed, it
// prints the ratio of the two as well.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/alike-dev/alike/simhash"
)

var (
	widths = []int{64, 256, 1024, 4096}
	sizes  = []int{10, 100, 1000, 10_000, 100_000}
)

// cell is an entry of the table.
type cell struct {
	method  string
	bits, n int
}

func main() {
	other := flag.String("hash4j", "", "`file` with what Hash4j.java has printed")
	rounds := flag.Int("rounds", 7, "measurements of a cell, of which the least counts")
	flag.Parse()
	log.SetFlags(0)

	hash4j := map[cell]float64{}
	if *other != "" {
		var err error
		if hash4j, err = readFile(*other); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println("method       bits       n   ns/element   hash4j   ratio")
	for _, method := range []simhash.Method{simhash.Simple, simhash.Fast} {
		for _, bits := range widths {
			for _, n := range sizes {
				ns, err := measure(method, bits, n, *rounds)
				if err != nil {
					log.Fatal(err)
				}
				fmt.Printf("%-11s %5d %7d %12.3f", method, bits, n, ns)
				if theirs, ok := hash4j[cell{method.String(), bits, n}]; ok {
					fmt.Printf(" %8.3f %7.1f", theirs, theirs/ns)
				}
				fmt.Println()
			}
		}
	}
}

// readFile reads lines "method bits n nanoseconds"; the least of a cell counts.
func readFile(path string) (map[cell]float64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	cells := map[cell]float64{}
	in := bufio.NewScanner(f)
	for in.Scan() {
		var c cell
		var ns float64
		if _, err := fmt.Sscan(in.Text(), &c.method, &c.bits, &c.n, &ns); err != nil {
			return nil, fmt.Errorf("%s: %q is not \"method bits n nanoseconds\": %w", path, in.Text(), err)
		}
		if before, ok := cells[c]; !ok || ns < before {
			cells[c] = ns
		}
	}
	return cells, in.Err()
}

// measure returns nanoseconds an element, generating it included.
func measure(method simhash.Method, bits, n, rounds int) (float64, error) {
	scheme, err := simhash.New(method, bits)
	if err != nil {
		return 0, err
	}
	sketcher := scheme.NewSketcher()
	signature, set := make([]uint64, scheme.Words()), make([]uint64, n)
	state := uint64(1)
	once := func() {
		state = generate(set, state)
		sketcher.Sketch(signature, set)
	}
	repeats := 1
	for start := time.Now(); time.Since(start) < 20*time.Millisecond; repeats++ {
		once()
	}
	least := 0.0
	for round := range rounds {
		start := time.Now()
		for range repeats {
			once()
		}
		ns := float64(time.Since(start).Nanoseconds()) / float64(repeats) / float64(n)
		if round == 0 || ns < least {
			least = ns
		}
	}
	return least, nil
}

// generate fills set by SplitMix64, as java.util.SplittableRandom does.
func generate(set []uint64, state uint64) uint64 {
	for i := range set {
		state += 0x9e3779b97f4a7c15
		z := (state ^ state>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		set[i] = z ^ z>>31
	}
	return state
}
