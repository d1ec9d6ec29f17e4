package forecast

// Costs in nanoseconds of one core; only their ratios count. They were measured at thresholds from
// 0.2 to 0.8 with shingles of 1, 3 and 5 words of news, articles and licences.
const (
	costIndex   = 25   // putting a feature into a prefix-filter index
	costFeature = 20   // making a feature from a record again
	costVisit   = 10   // visiting a posting, and the work that follows from it
	costKey     = 15   // sorting a band key
	costVote    = 25   // sorting a vote
	costPair    = 100  // verifying a pair, plus
	costCompare = 0.15 // for each feature of the two sets, plus
	costMiss    = 400  // for finding the two among all sets, few of which are in a cache
)

// Exact is the cost of an exact join.
func (f *Forecast) Exact(haveSets bool) float64 {
	cost := costIndex*f.features + costVisit*f.visits + f.Verify()*f.Edges
	if !haveSets {
		cost += costFeature * f.features
	}
	return cost
}

// Verify is the cost of verifying a pair.
func (f *Forecast) Verify() float64 { return costPair + costCompare*2*f.each() }

// each is the number of features of a document.
func (f *Forecast) each() float64 { return f.features / max(f.docs, 1) }

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
	switch again {
	case Once:
		cost += costFeature*f.each()*min(2*pairs, f.docs) + costMiss*pairs
	case ForPairs:
		// Pairs of one component are close together, so a document is read for at least two of its
		// pairs; where components are large, not for many more.
		cost += costFeature * f.each() * min(2*pairs, max(pairs/2, f.docs))
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
