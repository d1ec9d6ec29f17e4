package simhash

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/alike-dev/alike/internal/hashing"
	"pgregory.net/rapid"
)

// comparedPairs is the definition of a join: all with all.
func comparedPairs(fingerprints []uint64, words, distance int) []Pair {
	var pairs []Pair
	n := len(fingerprints) / words
	at := func(i int) []uint64 { return fingerprints[i*words : (i+1)*words] }
	for a := range n {
		for b := a + 1; b < n; b++ {
			if d := Distance(at(a), at(b)); d <= distance {
				pairs = append(pairs, Pair{uint32(a), uint32(b), d})
			}
		}
	}
	return pairs
}

func sortPairs(pairs []Pair) {
	slices.SortFunc(pairs, func(x, y Pair) int { return cmp.Or(cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B)) })
}

// joined runs all parts.
func joined(j *Join) []Pair {
	var pairs []Pair
	var scratch JoinScratch
	for part := range j.Parts() {
		j.Part(part, &scratch, func(p Pair) { pairs = append(pairs, p) })
	}
	sortPairs(pairs)
	return pairs
}

// drawFingerprints draws fingerprints of so many bits near each other: some random
// ones, and others made of them by flipping bits.
func drawFingerprints(t *rapid.T, width, limit int) []uint64 {
	words := (width + 63) / 64
	n := rapid.IntRange(0, limit).Draw(t, "n")
	seed := rapid.Uint64().Draw(t, "seed")
	kinds := rapid.SampledFrom([]uint64{1, 2, 10, 1000}).Draw(t, "kinds")
	flips := rapid.Uint64Range(0, 8).Draw(t, "flips")
	fixed := rapid.SampledFrom([]uint64{0, 0, 0xffffffff, 0xffff00000000ffff}).Draw(t, "bits all have in common")
	fingerprints := make([]uint64, n*words)
	for i := range n {
		f := fingerprints[i*words : (i+1)*words]
		r := hashing.Mix(seed + uint64(i))
		for w := range f {
			f[w] = hashing.Mix(r%kinds+uint64(w)<<32) &^ fixed
		}
		for range flips {
			r = hashing.Mix(r)
			b := int(r>>8) % width
			f[b/64] ^= r & 1 << (b % 64)
		}
		if used := width % 64; used > 0 {
			f[words-1] &= 1<<used - 1
		}
	}
	return fingerprints
}

func TestAJoinFindsThePairsThatComparingAllWithAllFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.OneOf(rapid.Just(64), rapid.IntRange(1, 64)).Draw(t, "bits")
		distance := min(rapid.IntRange(0, 9).Draw(t, "distance"), width-1)
		fingerprints := drawFingerprints(t, width, 500)
		j, err := NewJoin(fingerprints, width, distance)
		if err != nil {
			t.Fatal(err)
		}
		j.sliceBits = min(j.keyBits, rapid.IntRange(0, 3).Draw(t, "slices"))
		if got, want := joined(j), comparedPairs(fingerprints, 1, distance); !slices.Equal(got, want) {
			t.Fatalf("%d pairs, want %d", len(got), len(want))
		}
	})
}

func TestAJoinDividesBucketsAgain(t *testing.T) {
	// In each case some block divides nothing, or into few buckets, at first.
	const n = 3000
	for name, fingerprint := range map[string]func(r uint64) uint64{
		"the lower 40 bits are the same": func(r uint64) uint64 { return r << 40 },
		"the upper 40 bits are the same": func(r uint64) uint64 { return r >> 40 },
		"the middle is the same":         func(r uint64) uint64 { return r &^ 0xffffffff0000 },
		"few keys of every block":        func(r uint64) uint64 { return r & 0x0f0f0f0f0f0f0f0f },
		"one of two keys of a block":     func(r uint64) uint64 { return r &^ 0xffff << 1 >> (r & 1) },
	} {
		fingerprints := make([]uint64, n)
		for i := range fingerprints {
			fingerprints[i] = fingerprint(hashing.Mix(uint64(i)))
		}
		j, err := NewJoin(fingerprints, 64, 3)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := joined(j), comparedPairs(fingerprints, 1, 3); !slices.Equal(got, want) {
			t.Errorf("%s: %d pairs, want %d", name, len(got), len(want))
		}
	}
}

// Bits that all have in common do not make a join compare all with all: that would
// take minutes here.
func TestAJoinOfFingerprintsWithConstantBitsIsFast(t *testing.T) {
	fingerprints := randomFingerprints(200_000)
	for i := range fingerprints {
		fingerprints[i] &^= 0xffffff
	}
	j, err := NewJoin(fingerprints, 64, 3)
	if err != nil {
		t.Fatal(err)
	}
	if pairs := joined(j); len(pairs) < 2000 {
		t.Errorf("%d pairs, want one for every hundredth at least", len(pairs))
	}
}

func TestAJoinIsCutIntoPartsOfBoundedSize(t *testing.T) {
	j, err := NewJoin(make([]uint64, 10_000_000), 64, 3)
	if err != nil || j.Parts() != 4*32 {
		t.Errorf("%d parts, %v", j.Parts(), err)
	}
	j, err = NewJoin(nil, 64, 3)
	if err != nil || len(joined(j)) != 0 {
		t.Error(err)
	}
}

func TestSearchesRefuseWhatTheyCannotDo(t *testing.T) {
	for _, c := range []struct {
		width, distance int
		want            string
	}{
		{64, 64, "distance 64: fingerprints of 64 bits take 0 to 63"},
		{64, -1, "distance -1"},
		{65, 3, "fingerprints of 65 bits: a join takes 1 to 64"},
		{0, 0, "fingerprints of 0 bits"},
	} {
		if _, err := NewJoin(nil, c.width, c.distance); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d bits, distance %d: error %v, want %q in it", c.width, c.distance, err, c.want)
		}
	}
}

// randomFingerprints returns n random words, in which every hundredth is a copy of
// the one before with up to three bits flipped.
func randomFingerprints(n int) []uint64 {
	fingerprints := make([]uint64, n)
	for i := range fingerprints {
		r := hashing.Mix(uint64(i) + 12345)
		fingerprints[i] = r
		if i%100 == 99 {
			fingerprints[i] = fingerprints[i-1] ^ 1<<(r&63) ^ r>>6&1<<(r>>7&63) ^ 1<<(r>>13&63)
		}
	}
	return fingerprints
}

func BenchmarkJoin(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprintf("n=%d/d=3", n), func(b *testing.B) {
			j, err := NewJoin(randomFingerprints(n), 64, 3)
			if err != nil {
				b.Fatal(err)
			}
			var scratch JoinScratch
			for b.Loop() {
				for part := range j.Parts() {
					j.Part(part, &scratch, func(Pair) {})
				}
			}
		})
	}
}
