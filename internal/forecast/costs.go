package forecast

// A Cost is one of the things that take time.
type Cost int

const (
	Index   Cost = iota // putting a feature of a set into a prefix-filter index
	Set                 // making a set: for each feature of the text, with repeats
	Sketch              // making a signature and its keys, beside the features
	Feature             // making a set again: for each feature of the text, with repeats
	Visit               // visiting a posting, and the work that follows from it
	Key                 // sorting a band key
	Vote                // sorting a vote
	Pair                // verifying a pair, plus
	Compare             // for each feature of the two sets
	Costs               // how many there are
)

// Terms say how often each cost is paid.
type Terms [Costs]float64

// Nanoseconds are the costs, of one core; only their ratios count. They are those that fit best the difference between the
// times of `pairs --candidates exact` and `lsh`, in relation to the lesser: least squares over 187 runs (texts in nine
// languages, programs, articles, baskets; n of 1, 3 and 5; thresholds from 0.2 to 0.8). bench/autofit fits them again.
var Nanoseconds = Terms{Index: 25, Set: 22, Sketch: 1250, Feature: 16, Visit: 5, Key: 15, Vote: 10, Pair: 130, Compare: 0.3}

func (t *Terms) cost() (sum float64) {
	for i, n := range t {
		sum += Nanoseconds[i] * n
	}
	return sum
}

// TermsOfExact are those of an exact join of sets that are in memory.
func (f *Forecast) TermsOfExact() Terms {
	t := f.termsOfPairs(f.Edges)
	t[Index], t[Visit] = f.distinct, f.visits
	return t
}

func (f *Forecast) termsOfPairs(pairs float64) Terms {
	return Terms{Pair: pairs, Compare: pairs * 2 * f.distinct / max(f.docs, 1)}
}

// TermsOfSets are those of making all sets from the texts.
func (f *Forecast) TermsOfSets() Terms { return Terms{Set: f.features} }

// TermsOfSignatures are those of making all signatures, beside that of the features.
func (f *Forecast) TermsOfSignatures() Terms { return Terms{Sketch: f.docs} }

// TermsByBands are those of grouping by bands and verifying. With sparse, for clusters only, not all
// similar pairs of a bucket are verified but a few for each document.
func (f *Forecast) TermsByBands(bands int, sparse bool, again Again) Terms {
	keys := f.docs * float64(bands)
	pairs, votes := f.met, f.votes
	if sparse {
		pairs += min(f.metAlike, keys) - f.metAlike
		votes = min(votes, pairs+keys)
	}
	t := f.termsOfPairs(pairs)
	t[Key], t[Vote] = keys, votes
	text := f.features / max(f.docs, 1)
	switch again {
	case Once:
		t[Feature] = text * min(2*pairs, f.docs)
	case ForPairs:
		// Pairs of one component are close together, so a document is read for at least two of its
		// pairs; where components are large, not for many more.
		t[Feature] = text * min(2*pairs, max(pairs/2, f.docs))
	}
	return t
}

// Exact, Sets, Signatures and ByBands are what these cost; Verify is what a pair costs to verify.

func (f *Forecast) Exact() float64 { t := f.TermsOfExact(); return t.cost() }

func (f *Forecast) Sets() float64 { t := f.TermsOfSets(); return t.cost() }

func (f *Forecast) Signatures() float64 { t := f.TermsOfSignatures(); return t.cost() }

func (f *Forecast) Verify() float64 { t := f.termsOfPairs(1); return t.cost() }

func (f *Forecast) ByBands(bands int, sparse bool, again Again) float64 {
	t := f.TermsByBands(bands, sparse, again)
	return t.cost()
}

// Again says how often sets are made again to verify pairs.
type Again int

const (
	Never    Again = iota // sets are in memory
	Once                  // each at most once
	ForPairs              // for each pair separately
)
