package linkage

import (
	"github.com/alike-dev/alike/candidates"
	"github.com/alike-dev/alike/countmin"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/internal/weighing"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/record"
)

// IDF says how tokens are weighted.
type IDF string

// The ways to weigh tokens. The zero value is IDFExact.
const (
	IDFExact IDF = "exact" // by how many records have them, log(N/df)
	// IDFSketch takes the counts from a count-min sketch, which are never too low: as in a run
	// that could not hold a count for each token.
	IDFSketch IDF = "sketch"
	IDFNone   IDF = "none" // all the same
)

// Weighing is the part of Config that says what similarity is. The zero value means the
// defaults.
type Weighing struct {
	IDF IDF `json:"idf,omitempty"`
	// Epsilon and Delta are the error of IDFSketch, see countmin.Options; 0: its defaults. A
	// count is too high by more than Epsilon times the tokens of all records with a probability
	// of at most Delta.
	Epsilon float64 `json:"idf_epsilon,omitempty"`
	Delta   float64 `json:"idf_delta,omitempty"`
	// Measure is Cosine, which the zero value stands for too, or WeightedJaccard: of records
	// and of each column, exact.
	Measure measure.Measure `json:"measure,omitempty"`
	// Repetitions counts a token that is in a value again as another one.
	Repetitions bool `json:"repetitions,omitempty"`
}

// Candidates says how candidates are found: see the methods of package candidates.
type Candidates string

// The ways to find candidates. The zero value is TopK for up to 30,000 records, and for more of
// them what shares a key with a record: see candidates.Keys.
const (
	TopK  Candidates = "topk"  // the most similar ones of each record, whatever the threshold
	LSH   Candidates = "lsh"   // what shares a band of weighted MinHash, by Config.Threshold and Recall
	Exact Candidates = "exact" // all pairs that reach Config.Threshold
	Auto  Candidates = "auto"  // with a threshold LSH where it is estimated to cost half of a search or less; else TopK
)

// Searching is the part of Config that says how candidates are found. The zero value means the
// defaults.
type Searching struct {
	Candidates Candidates `json:"candidates,omitempty"`
	Recall     float64    `json:"recall,omitempty"` // of LSH at the threshold; 0: the default of package lsh
	// Unfiltered has LSH of two tables sort all keys, and not only those that a Bloom filter
	// of the smaller table's keys may have. Links are the same.
	Unfiltered bool `json:"unfiltered,omitempty"`
}

// validateSearch checks Weighing and Searching.
func (c *Config) validateSearch() error {
	switch c.IDF {
	case "", IDFExact, IDFSketch, IDFNone:
	default:
		return setting.Errorf("%s is %q: take exact, sketch or none", setting.IDF, string(c.IDF))
	}
	if c.IDF != IDFSketch && (c.Epsilon != 0 || c.Delta != 0) {
		return setting.Errorf("an error of counts is that of a sketch: take %s sketch, or leave it out", setting.IDF)
	}
	if err := c.sketch().Validate(); err != nil {
		return err
	}
	switch c.Measure {
	case measure.Jaccard, measure.Cosine, measure.WeightedJaccard:
	default:
		return setting.Errorf("%s is %v: records are compared by cosine or weighted-jaccard", setting.Measure, c.Measure)
	}
	switch c.Candidates {
	case "", TopK, Auto:
	case Exact, LSH:
		if c.Threshold == 0 {
			return setting.Errorf("%s %s finds pairs from a similarity on: give one (%s), or take topk", setting.Candidates, c.Candidates, setting.Threshold)
		}
	default:
		return setting.Errorf("%s is %q: take topk, lsh, exact or auto", setting.Candidates, string(c.Candidates))
	}
	if !(c.Recall >= 0 && c.Recall < 1) {
		return setting.Errorf("%s is %v: take a share above 0 and below 1", setting.Recall, c.Recall)
	}
	return nil
}

func (c *Config) sketch() countmin.Options {
	return countmin.Options{Epsilon: c.Epsilon, Delta: c.Delta}
}

// weigh returns the weights of tokens of which so many of n values have each.
func (c *Config) weigh(df []uint32, n int) (record.Weights, error) {
	switch c.IDF {
	case IDFNone:
		w := make(record.Weights, len(df))
		for i := range w {
			w[i] = record.WeightUnit
		}
		return w, nil
	case IDFSketch:
		s, err := countmin.New(c.sketch())
		if err != nil {
			return nil, err
		}
		// A plain sketch does not depend on the order, or on how often it was added to.
		for token, count := range df {
			s.Add(uint64(token), count)
		}
		for token, count := range df {
			if count > 0 {
				df[token] = min(s.Estimate(uint64(token)), uint32(n))
			}
		}
	}
	return record.IDF(df, n), nil
}

func (c *Config) scale() weighing.Scale {
	if c.Measure == measure.WeightedJaccard {
		return weighing.Scale{Measure: measure.WeightedJaccard}
	}
	return weighing.Scale{Measure: measure.Cosine}
}

// bySimilarity tells whether candidates may be found by the threshold, and so by all tokens.
func (c *Config) bySimilarity() bool {
	return c.Threshold > 0 && c.Candidates != "" && c.Candidates != TopK
}

// search returns how candidates are found, the k best of a record by TopK.
func (c *Config) search(k int) candidates.Config {
	s := candidates.Config{
		Method: candidates.TopK, Measure: c.scale().Measure, K: k, Both: true, Recall: c.Recall, Unfiltered: c.Unfiltered, Threads: c.Threads,
	}
	if !c.bySimilarity() {
		return s
	}
	s.MinSimilarity = c.Threshold
	switch c.Candidates {
	case LSH:
		s.Method = candidates.Bands
	case Exact:
		s.Method = candidates.Exact
	default:
		s.Method = candidates.Auto
	}
	return s
}
