package model

import (
	"math"
	"slices"

	"github.com/alike-dev/alike/linkage/internal/compare"
)

// ScoreCounts counts candidates by their score, in bins of 1/binsPerNat nat.
type ScoreCounts [bins]int64

const (
	binsPerNat = 4
	farthest   = 64                    // scores beyond ± this are in the first or last bin
	zero       = farthest * binsPerNat // the bin that begins at score 0
	bins       = 2 * zero
)

func (s *ScoreCounts) Add(z float64) {
	i := int(math.Floor((z + farthest) * binsPerNat))
	s[min(max(i, 0), len(s)-1)]++
}

// ScoreAt returns the score at which a bin begins.
func ScoreAt(bin int) float64 { return float64(bin)/binsPerNat - farthest }

// Line maps a score to log odds: at0 + slope·score.
type Line struct{ At0, Slope float64 }

func (l Line) Of(z float64) float64 { return l.At0 + l.Slope*z }

const (
	// tailWidth is the width of a window in nats. The slope of a tail is taken from two windows in a row:
	// they smooth the steps between levels, and are narrower than a tail.
	tailWidth = 2
	// tailPairs is the least number of candidates in each; the slope then has an error of 0.07.
	tailPairs = 100
	// mostOthers is the largest share of non-matches in a window of matches.
	mostOthers = 0.05
	// third bounds the pairs between the tails, as a multiple of the pairs that both tails predict there. If
	// there are more, there is a third kind of pairs, such as people of one household.
	third = 2
)

// calibrate returns the log odds of a match by score, from the number of candidates with each score; ok is
// false if they cannot be derived.
//
// The score of a pair is a sum of many parts, for matches and for other pairs, so both have a density that is
// log-concave, or nearly so: its logarithm falls off at least as fast as its tangent at any point. The density
// of others can be counted where hardly any pair is a match: below 0, right of their mode. That of matches can
// be counted where hardly any pair is another one: from 0 on. Both tangents are extended into the range in
// between, and their difference is the log odds there. Among the others the steepest slope is taken, because
// matches among them only make it flatter.
//
// This corrects a model whose columns depend on each other more than it assumes. A match with one error tends
// to have more of them, so matches with many errors are far more frequent than a product of levels predicts,
// and the model gives them too low a score. (Mixtures separated where one of their parts is alone: B. Efron,
// "Large-scale simultaneous hypothesis testing", JASA 2004.)
func (s *ScoreCounts) calibrate() (l Line, ok bool) {
	b := s.before()
	chance, ok := b.tailOfOthers()
	if !ok {
		return l, false
	}
	matches, ok := b.tailOfMatches(chance)
	if !ok || b.hasThird(chance, matches) {
		return l, false
	}
	l = Line{matches.at(0) - chance.at(0), matches.slope - chance.slope}
	return l, l.Of(ScoreAt(chance.bin)) < 0
}

// before has, for each bin and for the end, the number of candidates in lower bins.
type before [bins + 1]float64

func (s *ScoreCounts) before() *before {
	b := new(before)
	for i, n := range s {
		b[i+1] = b[i] + float64(n)
	}
	return b
}

const window = tailWidth * binsPerNat

// count returns the number of candidates in the window that begins at a bin.
func (b *before) count(bin int) float64 { return b[bin+window] - b[bin] }

// two returns the number of candidates in the window that begins at a bin and in the next one; ok is false
// if these are too few for a slope.
func (b *before) two(bin int) (n, m float64, ok bool) {
	n, m = b.count(bin), b.count(bin+window)
	return n, m, min(n, m) >= tailPairs
}

// tailOfOthers returns the tangent at the steepest descent of the others, less two standard errors of the
// slope; ok is false if they descend nowhere.
func (b *before) tailOfOthers() (t tangent, ok bool) {
	mode := 0
	for i := range zero - window {
		if b.count(i) > b.count(mode) {
			mode = i
		}
	}
	for i := mode; i+2*window <= zero; i++ {
		n, m, enough := b.two(i)
		if !enough {
			continue
		}
		if f := (math.Log(n/m) - 2*math.Sqrt(1/n+1/m)) / tailWidth; f > -t.slope {
			t, ok = tangentOf(i, n, m, -f), true
		}
	}
	return t, ok
}

// tailOfMatches returns the tangent at the first place where hardly any pair is a non-match; ok is false if
// there is none.
func (b *before) tailOfMatches(chance tangent) (t tangent, ok bool) {
	for i := zero; i+2*window < bins; i++ {
		n, m, enough := b.two(i)
		if enough && chance.count(i)+chance.count(i+window) <= mostOthers*(n+m) {
			return tangentOf(i, n, m, max(0, math.Log(m/n)/tailWidth)), true
		}
	}
	return t, false
}

// hasThird tells whether there is a third kind of pairs between the tails.
func (b *before) hasThird(chance, matches tangent) bool {
	for i := chance.bin; i < matches.bin; i++ {
		if b.count(i) > third*(chance.count(i)+matches.count(i))+tailPairs {
			return true
		}
	}
	return false
}

// tangent is the logarithm of the number of candidates in a window, as a linear function of the score in its
// middle.
type tangent struct {
	bin        int // it touches at the beginning of this bin
	log, slope float64
}

// tangentOf returns the tangent of the window that begins at a bin, with n candidates, and the next one, with m.
func tangentOf(bin int, n, m, slope float64) tangent {
	return tangent{bin + window, (math.Log(n) + math.Log(m)) / 2, slope}
}

func (t tangent) at(z float64) float64 { return t.log + t.slope*(z-ScoreAt(t.bin)) }

// count returns the number of candidates that the tangent predicts for the window that begins at a bin.
func (t tangent) count(bin int) float64 { return math.Exp(t.at(ScoreAt(bin) + tailWidth/2.)) }

// Calibrate changes the model so that its scores are the log odds by scoreCounts.calibrate. It reports whether
// that succeeded.
func (m *Model) Calibrate(s *ScoreCounts) (by Line, ok bool) {
	if by, ok = s.calibrate(); !ok {
		return Line{0, 1}, false
	}
	m.Prior = by.Of(m.Prior)
	for i := range m.Evidence {
		m.Evidence[i] *= by.Slope
	}
	return by, true
}

func (m *Model) scores(c *compare.Comparison) *ScoreCounts {
	s := new(ScoreCounts)
	for i := range c.Pairs {
		s.Add(m.Score(c.Of(i)))
	}
	return s
}

// relearnings is the largest number of further steps. A few are enough, since the model changes little.
const relearnings = 10

// relearn continues to learn the model with calibrated scores, and replaces the probabilities. It reports
// whether calibration succeeded; else nothing changes.
func (m *Model) relearn(c *compare.Comparison, rivals *exclusive, probability []float64, around *Surroundings) bool {
	next := &Model{m.Width, slices.Clone(m.Evidence), m.Share, m.Prior}
	p, odds := make([]float64, len(probability)), make([]float64, len(probability))
	could := false
	for range relearnings {
		if _, ok := next.Calibrate(next.scores(c)); !ok {
			break
		}
		next.probabilities(c, rivals, odds, p, nil)
		if rivals == nil && around.likeness(c, p) < mostly {
			break
		}
		moved := distance(p, probability)
		m.Prior, m.Evidence, could = next.Prior, slices.Clone(next.Evidence), true
		copy(probability, p)
		if moved <= settled*SumOf(p) {
			break
		}
		next.learn(c, p)
		next.Prior = LogOdds(mean(p))
	}
	return could
}
