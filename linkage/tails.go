package linkage

import (
	"math"
	"slices"
)

// scoreCounts counts candidates by their score, in bins of 1/binsPerNat nat.
type scoreCounts [bins]int64

const (
	binsPerNat = 4
	farthest   = 64                    // nats from 0 that have bins of their own
	zero       = farthest * binsPerNat // the bin that begins at score 0
	bins       = 2 * zero
)

func (s *scoreCounts) add(z float64) {
	i := int(math.Floor((z + farthest) * binsPerNat))
	s[min(max(i, 0), len(s)-1)]++
}

// scoreAt returns the score at which a bin begins.
func scoreAt(bin int) float64 { return float64(bin)/binsPerNat - farthest }

// line makes log odds of a score: at0 + slope·score.
type line struct{ at0, slope float64 }

func (l line) of(z float64) float64 { return l.at0 + l.slope*z }

const (
	// tailWidth is over how many nats the slope of a tail is taken, twice: steps between
	// levels are smoothed, and a tail is wider.
	tailWidth = 2
	// tailPairs is how many candidates there must be in each: the slope is then known to 0.07.
	tailPairs = 100
	// others is the share of others up to which a window is one of matches.
	others = 0.05
	// third is how many times as many pairs as both tails have there may be in between. More
	// are pairs of a third kind, such as people of one household, of which nothing is known.
	third = 2
)

// calibrate returns the log odds of a match by score, from how many candidates have which
// score; ok is false if that does not tell.
//
// The score of a pair is a sum of many parts, for matches and for others, so both have
// log-concave densities, or nearly: the logarithm of each falls off at least as fast as the
// tangent at any place where it is known. That of others is known where hardly any pair is a
// match: below 0, right of their mode, and that of matches where hardly any is another one:
// from 0 on. The tangents meet in between, and their difference is the log odds there. The
// steepest slope is taken on the side of the others: matches among them only make it flatter.
//
// It corrects a model whose columns depend on each other more than it knows: a match
// with one error tends to have others, so that the matches with many are many more than a
// product of levels would have, and the model is too careful with them. (Mixtures told apart by
// where one of their parts is alone: B. Efron, "Large-scale simultaneous hypothesis
// testing", JASA 2004.)
func (s *scoreCounts) calibrate() (l line, ok bool) {
	b := s.before()
	chance, ok := b.tailOfOthers()
	if !ok {
		return l, false
	}
	matches, ok := b.tailOfMatches(chance)
	if !ok || b.hasThird(chance, matches) {
		return l, false
	}
	l = line{matches.at(0) - chance.at(0), matches.slope - chance.slope}
	return l, l.of(scoreAt(chance.bin)) < 0
}

// before is how many candidates lower bins have than each one, and than the end.
type before [bins + 1]float64

func (s *scoreCounts) before() *before {
	b := new(before)
	for i, n := range s {
		b[i+1] = b[i] + float64(n)
	}
	return b
}

// window is how many bins one has, of tailWidth nats.
const window = tailWidth * binsPerNat

// count returns how many candidates the window that begins at a bin has.
func (b *before) count(bin int) float64 { return b[bin+window] - b[bin] }

// two returns how many candidates the window that begins at a bin has, and the next one; ok is
// false if these are too few for a slope.
func (b *before) two(bin int) (n, m float64, ok bool) {
	n, m = b.count(bin), b.count(bin+window)
	return n, m, min(n, m) >= tailPairs
}

// tailOfOthers returns the tangent at the steepest descent of the others, with two standard
// errors of doubt; ok is false if they descend nowhere.
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

// tailOfMatches returns the tangent at the first place where hardly any pair is one of chance;
// ok is false if there is none.
func (b *before) tailOfMatches(chance tangent) (t tangent, ok bool) {
	for i := zero; i+2*window < bins; i++ {
		n, m, enough := b.two(i)
		if enough && chance.count(i)+chance.count(i+window) <= others*(n+m) {
			return tangentOf(i, n, m, max(0, math.Log(m/n)/tailWidth)), true
		}
	}
	return t, false
}

// hasThird tells whether there are pairs of a third kind in between.
func (b *before) hasThird(chance, matches tangent) bool {
	for i := chance.bin; i < matches.bin; i++ {
		if b.count(i) > third*(chance.count(i)+matches.count(i))+tailPairs {
			return true
		}
	}
	return false
}

// tangent is the logarithm of how many candidates a window has, as a linear function of the
// score in its middle.
type tangent struct {
	bin        int // at whose beginning it touches
	log, slope float64
}

// tangentOf returns that of two windows, the one that begins at a bin and the next one, with so
// many candidates.
func tangentOf(bin int, n, m, slope float64) tangent {
	return tangent{bin + window, (math.Log(n) + math.Log(m)) / 2, slope}
}

func (t tangent) at(z float64) float64 { return t.log + t.slope*(z-scoreAt(t.bin)) }

// count returns how many candidates the window that begins at a bin has.
func (t tangent) count(bin int) float64 { return math.Exp(t.at(scoreAt(bin) + tailWidth/2.)) }

// calibrate makes scores the log odds that their tails tell, and reports whether they do.
func (m *model) calibrate(s *scoreCounts) (by line, ok bool) {
	if by, ok = s.calibrate(); !ok {
		return line{0, 1}, false
	}
	m.prior = by.of(m.prior)
	for i := range m.evidence {
		m.evidence[i] *= by.slope
	}
	return by, true
}

// scores counts the scores of all candidates.
func (m *model) scores(c *comparison) *scoreCounts {
	s := new(scoreCounts)
	for i := range c.pairs {
		s.add(m.score(c.of(i)))
	}
	return s
}

// relearnings is how often a model is learned again at most. Few do: it does not go far.
const relearnings = 10

// relearn goes on to learn a model with calibrated scores, and puts its probabilities into
// those that it began with. It reports whether it could: else nothing changes.
func (m *model) relearn(c *comparison, rivals *exclusive, probability []float64) bool {
	next := &model{m.width, slices.Clone(m.evidence), m.share, m.prior}
	p, odds := make([]float64, len(probability)), make([]float64, len(probability))
	could := false
	for range relearnings {
		if _, ok := next.calibrate(next.scores(c)); !ok {
			break
		}
		next.probabilities(c, rivals, odds, p, nil)
		if rivals == nil && alikeness(c, p) < mostly {
			break
		}
		moved := distance(p, probability)
		m.prior, m.evidence, could = next.prior, slices.Clone(next.evidence), true
		copy(probability, p)
		if moved <= settled*sum(p) {
			break
		}
		next.learn(c, p)
		next.prior = logOdds(mean(p))
	}
	return could
}
