package countmin

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func newSketch(t testing.TB, o Options) *Sketch {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTheSizeFollowsFromTheError(t *testing.T) {
	for _, c := range []struct {
		epsilon, delta float64
		width, depth   int
	}{
		{0, 0, 271829, 5},
		{0.01, 0.01, 272, 5},
		{0.1, 0.5, 28, 1},
		{0.001, math.Exp(-3), 2719, 3},
	} {
		s := newSketch(t, Options{Epsilon: c.epsilon, Delta: c.delta})
		if s.Width() != c.width || s.Depth() != c.depth {
			t.Errorf("epsilon %v, delta %v: %d × %d, want %d × %d", c.epsilon, c.delta, s.Depth(), s.Width(), c.depth, c.width)
		}
	}
	for _, o := range []Options{{Epsilon: -1}, {Epsilon: 1}, {Epsilon: 1e-10}, {Epsilon: math.NaN()}, {Delta: 1}, {Delta: -0.5}, {Delta: math.NaN()}, {Delta: 1e-40}} {
		if _, err := New(o); err == nil || o.Validate() == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}

// A sketch so small that all items meet others. No estimate is below the truth, and a
// conservative one is never above a plain one.
func TestEstimatesAreNeverBelowTheTruth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := Options{Epsilon: rapid.SampledFrom([]float64{0.9, 0.1, 0.01}).Draw(t, "epsilon"), Delta: 0.1, Seed: rapid.Uint64().Draw(t, "seed")}
		plain, _ := New(o)
		o.Conservative = true
		conservative, _ := New(o)
		truth := map[uint64]uint32{}
		for range rapid.IntRange(0, 300).Draw(t, "additions") {
			item, count := rapid.Uint64Range(0, 60).Draw(t, "item"), rapid.Uint32Range(0, 1000).Draw(t, "count")
			truth[item] += count
			plain.Add(item, count)
			conservative.Add(item, count)
		}
		for item := range uint64(70) {
			p, c := plain.Estimate(item), conservative.Estimate(item)
			if c < truth[item] || p < c {
				t.Errorf("item %d: true %d, conservative %d, plain %d", item, truth[item], c, p)
			}
		}
	})
}

// zipf adds a stream of items of which few are frequent.
func zipf(r *rand.Rand, items, length int, add func(item uint64)) {
	z := rand.NewZipf(r, 1.1, 1, uint64(items-1))
	for range length {
		add(z.Uint64())
	}
}

// The bound is for each item over the choice of hashes: of all items of many sketches at
// most Delta may miss it. Conservative ones err less.
func TestTheErrorIsWithinTheBound(t *testing.T) {
	const sketches, items, length = 20, 5000, 50000
	for _, o := range []Options{{Epsilon: 0.001, Delta: 0.05}, {Epsilon: 0.01, Delta: 0.2}} {
		var over, tested int
		var errorPlain, errorConservative float64
		for seed := range uint64(sketches) {
			o.Seed, o.Conservative = seed, false
			plain := newSketch(t, o)
			o.Conservative = true
			conservative := newSketch(t, o)
			truth := make([]uint32, items)
			zipf(rand.New(rand.NewPCG(seed, 1)), items, length, func(item uint64) {
				truth[item]++
				plain.Add(item, 1)
				conservative.Add(item, 1)
			})
			if plain.Total() != length {
				t.Fatalf("total %d", plain.Total())
			}
			for item, n := range truth {
				e := plain.Estimate(uint64(item)) - n
				if float64(e) > o.Epsilon*length {
					over++
				}
				if uint64(e) > plain.Bound()+1 && float64(e) <= o.Epsilon*length {
					t.Fatalf("an error of %d is over Bound %d, but not over epsilon", e, plain.Bound())
				}
				tested++
				errorPlain += float64(e)
				errorConservative += float64(conservative.Estimate(uint64(item)) - n)
			}
		}
		if share := float64(over) / float64(tested); share > o.Delta {
			t.Errorf("%+v: %.4f of the items err by more than the bound", o, share)
		}
		if errorConservative > errorPlain*4/5 {
			t.Errorf("%+v: conservative sketches err by %.1f an item, plain ones by %.1f", o, errorConservative/float64(tested), errorPlain/float64(tested))
		}
	}
}

// One row errs by the share of a counter on average: hashes that are not pairwise
// independent would show.
func TestOneRowErrsAsTheoryHasIt(t *testing.T) {
	const items, sketches = 1000, 300
	for name, spread := range map[string]uint64{"small numbers": 1, "multiples": 1 << 40} {
		sum, width := 0.0, 0
		for seed := range uint64(sketches) {
			s := newSketch(t, Options{Epsilon: 0.03, Delta: 0.5, Seed: seed})
			width = s.Width()
			for i := range uint64(items) {
				s.Add(i*spread, 1)
			}
			sum += float64(s.Estimate(7*spread) - 1)
		}
		want := float64(items-1) / float64(width)
		sigma := math.Sqrt(want / sketches)
		if got := sum / sketches; math.Abs(got-want) > 4*sigma {
			t.Errorf("%s: an error of %.3f on average, want %.3f ± %.3f", name, got, want, sigma)
		}
	}
}

func TestPlainSketchesOfPartsMergeToThatOfTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := Options{Epsilon: 0.05, Delta: 0.1, Seed: 3}
		whole, _ := New(o)
		parts := make([]*Sketch, rapid.IntRange(1, 5).Draw(t, "parts"))
		for i := range parts {
			parts[i], _ = New(o)
		}
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "stream"), 0))
		zipf(r, 500, 2000, func(item uint64) {
			whole.Add(item, 3)
			parts[r.IntN(len(parts))].Add(item, 3)
		})
		for _, p := range parts[1:] {
			if err := parts[0].Merge(p); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(stored(t, parts[0]), stored(t, whole)) {
			t.Error("the merged sketch is another one than that of the whole")
		}
	})
}

func TestMergedConservativeSketchesNeverUnderestimate(t *testing.T) {
	o := Options{Epsilon: 0.01, Delta: 0.05, Conservative: true}
	plain := newSketch(t, Options{Epsilon: o.Epsilon, Delta: o.Delta})
	a, b := newSketch(t, o), newSketch(t, o)
	truth := make([]uint32, 2000)
	r := rand.New(rand.NewPCG(1, 2))
	zipf(r, len(truth), 20000, func(item uint64) {
		truth[item]++
		plain.Add(item, 1)
		if r.IntN(2) == 0 {
			a.Add(item, 1)
		} else {
			b.Add(item, 1)
		}
	})
	if err := a.Merge(b); err != nil {
		t.Fatal(err)
	}
	for item, n := range truth {
		if e := a.Estimate(uint64(item)); e < n || e > plain.Estimate(uint64(item)) {
			t.Fatalf("item %d: true %d, merged %d, plain %d", item, n, e, plain.Estimate(uint64(item)))
		}
	}
}

func TestSketchesOfOtherOptionsDoNotMerge(t *testing.T) {
	s := newSketch(t, Options{Epsilon: 0.1, Delta: 0.1})
	for _, o := range []Options{{Epsilon: 0.2, Delta: 0.1}, {Epsilon: 0.1, Delta: 0.01}, {Epsilon: 0.1, Delta: 0.1, Seed: 1}, {Epsilon: 0.1, Delta: 0.1, Conservative: true}} {
		if err := s.Merge(newSketch(t, o)); !errors.Is(err, ErrMismatch) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestCountersStopAtTheLargestNumber(t *testing.T) {
	for _, conservative := range []bool{false, true} {
		o := Options{Epsilon: 0.1, Delta: 0.1, Conservative: conservative}
		a, b := newSketch(t, o), newSketch(t, o)
		a.Add(1, math.MaxUint32-1)
		a.Add(1, 5)
		b.Add(1, 9)
		if err := a.Merge(b); err != nil {
			t.Fatal(err)
		}
		if got := a.Estimate(1); got != math.MaxUint32 {
			t.Errorf("conservative %v: %d", conservative, got)
		}
		if want := uint64(math.MaxUint32) + 13; a.Total() != want {
			t.Errorf("total %d, want %d", a.Total(), want)
		}
	}
}

func TestAddDoesNotAllocate(t *testing.T) {
	s := newSketch(t, Options{Conservative: true})
	if n := testing.AllocsPerRun(100, func() { s.Add(7, 1); s.Estimate(8) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func stored(t interface{ Fatal(...any) }, s *Sketch) []byte {
	b, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestStoredSketchesGoOnWhereTheyWere(t *testing.T) {
	for _, conservative := range []bool{false, true} {
		s := newSketch(t, Options{Epsilon: 0.01, Delta: 0.05, Seed: 9, Conservative: conservative})
		add := func(s *Sketch) {
			zipf(rand.New(rand.NewPCG(1, 2)), 500, 5000, func(item uint64) { s.Add(item, 2) })
		}
		add(s)
		var again Sketch
		if err := again.UnmarshalBinary(stored(t, s)); err != nil {
			t.Fatal(err)
		}
		add(s)
		add(&again)
		if !bytes.Equal(stored(t, s), stored(t, &again)) {
			t.Errorf("conservative %v: another sketch", conservative)
		}
	}
}

// The format and the hashes are pinned: stored sketches stay readable.
func TestTheFormatIsPinned(t *testing.T) {
	s := newSketch(t, Options{Epsilon: 0.5, Delta: 0.3, Seed: 5})
	s.Add(1, 2)
	s.Add(1<<40, 300)
	const want = "414c494b45434d00" + "01" + "00" + "0200" + "00000000" + "0600000000000000" + "0500000000000000" + "2e01000000000000" +
		"2c0100000000000000000000000000000000000002000000" +
		"020000002c01000000000000000000000000000000000000" + "eaba27ad"
	if got := hex.EncodeToString(stored(t, s)); got != want {
		t.Errorf("stored as\n%s, want\n%s", got, want)
	}
}

func TestDamagedSketchesAreRefused(t *testing.T) {
	s := newSketch(t, Options{Epsilon: 0.5, Delta: 0.3})
	s.Add(1, 2)
	good := stored(t, s)
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 0x10
		kept := *s
		if err := s.UnmarshalBinary(bad); !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrVersion) {
			t.Fatalf("byte %d changed: %v", i, err)
		}
		if s.Estimate(1) != kept.Estimate(1) {
			t.Fatalf("byte %d changed: the sketch was changed", i)
		}
		if err := s.UnmarshalBinary(good[:i]); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("cut to %d bytes: %v", i, err)
		}
	}
}

func FuzzUnmarshal(f *testing.F) {
	s := newSketch(f, Options{Epsilon: 0.5, Delta: 0.3})
	s.Add(1, 2)
	good := stored(f, s)
	f.Add(good)
	f.Add(good[:headerLength])
	f.Fuzz(func(t *testing.T, b []byte) {
		// With a right checksum more of the header is reached.
		if len(b) > sumLength {
			sum := crc32.Checksum(b[:len(b)-sumLength], castagnoli)
			b = append(bytes.Clone(b[:len(b)-sumLength]), byte(sum), byte(sum>>8), byte(sum>>16), byte(sum>>24))
		}
		var s Sketch
		if err := s.UnmarshalBinary(b); err != nil {
			return
		}
		if !bytes.Equal(stored(t, &s), b) {
			t.Error("stored again it is not the same")
		}
		s.Add(1, 1)
		if s.Estimate(1) == 0 {
			t.Error("an added item has no count")
		}
	})
}

func Example() {
	s, err := New(Options{Epsilon: 0.001, Delta: 0.01})
	if err != nil {
		fmt.Println(err)
		return
	}
	const berlin, paris = 0x1b873593cc9e2d51, 0x52dce72938495ab5 // hashes of tokens
	for range 100 {
		s.Add(berlin, 1)
	}
	s.Add(paris, 1)
	fmt.Println(s.Estimate(berlin), s.Estimate(paris), "of", s.Total())
	// Output: 100 1 of 101
}
