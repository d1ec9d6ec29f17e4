package minhash

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/testsize"
)

// slowWeighted is weighted MinHash copy by copy, as it is defined: of every feature's
// every copy all darts of ranks below limit, then the least of each bin. It fails when
// the limit leaves a bin empty.
func slowWeighted(t *rapid.T, s Scheme, set map[uint64]uint32, limit float64) []uint32 {
	type value struct {
		rank   float64
		number uint32
	}
	bins := make([]*value, s.K())
	for x, weight := range set {
		for copied := range weight {
			for _, d := range dartsOfCopy(s, x, copied, limit) {
				v := &value{d.rank, uint32(d.number)}
				hi, _ := bits.Mul64(d.number, uint64(s.K()))
				if old := bins[hi]; old == nil || v.rank < old.rank || v.rank == old.rank && v.number < old.number {
					bins[hi] = v
				}
			}
		}
	}
	sig := make([]uint32, s.K())
	for b, v := range bins {
		if v == nil {
			t.Fatalf("no dart below %g in bin %d", limit, b)
		}
		sig[b] = v.number & s.mask()
	}
	return sig
}

type dart struct {
	rank   float64
	number uint64
}

// dartsOfCopy returns the darts of one copy of a feature.
func dartsOfCopy(s Scheme, x uint64, copied uint32, limit float64) (darts []dart) {
	level := bits.Len32(copied)
	length := 1.0
	first := uint32(0)
	if level > 0 {
		first = 1 << (level - 1)
		length = float64(first)
	}
	for i := uint64(0); float64(i)/length < limit; i++ {
		state := hashing.Mix(hashing.Mix(x^key(s.Seed(), streamWeighted, 0)) + (uint64(level)<<56|i)*hashing.Key0)
		for range poisson(state) {
			state += 0x9e3779b97f4a7c15
			at := hashing.Mix(state)
			rank := (float64(i) + float64(uint32(at))/(1<<32)) / length
			of := first + uint32(float64(at>>32)/(1<<32)*length)
			if of == copied && rank < limit {
				darts = append(darts, dart{rank, hashing.Mix(state ^ hashing.Key3)})
			}
		}
	}
	return darts
}

func TestWeightedEqualsItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, err := Weighted(rapid.IntRange(1, 12).Draw(t, "k"), rapid.SampledFrom([]int{1, 8, 32}).Draw(t, "bits"), rapid.Uint64().Draw(t, "seed"))
		if err != nil {
			t.Fatal(err)
		}
		sk, got := s.NewWeightedSketcher(), make([]uint32, s.K())
		for range 2 { // the second set must not see the first
			set := map[uint64]uint32{}
			total := 0.
			for i := range rapid.IntRange(1, 6).Draw(t, "features") {
				w := rapid.OneOf(rapid.Uint32Range(1, 40), rapid.SampledFrom([]uint32{1, 63, 64, 65, 127, 128})).Draw(t, "weight")
				set[hashing.Mix(uint64(i))] = w
				total += float64(w)
			}
			var features []uint64
			var weights []uint32
			for x, w := range set { // in any order
				features, weights = append(features, x), append(weights, w)
			}
			sk.SketchWeighted(got, features, weights)
			limit := float64(s.K()) * (math.Log(float64(s.K())) + 20) / total
			if want := slowWeighted(t, s, set, limit); !slices.Equal(got, want) {
				t.Fatalf("%s of %v:\n got %x\nwant %x", s, set, got, want)
			}
		}
	})
}

func TestWeightedOfWeightOneIsTheSketchOfTheSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := mustScheme(Weighted(rapid.IntRange(1, 200).Draw(t, "k"), 32, 1))
		features := drawFeatures(t, 300)
		sk, plain, weighted := s.NewWeightedSketcher(), make([]uint32, s.K()), make([]uint32, s.K())
		sk.Sketch(plain, features)
		ones := slices.Repeat([]uint32{1}, len(features))
		sk.SketchWeighted(weighted, features, ones)
		if !slices.Equal(plain, weighted) {
			t.Fatalf("got %x with weights of 1, %x without", weighted, plain)
		}
		absent := append(slices.Clone(features), 1<<60, 1<<61)
		sk.SketchWeighted(weighted, absent, append(ones, 0, 0))
		if !slices.Equal(plain, weighted) {
			t.Fatal("features of weight 0 change the signature")
		}
	})
}

func mustScheme(s Scheme, err error) Scheme {
	if err != nil {
		panic(err)
	}
	return s
}

// weightedPair returns two weightings of n features whose weights differ by up to a
// factor of spread, with their weighted Jaccard similarity.
func weightedPair(n int, spread uint32, trial uint64) (features []uint64, a, b []uint32, j float64) {
	least, most := 0., 0.
	for i := range n {
		h := hashing.Mix(trial<<32 + uint64(i))
		features = append(features, h)
		base := 1 + uint32(h>>32)%spread
		x, y := base, base
		switch hashing.Mix(h) % 5 {
		case 0:
			x = 0
		case 1:
			y = 0
		case 2:
			y = 1 + uint32(h)%spread
		}
		a, b = append(a, x), append(b, y)
		least += float64(min(x, y))
		most += float64(max(x, y))
	}
	return features, a, b, least / most
}

// The similarity that components agree with is that of the weights, and the error is
// that of as many independent components.
func TestWeightedErrorIsThatOfTheory(t *testing.T) {
	const k = 128
	for _, spread := range []uint32{1, 3, 100, 1 << 16, 1 << 31} {
		for _, n := range []int{1, 5, 50, 500} {
			t.Run(fmt.Sprintf("spread=%d/n=%d", spread, n), func(t *testing.T) {
				t.Parallel()
				trials := 400
				if testsize.Small() {
					trials = 60
				}
				var y tally
				sigA, sigB := make([]uint32, k), make([]uint32, k)
				for trial := range uint64(trials) {
					s := mustScheme(Weighted(k, 32, trial))
					sk := s.NewWeightedSketcher()
					features, a, b, j := weightedPair(n, spread, trial+1)
					if math.IsNaN(j) || j == 0 || j == 1 {
						continue
					}
					sk.SketchWeighted(sigA, features, a)
					sk.SketchWeighted(sigB, features, b)
					y.add((float64(s.Equal(sigA, sigB)) - k*j) / math.Sqrt(k*j*(1-j)))
				}
				if y.n == 0 {
					t.Skip("weights of one feature are equal or none")
				}
				if limit := 1.05 + 4/math.Sqrt(2*y.n); math.Abs(y.bias()) > 4.5 || y.rmse() > limit {
					t.Errorf("mean error %.2f standard deviations, RMSE %.3f of theory, of %g pairs", y.bias(), y.rmse(), y.n)
				}
			})
		}
	}
}

// A feature of weight w is as good as w features: the unweighted sketch of a set in
// which it stands w times estimates the same similarity.
func TestWeightsEstimateWhatReplicationDoes(t *testing.T) {
	const k, n, spread, trials = 256, 60, 20, 150
	weighted, replicated := mustScheme(Weighted(k, 32, 7)), mustScheme(OPH(k, 32, 7))
	skW, skR := weighted.NewWeightedSketcher(), replicated.NewSketcher()
	var difference tally
	sigA, sigB := make([]uint32, k), make([]uint32, k)
	for trial := range uint64(trials) {
		features, a, b, j := weightedPair(n, spread, trial)
		skW.SketchWeighted(sigA, features, a)
		skW.SketchWeighted(sigB, features, b)
		byWeight := weighted.Estimate(weighted.Equal(sigA, sigB))
		skR.Sketch(sigA, replicate(features, a))
		skR.Sketch(sigB, replicate(features, b))
		byCopies := replicated.Estimate(replicated.Equal(sigA, sigB))
		difference.add((byWeight - byCopies) / math.Sqrt(2*j*(1-j)/k))
	}
	if math.Abs(difference.bias()) > 4 || difference.rmse() > 1.05+4/math.Sqrt(2*trials) {
		t.Errorf("the two estimates differ by %.2f standard deviations in the mean, RMSE %.3f of theory", difference.bias(), difference.rmse())
	}
}

func replicate(features []uint64, weights []uint32) (all []uint64) {
	for i, x := range features {
		for j := range weights[i] {
			all = append(all, hashing.Mix(x+uint64(j)*hashing.Key1))
		}
	}
	return all
}

// Weighted signatures are part of the format.
func TestWeightedSignaturesArePinned(t *testing.T) {
	s := mustParse(t, "weighted k=6")
	sk, sig := s.NewWeightedSketcher(), make([]uint32, 6)
	for _, c := range []struct {
		weights []uint32
		want    string
	}{
		{[]uint32{1, 1, 1}, "7f65a3324c88e5e470bb05c0774e09f4344b7c645b5c20dc"},
		{[]uint32{1, 300, 70000}, "6aa73254a3412e4721824fd8907dcd118862f8c069a8a3de"},
		{[]uint32{math.MaxUint32, math.MaxUint32, math.MaxUint32}, "c35fac9adf39e74fdc22a02006a78423a4a6cd0bd317ca75"},
		{[]uint32{0, 0, 0}, "ffffffffffffffffffffffffffffffffffffffffffffffff"},
	} {
		sk.SketchWeighted(sig, []uint64{1, 2, 3}, c.weights)
		if got := fmt.Sprintf("%x", s.AppendBinary(nil, sig)); got != c.want {
			t.Errorf("weights %v: got %s, want %s", c.weights, got, c.want)
		}
	}
}

func TestPoissonThresholdsAreThoseOfMeanOne(t *testing.T) {
	const precision = 200
	e := new(big.Float).SetPrec(precision)
	term := big.NewFloat(1).SetPrec(precision)
	for m := 1; m < 80; m++ { // e = Σ 1/m!
		e.Add(e, term)
		term.Quo(term, big.NewFloat(float64(m)))
	}
	sum, next := new(big.Float).SetPrec(precision), big.NewFloat(1).SetPrec(precision)
	for n, got := range poissonBelow {
		sum.Add(sum, next)
		next.Quo(next, big.NewFloat(float64(n+1)))
		share := new(big.Float).Quo(sum, e)
		want, _ := share.SetMantExp(share, 64).Uint64()
		if got != want {
			t.Errorf("P(at most %d) is %#x of 2^64, not %#x", n, want, got)
		}
	}
}

// icws is improved consistent weighted sampling (Ioffe 2010), to compare with: a
// component is the feature and level of least a.
func icws(dst []uint64, features []uint64, weights []uint32) {
	uniform := func(h uint64) float64 { return (float64(h>>11) + 0.5) * 0x1p-53 }
	for b := range dst {
		least := math.Inf(1)
		for i, x := range features {
			h := hashing.Mix(x + uint64(b)*hashing.Key1)
			gamma := func() float64 {
				u := uniform(hashing.Mix(h + 1))
				v := uniform(hashing.Mix(h + 2))
				h = hashing.Mix(h)
				return -math.Log(u * v)
			}
			r, c, beta := gamma(), gamma(), uniform(h)
			level := math.Floor(math.Log(float64(weights[i]))/r + beta)
			if a := math.Log(c) - r*(level-beta) - r; a < least {
				least, dst[b] = a, hashing.Mix(x+uint64(int64(level)))
			}
		}
	}
}

func BenchmarkWeighted(b *testing.B) {
	s := mustScheme(Weighted(DefaultK, 32, 1))
	sk, sig := s.NewWeightedSketcher(), make([]uint32, s.K())
	slow := make([]uint64, s.K())
	for _, n := range []int{10, 100, 1000, 10000} {
		features := randomSet(n, 1)
		for _, most := range []uint32{1, 100, 1 << 16} {
			weights := make([]uint32, n)
			for i := range weights {
				weights[i] = 1 + uint32(features[i])%most
			}
			b.Run(fmt.Sprintf("darts/n=%d/w=%d", n, most), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					sk.SketchWeighted(sig, features, weights)
				}
			})
			if n == 1000 {
				b.Run(fmt.Sprintf("icws/n=%d/w=%d", n, most), func(b *testing.B) {
					for b.Loop() {
						icws(slow, features, weights)
					}
				})
			}
		}
	}
}
