package linkage

import (
	"context"
	"errors"

	"github.com/alike-dev/alike/candidates"
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/logistic"
)

// An examiner compares candidates and learns from them which ones are matches.
type examiner struct {
	*comparer
	config   *Config
	matchers []*matcher // one for each goroutine
	shares   []float64
	items    *vocabulary // of many records; nil: there are few

	model       *model
	grown       func(*comparison) error // called when there are more candidates: they may be too many
	calibrated  bool                    // the model's scores are, see scoreCounts.calibrate
	candidates  int                     // that were examined
	found       *comparison             // of those that may be matches
	probability []float64               // of each of these
	judged      []float64               // log odds of each by the model without labels, with regard to rivals
	rank        []float64               // by what these are to be ordered
	shed        float64                 // the sum of the probabilities of the others

	sample  *comparison // what the model was learned from
	sampled []float64   // how likely these are matches
}

// The log odds below which a candidate out of many is not kept: no decision takes one in a
// thousand. Calibrated ones are too high so far below 0, since tails fall off faster
// than tangents, and many times as many candidates would be kept.
const (
	hopeless           = -7
	calibratedHopeless = -4
)

// batch is how many candidates out of many are compared at once.
const batch = 1 << 17

// learn learns the model from a sample of candidates, or takes that of the configuration.
func (e *examiner) learn(ctx context.Context, sample []pair) (err error) {
	if e.sample, err = e.compare(ctx, e.matchers, sample); err != nil {
		return err
	}
	if m := e.config.Model; m != nil {
		e.model, e.sampled = m.base(), make([]float64, len(sample))
		e.model.probabilities(e.sample, e.rivals(e.sample), make([]float64, len(sample)), e.sampled, nil)
	} else {
		e.model, e.sampled = fit(e.sample, e.config.exclusive(), e.shares)
	}
	return nil
}

// examine compares candidates, which it closes, for judge. If there is no model it learns it
// from them, or from those of a part of the left records.
// Of so many that they are not all learned from only those are kept that the model, or the
// threshold, does not rule out.
func (e *examiner) examine(ctx context.Context, pairs *candidates.Pairs) (err error) {
	defer func() { err = errors.Join(err, pairs.Close()) }()
	e.candidates = 0
	for _, err := range pairs.All() {
		if err != nil {
			return err
		}
		e.candidates++
	}
	if e.model == nil {
		part := uint64(e.candidates+sampled-1) / sampled
		var some []pair
		for p, err := range pairs.All() {
			if err != nil {
				return err
			}
			if part <= 1 || hashing.Mix(uint64(p.A)+1)%part == 0 {
				some = append(some, pair{p.A, p.B})
			}
		}
		if err := e.learn(ctx, some); err != nil {
			return err
		}
		if e.found = e.sample; part <= 1 {
			return nil
		}
	}
	e.found = e.sample.without()
	return e.keepLikely(ctx, pairs)
}

// judge says how likely each candidate is a match by the model, and by what they are ordered.
func (e *examiner) judge() {
	n := len(e.found.pairs)
	e.probability, e.rank = make([]float64, n), make([]float64, n)
	e.model.probabilities(e.found, e.rivals(e.found), make([]float64, n), e.probability, e.rank)
}

// rivals returns what probabilities take rivals from; nil where records may have several
// partners.
func (e *examiner) rivals(c *comparison) *exclusive {
	if !e.config.exclusive() {
		return nil
	}
	return newExclusive(graph{c.pairs, c.left, c.right})
}

// keepLikely compares all candidates, and keeps the comparison of those that may be matches.
func (e *examiner) keepLikely(ctx context.Context, pairs *candidates.Pairs) error {
	some := make([]pair, 0, batch)
	all, dropped := new(scoreCounts), new(scoreCounts)
	least := float64(hopeless)
	if e.calibrated {
		least = calibratedHopeless
	}
	scores := make([]float64, batch)
	flush := func() error {
		c, err := e.compare(ctx, e.matchers, some)
		if err != nil {
			return err
		}
		if err := parallel(ctx, len(e.matchers), len(some), 1<<12, func(int) func(from, to int) {
			return func(from, to int) {
				for i := from; i < to; i++ {
					scores[i] = e.model.score(c.of(i))
				}
			}
		}); err != nil {
			return err
		}
		for i, z := range scores[:len(some)] {
			all.add(z)
			if z < least && (e.config.Threshold == 0 || float64(c.wholes[i]) < e.config.Threshold-1e-6) {
				dropped.add(z)
				continue
			}
			e.found.take(c, i)
		}
		some = some[:0]
		return e.grown(e.found)
	}
	for p, err := range pairs.All() {
		if err != nil {
			return err
		}
		if some = append(some, pair{p.A, p.B}); len(some) == batch {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	by := line{0, 1}
	if e.calibrated {
		by, _ = e.model.calibrate(all)
	}
	for i, n := range dropped {
		e.shed += float64(n) * logistic.Probability(by.of(scoreAt(i)))
	}
	return nil
}
