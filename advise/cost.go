package advise

import (
	"errors"

	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/minhash"
)

// Nanoseconds of one core: fitted to runs of alike pairs over 5,205 articles by eight recipes, and 53,687 by seven. The
// forecast is an order of magnitude. Costs grow with the square of the documents where chance makes candidates.
const (
	perSigned   = 25   // a feature, with its part in a signature,
	perJoined   = 130  // in an exact join,
	perSampled  = 130  // and beside samples
	perVote     = 12   // a feature of a sample that another text has
	perShared   = 2.5  // a feature that two unrelated texts share, in an exact join
	perCompared = 0.3  // a feature of two texts that are compared, as in package forecast
	perAsked    = 60e3 // a pair about which third texts are asked
	tooCostly   = 100  // times the cost of the default that nobody who has not asked for it should wait,
	costAllowed = 60e9 // if it is more than this
)

// cost returns what finding all pairs of the whole costs, in nanoseconds of one core.
func (c *chance) cost(r Recipe, features, distinct float64) float64 {
	pairs := distinct * distinct / 2
	compared := perCompared * 2 * features / max(distinct, 1)
	t, err := measure.NewThreshold(r.Measure, r.Threshold)
	if err != nil {
		return 0
	}
	exact := perJoined*features + pairs*c.shared*perShared
	if r.Measure == measure.MaxContainment {
		if sample, err := lsh.TuneSample(t, 0); err == nil { // features that very many have make fewer candidates
			votes := float64(sample.Size) * c.mean(func(share float64) float64 { return share })
			return min(exact, perSampled*features+pairs*2*(perVote*votes+c.mean(sample.Probability)*compared))
		}
		return exact
	}
	scheme := minhash.Default()
	bands, err := lsh.TuneFor(t, lsh.DefaultRecall, scheme.K(), scheme.Bits())
	if errors.Is(err, lsh.ErrRecallOutOfReach) || err != nil {
		return exact
	}
	return min(exact, perSigned*features+pairs*c.mean(bands.Probability)*compared)
}

// mean returns the mean of a function of the similarities of strangers.
func (c *chance) mean(of func(float64) float64) (mean float64) {
	for _, s := range c.similar {
		mean += of(s) / float64(len(c.similar))
	}
	return mean
}
