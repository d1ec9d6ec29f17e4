package simjoin

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func threshold(t testing.TB, f float64) Threshold {
	t.Helper()
	th, err := NewThreshold(f)
	if err != nil {
		t.Fatal(err)
	}
	return th
}

func TestThresholdIsTheShortestDecimalForm(t *testing.T) {
	for _, c := range []struct {
		in       float64
		num, den uint64
		text     string
	}{
		{0.8, 4, 5, "0.8"},
		{1, 1, 1, "1"},
		{0.5, 1, 2, "0.5"},
		{0.05, 1, 20, "0.05"},
		{0.1, 1, 10, "0.1"},
		{0.999999999, 999999999, 1000000000, "0.999999999"},
		{1e-9, 1, 1000000000, "0.000000001"},
		{0.333333333, 333333333, 1000000000, "0.333333333"},
	} {
		got := threshold(t, c.in)
		if got != (Threshold{c.num, c.den}) {
			t.Errorf("NewThreshold(%v) = %d/%d, want %d/%d", c.in, got.num, got.den, c.num, c.den)
		}
		if got.String() != c.text || got.Float() != c.in {
			t.Errorf("%v prints as %s and is %v", c.in, got, got.Float())
		}
	}
}

func TestThresholdRefusesWhatItCannotHold(t *testing.T) {
	for _, c := range []struct {
		in   float64
		want string
	}{
		{0, "out of range"},
		{math.Copysign(0, -1), "out of range"},
		{-0.5, "out of range"},
		{1.0000001, "out of range"},
		{math.NaN(), "out of range"},
		{math.Inf(1), "out of range"},
		{math.SmallestNonzeroFloat64, "at most 9"},
		{0.30000000000000004, "has 17 decimals: round it to at most 9"},
		{1.5e-9, "has 10 decimals"},
	} {
		_, err := NewThreshold(c.in)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("NewThreshold(%v): error %v, want one with %q", c.in, err, c.want)
		}
	}
}

// anyThreshold draws fractions with up to nine decimals, small ones too.
func anyThreshold(t *rapid.T) (Threshold, *big.Rat) {
	den := int64(1)
	for range rapid.IntRange(0, maxDecimals).Draw(t, "decimals") {
		den *= 10
	}
	r := big.NewRat(rapid.Int64Range(1, den).Draw(t, "numerator"), den)
	f, _ := r.Float64()
	th, err := NewThreshold(f)
	if err != nil {
		t.Fatal(err)
	}
	return th, r
}

// length draws set sizes up to the documented limit.
func length(t *rapid.T, name string) int {
	return rapid.OneOf(rapid.IntRange(0, 1000), rapid.IntRange(0, toInt(1<<31))).Draw(t, name)
}

// toInt returns n, or the nearest int where that has 32 bits.
func toInt(n int64) int { return int(min(n, math.MaxInt)) }

func ratInt(n int) *big.Rat { return new(big.Rat).SetInt64(int64(n)) }

func floor(r *big.Rat) int {
	n := new(big.Int).Div(r.Num(), r.Denom()).Int64()
	return int(min(max(n, math.MinInt), math.MaxInt))
}

func ceil(r *big.Rat) int {
	return -floor(new(big.Rat).Neg(r))
}

func TestBoundsEqualRationalArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		th, r := anyThreshold(t)
		la, lb := length(t, "la"), length(t, "lb")
		a, one := ratInt(la), big.NewRat(1, 1)

		share := new(big.Rat).Quo(r, new(big.Rat).Add(one, r)) // t/(1+t)
		overlap := ceil(new(big.Rat).Mul(share, new(big.Rat).Add(a, ratInt(lb))))
		if got := th.MinOverlap(la, lb); got != overlap {
			t.Errorf("MinOverlap(%d, %d) = %d, want %d", la, lb, got, overlap)
		}
		smallest := ceil(new(big.Rat).Mul(r, a))
		if got := th.MinSize(la); got != smallest {
			t.Errorf("MinSize(%d) = %d, want %d", la, got, smallest)
		}
		largest := floor(new(big.Rat).Quo(a, r))
		if got := th.MaxSize(la); got != largest {
			t.Errorf("MaxSize(%d) = %d, want %d", la, got, largest)
		}
		prefix, indexPrefix := 0, 0
		if la > 0 {
			prefix = la - smallest + 1
			indexPrefix = la - ceil(new(big.Rat).Mul(share, new(big.Rat).Add(a, a))) + 1
		}
		if got := th.Prefix(la); got != prefix {
			t.Errorf("Prefix(%d) = %d, want %d", la, got, prefix)
		}
		if got := th.IndexPrefix(la); got != indexPrefix {
			t.Errorf("IndexPrefix(%d) = %d, want %d", la, got, indexPrefix)
		}
	})
}

func TestReachedEqualsRationalArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		th, r := anyThreshold(t)
		union := rapid.IntRange(1, toInt(1<<32)).Draw(t, "union")
		onIt := ceil(new(big.Rat).Mul(r, ratInt(union)))
		inter := min(union, max(0, onIt+rapid.IntRange(-2, 2).Draw(t, "off")))
		want := new(big.Rat).SetFrac64(int64(inter), int64(union)).Cmp(r) >= 0
		if got := th.Reached(inter, union); got != want {
			t.Errorf("Reached(%d, %d) = %v at %v", inter, union, got, r)
		}
	})
}

func TestEmptySetsReachNoThreshold(t *testing.T) {
	th := threshold(t, 1e-9)
	if th.Reached(0, 0) || th.Reached(0, 5) {
		t.Error("an empty intersection reaches the threshold")
	}
	if _, ok := Verify[uint64](nil, nil, th); ok {
		t.Error("two empty sets are similar")
	}
	if th.Prefix(0) != 0 || th.IndexPrefix(0) != 0 {
		t.Error("the empty set has a prefix")
	}
}
