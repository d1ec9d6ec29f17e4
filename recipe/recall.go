package recipe

import "github.com/alike-dev/alike/measure"

// Recall returns the share of the pairs at a threshold that share keys enough to be found, on average over seeds, if their
// documents have k keys fewer than Keys. Pairs within a distance, and those that are found without keys, are all found.
func Recall(r Recipe, t measure.Threshold, k int) float64 {
	if _, hamming := r.Distance(); hamming || r.Keys() == 0 {
		return 1
	}
	if sample := r.Sample(); sample.Size > 0 {
		if sample.Size -= k; sample.Size < sample.Agree {
			return 0
		}
		return sample.Probability(t.Float())
	}
	banding := r.Banding()
	if banding.Bands -= k; banding.Bands < max(banding.MinBands, 1) {
		return 0
	}
	least, _ := t.LeastJaccard()
	return banding.Probability(r.Agreement(least))
}
