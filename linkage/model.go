package linkage

import (
	"math"
	"slices"
)

// model says how much each level of each column speaks for a match: the logarithm of how
// much more often matches have the level than other candidates do. It is that of Fellegi and
// Sunter ("A theory for record linkage", JASA 1969), with the levels' frequencies found by
// expectation and maximisation (W. E. Winkler, "Using the EM algorithm for weight
// computation in the Fellegi-Sunter model", 1988) among the candidates alone, which are as
// alike as records can be that do not belong together.
type model struct {
	width    int
	evidence []float64 // of level l of column f at f·levels+l
	share    []float64 // of each column, how much of it counts: see comparer.shares
	prior    float64   // log odds of a candidate before anything is known of it
}

// Constants of the model, the same for all tables.
const (
	// redundancy: the columns of a record, and the record as a whole, say the same thing
	// again to a part. What they say together counts for so much less.
	redundancy = 1.5
	// pseudo is how many candidates with the frequencies of all stand beside those that
	// were counted, on either side: levels that hardly occur say little.
	pseudo = 2.0
	// steps of expectation and maximisation.
	steps = 40
)

// fit finds the model of candidates. onePartner says that a record has at most one.
func fit(c *comparison, onePartner bool, share []float64) (m *model, probability []float64) {
	g := graph{c.pairs, c.left, c.right}
	probability = firstGuess(c, g)
	m = &model{width: c.width, share: append(share, 1), evidence: make([]float64, c.width*levels)}
	m.prior = logOdds(mean(probability))
	var rivals *exclusive
	var before *matchings
	if onePartner {
		rivals, before = newExclusive(g), newMatchings(g)
	}
	odds, last := make([]float64, len(c.pairs)), make([]float64, len(c.pairs))
	for range steps {
		m.learn(c, probability)
		if onePartner {
			m.prior = before.prior(m.prior, sum(probability))
		} else {
			m.prior = logOdds(mean(probability))
		}
		copy(last, probability)
		m.probabilities(c, rivals, odds, probability, nil)
		if distance(last, probability) <= settled*sum(probability) {
			break
		}
	}
	return m, probability
}

// settled is by how much of their sum the probabilities may change in the last step.
const settled = 1e-4

func distance(x, y []float64) (d float64) {
	for i := range x {
		d += math.Abs(x[i] - y[i])
	}
	return d
}

// probabilities puts into dst how likely each candidate is a match, and into rank, if there is
// one, by what candidates are to be ordered. rivals is nil where records may have several
// partners; odds is scratch.
func (m *model) probabilities(c *comparison, rivals *exclusive, odds, dst, rank []float64) {
	for i := range dst {
		z := m.score(c.of(i))
		odds[i] = math.Exp(min(40, max(-40, z)))
		if rivals == nil {
			dst[i] = odds[i] / (1 + odds[i])
			if rank != nil {
				rank[i] = z
			}
		}
	}
	if rivals != nil {
		rivals.marginals(dst, rank, func(i int) float64 { return odds[i] })
	}
}

// score returns the log odds of a candidate without regard to others.
func (m *model) score(levels []level) float64 {
	return m.prior + m.sum(levels)/m.discount()
}

func (m *model) discount() float64 {
	if m.width == 2 { // one column, of which the record says nothing new
		return 1
	}
	return redundancy
}

// sum returns the evidence of all columns.
func (m *model) sum(of []level) (z float64) {
	for f, l := range of {
		z += m.share[f] * m.evidence[f*levels+int(l)]
	}
	return z
}

// learn sets the evidence by how likely each candidate is a match.
func (m *model) learn(c *comparison, probability []float64) {
	for f := range c.width {
		var match, other [levels]float64
		for i, p := range probability {
			l := c.levels[i*c.width+f]
			match[l] += p
			other[l] += 1 - p
		}
		var matches, others float64
		for l := 1; l < levels; l++ {
			matches += match[l]
			others += other[l]
		}
		for l := 1; l < levels; l++ {
			m.evidence[f*levels+l] = 0
			if share := (match[l] + other[l]) / (matches + others); share > 0 {
				a := (match[l] + pseudo*share) / (matches + pseudo)
				b := (other[l] + pseudo*share) / (others + pseudo)
				m.evidence[f*levels+l] = math.Log(max(a, 1e-9) / max(b, 1e-9))
			}
		}
	}
}

// firstGuess says how likely each candidate is a match before there is a model: those that are
// most similar to each other, by how similar they are.
func firstGuess(c *comparison, g graph) []float64 {
	guess := make([]float64, len(c.pairs))
	rank := make([]float64, len(c.pairs))
	for i, w := range c.wholes {
		rank[i] = float64(w)
	}
	both := g.mutual(rank, c.wholes)
	if len(both) == 0 {
		return guess
	}
	similarities := make([]float64, len(both))
	for i, e := range both {
		similarities[i] = rank[e]
	}
	slices.Sort(similarities)
	median := similarities[len(similarities)/2]
	for _, e := range both {
		guess[e] = 0.9 * min(1, rank[e]/median)
	}
	return guess
}

// matchings are what is known before any evidence where a record has at most one partner: all
// candidates have the same odds.
type matchings struct {
	*exclusive
	p    []float64
	most float64 // edges of a matching
}

func newMatchings(g graph) *matchings {
	ends := [2]map[uint32]bool{{}, {}}
	for _, p := range g.pairs {
		ends[0][p.a], ends[1][p.b] = true, true
	}
	return &matchings{newExclusive(g), make([]float64, len(g.pairs)), float64(min(len(ends[0]), len(ends[1])))}
}

// prior returns log odds at which a random matching has about so many edges, from a first
// guess that comes from the step before.
func (m *matchings) prior(guess, edges float64) float64 {
	odds := math.Exp(guess)
	m.marginals(m.p, nil, func(int) float64 { return odds })
	guess += logOdds(edges/m.most) - logOdds(sum(m.p)/m.most)
	return min(max(guess, -25), 15)
}

func sum(x []float64) (s float64) {
	for _, v := range x {
		s += v
	}
	return s
}

func mean(x []float64) float64 { return sum(x) / max(1, float64(len(x))) }

func logOdds(p float64) float64 {
	p = min(max(p, 1e-9), 1-1e-9)
	return math.Log(p / (1 - p))
}
