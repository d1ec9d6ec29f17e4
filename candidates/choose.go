package candidates

import (
	"errors"

	"github.com/alike-dev/alike/internal/bands"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/simjoin"
	"github.com/alike-dev/alike/topk"
)

// Costs of the steps in nanoseconds of one core; only their ratios matter. They were measured with
// records of 12 words (bench/candidates).
const (
	costIndexed  = 130  // putting one feature into the index
	costSearch   = 2000 // one search without its entries and comparisons
	costEntry    = 4    // each list entry that a search reads
	costCompared = 100  // each vector that a search compares
	costSketch   = 40   // one component of a signature
	costKey      = 40   // sorting one band key
	costPair     = 60   // one pair of a bucket, in all buckets that it shares
	bandsMargin  = 2    // Bands misses pairs, so it must be this much cheaper
)

// sampleRecords is the approximate number of records of the sample index. The work of a search
// grows with the index, so it is measured on this part and scaled.
const (
	sampleRecords = 20000
	sampleQueries = 500
	samplePairs   = 4000
)

// choose returns the method with the lower estimated cost.
func (f *finder) choose() (Method, error) {
	if f.config.MinSimilarity == 0 {
		return TopK, nil
	}
	params, err := f.params()
	if errors.Is(err, lsh.ErrRecallOutOfReach) || errors.Is(err, lsh.ErrNoBound) {
		return TopK, nil
	} else if err != nil {
		return TopK, err
	}
	search, err := f.forecast()
	if err != nil {
		return TopK, err
	}
	bands, err := f.forecastBands(params)
	if err != nil {
		return TopK, err
	}
	f.summary.TopKSeconds, f.summary.BandsSeconds = search/1e9, bands/1e9
	if bandsMargin*bands < search {
		return Bands, nil
	}
	return TopK, nil
}

// forecastBands returns the estimated cost of Bands. It includes the pairs of dissimilar records
// that share a bucket, which it estimates from the similarity of random pairs.
func (f *finder) forecastBands(params lsh.Params) (float64, error) {
	indexed, searched, _ := f.sides()
	records, all := float64(searched.Len()), float64(searched.Len())*float64(searched.Len()-1)/2
	if f.right != nil {
		records += float64(indexed.Len())
		all = float64(searched.Len()) * float64(indexed.Len())
	}
	few, err := indexed.some(sampleQueries)
	if err != nil {
		return 0, err
	}
	others, err := searched.some(sampleQueries + 1) // for one table, other records than few
	if err != nil || few.Len() == 0 || others.Len() == 0 {
		return 0, err
	}
	chance := 0.
	for i := range samplePairs {
		a, b := few.At(i%few.Len()), others.At((i*7919+1)%others.Len())
		// If a feature has one weight everywhere, Σ v·w is the common part of the squared weights,
		// and the sketches for Cosine are made of squared weights.
		j := measure.Jaccard.Similarity(simjoin.Overlap(a, b, f.config.Measure), a.Size(f.config.Measure), b.Size(f.config.Measure))
		chance += params.Probability(min(max(j, 0), 1)) / samplePairs
	}
	return records*float64(costSketch*bands.Components+costKey*params.Bands) + costPair*chance*all, nil
}

// forecast returns the estimated cost of TopK, from searches in an index of a sample.
func (f *finder) forecast() (float64, error) {
	indexed, searched, _ := f.sides()
	vectors, err := indexed.some(sampleRecords)
	if err != nil {
		return 0, err
	}
	x, err := topk.NewIndex(vectors, f.config.search(TopK))
	if err != nil {
		return 0, err
	}
	s := x.NewSearcher()
	var matches []topk.Match
	queries := 0
	err = searched.sample(max(1, searched.Len()/sampleQueries), func(v simjoin.Vector) error {
		queries++
		matches = s.Search(matches[:0], v)
		return nil
	})
	if err != nil || queries == 0 {
		return 0, err
	}
	work := s.Work()
	each := (costEntry*float64(work.Entries) + costCompared*float64(work.Compared)) / float64(queries) * float64(indexed.Len()) / float64(vectors.Len())
	return costIndexed*float64(indexed.Features()) + (costSearch+each)*float64(searched.Len()), nil
}
