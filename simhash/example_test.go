package simhash_test

import (
	"fmt"
	"strings"

	"github.com/alike-dev/alike/simhash"
)

// The three sets of hash4j's announcement, and what it prints for them.
func Example() {
	scheme, err := simhash.New(simhash.Fast, 1024)
	if err != nil {
		panic(err)
	}
	sketcher := scheme.NewSketcher() // keep it, and use it for one set after the other
	var signatures [][]uint64
	for _, words := range []string{
		"small set of some words",
		"similar set of some words",
		"disjoint collection containing a few strings",
	} {
		var set []uint64
		for _, w := range strings.Fields(words) {
			set = append(set, simhash.KomihashString(w))
		}
		signature := make([]uint64, scheme.Words())
		sketcher.Sketch(signature, set)
		signatures = append(signatures, signature)
	}
	for _, pair := range [][2]int{{0, 1}, {0, 2}, {1, 2}} {
		equal := scheme.Equal(signatures[pair[0]], signatures[pair[1]])
		fmt.Printf("%v of the bits agree: cosine %.2f\n", scheme.Fraction(equal), scheme.Cosine(equal))
	}
	// Output:
	// 0.830078125 of the bits agree: cosine 0.86
	// 0.4931640625 of the bits agree: cosine 0.00
	// 0.5048828125 of the bits agree: cosine 0.02
}

func ExampleParseScheme() {
	scheme, err := simhash.ParseScheme("simhash bits=256")
	fmt.Println(scheme, err)
	_, err = simhash.New(simhash.Fast, 0)
	fmt.Println(err)
	// Output:
	// simhash/simhash/v1 bits=256 <nil>
	// simhash: bits=0: a signature has 1 to 1048576 bits
}

// All pairs of fingerprints that differ in at most three bits. Parts may run in
// several goroutines, each with a scratch of its own.
func ExampleJoin() {
	fingerprints := []uint64{0xcafe, 0xbeef, 0xcaff, 0xcafe, 0x1234}
	join, err := simhash.NewJoin(fingerprints, 64, 3)
	if err != nil {
		panic(err)
	}
	var scratch simhash.JoinScratch
	for part := range join.Parts() {
		join.Part(part, &scratch, func(p simhash.Pair) { fmt.Println(p.A, p.B, p.Distance) })
	}
	// Unordered output:
	// 0 2 1
	// 0 3 0
	// 2 3 1
}

func ExampleIndex() {
	fingerprints := []uint64{0xcafe, 0xbeef, 0xcaff, 0xcafe, 0x1234}
	index, err := simhash.NewIndex(fingerprints, 64, 3)
	if err != nil {
		panic(err)
	}
	fmt.Println(index.AppendWithin(nil, []uint64{0xcaf0}, 3))
	// Output:
	// [{0 3} {3 3}]
}

// The signature of a text's words, as hash4j's users make it.
func ExampleWords() {
	signature, words := simhash.Default().NewWords().AppendSketch(nil, []byte("small set of some words"))
	fmt.Printf("%x of %d words\n", signature, words)
	// Output:
	// 989a2c0209aefdce of 5 words
}
