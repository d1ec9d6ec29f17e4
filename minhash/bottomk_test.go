package minhash

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/internal/simd"
	"github.com/alike-dev/alike/internal/testsize"
	"github.com/alike-dev/alike/shingle"
)

// naiveBottomK is the definition: all hashes, sorted, without repeats, the first k.
func naiveBottomK(s Scheme, features []uint64) []uint64 {
	var hashes []uint64
	for _, x := range features {
		h := x
		if s.method == methodBottomKXXH3 {
			var out [8]uint64
			simd.XXH3Below(out[:], []uint64{x}, simd.XXH3Flip(s.seed), math.MaxUint64, math.MaxUint64)
			h = out[0] >> (64 - s.bits)
		} else if s.bits == 32 {
			h = uint64(uint32(x))
		}
		if h != math.MaxUint64>>(64-s.bits) {
			hashes = append(hashes, h)
		}
	}
	slices.Sort(hashes)
	hashes = slices.Compact(hashes)
	return hashes[:min(len(hashes), s.K())]
}

// drawMany draws features, sometimes more than a sketcher's buffer holds, sometimes
// with many repeats.
func drawMany(t *rapid.T) []uint64 {
	n := rapid.OneOf(rapid.IntRange(0, 40), rapid.IntRange(0, 5000)).Draw(t, "n")
	features := randomSet(n, rapid.Uint64().Draw(t, "features"))
	if n > 0 && rapid.Bool().Draw(t, "repeats") {
		distinct := rapid.IntRange(1, n).Draw(t, "distinct")
		for i := range features {
			features[i] = features[i%distinct]
		}
	}
	if rapid.Bool().Draw(t, "ones") {
		features = append(features, math.MaxUint64, 0, math.MaxUint32)
	}
	return features
}

func TestBottomKEqualsTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawBottomK(t, 300)
		features := drawMany(t)
		want := naiveBottomK(s, features)

		b := s.NewBottomKSketcher()
		b.Add([]uint64{1, 2, 3})
		b.Reset()
		for rest := features; len(rest) > 0; {
			piece := rest[:rapid.IntRange(1, len(rest)).Draw(t, "piece")]
			b.Add(piece)
			rest = rest[len(piece):]
			if rapid.Bool().Draw(t, "look") {
				b.Append64(nil)
			}
		}
		if got := b.Append64(nil); !slices.Equal(got, want) {
			t.Fatalf("%s, in pieces: %x, want %x", s, got, want)
		}
		if s.Bits() == 32 {
			for i, h := range b.Append32(nil) {
				if uint64(h) != want[i] {
					t.Fatalf("%s: hash %d of 32 bits is %x, want %x", s, i, h, want[i])
				}
			}
		}
		sig := make([]uint32, s.Words())
		s.NewSketcher().Sketch(sig, features)
		if got := s.AppendHashes(nil, sig); !slices.Equal(got, want) {
			t.Fatalf("%s, as a signature: %x, want %x", s, got, want)
		}
		packed := s.AppendBinary(nil, sig)
		back, err := s.DecodeBinary(nil, packed)
		if err != nil || !slices.Equal(back, sig) || len(packed) != len(want)*s.Bits()/8 {
			t.Fatalf("%s: %x is packed to %x and decoded to %x, %v", s, sig, packed, back, err)
		}
	})
}

func TestBottomKOfSetsJoinsFromBottomKOfEach(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawBottomK(t, 100)
		a, b := randomSet(rapid.IntRange(0, 400).Draw(t, "a"), 1), randomSet(rapid.IntRange(0, 400).Draw(t, "b"), 1)
		a = append(a, randomSet(rapid.IntRange(0, 400).Draw(t, "own"), 2)...)
		fa, fb := naiveBottomK(s, a), naiveBottomK(s, b)
		union := naiveBottomK(s, slices.Concat(a, b))
		want := 0
		for _, h := range union {
			if slices.Contains(fa, h) && slices.Contains(fb, h) {
				want++
			}
		}
		shared, of := SharedOfSmallest(fa, fb, s.K())
		if shared != want || of != len(union) {
			t.Fatalf("%d of %d, want %d of %d", shared, of, want, len(union))
		}
	})
}

func TestBottomKSignaturesArePinned(t *testing.T) {
	set := []uint64{1, 2, 3, 0x9e3779b97f4a7c15}
	for line, want := range map[string]string{
		"bottomk k=3":                    "9cc7000ee5de221751c006a09894a577b55ea7ed91106785",
		"bottomk k=3 bits=32 seed=2":     "3933ec40d44de2940b2bbabf",
		"bottomk k=3 bits=32 hash=fnv1a": "010000000200000003000000",
	} {
		s := mustParse(t, line)
		sig := make([]uint32, s.Words())
		s.NewSketcher().Sketch(sig, set)
		if got := fmt.Sprintf("%x", s.AppendBinary(nil, sig)); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

func TestBottomKDecodesOnlyWhatItPacks(t *testing.T) {
	s := mustParse(t, "bottomk k=2 bits=32")
	for _, src := range [][]byte{
		{1, 2, 3},
		{1, 0, 0, 0, 1, 0, 0, 0},
		{2, 0, 0, 0, 1, 0, 0, 0},
		{255, 255, 255, 255},
		{1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0},
	} {
		if sig, err := s.DecodeBinary(nil, src); err == nil {
			t.Errorf("%x decodes to %x", src, sig)
		}
	}
}

func TestBottomKDoesNotAllocateOnceWarm(t *testing.T) {
	for _, line := range []string{"bottomk", "bottomk k=1000 bits=32", "bottomk hash=fnv1a bits=32"} {
		s := mustParse(t, line)
		b, sig, features := s.NewBottomKSketcher(), make([]uint32, s.Words()), randomSet(20000, 1)
		if n := testing.AllocsPerRun(20, func() { b.Sketch(sig, features) }); n != 0 && !testsize.Race {
			t.Errorf("%s: %g allocations", line, n)
		}
	}
}

func TestBottomKHasNoComponents(t *testing.T) {
	s := mustParse(t, "bottomk k=4")
	sig := make([]uint32, s.Words())
	if s.HasBands() || !Default().HasBands() {
		t.Error("bottomk has bands, or oph has none")
	}
	for name, f := range map[string]func(){
		"Equal":              func() { s.Equal(sig, sig) },
		"Estimate":           func() { s.Estimate(1) },
		"MinEqual":           func() { s.MinEqual(0.5) },
		"Append32":           func() { s.NewBottomKSketcher().Append32(nil) },
		"NewBottomKSketcher": func() { Default().NewBottomKSketcher() },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s works", name)
				}
			}()
			f()
		}()
	}
}

func TestOnlyFNVAsksForShinglesOfItsOwn(t *testing.T) {
	for line, want := range map[string]shingle.Hash{
		"oph":                                "",
		"bottomk":                            "",
		"bottomk bits=32 hash=fnv1a":         shingle.FNV1a32,
		"bottomk hash=fnv1a":                 shingle.FNV1a64,
		"bottomk bits=32 hash=fnv1a-listing": shingle.FNV1a32Listing,
		"bottomk hash=fnv1a-listing":         shingle.FNV1a64Listing,
	} {
		if got := shingle.Hash(mustParse(t, line).FeatureHash()); got != want {
			t.Errorf("%s asks for %q, want %q", line, got, want)
		}
	}
}

// The mean of the estimates over many seeds is J, and their error that of k
// independent hashes or less.
func TestBottomKEstimatesWithoutBias(t *testing.T) {
	const k, trials = 64, 400
	for _, n := range []int{10, 64, 100, 1000} {
		for _, common := range overlaps(n) {
			a, b := pairOfSets(n, common, func(i int) uint64 { return uint64(i) })
			j := float64(common) / float64(2*n-common)
			var sum, squares float64
			for seed := range uint64(trials) {
				s, err := BottomK(XXH3, k, 64, seed)
				if err != nil {
					t.Fatal(err)
				}
				sk := s.NewSketcher()
				sigA, sigB := make([]uint32, s.Words()), make([]uint32, s.Words())
				sk.Sketch(sigA, a)
				sk.Sketch(sigB, b)
				e := s.Similarity(sigA, sigB) - j
				sum += e
				squares += e * e
			}
			theory := mustParse(t, "bottomk k=64").StandardError(j)
			bias, rmse := sum/trials, math.Sqrt(squares/trials)
			if math.Abs(bias) > 4.5*theory/math.Sqrt(trials)+1e-9 || rmse > theory*1.15+1e-9 {
				t.Errorf("n=%d, J=%.3f: bias %.5f, error %.5f, theory %.5f", n, j, bias, rmse, theory)
			}
		}
	}
}

func FuzzDecodeBottomK(f *testing.F) {
	f.Add([]byte{1, 0, 0, 0, 2, 0, 0, 0}, true)
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255}, false)
	f.Fuzz(func(t *testing.T, packed []byte, narrow bool) {
		line := "bottomk k=5"
		if narrow {
			line = "bottomk k=5 bits=32"
		}
		s := mustParse(t, line)
		sig, err := s.DecodeBinary(nil, packed)
		if err != nil {
			return
		}
		if back := s.AppendBinary(nil, sig); !bytes.Equal(back, packed) {
			t.Fatalf("%s: %x decodes to %x, which packs to %x", line, packed, sig, back)
		}
	})
}
