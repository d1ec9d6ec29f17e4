package dedup

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/shingle"
)

// The recall of containment by samples is an average over seeds: each seed draws other samples, misses other pairs, and
// the mean is what the summary promises. Once one fixed sample served all seeds, so that a pair was found by all or none.
func TestEachSeedDrawsOtherSamplesOfContainment(t *testing.T) {
	const pairs, seeds = 60, 12
	input := filepath.Join(t.TempDir(), "in.jsonl")
	partsAndWholes(t, input, pairs)
	threshold, err := measure.ParseThreshold("containment>=0.8")
	if err != nil {
		t.Fatal(err)
	}
	sample, err := lsh.TuneSample(threshold, 0.9)
	if err != nil {
		t.Fatal(err)
	}
	times, all := map[string]int{}, 0 // that a pair was found
	for seed := range uint64(seeds) {
		scheme, err := minhash.OPH(64, 32, 1+seed)
		if err != nil {
			t.Fatal(err)
		}
		c := Config{
			Inputs:     []string{input},
			Threads:    2,
			Decide:     Similarity{Threshold: 0.8, Measure: measure.Containment, Candidates: LSH{Recall: 0.9}},
			Signatures: OfShingles{Options: shingle.Options{N: 1}, Scheme: scheme},
		}
		if _, err := Pairs(t.Context(), c, func(p Pair) error {
			times[string(p.A)]++
			all++
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	always := 0
	for _, n := range times {
		if n == seeds {
			always++
		}
	}
	promised := sample.Probability(0.8)
	if mean := float64(all) / pairs / seeds; mean < promised-0.04 || mean > promised+0.04 {
		t.Errorf("recall %.3f over %d seeds, promised %.3f", mean, seeds, promised)
	}
	if len(times) != pairs || always > pairs*4/5 {
		t.Errorf("of %d pairs %d are found by some seed and %d by each", pairs, len(times), always)
	}
}

// partsAndWholes writes pairs of texts: a part of 100 words, and a whole that has 80 of them and 400 others.
func partsAndWholes(t *testing.T, path string, pairs int) {
	random := rand.New(rand.NewPCG(11, 12))
	words := func(n int) []string {
		of := make([]string, n)
		for i := range of {
			of[i] = fmt.Sprintf("w%x", random.Uint64())
		}
		return of
	}
	var b strings.Builder
	for i := range pairs {
		part := words(100)
		whole := append(words(400), part[:80]...)
		fmt.Fprintf(&b, "{\"id\":\"part%d\",\"text\":%q}\n{\"id\":\"whole%d\",\"text\":%q}\n", i, strings.Join(part, " "), i, strings.Join(whole, " "))
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}
