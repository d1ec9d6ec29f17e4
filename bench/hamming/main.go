// Command hamming measures the search in Hamming space of package simhash: all
// pairs of random fingerprints within a distance, in which near pairs are planted,
// and queries of an index.
package main

import (
	"bufio"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math/bits"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/alike-dev/alike/simhash"
)

func main() {
	n := flag.Int("n", 10_000_000, "fingerprints of 64 bits")
	distance := flag.Int("distance", 3, "Hamming distance")
	threads := flag.Int("threads", runtime.GOMAXPROCS(0), "goroutines for all pairs")
	queries := flag.Int("queries", 100_000, "queries, one after the other")
	fingerprints := flag.String("fingerprints", "", "instead, check pairs: `file` of alike sketch")
	pairs := flag.String("pairs", "", "with -fingerprints: `file` of alike pairs --distance")
	step := flag.Int("step", 997, "with -fingerprints: compare one of so many with all")
	flag.Parse()
	log.SetFlags(0)
	if *fingerprints != "" {
		if err := checkPairs(*fingerprints, *pairs, *distance, *step); err != nil {
			log.Fatal(err)
		}
		return
	}

	random := rand.New(rand.NewPCG(1, uint64(*n)))
	random64, planted := plant(random, *n, *distance)
	if err := measurePairs(random64, *distance, *threads, planted); err != nil {
		log.Fatal(err)
	}
	if err := measureQueries(random, random64, *distance, *queries); err != nil {
		log.Fatal(err)
	}
}

// plant returns random fingerprints, and the number of planted pairs. Every tenth
// fingerprint is the one before it with 1 to distance bits flipped.
func plant(random *rand.Rand, n, distance int) (fingerprints []uint64, planted int) {
	fingerprints = make([]uint64, n)
	for i := range fingerprints {
		fingerprints[i] = random.Uint64()
		if i%10 == 9 {
			fingerprints[i] = flip(random, fingerprints[i-1], distance)
			planted++
		}
	}
	return fingerprints, planted
}

// flip flips up to n bits.
func flip(random *rand.Rand, fingerprint uint64, most int) uint64 {
	for range most {
		fingerprint ^= 1 << random.IntN(64)
	}
	return fingerprint
}

// measurePairs finds all pairs, with all threads, and checks that no planted pair is missing.
func measurePairs(fingerprints []uint64, distance, threads, planted int) error {
	start := time.Now()
	join, err := simhash.NewJoin(fingerprints, 64, distance)
	if err != nil {
		return err
	}
	var next, pairs, found, wrong atomic.Int64
	var group sync.WaitGroup
	for range threads {
		group.Go(func() {
			var scratch simhash.JoinScratch
			for part := int(next.Add(1)) - 1; part < join.Parts(); part = int(next.Add(1)) - 1 {
				join.Part(part, &scratch, func(p simhash.Pair) {
					pairs.Add(1)
					if p.B%10 == 9 && p.A == p.B-1 {
						found.Add(1)
					}
					if d := bits.OnesCount64(fingerprints[p.A] ^ fingerprints[p.B]); d != p.Distance || d > distance {
						wrong.Add(1)
					}
				})
			}
		})
	}
	group.Wait()
	fmt.Printf("all pairs of %d within %d, %d threads: %.2f s; %d pairs, %d of %d planted, %d wrong\n",
		len(fingerprints), distance, threads, time.Since(start).Seconds(), pairs.Load(), found.Load(), planted, wrong.Load())
	return nil
}

// measureQueries searches for fingerprints near those of the index, at random places in
// memory.
func measureQueries(random *rand.Rand, fingerprints []uint64, distance, queries int) error {
	start := time.Now()
	index, err := simhash.NewIndex(fingerprints, 64, distance)
	if err != nil {
		return err
	}
	fmt.Printf("index: %.2f s, %.0f MB beside %.0f MB of fingerprints\n",
		time.Since(start).Seconds(), float64(index.Size())/1e6, 8e-6*float64(len(fingerprints)))
	asked := make([]uint64, queries)
	for i := range asked {
		asked[i] = flip(random, fingerprints[random.IntN(len(fingerprints))], distance)
	}
	var matches []simhash.Match
	found := 0
	start = time.Now()
	for i := range asked {
		matches = index.AppendWithin(matches[:0], asked[i:i+1], distance)
		found += len(matches)
	}
	fmt.Printf("a query: %.2f µs (%d queries, %.2f matches each)\n",
		float64(time.Since(start).Microseconds())/float64(queries), queries, float64(found)/float64(queries))
	return nil
}

// fingerprintsOf reads the output of `alike sketch`: ids, and signatures as bytes.
func fingerprintsOf(path string) (ids []string, signatures [][]byte, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	for d := json.NewDecoder(bufio.NewReaderSize(file, 1<<20)); ; {
		var line struct{ ID, Signature string }
		if err := d.Decode(&line); errors.Is(err, io.EOF) {
			return ids, signatures, nil
		} else if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
		signature, err := base64.StdEncoding.DecodeString(line.Signature)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %s: %w", path, line.ID, err)
		}
		ids, signatures = append(ids, line.ID), append(signatures, signature)
	}
}

// checkPairs compares the pairs that `alike pairs --distance` wrote with brute force, for every
// step-th fingerprint.
func checkPairs(fingerprints, pairs string, distance, step int) error {
	ids, signatures, err := fingerprintsOf(fingerprints)
	if err != nil {
		return err
	}
	file, err := os.Open(pairs)
	if err != nil {
		return err
	}
	defer file.Close()
	rows, err := csv.NewReader(bufio.NewReader(file)).ReadAll()
	if err != nil {
		return err
	}
	found, listed := map[[2]string]bool{}, map[string]int{} // pairs, and how many of each id
	for _, row := range rows[1:] {
		found[[2]string{row[0], row[1]}] = true
		listed[row[0]]++
		listed[row[1]]++
	}
	words := make([][]uint32, len(signatures))
	for i, s := range signatures {
		words[i] = make([]uint32, (len(s)+3)/4)
		for j, b := range s {
			words[i][j/4] |= uint32(b) << (j % 4 * 8)
		}
	}
	within, wrong := 0, 0
	for i := 0; i < len(ids); i += step {
		right := 0
		for j := range ids {
			if i == j || simhash.Distance(words[i], words[j]) > distance {
				continue
			}
			within++
			if found[[2]string{ids[min(i, j)], ids[max(i, j)]}] {
				right++
			} else {
				wrong++
			}
		}
		wrong += listed[ids[i]] - right // those that are listed and should not be
	}
	fmt.Printf("%d fingerprints, %d pairs listed; %d compared with all: %d pairs within %d, %d judged otherwise\n",
		len(ids), len(found), (len(ids)+step-1)/step, within, distance, wrong)
	if wrong > 0 {
		return errors.New("the pairs are not those of brute force")
	}
	return nil
}
