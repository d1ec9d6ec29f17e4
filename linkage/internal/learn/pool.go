package learn

import (
	"math"
	"math/bits"

	"github.com/alike-dev/alike/internal/logistic"
)

// A Pool has the candidates from which questions are chosen.
type Pool struct {
	Candidates []int
	Features   *logistic.Observations
	Links      []int // indexes in Candidates of the pairs that are each other's first choice, by probability
}

// Along returns the index of a pair whose rank among the likely links is the n-th of a sequence that fills the ranks
// evenly (van der Corput's); −1 if all were asked about.
func (p *Pool) Along(n int, open func(candidate int) bool) int {
	at := int(float64(bits.Reverse32(uint32(n+1))) / (1 << 32) * float64(len(p.Links)))
	for range p.Links {
		if place := p.Links[at%len(p.Links)]; open(p.Candidates[place]) {
			return place
		}
		at++
	}
	return -1
}

// LeastSure returns the index of the candidate with the largest product of entropy and worth; −1 if the worth of all
// is 0.
func (p *Pool) LeastSure(weights []float64, worth func(candidate int) float64) int {
	best, most := -1, 0.0
	for place, i := range p.Candidates {
		w := worth(i)
		if w == 0 {
			continue
		}
		z := logistic.Logit(weights, p.Features.Row(place))
		if unsure := w * math.Exp(-math.Abs(z)); unsure > most {
			best, most = place, unsure
		}
	}
	return best
}
