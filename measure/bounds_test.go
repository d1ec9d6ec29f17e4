package measure

import (
	"math"
	"math/big"
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// anyMeasure draws a measure with a name, or one of Tversky's without.
func anyMeasure(t *rapid.T) Measure {
	if rapid.Bool().Draw(t, "named") {
		return rapid.SampledFrom(All()).Draw(t, "measure")
	}
	number := rapid.Uint32Range(0, 6)
	whole, left, right := number.Draw(t, "whole"), number.Draw(t, "left"), number.Draw(t, "right")
	if whole == 0 || left+right == 0 {
		return Jaccard
	}
	return Measure(whole^1|(left^1)<<leftAt|(right^1)<<rightAt) | rapid.SampledFrom([]Measure{0, larger}).Draw(t, "larger")
}

// anyThreshold draws a measure and a fraction with up to nine decimals, small ones too,
// or for Overlap a whole number.
func anyThreshold(t *rapid.T) (Threshold, *big.Rat) {
	m := anyMeasure(t)
	r := big.NewRat(rapid.OneOf(rapid.Int64Range(1, 50), rapid.Int64Range(1, 1<<33)).Draw(t, "overlap"), 1)
	if m != Overlap {
		den := int64(1)
		for range rapid.IntRange(0, maxDecimals).Draw(t, "decimals") {
			den *= 10
		}
		r = big.NewRat(rapid.Int64Range(1, den).Draw(t, "numerator"), den)
	}
	f, _ := r.Float64()
	th, err := NewThreshold(m, f)
	if err != nil {
		t.Fatal(err)
	}
	return th, r
}

// anySize draws sizes up to the documented limit.
func anySize(t *rapid.T, m Measure, name string) uint64 {
	limit := uint64(1 << 62)
	if !slices.Contains(All(), m) {
		limit >>= 3
	}
	return rapid.OneOf(rapid.Uint64Range(0, 50), rapid.Uint64Range(0, 1000), rapid.Uint64Range(0, 1<<33), rapid.Uint64Range(0, 1<<48),
		rapid.Uint64Range(limit-3, limit), rapid.Uint64Range(0, limit)).Draw(t, name)
}

func whole(n uint64) *big.Rat { return new(big.Rat).SetInt(new(big.Int).SetUint64(n)) }

// reached is the definition, of one direction.
func reached(m Measure, r *big.Rat, inter, a, b uint64) bool {
	if inter == 0 {
		return false
	}
	i, bound := whole(inter), new(big.Rat)
	switch m {
	case Jaccard, WeightedJaccard:
		bound.Sub(bound.Add(whole(a), whole(b)), i)
	case Dice:
		bound.Mul(bound.Add(whole(a), whole(b)), big.NewRat(1, 2))
	case Containment:
		bound = whole(a)
	case MaxContainment:
		bound = whole(min(a, b))
	case Cosine: // i² ≥ r²·a·b
		bound.Mul(bound.Mul(whole(a), whole(b)), r)
		i.Mul(i, i)
	case Overlap:
		bound = whole(1)
	default:
		bound = tverskyBound(m, inter, a, b)
		if other := tverskyBound(m, inter, b, a); m&larger != 0 && other.Cmp(bound) < 0 {
			bound = other
		}
	}
	return i.Cmp(bound.Mul(bound, r)) >= 0
}

// tverskyBound returns i + (left·(a−i) + right·(b−i)) / whole.
func tverskyBound(m Measure, i, a, b uint64) *big.Rat {
	alone := func(size uint64, weight Measure) *big.Rat {
		n := whole(size)
		return n.Mul(n.Sub(n, whole(i)), whole(uint64(weight&255^1)))
	}
	outside := alone(a, m>>leftAt)
	outside.Add(outside, alone(b, m>>rightAt))
	outside.Quo(outside, whole(uint64(m&255^1)))
	return outside.Add(outside, whole(i))
}

// eitherReached is the definition for pairs of which either direction counts.
func eitherReached(m Measure, r *big.Rat, inter, a, b uint64) bool {
	return reached(m, r, inter, a, b) || reached(m, r, inter, b, a)
}

func TestReachedEqualsTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		th, r := anyThreshold(t)
		a, b := anySize(t, th.measure, "a"), anySize(t, th.measure, "b")
		near := th.MinOverlap(a, b) + rapid.Uint64Range(0, 4).Draw(t, "off")
		inter := min(near-min(near, 2), a, b)
		if got, want := th.Reached(inter, a, b), reached(th.measure, r, inter, a, b); got != want {
			t.Errorf("%v: %d of %d and %d: %v", th, inter, a, b, got)
		}
		inter = rapid.Uint64Range(0, min(a, b)).Draw(t, "any")
		if got, want := th.Reached(inter, a, b), reached(th.measure, r, inter, a, b); got != want {
			t.Errorf("%v: %d of %d and %d: %v", th, inter, a, b, got)
		}
	})
}

func TestScoreIsTheSimilarityRoundedDown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := anyMeasure(t)
		a, b := max(1, anySize(t, m, "a")), max(1, anySize(t, m, "b"))
		inter := rapid.OneOf(rapid.Uint64Range(0, min(a, b)), rapid.Just(min(a, b))).Draw(t, "inter")
		value := whole(inter)
		switch m {
		case Containment:
			value.Quo(value, whole(a))
		case MaxContainment:
			value.Quo(value, whole(min(a, b)))
		case Cosine: // its square
			value.Mul(value, value)
			value.Quo(value, whole(a).Mul(whole(a), whole(b)))
		case Dice:
			value.Mul(value, whole(2))
			value.Quo(value, whole(a).Add(whole(a), whole(b)))
		case Overlap:
			value.Quo(value, whole(ScoreOne))
		default:
			bound := tverskyBound(m, inter, a, b)
			if other := tverskyBound(m, inter, b, a); m&larger != 0 && other.Cmp(bound) < 0 {
				bound = other
			}
			value.Quo(value, bound)
		}
		value.Mul(value, whole(ScoreOne))
		want := new(big.Int).Quo(value.Num(), value.Denom())
		if got := m.Score(inter, a, b); !want.IsUint64() || got != want.Uint64() {
			t.Errorf("%v: %d of %d and %d: %d, want %v", m, inter, a, b, got, want)
		}
	})
}

func TestMinOverlapIsTheLeastThatReaches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		th, r := anyThreshold(t)
		a, b := anySize(t, th.measure, "a"), anySize(t, th.measure, "b")
		n := th.MinOverlap(a, b)
		if n == 0 || !reached(th.measure, r, n, a, b) || n > 1 && reached(th.measure, r, n-1, a, b) {
			t.Errorf("%v: MinOverlap(%d, %d) = %d", th, a, b, n)
		}
		if th.MinOverlap(a+1, b) < n || th.MinOverlap(a, b+1) < n {
			t.Errorf("%v: MinOverlap falls where %d or %d grows", th, a, b)
		}
	})
}

// A set reaches the threshold with one of b elements at all if it does so with as many
// in common as there can be.
func TestSizesAreTheSmallestAndLargestThatReach(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		th, r := anyThreshold(t)
		a := anySize(t, th.measure, "a")
		possible := func(b uint64) bool { return eitherReached(th.measure, r, min(a, b), a, b) }
		least, most := th.MinSize(a), th.MaxSize(a)
		if least == 0 || least > 1 && possible(least-1) {
			t.Errorf("%v: a smaller set than %d reaches it with %d", th, least, a)
		}
		if most < math.MaxUint64 && possible(most+1) {
			t.Errorf("%v: a larger set than %d reaches it with %d", th, most, a)
		}
		if least > most { // nothing reaches it, not even an equal set
			if possible(a) {
				t.Errorf("%v: no set for %d", th, a)
			}
			return
		}
		if !possible(least) {
			t.Errorf("%v: a set of %d cannot reach it with %d", th, least, a)
		}
		if most < math.MaxUint64 && !possible(most) {
			t.Errorf("%v: a set of %d cannot reach it with %d", th, most, a)
		}
	})
}

// TestPrefixesAreTheShortestThatSuffice takes the least overlap of a set with any
// partner, by the definition over all of them.
func TestPrefixesAreTheShortestThatSuffice(t *testing.T) {
	const largest = 60
	rapid.Check(t, func(t *rapid.T) {
		th, r := anyThreshold(t)
		if th.measure == Overlap {
			n := rapid.Uint64Range(1, largest).Draw(t, "small overlap")
			th, r = Threshold{Overlap, n, 1}, whole(n)
		}
		a := rapid.Uint64Range(0, largest).Draw(t, "a")
		leastOf := func(from uint64) uint64 {
			least := a + 1 // no partner
			for b := from; b <= 3*largest; b++ {
				for i := uint64(1); i <= min(a, b, least); i++ {
					if eitherReached(th.measure, r, i, a, b) {
						least = min(least, i)
						break
					}
				}
			}
			return a - least + 1
		}
		if got, want := th.Prefix(a), leastOf(1); got != want {
			t.Errorf("%v: Prefix(%d) = %d, want %d", th, a, got, want)
		}
		if got, want := th.IndexPrefix(a), leastOf(a); got != want {
			t.Errorf("%v: IndexPrefix(%d) = %d, want %d", th, a, got, want)
		}
	})
}

func TestLargePrefixesLeaveLessThanTheLeastOverlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		th, _ := anyThreshold(t)
		a, b := anySize(t, th.measure, "a"), anySize(t, th.measure, "b")
		a, b = min(a, b), max(a, b)
		need := th.Undirected().MinOverlap(a, b)
		if need > a {
			return
		}
		if a-th.IndexPrefix(a) >= need || b-th.Prefix(b) >= need || a-th.Prefix(a) >= need {
			t.Errorf("%v: %d in common of %d and %d may lie behind prefixes of %d and %d", th, need, a, b, th.IndexPrefix(a), th.Prefix(b))
		}
	})
}

func TestRootsAreRoundedUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		root := rapid.OneOf(rapid.Uint64Range(2, 1000), rapid.Uint64Range(2, 1<<62-1)).Draw(t, "root")
		high, low := bits.Mul64(root, root)
		if got := ceilSqrt(high, low); got != root {
			t.Errorf("√(%d²) = %d", root, got)
		}
		below, borrow := bits.Sub64(low, 1, 0)
		if got := ceilSqrt(high-borrow, below); got != root {
			t.Errorf("⌈√(%d²−1)⌉ = %d", root, got)
		}
		above, carry := bits.Add64(low, 1, 0)
		if got := ceilSqrt(high+carry, above); got != root+1 {
			t.Errorf("⌈√(%d²+1)⌉ = %d", root, got)
		}
	})
}

func TestEmptySetsReachNoThreshold(t *testing.T) {
	for _, m := range All() {
		least := 1e-9
		if m == Overlap {
			least = 1
		}
		th := must(t, m, least)
		if th.Reached(0, 0, 0) || th.Reached(0, 0, 5) || th.Reached(0, 5, 0) {
			t.Errorf("%v: an empty intersection reaches it", th)
		}
		if th.Prefix(0) != 0 || th.IndexPrefix(0) != 0 || th.MaxSize(0) != 0 {
			t.Errorf("%v: the empty set has a prefix or a partner", th)
		}
	}
}

func TestLeastJaccardIsTheLeastOverAllSizes(t *testing.T) {
	const largest = 400
	const tversky = 3 ^ 1 | Measure(2^1)<<leftAt // 3·i to 3·i + 2·(a−i) + (b−i)
	for _, m := range append(All(), tversky) {
		for _, value := range []float64{0.1, 0.3, 0.5, 0.8, 0.95, 1} {
			if m == Overlap {
				value = 1
			}
			th := must(t, m, value)
			least := 1.0
			for a := range uint64(largest) {
				for b := range uint64(largest) {
					if i := th.MinOverlap(a, b); i <= min(a, b) {
						least = min(least, Jaccard.Similarity(i, a, b))
					}
				}
			}
			j, ok := th.LeastJaccard()
			if !ok {
				if least > 1.01/(largest-1)/value {
					t.Errorf("%v has no bound, but %v is the least", th, least)
				}
				continue
			}
			if least < j-1e-12 || least > j+0.01 {
				t.Errorf("%v: the least Jaccard similarity is %v, not %v", th, least, j)
			}
		}
	}
}

func BenchmarkMinOverlap(b *testing.B) {
	for _, m := range All() {
		b.Run(m.String(), func(b *testing.B) {
			th, size, sum := must(b, m, 1), uint64(1000), uint64(0)
			for b.Loop() {
				sum += th.MinOverlap(size, 1500)
				size = size&1023 + 900
			}
			if sum == 0 {
				b.Fatal("nothing is needed")
			}
		})
	}
}
