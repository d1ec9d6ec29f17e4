package lsh

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// slowProbability adds up the binomial distribution term by term.
func slowProbability(p Params, s float64) float64 {
	band := math.Pow(s, float64(p.Rows))
	sum := 0.0
	for j := p.minBands(); j <= p.Bands; j++ {
		choose, _ := new(big.Float).SetInt(new(big.Int).Binomial(int64(p.Bands), int64(j))).Float64()
		sum += choose * math.Pow(band, float64(j)) * math.Pow(1-band, float64(p.Bands-j))
	}
	return sum
}

func TestProbabilityEqualsTheSumOfItsTerms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Params{Bands: rapid.IntRange(1, 130).Draw(t, "bands"), Rows: rapid.IntRange(1, 10).Draw(t, "rows")}
		p.MinBands = rapid.IntRange(0, p.Bands).Draw(t, "min")
		s := rapid.OneOf(rapid.Float64Range(0, 1), rapid.SampledFrom([]float64{0, 0.5, 1})).Draw(t, "s")
		if got, want := p.Probability(s), slowProbability(p, s); math.Abs(got-want) > 1e-9 {
			t.Fatalf("%v at %g: %g, want %g", p, s, got, want)
		}
	})
}

func TestProbabilityKeepsPrecisionForRareCandidates(t *testing.T) {
	got := Params{Bands: 2, Rows: 10}.Probability(0.01) // 2·10^-20 − 10^-40
	if math.Abs(got/2e-20-1) > 1e-12 {
		t.Errorf("got %g, want 2e-20", got)
	}
}

func TestCurveRunsFromNoSimilarityToEquality(t *testing.T) {
	curve := Params{Bands: 20, Rows: 5}.Curve(10)
	if len(curve) != 11 || curve[0] != (Point{0, 0}) || curve[10] != (Point{1, 1}) {
		t.Fatalf("curve %v", curve)
	}
	for i := 1; i < len(curve); i++ {
		if curve[i].Probability <= curve[i-1].Probability {
			t.Errorf("curve does not rise at %v", curve[i])
		}
	}
	if got := curve[5].Probability; math.Abs(got-0.47005) > 1e-5 { // 1−(1−2^-5)^20
		t.Errorf("P(0.5) = %.5f, want 0.47005", got)
	}
}

func TestComponentAgreementCountsAccidents(t *testing.T) {
	for _, c := range []struct {
		s    float64
		bits int
		want float64
	}{{0.5, 1, 0.75}, {0, 8, 1. / 256}, {1, 1, 1}, {0.3, 32, 0.3}} {
		if got := ComponentAgreement(c.s, c.bits); got != c.want {
			t.Errorf("ComponentAgreement(%g, %d) = %g, want %g", c.s, c.bits, got, c.want)
		}
	}
}

func TestValidateNamesWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		p    Params
		want string // part of the error, "" for none
	}{
		{Params{Bands: 16, Rows: 6}, ""},
		{Params{Bands: 128, Rows: 1, MinBands: 128}, ""},
		{Params{Bands: 1, Rows: 128}, ""},
		{Params{Bands: 0, Rows: 6}, "at least 1"},
		{Params{Bands: 6, Rows: 0}, "at least 1"},
		{Params{Bands: 13, Rows: 10}, "the 128 of a signature"},
		{Params{Bands: math.MaxInt, Rows: 2}, "the 128 of a signature"},
		{Params{Bands: 4, Rows: 4, MinBands: 5}, "0 (for 1) to 4"},
		{Params{Bands: 4, Rows: 4, MinBands: -1}, "0 (for 1) to 4"},
	} {
		err := c.p.Validate(128)
		if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want %q", c.p, err, c.want)
		}
	}
}

func TestStringNamesMinBandsOnlyWhenItMatters(t *testing.T) {
	for want, p := range map[string]Params{
		"bands=16 rows=6":            {Bands: 16, Rows: 6, MinBands: 1},
		"bands=6 rows=14 minbands=2": {Bands: 6, Rows: 14, MinBands: 2},
	} {
		if p.String() != want {
			t.Errorf("%+v prints as %q, want %q", p, p, want)
		}
	}
}
