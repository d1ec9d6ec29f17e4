package exlsh_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"log"
	"math/bits"

	"github.com/alike-dev/alike/exlsh"
)

// The fingerprint of a document, as ExLSH.lsh makes it.
func Example() {
	s, err := exlsh.New(exlsh.Word())
	if err != nil {
		log.Fatal(err)
	}
	fingerprint, shingles := s.AppendSketch(nil, []byte("Lorem ipsum dolor sit amet"))
	fmt.Println(base64.StdEncoding.EncodeToString(fingerprint), "of", shingles, "shingles")
	// Output: uX05itKaghA0gQHCwDCIFg== of 3 shingles
}

// Names that are nearly the same have fingerprints at a small Hamming distance.
func ExampleChar() {
	o := exlsh.Char()
	o.N, o.Hash = 2, exlsh.XXH3
	s, err := exlsh.New(o)
	if err != nil {
		log.Fatal(err)
	}
	distance := func(a, b string) (n int) {
		x, _ := s.AppendSketch(nil, []byte(a))
		y, _ := s.AppendSketch(nil, []byte(b))
		for i := range x {
			n += bits.OnesCount8(x[i] ^ y[i])
		}
		return n
	}
	near, far := distance("christopher", "kristopher"), distance("christopher", "alexandra")
	fmt.Println(o, near < far)
	// Output: exlsh/v1 normalize=exlsh tokens=graphemes n=2 hash=xxh3 true
}

// Every step can be another: here words of two letters or fewer do not count.
func ExampleKeep() {
	o := exlsh.Options{Filter: exlsh.Keep("long", func(token []byte) bool { return len(token) > 2 }), N: 1, Hash: exlsh.CRC32}
	s, err := exlsh.New(o)
	if err != nil {
		log.Fatal(err)
	}
	a, _ := s.AppendSketch(nil, []byte("the cat is on a mat"))
	b, _ := s.AppendSketch(nil, []byte("The cat. Mat!"))
	fmt.Println(bytes.Equal(a, b))
	// Output: true
}
