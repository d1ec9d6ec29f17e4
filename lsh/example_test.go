package lsh_test

import (
	"errors"
	"fmt"

	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/minhash"
)

// The threshold is the only number that has to be chosen.
func ExampleTune() {
	for _, threshold := range []float64{0.9, 0.8, 0.5, 0.01} {
		p, err := lsh.Tune(threshold, 0, 128, 32)
		if errors.Is(err, lsh.ErrRecallOutOfReach) {
			fmt.Printf("%.2f: too low for banding\n", threshold)
			continue
		}
		fmt.Printf("%.2f: %v, recall %.3f, candidates at half the threshold %.5f\n",
			threshold, p, p.Probability(threshold), p.Probability(threshold/2))
	}
	// Output:
	// 0.90: bands=11 rows=10, recall 0.991, candidates at half the threshold 0.00374
	// 0.80: bands=16 rows=6, recall 0.992, candidates at half the threshold 0.06356
	// 0.50: bands=35 rows=3, recall 0.991, candidates at half the threshold 0.42374
	// 0.01: too low for banding
}

// Measures other than Jaccard are tuned for the least Jaccard similarity they allow.
func ExampleTuneFor() {
	for _, line := range []string{"jaccard>=0.8", "cosine>=0.8", "containment>=0.8"} {
		t, err := measure.ParseThreshold(line)
		if err != nil {
			panic(err)
		}
		p, err := lsh.TuneFor(t, 0, 128, 32)
		if errors.Is(err, lsh.ErrNoBound) {
			fmt.Printf("%v: not by banding\n", t)
			continue
		}
		fmt.Printf("%v: %v\n", t, p)
	}
	// Output:
	// jaccard>=0.8: bands=16 rows=6
	// cosine>=0.8: bands=26 rows=4
	// containment>=0.8: not by banding
}

// Documents that share a key are a candidate pair, once.
func ExampleParams_AppendKeys() {
	scheme := minhash.Default()
	params, err := lsh.Tune(0.8, 0, scheme.K(), scheme.Bits())
	if err != nil {
		panic(err)
	}
	features := func(from, to uint64) (set []uint64) {
		for x := from; x < to; x++ {
			set = append(set, x)
		}
		return set
	}
	sketcher, sig := scheme.NewSketcher(), make([]uint32, scheme.K())
	keys := func(set []uint64) []uint64 {
		sketcher.Sketch(sig, set)
		return params.AppendKeys(nil, sig)
	}
	original, edited, other := keys(features(0, 100)), keys(features(3, 103)), keys(features(500, 600))
	fmt.Println("edited copy is a candidate:", lsh.Agree(original, edited) >= 1)
	fmt.Println("other text is a candidate:", lsh.Agree(original, other) >= 1)
	// Output:
	// edited copy is a candidate: true
	// other text is a candidate: false
}

func ExampleEachPair() {
	lsh.EachPair([]uint32{4, 7, 9}, 1000, func(a, b uint32) { fmt.Println(a, b) })
	// Output:
	// 4 7
	// 4 9
	// 7 9
}
