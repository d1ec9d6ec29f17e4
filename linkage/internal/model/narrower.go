package model

import (
	"context"

	"github.com/alike-dev/alike/linkage/internal/compare"
)

const (
	// mostNarrowed is how often matches are sought among those of a larger fit.
	mostNarrowed = 3
	// fewerBy is by what share the matches must become fewer, or they are no class of their own.
	fewerBy = 0.1
	// hardlyAny is the largest share that the matches of a fit are of those within a larger one, if it has hardly found any.
	hardlyAny = 0.05
)

// followNarrower replaces a fit that has hardly found a match by one that is found among those of a larger one. Whether these are one
// thing, or just nearer to each other than others, the data do not tell.
func (f *Fitted) followNarrower(ctx context.Context, c *compare.Comparison, o *Options, larger []float64) {
	if m, probability := narrower(ctx, c, o, larger); m != nil && LikelySum(f.Probability) <= hardlyAny*LikelySum(probability) {
		f.Model, f.Probability, f.Dispute, f.Calibrated = m, probability, OverAll, false
	}
}

// narrower looks for matches among those of a fit that has found something larger, such as the readings of one station on one day:
// by expectation and maximisation among these alone, from the pairs of them that are most alike, as often as that leads to fewer. It
// returns the model of the first such fit whose matches are as alike as things are, and its probabilities; nil if there is none.
func narrower(ctx context.Context, c *compare.Comparison, o *Options, larger []float64) (*Model, []float64) {
	for range mostNarrowed {
		places := matchesOf(larger)
		some := c.Only(places)
		likely := clearestAmong(ctx, some, o)
		matches := SumOf(likely)
		if ctx.Err() != nil || matches < leastPairs || matches > (1-fewerBy)*float64(len(places)) {
			return nil, nil
		}
		larger = spread(likely, places, len(c.Pairs))
		if clearness(likely) < clearWithin || o.Around.likeness(some, likely) < mostly {
			continue
		}
		if left := o.Around.leftToChance(some, likely); !o.Around.doubted(some, &left) && left.siblings() == nil {
			return modelOf(c, o.Share, larger), larger
		}
	}
	return nil, nil
}

// clearestAmong returns the probabilities by the clearest of the fits to some candidates, whatever is alike in their matches.
func clearestAmong(ctx context.Context, some *compare.Comparison, o *Options) (best []float64) {
	g := Graph{Pairs: some.Pairs, Left: some.Left, Right: some.Right}
	for _, rank := range ranks(some) {
		likely := firstGuess(some, g, rank, o.Once)
		settle(ctx, some, g, o.Once, o.Share, likely)
		if best == nil || clearness(likely) > clearness(best)+clearerBy {
			best = likely
		}
	}
	return best
}
