package candidates

import (
	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/simjoin"
)

// within tells which vectors of one store can reach a threshold with any vector of another store.
// It holds one bit for each feature number: whether the other store has that feature.
//
// Let a vector of size B have the mass m, by the measure, in features of the other store. Its
// overlap with any vector there is at most m (for Cosine by Cauchy-Schwarz). So its similarity to
// such a vector is at most its similarity to the part of itself that has these features.
type within struct {
	measure   measure.Measure
	threshold measure.Threshold
	there     bitset.Set[uint32]
}

// newWithin reads all vectors of the other store. O(features).
func newWithin(other *Store, t measure.Threshold) (*within, error) {
	w := &within{t.Measure(), t, bitset.New[uint32](int(other.numbers))}
	err := other.sample(1, func(v simjoin.Vector) error {
		for _, f := range v.Features {
			w.there.Add(f)
		}
		return nil
	})
	return w, err
}

// reaches tells whether a vector can reach the threshold.
func (w *within) reaches(v simjoin.Vector) bool {
	mass, size := uint64(0), v.Size(w.measure)
	for i, f := range v.Features {
		if w.there.Has(f) {
			x := uint64(v.Weights[i])
			if w.measure == measure.Cosine {
				x *= x
			}
			mass += x
		}
	}
	return w.threshold.Reached(mass, mass, size)
}
