package minhash

import (
	"math/bits"
	"slices"
	"testing"

	"github.com/alike-dev/alike/internal/hashing"
	"pgregory.net/rapid"
)

// slowOPH is fast similarity sketching as it is defined: every bin holds a round
// and a hash, and the smaller round, then the smaller hash, wins.
func slowOPH(s Scheme, features []uint64) []uint32 {
	type value struct {
		round int
		h     uint64
	}
	k := s.K()
	bins := make([]*value, k)
	for round := range 2 * k {
		for _, x := range features {
			h := hashing.Mix(x ^ key(s.Seed(), streamOPH, round))
			hi, _ := bits.Mul64(h, uint64(k))
			bin := int(hi)
			if round >= k {
				bin = round - k
			}
			if v := bins[bin]; v == nil || round == v.round && h < v.h {
				bins[bin] = &value{round, h}
			}
		}
		if !slices.Contains(bins, nil) {
			break
		}
	}
	sig := make([]uint32, k)
	for i, v := range bins {
		c := ^uint64(0)
		if v != nil {
			c = v.h
		}
		sig[i] = uint32(c & (1<<s.Bits() - 1))
	}
	return sig
}

// drawFeatures draws up to limit features: random, small, shifted or equal words.
func drawFeatures(t *rapid.T, limit int) []uint64 {
	n := rapid.IntRange(0, limit).Draw(t, "n")
	seed := rapid.Uint64().Draw(t, "features")
	kind := rapid.SampledFrom([]string{"random", "consecutive", "shifted", "repeated"}).Draw(t, "kind")
	features := make([]uint64, n)
	for i := range features {
		x := uint64(i)
		switch kind {
		case "random":
			x = hashing.Mix(seed + x)
		case "consecutive":
			x += seed
		case "shifted":
			x = seed + x<<32
		case "repeated":
			x = seed + x%7
		}
		features[i] = x
	}
	return features
}

func TestOPHEqualsItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.OneOf(rapid.IntRange(1, 70), rapid.SampledFrom([]int{127, 128, 129, 256, 511, 512, 513, 600})).Draw(t, "k")
		b := rapid.SampledFrom([]int{1, 2, 4, 8, 16, 32}).Draw(t, "bits")
		s, err := OPH(k, b, rapid.Uint64().Draw(t, "seed"))
		if err != nil {
			t.Fatal(err)
		}
		sk := s.NewSketcher()
		got := make([]uint32, k)
		for range 2 { // the second set must not see the first
			features := drawFeatures(t, 40)
			if rapid.IntRange(0, 9).Draw(t, "large") == 0 {
				features = drawFeatures(t, 4000)
			}
			sk.Sketch(got, features)
			if want := slowOPH(s, features); !slices.Equal(got, want) {
				t.Fatalf("%s of %d features:\n got %x\nwant %x", s, len(features), got, want)
			}
		}
	})
}
