package linkage

import (
	"github.com/alike-dev/alike/countmin"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/internal/weighing"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/record"
)

// Match says which of the pairs that reach the decision are links.
type Match string

// The rules. The zero value is Mutual for two tables and All for one.
const (
	Mutual   Match = "mutual"     // pairs that are each other's best
	OneToOne Match = "one-to-one" // of each record one partner at most, so that most links are right: see Assignment
	Best     Match = "best"       // the best partner of each left record
	All      Match = "all"        // every pair
)

// Field is a column of either table that is compared with one of the other.
type Field struct {
	Left   string      `json:"left"`
	Right  string      `json:"right,omitempty"`  // "": as Left
	Weight float64     `json:"weight,omitempty"` // of its tokens in the similarity of records, as against other columns'; 0: 1
	Tokens record.Kind `json:"tokens,omitempty"` // "": by the column's values
}

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
	// Unfiltered holds both tables whole, also where one has fifty times as many records as the
	// other, and has LSH of two tables sort all keys, and not only those that a Bloom filter of the
	// smaller table's keys may have. Links are the same; similarities may differ by 0.0001 where
	// values are written in two ways that count as one.
	Unfiltered bool `json:"unfiltered,omitempty"`
}

// validate checks how tokens are weighted and records compared.
func (w *Weighing) validate() error {
	switch w.IDF {
	case "", IDFExact, IDFSketch, IDFNone:
	default:
		return setting.Errorf("%s is %q: take exact, sketch or none", setting.IDF, string(w.IDF))
	}
	if w.IDF != IDFSketch && (w.Epsilon != 0 || w.Delta != 0) {
		return setting.Errorf("an error of counts is that of a sketch: take %s sketch, or leave it out", setting.IDF)
	}
	if err := w.sketch().Validate(); err != nil {
		return err
	}
	switch w.Measure {
	case measure.Jaccard, measure.Cosine, measure.WeightedJaccard:
	default:
		return setting.Errorf("%s is %v: records are compared by cosine or weighted-jaccard", setting.Measure, w.Measure)
	}
	return nil
}

// validate checks how candidates are found by a threshold, 0: without one.
func (s *Searching) validate(threshold float64) error {
	switch s.Candidates {
	case "", TopK, Auto:
	case Exact, LSH:
		if threshold == 0 {
			return setting.Errorf("%s %s finds pairs from a similarity on: give one (%s), or take topk", setting.Candidates, s.Candidates, setting.Threshold)
		}
	default:
		return setting.Errorf("%s is %q: take topk, lsh, exact or auto", setting.Candidates, string(s.Candidates))
	}
	if !(s.Recall >= 0 && s.Recall < 1) {
		return setting.Errorf("%s is %v: take a share above 0 and below 1", setting.Recall, s.Recall)
	}
	return nil
}

func (w *Weighing) sketch() countmin.Options {
	return countmin.Options{Epsilon: w.Epsilon, Delta: w.Delta}
}

// weigh returns the weights of tokens of which so many of n values have each.
func (w *Weighing) weigh(df []uint32, n int) (record.Weights, error) {
	switch w.IDF {
	case IDFNone:
		all := make(record.Weights, len(df))
		for i := range all {
			all[i] = record.WeightUnit
		}
		return all, nil
	case IDFSketch:
		s, err := countmin.New(w.sketch())
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

func (w *Weighing) scale() weighing.Scale {
	if w.Measure == measure.WeightedJaccard {
		return weighing.Scale{Measure: measure.WeightedJaccard}
	}
	return weighing.Scale{Measure: measure.Cosine}
}
