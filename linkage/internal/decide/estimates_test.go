package decide

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/alike-dev/alike/internal/logistic"
)

// near tells whether x is within a range, or at most as far outside as is promised.
func (s Share) near(x float64) bool { return s.Low-0.05 <= x && x <= s.High+0.05 }

// TestTheTruthIsWithinTheRanges draws matches by log odds that a model overstates or understates by up to dependence.
func TestTheTruthIsWithinTheRanges(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, by := range []float64{1 / dependence, 1, dependence} {
		var links []int
		var probability []float64
		right, matches := 0.0, 0.0
		for i := range 50_000 {
			z := 4 * rng.NormFloat64()
			p := logistic.Probability(z * by)
			probability = append(probability, p)
			match := rng.Float64() < logistic.Probability(z)
			if match {
				matches++
			}
			if p > 0.5 {
				if links = append(links, i); match {
					right++
				}
			}
		}
		e := Estimate(links, probability, nil, nil, 0, 0, Held{})
		if p := right / float64(len(links)); !e.Precision.near(p) {
			t.Errorf("evidence times %.2f: precision %.3f is not in %+v", by, p, e.Precision)
		}
		if r := right / matches; !e.Recall.near(r) {
			t.Errorf("evidence times %.2f: recall %.3f is not in %+v", by, r, e.Recall)
		}
	}
}

// TestClustersShowTheLinksThatAreMissing has entities of three records of which links are missing by chance. Two links
// make a cluster of three.
func TestClustersShowTheLinksThatAreMissing(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for _, found := range []float64{0.95, 0.8, 0.6} {
		const entities = 5_000
		var links []int
		var probability []float64
		held := Held{Sure: 1}
		for range entities {
			n := 0
			for range 3 {
				if rng.Float64() < found {
					links, probability = append(links, len(probability)), append(probability, 1)
					n++
				}
			}
			held.Links += float64(n)
			held.Pairs += []float64{0, 1, 3, 3}[n]
		}
		if e := Estimate(links, probability, nil, nil, 0, 0, held); !e.Recall.near(float64(len(links)) / (3 * entities)) {
			t.Errorf("%.2f of the links are there: recall is expected to be %+v", found, e.Recall)
		}
	}
}

func TestARecordOfTheSmallerTableMayHaveAPartnerThatTheModelDoesNotSee(t *testing.T) {
	probability := []float64{1, 1, 0.3, 0.3, 0.3}
	e := Estimate([]int{0, 1}, probability, nil, nil, 0, 5, Held{})
	if e.Recall.Low > 2.0/5 || e.Recall.High < 1 {
		t.Errorf("recall is expected to be %+v", e.Recall)
	}
}

// TestRejectedPairsOfAClusterCountAgainstItsLinks has clusters of six records of three things: a record is linked with all
// of the other letter, and rejected where the letter is its own. At most three of nine links are right.
func TestRejectedPairsOfAClusterCountAgainstItsLinks(t *testing.T) {
	probability := []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0}
	e := Estimate([]int{0, 1, 2, 3, 4, 5, 6, 7, 8}, probability, nil, nil, 0, 0, Held{Pairs: 15, Links: 9, Rejected: 6, Sure: 1})
	if e.Precision.Low > 3.0/9 {
		t.Errorf("precision is expected to be %+v", e.Precision)
	}
}

func TestRangesReachToOtherViews(t *testing.T) {
	probability := []float64{0.99, 0.98, 0.4}
	links := []int{0, 1}
	alone := Estimate(links, probability, nil, nil, 0, 0, Held{})
	e := Estimate(links, probability, [][]float64{{0.2, 0.3, 0.1}}, nil, 0, 0, Held{})
	if e.Precision.Low != 0.25 || e.Precision.High != alone.Precision.High {
		t.Errorf("precision %+v, want one from 0.25 to %v", e.Precision, alone.Precision.High)
	}
	if e.Precision.Likely != alone.Precision.Likely {
		t.Errorf("another view changes what is likely to %v", e.Precision.Likely)
	}
}

func TestOfLinksAboutWhichNothingIsKnownTheRangeIsWide(t *testing.T) {
	e := Estimate([]int{0, 1}, []float64{0.45, 0.45}, nil, nil, 0, 0, Held{})
	if e.Precision.Low > 0.35 || e.Precision.High < 0.55 {
		t.Errorf("precision %+v of links that are as likely right as wrong", e.Precision)
	}
}

// TestPrecisionReachesToWhatDecoysSay has links that decoys call right in two of three cases.
func TestPrecisionReachesToWhatDecoysSay(t *testing.T) {
	links, probability := []int{0, 1, 2}, []float64{0.99, 0.99, 0.99, 0.1}
	alone := Estimate(links, probability, nil, nil, 0, 0, Held{})
	e := Estimate(links, probability, nil, []float64{1, 0.9, 0.1, 0}, 0, 0, Held{})
	if math.Abs(e.Precision.Low-2.0/3) > 1e-9 || e.Precision.High != alone.Precision.High || e.Recall != alone.Recall {
		t.Errorf("%+v, want what it was alone, %+v, but precision from 2/3", e, alone)
	}
}
