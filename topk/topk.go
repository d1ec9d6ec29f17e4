// Package topk finds, exactly, the k vectors of a collection that are most similar to a query, by
// the cosine or the Jaccard similarity of weighted sets, with or without a least similarity.
// Without k it finds all vectors at or above that similarity.
//
// Use it for records whose tokens have weights, such as inverse document frequencies, if no
// threshold separates matches from others: index the smaller of two collections, and search it with
// every vector of the larger one; or search a collection with its own vectors. Use package simjoin
// for sets without weights and a threshold, and package lsh at high thresholds if some pairs may be
// missed.
//
//	x, err := topk.NewIndex(&vectors, topk.Options{Measure: measure.Cosine, K: 10})
//	s := x.NewSearcher()                 // one a goroutine
//	matches = s.Search(matches[:0], query)
//	matches = s.Others(matches[:0], i)   // of vector i of the index itself
//
// Answers are the same for any number of goroutines: whole numbers (measure.Measure.Score) decide
// which similarity is larger, and of equal ones the vector with the smaller number comes first.
package topk

import (
	"fmt"

	"github.com/alike-dev/alike/measure"
)

// Options say what a search returns. There must be a K or a MinSimilarity.
type Options struct {
	// Measure is measure.Cosine or measure.WeightedJaccard. measure.Jaccard, the zero value, means
	// WeightedJaccard, which equals it for vectors whose weights are all 1.
	Measure measure.Measure
	// K is how many of the most similar vectors a search returns, 0: all.
	K int
	// MinSimilarity is the least similarity of a match, in the range of measure.NewThreshold; 0:
	// any above 0. A higher one makes searches cheaper, also with K: see Index.
	MinSimilarity float64
}

// Validate returns an error that describes the first invalid option.
func (o Options) Validate() error {
	_, err := o.rule()
	return err
}

// rule is the Options after checking.
type rule struct {
	measure   measure.Measure
	k         int
	least     measure.Threshold // if there is one
	hasLeast  bool
	leastNear float64 // slightly below least; for Jaccard, below i/(a+b) at least
}

func (o Options) rule() (rule, error) {
	r := rule{measure: o.Measure, k: o.K}
	switch o.Measure {
	case measure.Cosine, measure.WeightedJaccard:
	case measure.Jaccard:
		r.measure = measure.WeightedJaccard
	default:
		return r, fmt.Errorf("topk: measure %v: want %v or %v", o.Measure, measure.Cosine, measure.WeightedJaccard)
	}
	switch {
	case o.K < 0:
		return r, fmt.Errorf("topk: K is %d: want the number of vectors to return, or 0 for all", o.K)
	case o.K == 0 && o.MinSimilarity == 0:
		return r, fmt.Errorf("topk: neither K nor MinSimilarity: give one of them, or all pairs with a common feature are found")
	case o.MinSimilarity == 0:
		return r, nil
	}
	t, err := measure.NewThreshold(r.measure, o.MinSimilarity)
	if err != nil {
		return r, fmt.Errorf("topk: MinSimilarity: %w", err)
	}
	r.least, r.hasLeast, r.leastNear = t, true, t.Float()*below
	if r.measure != measure.Cosine {
		r.leastNear = t.Float() / (1 + t.Float()) * below
	}
	return r, nil
}

// Match is a vector of the index found by a search.
type Match struct {
	Index         uint32 // its number
	Overlap, Size uint64 // simjoin.Overlap with the query, and simjoin.Vector.Size of it
	Score         uint64 // measure.Measure.Score with the query
}
