package advise

import (
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/minhash"
)

// Bins is the number of equal parts of similarities from 0 to 1 in a Distribution.
const Bins = 50

// Distribution is how alike the pairs of the whole are, by the chosen recipe.
type Distribution struct {
	Copies, Others [Bins]float64 // expected pairs that share runs of characters with each other
	Chance         [Bins]float64 // expected pairs that do not, above the body of these
	Pairs          [Bins][]Pair  // some pairs of the sample
	Candidate      []float64     // at 0, 0.01, … 1: the probability of becoming a candidate; nil: all pairs are found
}

// Distribution returns the distribution, with up to most pairs of each part; nil if nothing was compared.
func (a *Advice) Distribution(most int) *Distribution {
	v := a.viewOf(a.Chosen)
	if v == nil {
		return nil
	}
	d := &Distribution{Candidate: candidate(a.Chosen)}
	bin := func(similarity float64) int { return min(int(similarity*Bins), Bins-1) }
	for i, p := range a.pairs {
		b := bin(v.pairs[i])
		d.Copies[b] += p.weight * a.judge.copies[i]
		d.Others[b] += p.weight * (1 - a.judge.copies[i])
	}
	for b := bin(v.chance.from); b < Bins; b++ {
		d.Chance[b] = v.chance.above(float64(b)/Bins) - v.chance.above(float64(b+1)/Bins)
	}
	for _, i := range a.shuffled() {
		if b := bin(v.pairs[i]); len(d.Pairs[b]) < most {
			d.Pairs[b] = append(d.Pairs[b], a.pair(i, v.pairs[i]))
		}
	}
	return d
}

// candidate returns the curve of a recipe whose candidates are found by bands or samples.
func candidate(r Recipe) (probabilities []float64) {
	t, err := measure.NewThreshold(r.Measure, r.Threshold)
	if err != nil {
		return nil
	}
	var probability func(similarity float64) float64
	if r.Measure.ByParts() {
		sample, err := lsh.TuneSample(t, 0)
		if err != nil {
			return nil
		}
		probability = sample.Probability
	} else {
		scheme := minhash.Default()
		bands, err := lsh.TuneFor(t, lsh.DefaultRecall, scheme.K(), scheme.Bits())
		if err != nil || r.Measure != measure.Jaccard {
			return nil
		}
		probability = bands.Probability
	}
	for i := range steps + 1 {
		probabilities = append(probabilities, probability(float64(i)/steps))
	}
	return probabilities
}
