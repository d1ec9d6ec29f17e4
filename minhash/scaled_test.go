package minhash

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/internal/simd"
	"github.com/alike-dev/alike/internal/testsize"
)

// naiveScaled is the definition: all hashes below 2⁶⁴/scale, sorted, without repeats.
func naiveScaled(s Scaled, features []uint64) []uint64 {
	var hashes []uint64
	for _, x := range features {
		var out [8]uint64
		if simd.XXH3Below(out[:], []uint64{x}, simd.XXH3Flip(s.seed), math.MaxUint64, math.MaxUint64) == 0 {
			continue
		}
		// h < 2⁶⁴/s is h ≤ (2⁶⁴−1)/s rounded down.
		if out[0] <= math.MaxUint64/s.scale {
			hashes = append(hashes, out[0])
		}
	}
	slices.Sort(hashes)
	return slices.Compact(hashes)
}

func TestScaledEqualsTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, err := NewScaled(rapid.OneOf(rapid.Uint64Range(1, 20), rapid.Uint64Range(1, 2000)).Draw(t, "scale"), rapid.Uint64().Draw(t, "seed"))
		if err != nil {
			t.Fatal(err)
		}
		features := drawMany(t)
		before := slices.Clone(features)
		prefix := []uint64{7, 3}
		got := s.AppendSketch(slices.Clone(prefix), features)
		if want := naiveScaled(s, features); !slices.Equal(got[2:], want) || !slices.Equal(got[:2], prefix) {
			t.Fatalf("%s: %x, want %x", s, got, want)
		}
		if !slices.Equal(features, before) {
			t.Fatal("the features are changed")
		}
	})
}

func TestTheBoundIsExactForEveryScale(t *testing.T) {
	for scale, want := range map[uint64]uint64{
		1: math.MaxUint64, 2: 1 << 63, 3: math.MaxUint64/3 + 1, 1 << 10: 1 << 54, 1 << 63: 2, math.MaxUint64: 2,
	} {
		if got := (Scaled{scale, 1}).bound(); got != want {
			t.Errorf("scale %d: %x, want %x", scale, got, want)
		}
	}
}

func TestOneHashInNoneIsNoScale(t *testing.T) {
	if _, err := NewScaled(0, 1); err == nil {
		t.Error("scale 0 is accepted")
	}
}

func TestScaledSketchesArePinned(t *testing.T) {
	s := Scaled{2, 1}
	features := make([]uint64, 8)
	for i := range features {
		features[i] = uint64(i)
	}
	const want = "[1722dee50e00c79c 2e1397feb5b04fa3 747b848098729639 77a59498a006c051]"
	if got := fmt.Sprintf("%x", s.AppendSketch(nil, features)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestScaledSketchesDoNotAllocateWhereThereIsRoom(t *testing.T) {
	s, features := Scaled{10, 1}, randomSet(5000, 1)
	dst := make([]uint64, 0, 2000)
	if n := testing.AllocsPerRun(10, func() { s.AppendSketch(dst, features) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// drawScaled returns what the sketches of a set of n features, of which inside are in the
// other set too, have in common, and how many hashes the first has.
func drawScaled(s Scaled, n, inside int, place func(int) uint64) (shared, kept int) {
	a := make([]uint64, n)
	for i := range a {
		a[i] = place(i)
	}
	b := slices.Clone(a[:inside])
	for i := range 3 * n {
		b = append(b, place(n+i))
	}
	sketchA, sketchB := s.AppendSketch(nil, a), s.AppendSketch(nil, b)
	for _, h := range sketchA {
		if _, found := slices.BinarySearch(sketchB, h); found {
			shared++
		}
	}
	return shared, len(sketchA)
}

// The scheme's seed changes with every trial, as in checkError.
func TestContainmentErrorIsThatOfTheory(t *testing.T) {
	trials := 1500
	if testsize.Small() {
		trials = 150
	}
	for _, kind := range kinds[:3] { // whose features are all distinct
		for _, c := range []struct {
			n     int
			scale uint64
		}{{40, 4}, {400, 10}, {1000, 100}} {
			t.Run(fmt.Sprintf("%s/n=%d scale=%d", kind.name, c.n, c.scale), func(t *testing.T) {
				t.Parallel()
				for _, share := range []float64{0, 0.1, 0.5, 0.9, 1} {
					inside := int(share * float64(c.n))
					var y tally
					for trial := range uint64(trials) {
						s := Scaled{c.scale, trial}
						shared, kept := drawScaled(s, c.n, inside, kind.place(trial))
						if kept == 0 {
							continue
						}
						estimate := float64(shared) / float64(kept)
						if share == 0 || share == 1 {
							if estimate != share {
								t.Fatalf("%v of %v", estimate, share)
							}
							continue
						}
						y.add((estimate - share) / s.StandardError(share, kept))
					}
					if y.n == 0 {
						continue
					}
					if math.Abs(y.bias()) > 4.5 {
						t.Errorf("share %g: mean error is %.1f standard deviations from 0", share, y.bias())
					}
					if off := math.Abs(y.rmse() - 1); off > 0.05+4/math.Sqrt(2*y.n) {
						t.Errorf("share %g: RMSE is %.3f of theory", share, y.rmse())
					}
				}
			})
		}
	}
}

// Of sets so small that their sketches are often empty the mean over all seeds comes out
// right with the correction, and too low without.
func TestContainmentOfSmallSetsHasNoBiasOverSeeds(t *testing.T) {
	const n, inside, scale = 30, 12, 20
	trials := 40_000
	if testsize.Small() {
		trials = 4000
	}
	var plain, corrected, squares float64
	for trial := range uint64(trials) {
		s := Scaled{scale, trial}
		shared, kept := drawScaled(s, n, inside, kinds[0].place(trial))
		c := s.Containment(shared, kept, n)
		if kept > 0 {
			plain += float64(shared) / float64(kept)
			// Clipping would hide what is tested.
			c = float64(shared) / float64(kept) / -math.Expm1(n*math.Log1p(-1./scale))
			if got := s.Containment(shared, kept, n); got != min(c, 1) {
				t.Fatalf("%d of %d: %v, want %v", shared, kept, got, min(c, 1))
			}
		} else if c != 0 {
			t.Fatalf("an empty sketch gives %v", c)
		}
		corrected += c
		squares += c * c
	}
	mean := corrected / float64(trials)
	deviation := math.Sqrt((squares/float64(trials) - mean*mean) / float64(trials))
	if off := (mean - float64(inside)/n) / deviation; math.Abs(off) > 4.5 {
		t.Errorf("mean %.4f is %.1f standard deviations from %.4f", mean, off, float64(inside)/n)
	}
	if low := plain / float64(trials); low > 0.9*inside/n {
		t.Errorf("mean %.4f without correction: there is nothing to correct", low)
	}
	if got := (Scaled{20, 1}).Containment(3, 6, 0); got < 0.5 || got > 0.51 {
		t.Errorf("with an estimated size: %v", got)
	}
}

func BenchmarkScaledSketch(b *testing.B) {
	features := randomSet(10_000, 1)
	s := Scaled{DefaultScale, DefaultSeed}
	var dst []uint64
	b.SetBytes(8 * int64(len(features)))
	for b.Loop() {
		dst = s.AppendSketch(dst[:0], features)
	}
}
