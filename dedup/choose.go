package dedup

import "context"

// exactMost is the number of features up to which a run that may choose considers an
// exact join (its index takes some 30 bytes each): with little memory it is made by
// chunks, and every chunk costs a pass over all features.
const exactMost = 8 << 20

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
)

// An exact join misses nothing, so where the sets are there it may cost a little more:
// so much for each nanosecond of bands, and a tenth of a second. Where they are not it
// must cost half as much, since little memory makes it dearer than the forecast says.
const (
	exactMargin = 1.2
	exactSpare  = 1e8
	exactAgain  = 0.5
)

// exact is what an exact join costs.
func (f *forecast) exact(haveSets bool) float64 {
	cost := costIndex*f.features + costVisit*f.visits + f.verify()*f.edges
	if !haveSets {
		cost += costFeature * f.features
	}
	return cost
}

// verify is what verifying a pair costs.
func (f *forecast) verify() float64 { return costPair + costCompare*2*f.each() }

// each is the number of features of a document.
func (f *forecast) each() float64 { return f.features / max(f.docs, 1) }

// byBands is what grouping by bands costs, and verifying. Who wants clusters only does
// not verify all similar pairs of a bucket, but few for each document.
func (f *forecast) byBands(bands int, sparse, haveSets bool) float64 {
	keys := f.docs * float64(bands)
	pairs, votes := f.met, f.votes
	if sparse {
		pairs += min(f.metAlike, keys) - f.metAlike
		votes = min(votes, pairs+keys)
	}
	cost := costKey*keys + costVote*votes + f.verify()*pairs
	if !haveSets {
		// Pairs of one component lie together, so that a document is read for two of its
		// pairs or more; where components are large, not for many more.
		cost += costFeature * f.each() * min(2*pairs, max(pairs/2, f.docs))
	}
	return cost
}

// chooseExact decides between exact and lsh candidates. Under CandidatesAuto it takes
// what costs less by a forecast. The choice depends on the corpus and the settings
// alone, never on threads or memory, so that every way of running gives the same pairs.
func (r *run) chooseExact(ctx context.Context, sparse bool) (bool, error) {
	c, t := &r.config, r.table
	switch {
	case c.Candidates == CandidatesExact || r.recipe.Keys() == 0:
		return true, nil
	case c.Candidates == CandidatesLSH || !r.recipe.BySets():
		return false, nil
	case r.recipe.Banding().Rows <= 1: // bands would propose every pair that shares a feature or two
		return true, nil
	case !t.hasSets && t.features > exactMost:
		return false, nil
	}
	f, err := r.forecast(ctx, r.classes.active)
	if err != nil {
		return false, err
	}
	r.forecastEdges = f.edges
	bands := f.byBands(r.recipe.Keys(), sparse, t.hasSets)
	if t.hasSets {
		return f.exact(true) <= exactMargin*bands+exactSpare, nil
	}
	return f.exact(false) <= exactAgain*bands, nil
}

// A join that was not asked for is given up when it has found more edges than edgesEach
// for each document, and some, and for a list of pairs than edgesOver times those of the
// forecast: a large cluster can be known without finding all its pairs.
const (
	edgesEach = 32
	edgesMore = 1 << 20
	edgesOver = 4
)

// joinAll is the join of all representatives.
func (r *run) joinAll(sparse bool) joining {
	what := joining{docs: r.classes.active, kind: "joined"}
	if r.config.Candidates == CandidatesAuto && r.recipe.Banding().Rows > 1 {
		what.limit = edgesEach*int64(r.table.n) + edgesMore
		if !sparse {
			what.limit += int64(edgesOver * r.forecastEdges)
		}
	}
	return what
}
