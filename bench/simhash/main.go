// Command simhash measures SimHash as hash4j's announcement does: sets whose
// elements' 64-bit hashes are generated on the fly, widths from 64 to 4096 bits,
// sizes from 10 to 100,000. Given the output of Hash4j.java in this folder, it also
// prints the ratio of the two.
//
// The hashes come from SplitMix64, one after the other as in Java or, with -vector,
// several at once. The figures include the time for this, which is printed as well.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"slices"
	"time"

	"github.com/alike-dev/alike/internal/simd"
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
	vector := flag.Bool("vector", false, "generate the elements' hashes several at once")
	rounds := flag.Int("rounds", 100, "short measurements of a cell, of which the median counts")
	flag.Parse()
	log.SetFlags(0)

	hash4j := map[cell]float64{}
	if *other != "" {
		var err error
		if hash4j, err = readFile(*other); err != nil {
			log.Fatal(err)
		}
	}
	source := generate
	if *vector {
		source = generateVector
	}
	fmt.Println("method       bits       n  ns/element  (generating)   hash4j   ratio")
	for _, method := range []simhash.Method{simhash.Simple, simhash.Fast} {
		for _, bits := range widths {
			for _, n := range sizes {
				scheme, err := simhash.New(method, bits)
				if err != nil {
					log.Fatal(err)
				}
				total, generating := measure(scheme, n, *rounds, source)
				fmt.Printf("%-11s %5d %7d %11.3f %13.3f", method, bits, n, total, generating)
				if theirs, ok := hash4j[cell{method.String(), bits, n}]; ok {
					fmt.Printf(" %8.3f %7.1f", theirs, theirs/total)
				}
				fmt.Println()
			}
		}
	}
}

// readFile reads lines "method bits n nanoseconds", and takes the median of each cell.
func readFile(path string) (map[cell]float64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rounds := map[cell][]float64{}
	in := bufio.NewScanner(f)
	for in.Scan() {
		var c cell
		var ns float64
		if _, err := fmt.Sscan(in.Text(), &c.method, &c.bits, &c.n, &ns); err != nil {
			return nil, fmt.Errorf("%s: %q is not \"method bits n nanoseconds\": %w", path, in.Text(), err)
		}
		rounds[c] = append(rounds[c], ns)
	}
	cells := map[cell]float64{}
	for c, of := range rounds {
		slices.Sort(of)
		cells[c] = of[len(of)/2]
	}
	return cells, in.Err()
}

// measure returns nanoseconds an element, and how many of them the generator takes.
func measure(scheme simhash.Scheme, n, rounds int, source func(set []uint64, state uint64) uint64) (total, generating float64) {
	sketcher := scheme.NewSketcher()
	signature, set := make([]uint64, scheme.Words()), make([]uint64, n)
	state := uint64(1)
	total = median(n, rounds, func() {
		state = source(set, state)
		sketcher.Sketch(signature, set)
	})
	return total, median(n, rounds, func() { state = source(set, state) })
}

// median returns nanoseconds an element of the median round.
func median(n, rounds int, once func()) float64 {
	repeats := 1
	for start := time.Now(); time.Since(start) < time.Millisecond/2; repeats++ {
		once()
	}
	took := make([]time.Duration, rounds)
	for i := range took {
		start := time.Now()
		for range repeats {
			once()
		}
		took[i] = time.Since(start)
	}
	slices.Sort(took)
	return float64(took[rounds/2].Nanoseconds()) / float64(repeats) / float64(n)
}

const gamma = 0x9e3779b97f4a7c15

// generate fills set by SplitMix64, as java.util.SplittableRandom does.
func generate(set []uint64, state uint64) uint64 {
	for i := range set {
		state += gamma
		z := (state ^ state>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		set[i] = z ^ z>>31
	}
	return state
}

// generateVector does the same several words at once.
func generateVector(set []uint64, state uint64) uint64 {
	whole := len(set) &^ 7 // the kernel wants room for multiples of eight
	for i := range set[:whole] {
		state += gamma
		set[i] = state
	}
	simd.MixBelow(set[:whole], set[:whole], 0, 1, math.MaxUint64)
	return generate(set[whole:], state)
}
