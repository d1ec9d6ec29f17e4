package advise

import (
	"math"
	"slices"

	"github.com/alike-dev/alike/internal/forecast"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/minhash"
)

// What more than bucketCap texts have makes no candidates, but with a few of them. In a large collection that is most of the
// runs of few characters: a recipe of these would tell copies from others, and does not find them. How many texts have a
// feature is counted in texts that are drawn one by one.
//
//	a pair of similarity s → bands or samples, of the share of features that few enough texts have → share that is found

// rarity is the share of the features of a text, and of pairs of these, that no more than bucketCap texts of the whole have,
// as far as a fair sample tells. The zero value is of a collection in which all are joined.
type rarity struct{ many, manyPairs float64 } // what more have

// rarityIn counts the features of sets that are drawn of so many texts.
func rarityIn(sets [][]uint64, documents float64) (r rarity) {
	if len(sets) < 2 || documents <= bucketCap {
		return r
	}
	var all []uint64
	for _, set := range sets {
		all = append(all, set...)
	}
	slices.Sort(all)
	held := make([]float64, len(sets)+1) // features of the sets, by how many of these have them
	for i := 0; i < len(all); {
		end := i + 1
		for end < len(all) && all[end] == all[i] {
			end++
		}
		held[end-i] += float64(end - i)
		i = end
	}
	of := func(n int) float64 { return float64(n-1) / float64(len(sets)-1) } // others that have it
	sum := float64(max(len(all), 1))
	for n, features := range held {
		if features == 0 || of(n) == 0 {
			continue
		}
		if of(n)*documents > bucketCap {
			r.many += features / sum
		}
		for m, others := range held {
			if of(n)*of(m)*documents > bucketCap {
				r.manyPairs += features / sum * others / sum
			}
		}
	}
	return r
}

// reach returns the share that is found of the pairs of each similarity, in steps, from the threshold of a recipe on; nil:
// all are. Where documents are few enough all of a key's are compared.
func (v *view) reach(r Recipe) []float64 {
	if v.rarity.many == 0 || v.features <= forecast.HotFeatures {
		return nil
	}
	t, err := measure.NewThreshold(r.Measure, r.Threshold)
	if err != nil {
		return nil
	}
	found := v.foundBy(r, t)
	if found == nil {
		return nil
	}
	shares := make([]float64, steps+1)
	for at := stepsLeast; at <= steps; at++ {
		shares[at] = found(float64(at) / steps)
	}
	return shares
}

// foundBy returns the share of the pairs of a similarity that a recipe finds; nil: all.
func (v *view) foundBy(r Recipe, t measure.Threshold) func(similarity float64) float64 {
	few := 1 - v.rarity.many
	if r.Measure == measure.MaxContainment {
		sample, err := lsh.TuneSample(t, 0)
		if err != nil {
			return nil
		}
		return func(s float64) float64 { return min(sample.Probability(s*few)/max(sample.Probability(s), 1e-9), 1) }
	}
	scheme := minhash.Default()
	bands, err := lsh.TuneFor(t, lsh.DefaultRecall, scheme.K(), scheme.Bits())
	if err != nil || v.chance.joined(v.features, v.distinct) <= v.chance.banded(bands, v.features, v.distinct) {
		return nil
	}
	switch bands.Rows {
	case 1:
	case 2:
		few = 1 - v.rarity.manyPairs
	default: // hardly a key of three features or more is over the cap
		return nil
	}
	return func(s float64) float64 {
		if r.Measure == measure.Cosine { // of sets of one size
			s /= 2 - s
		}
		agree := math.Pow(s, float64(bands.Rows))
		return min((1-math.Pow(1-agree*few, float64(bands.Bands)))/max(1-math.Pow(1-agree, float64(bands.Bands)), 1e-9), 1)
	}
}

// found returns how many of the pairs that reach a step are found, if such a share of each similarity is; nil: all are.
func (c *counts) found(at int, reach []float64) (n float64) {
	if reach == nil {
		return c[at]
	}
	for i := at; i < steps; i++ {
		n += (c[i] - c[i+1]) * reach[i]
	}
	return n + c[steps]*reach[steps]
}
