package minhash_test

import (
	"fmt"
	"strings"

	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/simjoin"
)

// Two sets of 1000 features, 800 of them in both: J = 800/1200.
func Example() {
	var a, b []uint64
	for x := range uint64(1200) {
		if x < 1000 {
			a = append(a, x)
		}
		if x >= 200 {
			b = append(b, x)
		}
	}
	scheme := minhash.Default()
	sketcher := scheme.NewSketcher() // keep it, and use it for one set after the other
	sigA, sigB := make([]uint32, scheme.K()), make([]uint32, scheme.K())
	sketcher.Sketch(sigA, a)
	sketcher.Sketch(sigB, b)

	equal := scheme.Equal(sigA, sigB)
	fmt.Printf("%d of %d components agree: J ≈ %.2f ± %.2f\n",
		equal, scheme.K(), scheme.Estimate(equal), scheme.StandardError(2./3))
	fmt.Println("similar at 0.8:", equal >= scheme.MinEqual(0.8))
	// Output:
	// 84 of 128 components agree: J ≈ 0.66 ± 0.04
	// similar at 0.8: false
}

func ExampleParseScheme() {
	scheme, err := minhash.ParseScheme("kmins k=200 bits=8")
	fmt.Println(scheme, err)
	_, err = minhash.OPH(128, 7, 1)
	fmt.Println(err)
	// Output:
	// minhash/kmins/v1 family=multiplyshift k=200 bits=8 seed=1 <nil>
	// minhash: bits=7: a component has 1, 2, 4, 8, 16 or 32 bits
}

// Packed signatures of one bit a component take 16 bytes.
func ExampleScheme_AppendBinary() {
	scheme, err := minhash.OPH(128, 1, 1)
	if err != nil {
		panic(err)
	}
	sig := make([]uint32, scheme.K())
	scheme.NewSketcher().Sketch(sig, []uint64{1, 2, 3})
	fmt.Printf("%x\n", scheme.AppendBinary(nil, sig))
	// Output:
	// a4b886ccbd049aefa299f0249f83a8ad
}

// A bottom-k fingerprint of a text of any length, in the memory of a block: features
// are used up as they come.
func ExampleBottomKSketcher() {
	shingler, err := shingle.New(shingle.Options{N: 3})
	if err != nil {
		panic(err)
	}
	scheme, err := minhash.BottomK(minhash.XXH3, 4, 64, 1)
	if err != nil {
		panic(err)
	}
	sketcher := scheme.NewBottomKSketcher() // keep both, for one text after the other
	var features []uint64
	fingerprint := func(text string) []uint64 {
		sketcher.Reset()
		for at := 0; at < len(text); {
			features, at = shingler.AppendFeaturesFrom(features[:0], []byte(text), at)
			sketcher.Add(features)
		}
		return sketcher.Append64(nil)
	}
	a, b := fingerprint("one two three four five six"), fingerprint("one two three four five seven")
	shared, of := minhash.SharedOfSmallest(a, b, scheme.K())
	fmt.Printf("%d of the %d smallest hashes are in both\n", shared, of)
	// Output:
	// 2 of the 4 smallest hashes are in both
}

// The numbers of another program, so that components agree where its own do.
func ExamplePermutations() {
	numbers, err := minhash.ReadNumbers(strings.NewReader("# two permutations, and the features as they are\n0xff00ff00ff00ff00\n12345\n"))
	if err != nil {
		panic(err)
	}
	scheme, err := minhash.Permutations(numbers, 32)
	if err != nil {
		panic(err)
	}
	a, b := make([]uint32, scheme.K()), make([]uint32, scheme.K())
	sketcher := scheme.NewSketcher()
	sketcher.Sketch(a, []uint64{0x1234567890abcdef, 0xfedcba0987654321})
	sketcher.Sketch(b, []uint64{0x1234567890abcdef, 0xffffffffffffffff})
	fmt.Println(scheme)
	fmt.Println(scheme.Equal(a, b), "of", scheme.K())
	// Output:
	// minhash/kmins/v1 family=plainxor k=3 bits=32 numbers=62d934679c350c26
	// 2 of 3
}

// A passage of 2000 features, three quarters of which stand in a text of 100,000.
func ExampleScaled() {
	scheme, err := minhash.NewScaled(5, minhash.DefaultSeed)
	if err != nil {
		panic(err)
	}
	var passage, text []uint64
	for x := range uint64(100_000) {
		if text = append(text, x); x < 2000 {
			passage = append(passage, x+98_500)
		}
	}
	a, b := scheme.AppendSketch(nil, passage), scheme.AppendSketch(nil, text)
	c := scheme.Containment(simjoin.Intersection(a, b), len(a), uint64(len(passage)))
	fmt.Println(scheme)
	fmt.Printf("%d and %d hashes, containment %.2f ± %.2f\n", len(a), len(b), c, scheme.StandardError(c, len(a)))
	// Output:
	// minhash/scaled/v1 scale=5 seed=1
	// 381 and 20033 hashes, containment 0.73 ± 0.02
}
