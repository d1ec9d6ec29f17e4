package forecast

// Costs in nanoseconds of one core; only their ratios count. They are those that fit best the difference between the
// times of `pairs --candidates exact` and `lsh`, in relation to the lesser: least squares over 187 runs, which bench/auto.sh
// makes (texts in nine languages, programs, articles, baskets; n of 1, 3 and 5; thresholds from 0.2 to 0.8).
const (
	costIndex   = 25   // putting a feature of a set into a prefix-filter index
	costSet     = 22   // making a set: for each feature of the text, with repeats
	costSketch  = 1250 // making a signature and its keys, beside the features
	costFeature = 16   // making a set again: for each feature of the text, with repeats
	costVisit   = 5    // visiting a posting, and the work that follows from it
	costKey     = 15   // sorting a band key
	costVote    = 10   // sorting a vote
	costPair    = 130  // verifying a pair, plus
	costCompare = 0.3  // for each feature of the two sets
)

// Exact is the cost of an exact join of sets that are in memory.
func (f *Forecast) Exact() float64 {
	return costIndex*f.distinct + costVisit*f.visits + f.Verify()*f.Edges
}

// Sets is the cost of making all sets from the texts.
func (f *Forecast) Sets() float64 { return costSet * f.features }

// Signatures is the cost of making all signatures, beside that of the features.
func (f *Forecast) Signatures() float64 { return costSketch * f.docs }

func (f *Forecast) Verify() float64 { return costPair + costCompare*2*f.distinct/max(f.docs, 1) }

// ByBands is the cost of grouping by bands and verifying. With sparse, for clusters only, not all
// similar pairs of a bucket are verified but a few for each document.
func (f *Forecast) ByBands(bands int, sparse bool, again Again) float64 {
	keys := f.docs * float64(bands)
	pairs, votes := f.met, f.votes
	if sparse {
		pairs += min(f.metAlike, keys) - f.metAlike
		votes = min(votes, pairs+keys)
	}
	cost := costKey*keys + costVote*votes + f.Verify()*pairs
	text := costFeature * f.features / max(f.docs, 1)
	switch again {
	case Once:
		cost += text * min(2*pairs, f.docs)
	case ForPairs:
		// Pairs of one component are close together, so a document is read for at least two of its
		// pairs; where components are large, not for many more.
		cost += text * min(2*pairs, max(pairs/2, f.docs))
	}
	return cost
}

// Again says how often sets are made again to verify pairs.
type Again int

const (
	Never    Again = iota // sets are in memory
	Once                  // each at most once
	ForPairs              // for each pair separately
)
