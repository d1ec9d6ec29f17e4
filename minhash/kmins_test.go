package minhash

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/alike-dev/alike/internal/hashing"
	"pgregory.net/rapid"
)

// slowKMins is the k-mins sketch as it is defined: for every component, the
// minimum over all features of its permutation.
func slowKMins(s Scheme, family Family, features []uint64) []uint32 {
	sig := make([]uint32, s.K())
	for i := range sig {
		sig[i] = 1<<s.Bits() - 1
		if len(features) == 0 {
			continue
		}
		least := uint64(math.MaxUint64)
		for _, x := range features {
			if family != PlainXOR {
				x = hashing.Mix(x ^ key(s.Seed(), streamFeature, 0))
			}
			if family == MultiplyShift {
				a, b := key(s.Seed(), streamMultiplier, i)>>32|1, key(s.Seed(), streamOffset, i)>>32
				x = uint64(uint32(a*(x>>32) + b))
			} else {
				x ^= key(s.Seed(), streamXOR, i)
			}
			least = min(least, x)
		}
		if family == MultiplyShift {
			sig[i] &= mix32(uint32(least))
		} else {
			sig[i] &= uint32(hashing.Mix(least))
		}
	}
	return sig
}

func TestKMinsEqualsItsDefinition(t *testing.T) {
	for _, family := range []Family{MultiplyShift, XOR, PlainXOR} {
		t.Run(string(family), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				k := rapid.IntRange(1, 150).Draw(t, "k")
				b := rapid.SampledFrom([]int{1, 2, 4, 8, 16, 32}).Draw(t, "bits")
				s, err := KMins(family, k, b, rapid.Uint64().Draw(t, "seed"))
				if err != nil {
					t.Fatal(err)
				}
				sk := s.NewSketcher()
				got := make([]uint32, k)
				for range 2 { // the second set must not see the first
					features := drawFeatures(t, 100)
					if rapid.IntRange(0, 19).Draw(t, "large") == 0 {
						features = drawFeatures(t, 2000)
					}
					sk.Sketch(got, features)
					if want := slowKMins(s, family, features); !slices.Equal(got, want) {
						t.Fatalf("%s of %d features:\n got %x\nwant %x", s, len(features), got, want)
					}
				}
			})
		})
	}
}

// Sets of many features are thinned out first; the result must be the same, for
// features that are well mixed and for those that are not.
func TestXORSketchOfLargeSetsEqualsItsDefinition(t *testing.T) {
	for _, family := range []Family{XOR, PlainXOR} {
		s, err := KMins(family, 200, 32, 5)
		if err != nil {
			t.Fatal(err)
		}
		sk, got := s.NewSketcher(), make([]uint32, 200)
		for i, n := range []int{40_000, openBins * openLeast, openBins*openLeast - 1, 12_345} {
			features := randomSet(n, uint64(i))
			for j := range features {
				switch i {
				case 1: // some bins of the map are empty
					features[j] &^= 1 << 60
				case 3: // half of them the same
					features[j] = features[j&^1]
				}
			}
			sk.Sketch(got, features)
			if want := slowKMins(s, family, features); !slices.Equal(got, want) {
				t.Errorf("%s of %d features:\n got %x\nwant %x", s, n, got, want)
			}
		}
	}
}

func TestGivenPermutationsAreTheIdentityAndThoseNumbers(t *testing.T) {
	numbers := randomSet(199, 7)
	s, err := Permutations(numbers, 32)
	if err != nil || s.K() != 200 {
		t.Fatal(s, err)
	}
	again, _ := Permutations(numbers, 32)
	other, _ := Permutations(numbers[:198], 32)
	if s != again || s == other {
		t.Errorf("schemes are equal by their numbers: %v, %v", s == again, s == other)
	}
	if _, err := ParseScheme(s.String()); err == nil || !strings.Contains(err.Error(), "give the numbers") {
		t.Errorf("ParseScheme(%q): %v", s, err)
	}
	if _, err := Permutations(nil, 32); err == nil {
		t.Error("no numbers are accepted")
	}
	for _, n := range []int{1, 100, 10_000} {
		features := randomSet(n, 3)
		got := make([]uint32, 200)
		s.NewSketcher().Sketch(got, features)
		for i := range got {
			least := uint64(math.MaxUint64)
			for _, x := range features {
				if i > 0 {
					x ^= numbers[i-1]
				}
				least = min(least, x)
			}
			if want := uint32(hashing.Mix(least)); got[i] != want {
				t.Fatalf("component %d of %d features: %x, want %x", i, n, got[i], want)
			}
		}
	}
}

// Features that repeat crowd few buckets; the cost must stay linear (a quadratic
// one would take minutes here) and the result the same.
func TestXORSketchOfAHundredThousandRepeats(t *testing.T) {
	s, err := KMins(XOR, 64, 32, 3)
	if err != nil {
		t.Fatal(err)
	}
	features := make([]uint64, 100_000)
	for i := range features {
		features[i] = uint64(i % 3)
	}
	got, want := make([]uint32, 64), make([]uint32, 64)
	s.NewSketcher().Sketch(got, features)
	s.NewSketcher().Sketch(want, features[:3])
	if !slices.Equal(got, want) {
		t.Errorf("repeats change the sketch:\n got %x\nwant %x", got, want)
	}
}

// picked returns which part of the components of the set's sketch come from each
// of its elements: the sketch of {x} tells which are x's.
func picked(s Scheme, set []uint64) []float64 {
	sk := s.NewSketcher()
	whole, single := make([]uint32, s.K()), make([]uint32, s.K())
	sk.Sketch(whole, set)
	part := make([]float64, len(set))
	for i := range set {
		sk.Sketch(single, set[i:i+1])
		part[i] = float64(s.Equal(whole, single)) / float64(s.K())
	}
	return part
}

// Under x ⊕ r an element of three is the minimum with the probability of its leaf
// in the binary trie, 1/2, 1/4 or 1/4; a min-wise family picks each with 1/3.
func TestXORFamilyPicksElementsByTheirPlaceInTheTrie(t *testing.T) {
	const k = 1 << 16
	tolerance := 4.5 * math.Sqrt(0.25/k)
	for trial := range uint64(5) {
		set := randomSet(3, trial)
		for family, want := range map[Family][]float64{
			XOR:           {1. / 4, 1. / 4, 1. / 2},
			MultiplyShift: {1. / 3, 1. / 3, 1. / 3},
		} {
			s, err := KMins(family, k, 32, trial)
			if err != nil {
				t.Fatal(err)
			}
			got := picked(s, set)
			slices.Sort(got)
			for i := range got {
				if math.Abs(got[i]-want[i]) > tolerance {
					t.Errorf("%s, set %d: picked with probabilities %.4f, want %.4f", family, trial, got, want)
					break
				}
			}
		}
	}
}
