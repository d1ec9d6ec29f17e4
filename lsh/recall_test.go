package lsh_test

import (
	"math"
	"testing"

	"github.com/alike-dev/alike/internal/testsize"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/minhash"
)

// pairSource makes pairs of sketches of pairs of sets of the same size and
// overlap, new features each time.
type pairSource struct {
	scheme minhash.Scheme
	sketch minhash.Sketcher
	next   uint64
	set    []uint64
	a, b   []uint32
}

func newPairSource(tb testing.TB, line string) *pairSource {
	s, err := minhash.ParseScheme(line)
	if err != nil {
		tb.Fatal(err)
	}
	return &pairSource{scheme: s, sketch: s.NewSketcher(), a: make([]uint32, s.K()), b: make([]uint32, s.K())}
}

// draw returns the signatures of two sets of n and m features, common of them in both.
func (p *pairSource) draw(n, m, common int) (a, b []uint32) {
	p.set = p.set[:0]
	for range n + m - common {
		p.next++
		p.set = append(p.set, p.next)
	}
	p.sketch.Sketch(p.a, p.set[:n])
	p.sketch.Sketch(p.b, p.set[n-common:])
	return p.a, p.b
}

// measure returns the part of trials pairs of sets of n features that are candidates.
func (p *pairSource) measure(params lsh.Params, n, common, trials int) float64 {
	return p.measureUnequal(params, n, n, common, trials)
}

// measureUnequal is measure for sets of n and m features.
func (p *pairSource) measureUnequal(params lsh.Params, n, m, common, trials int) float64 {
	candidates := 0
	var keysA, keysB []uint64
	for range trials {
		a, b := p.draw(n, m, common)
		keysA, keysB = params.AppendKeys(keysA[:0], a), params.AppendKeys(keysB[:0], b)
		if lsh.Agree(keysA, keysB) >= max(params.MinBands, 1) {
			candidates++
		}
	}
	return float64(candidates) / float64(trials)
}

// deviation is the standard deviation of a measured probability.
func deviation(p float64, trials int) float64 { return math.Sqrt(p * (1 - p) / float64(trials)) }

// trials returns how many trials to do where n are wanted.
func trials(n int) int {
	if testsize.Small() {
		return n / 10
	}
	return n
}

// atLeast returns the fewest common features with which two sets of n features
// reach the similarity j.
func atLeast(n int, j float64) int {
	return int(math.Ceil(2*float64(n)*j/(1+j) - 1e-9))
}

func TestMeasuredRecallAtTheThresholdIsWhatWasAskedFor(t *testing.T) {
	trials := trials(4000)
	for _, line := range []string{"oph", "oph bits=8", "oph bits=1", "kmins", "oph k=200"} {
		for _, threshold := range []float64{0.3, 0.5, 0.8, 0.9} {
			for _, n := range []int{5, 20, 100, 400} {
				p := newPairSource(t, line)
				params, err := lsh.Tune(threshold, 0, p.scheme.K(), p.scheme.Bits())
				if err != nil {
					t.Fatal(err)
				}
				got := p.measure(params, n, atLeast(n, threshold), trials)
				if limit := lsh.DefaultRecall - 3*deviation(lsh.DefaultRecall, trials); got < limit {
					t.Errorf("%s, %v, threshold %g, sets of %d: recall %.4f, less than %.4f", line, params, threshold, n, got, limit)
				}
			}
		}
	}
}

// Settings known by other names are checked with the rest.
var settings = []struct {
	name   string
	params lsh.Params
}{
	{"default at 0.8", lsh.Params{Bands: 16, Rows: 6}},
	{"near-duplicate features: 6 groups of 14, 2 agree", lsh.Params{Bands: 6, Rows: 14, MinBands: 2}},
	{"Broder's counting at 0.5", lsh.Params{Bands: 128, Rows: 1, MinBands: 64}},
	{"three agreeing bands", lsh.Params{Bands: 20, Rows: 4, MinBands: 3}},
}

// Components of one-permutation sketches are not independent, but their
// dependence must never cost recall, for sets of any size.
func TestRecallOfOnePermutationSketchesIsNotBelowTheSCurve(t *testing.T) {
	trials := trials(3000)
	p := newPairSource(t, "oph")
	for _, n := range []int{2, 5, 20, 100, 400} {
		for _, params := range []lsh.Params{{Bands: 16, Rows: 6}, {Bands: 35, Rows: 3}, {Bands: 6, Rows: 14, MinBands: 2}} {
			for common := 1; common < n; common += max(1, n/10) {
				want := params.Probability(float64(common) / float64(2*n-common))
				if want < 0.9 {
					continue
				}
				if got := p.measure(params, n, common, trials); got < want-4*deviation(want, trials) {
					t.Errorf("%v, %d of %d features common: %.4f are candidates, want %.4f", params, common, n, got, want)
				}
			}
		}
	}
}

func TestMeasuredCandidatesFollowTheSCurve(t *testing.T) {
	trials := trials(3000)
	for _, setting := range settings {
		for _, n := range []int{100, 1000} {
			for _, j := range []float64{0.2, 0.4, 0.5, 0.6, 0.8, 0.9, 0.95} {
				p := newPairSource(t, "kmins")
				tries := trials
				if n == 1000 {
					tries /= 10
				}
				common := atLeast(n, j)
				want := setting.params.Probability(float64(common) / float64(2*n-common))
				got := p.measure(setting.params, n, common, tries)
				if tolerance := 4*deviation(want, tries) + 2/float64(tries); math.Abs(got-want) > tolerance {
					t.Errorf("%s, J=%g, sets of %d: %.4f are candidates, want %.4f ± %.4f", setting.name, j, n, got, want, tolerance)
				}
			}
		}
	}
}

// Sizes from equal to the most unequal that can reach the threshold.
func TestMeasuredRecallOfOtherMeasuresIsWhatWasAskedFor(t *testing.T) {
	trials := trials(3000)
	for _, line := range []string{"cosine>=0.7", "cosine>=0.9", "dice>=0.7", "dice>=0.9"} {
		th, err := measure.ParseThreshold(line)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{20, 100, 400} {
			p := newPairSource(t, "oph")
			params, err := lsh.TuneFor(th, 0, p.scheme.K(), p.scheme.Bits())
			if err != nil {
				t.Fatal(err)
			}
			least := int(th.MinSize(uint64(n)))
			for _, m := range []int{n, (n + least) / 2, least} {
				common := int(th.MinOverlap(uint64(n), uint64(m)))
				got := p.measureUnequal(params, n, m, common, trials)
				if limit := lsh.DefaultRecall - 3*deviation(lsh.DefaultRecall, trials); got < limit {
					t.Errorf("%s, %v, sets of %d and %d: recall %.4f, less than %.4f", line, params, n, m, got, limit)
				}
			}
		}
	}
}
