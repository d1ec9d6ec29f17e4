package forecast

// What things cost, in nanoseconds of one core; only their ratios count. They were
// measured at thresholds from 0.2 to 0.8 with shingles of 1, 3 and 5 words of news,
// articles and licences.
const (
	costIndex   = 25   // putting a feature into a prefix-filter index
	costFeature = 20   // making a feature from a record again
	costVisit   = 10   // going through a posting, with what follows from it
	costKey     = 15   // sorting a band key
	costVote    = 25   // sorting a vote
	costPair    = 100  // verifying a pair, and
	costCompare = 0.15 // for each feature of the two sets
	costMiss    = 400  // finding the two among all sets, of which few are in a cache
)

// Exact is what an exact join costs.
func (f *Forecast) Exact(haveSets bool) float64 {
	cost := costIndex*f.features + costVisit*f.visits + f.Verify()*f.Edges
	if !haveSets {
		cost += costFeature * f.features
	}
	return cost
}

// Verify is what verifying a pair costs.
func (f *Forecast) Verify() float64 { return costPair + costCompare*2*f.each() }

// each is the number of features of a document.
func (f *Forecast) each() float64 { return f.features / max(f.docs, 1) }

// ByBands is what grouping by bands costs, and verifying. Who wants clusters only does
// not verify all similar pairs of a bucket, but few for each document.
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
		// Pairs of one component lie together, so that a document is read for two of its
		// pairs or more; where components are large, not for many more.
		cost += costFeature * f.each() * min(2*pairs, max(pairs/2, f.docs))
	}
	return cost
}

// Again says how often sets are made again to verify pairs.
type Again int

const (
	Never    Again = iota // they are there
	Once                  // each at most once
	ForPairs              // for one pair after the other
)
