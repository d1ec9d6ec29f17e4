package linkage

import (
	"math"
	"math/bits"

	"github.com/alike-dev/alike/internal/logistic"
)

// pool has the candidates from which questions are chosen.
type pool struct {
	candidates []int
	features   *logistic.Observations
	links      []int // indexes in candidates of the pairs that are each other's first choice, by probability
}

// along returns the index of a pair whose rank among the likely links is the n-th of a sequence that fills the ranks
// evenly (van der Corput's); −1 if all were asked about.
func (p *pool) along(n int, open func(candidate int) bool) int {
	at := int(float64(bits.Reverse32(uint32(n+1))) / (1 << 32) * float64(len(p.links)))
	for range p.links {
		if place := p.links[at%len(p.links)]; open(p.candidates[place]) {
			return place
		}
		at++
	}
	return -1
}

// leastSure returns the index of the candidate with the largest product of entropy and worth; −1 if the worth of all
// is 0.
func (p *pool) leastSure(weights []float64, worth func(candidate int) float64) int {
	best, most := -1, 0.0
	for place, i := range p.candidates {
		w := worth(i)
		if w == 0 {
			continue
		}
		z := logistic.Logit(weights, p.features.Row(place))
		if unsure := w * math.Exp(-math.Abs(z)); unsure > most {
			best, most = place, unsure
		}
	}
	return best
}
