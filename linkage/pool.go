package linkage

import (
	"math"
	"math/bits"

	"github.com/alike-dev/alike/internal/logistic"
)

// pool is the candidates that questions are chosen from.
type pool struct {
	candidates []int
	features   *logistic.Observations
	links      []int // places in candidates of each other's first choices, by probability
}

// along returns the place of a pair along the ranks of the likely links, the n-th of a
// sequence that fills them evenly (van der Corput's); −1 if none is open.
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

// leastSure returns the place of the candidate whose entropy times its worth is largest; −1
// if none is worth anything.
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
