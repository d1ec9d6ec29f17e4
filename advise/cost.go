package advise

import (
	"errors"

	"github.com/alike-dev/alike/internal/forecast"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/text"
)

// Nanoseconds of one core: fitted to runs of alike pairs, see bench/seconds.py. The forecast is an order of magnitude. Costs
// grow with the square of the documents where chance makes candidates.
const (
	perSigned   = 25   // a feature, with its part in a signature,
	perJoined   = 130  // in an exact join,
	perWords    = 100  // of words beside samples,
	perChars    = 22   // or of characters
	perVote     = 2    // a feature of a sample that another text has
	perShared   = 2.5  // a feature that two unrelated texts share, in an exact join
	perCompared = 0.3  // a feature of two texts that are compared, as in package forecast,
	perVerified = 4    // or, beside samples, are similar
	perAsked    = 60e3 // a pair about which third texts are asked
	tooCostly   = 100  // times the cost of the default that nobody who has not asked for it should wait,
	costAllowed = 60e9 // if it is more than this

	bucketCap = 1000 // of package dedup. What more documents have is joined within the bounds of package forecast
)

// cost returns what finding all pairs of the whole costs, in nanoseconds of one core, if so many are similar.
func (c *chance) cost(r Recipe, features, distinct, similar float64) float64 {
	pairs := distinct * distinct / 2
	mean := features / max(distinct, 1)
	compared := perCompared * 2 * mean
	t, err := measure.NewThreshold(r.Measure, r.Threshold)
	if err != nil {
		return 0
	}
	exact := c.joined(features, distinct)
	if r.Measure == measure.MaxContainment {
		sample, err := lsh.TuneSample(t, 0)
		if err != nil {
			return exact
		}
		votes, share, hot := c.held.votes(float64(sample.Size), mean, distinct)
		cost := perVote*votes + perVerified*similar*2*mean
		cost += compared * 2 * pairs * c.mean(func(s float64) float64 { return sample.Probability(s * share) })
		if hot && features <= forecast.HotFeatures {
			cost += min(exact, forecast.HotBudget(int(distinct)))
		}
		if r.Tokens == text.Chars {
			return cost + perChars*features
		}
		return cost + perWords*features
	}
	scheme := minhash.Default()
	bands, err := lsh.TuneFor(t, lsh.DefaultRecall, scheme.K(), scheme.Bits())
	if errors.Is(err, lsh.ErrRecallOutOfReach) || err != nil {
		return exact
	}
	return min(exact, c.banded(bands, features, distinct))
}

// joined returns what an exact join costs, and banded what bands do.
func (c *chance) joined(features, distinct float64) float64 {
	return perJoined*features + distinct*distinct/2*c.shared*perShared
}

func (c *chance) banded(bands lsh.Params, features, distinct float64) float64 {
	compared := perCompared * 2 * features / max(distinct, 1)
	return perSigned*features + distinct*distinct/2*c.mean(bands.Probability)*compared
}

// mean returns the mean of a function of the similarities of strangers.
func (c *chance) mean(of func(float64) float64) (mean float64) {
	for _, s := range c.similar {
		mean += of(s) / float64(len(c.similar))
	}
	return mean
}
