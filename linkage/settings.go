package linkage

import (
	"github.com/alike-dev/alike/countmin"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/internal/weighing"
	"github.com/alike-dev/alike/linkage/internal/model"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/record"
)

// Match says which of the pairs before the decision may be links.
type Match string

// The rules. The zero value is ByData.
const (
	// ByData is Mutual or, where the tables show that records have several partners, BestRight or Best; in one table All or, where it
	// shows that records have one partner at most, Mutual.
	ByData    Match = "auto"
	Mutual    Match = "mutual"     // pairs that are each other's best
	OneToOne  Match = "one-to-one" // at most one partner of each record, so that most links are right: see Assignment
	Best      Match = "best"       // the best partner of each left record
	BestRight Match = "best-right" // the best partner of each right record
	All       Match = "all"        // every pair
)

// once returns which records have one partner at most by the rule.
func (m Match) once() model.Once {
	switch m {
	case Mutual, OneToOne:
		return model.Once{Left: true, Right: true}
	case Best:
		return model.Once{Left: true}
	case BestRight:
		return model.Once{Right: true}
	}
	return model.Once{}
}

// Columns that are compared, and those that are not.
type (
	Field   = record.Field
	Column  = record.Compared
	LeftOut = record.LeftOut
)

// Known is a settled link between the records with the ids A, of the left table, and B, of the
// right one; with one table in any order.
type Known struct{ A, B string }

// IDF says how tokens are weighted.
type IDF string

// The ways to weigh tokens. The zero value is IDFExact.
const (
	IDFExact IDF = "exact" // by the number of records that have them, log(N/df)
	// IDFSketch takes the counts from a count-min sketch; they are never too low. It gives the
	// weights of a run that cannot hold a count for each token.
	IDFSketch IDF = "sketch"
	IDFNone   IDF = "none" // all the same
)

// Weighing is the part of Config that defines similarity. The zero value means the defaults.
type Weighing struct {
	IDF IDF `json:"idf,omitempty"`
	// Epsilon and Delta are the error of IDFSketch, see countmin.Options; 0: its defaults. A
	// count is too high by more than Epsilon times the tokens of all records with a probability
	// of at most Delta.
	Epsilon float64 `json:"idf_epsilon,omitempty"`
	Delta   float64 `json:"idf_delta,omitempty"`
	// Measure is Cosine, also for the zero value, or WeightedJaccard: for records and for each
	// column, exact.
	Measure measure.Measure `json:"measure,omitempty"`
	// Repetitions makes a repeated token of a value count as another token.
	Repetitions bool `json:"repetitions,omitempty"`
}

// Candidates says how candidates are found: see the methods of package candidates.
type Candidates string

// The ways to find candidates. The zero value is TopK and, without a threshold, Keys for up to
// 30,000 records, and Keys alone for more: see candidates.Keys.
const (
	TopK  Candidates = "topk"  // the most similar records of each record, for any threshold
	Keys  Candidates = "keys"  // pairs that share a key, for any threshold
	LSH   Candidates = "lsh"   // pairs that share a band of weighted MinHash, by Config.Threshold and Recall
	Exact Candidates = "exact" // all pairs that reach Config.Threshold
	Auto  Candidates = "auto"  // LSH if there is a threshold and its estimated cost is at most half of a search; otherwise TopK
)

// Searching is the part of Config that says how candidates are found. The zero value means the
// defaults.
type Searching struct {
	Candidates Candidates `json:"candidates,omitempty"`
	Recall     float64    `json:"recall,omitempty"` // recall of LSH at the threshold; 0: the default of package lsh
}

// validate checks the settings of weights and comparisons.
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

// validate checks the settings for finding candidates; threshold 0: there is none.
func (s *Searching) validate(threshold float64) error {
	switch s.Candidates {
	case "", TopK, Keys, Auto:
	case Exact, LSH:
		if threshold == 0 {
			return setting.Errorf("%s %s finds pairs from a similarity on: give one (%s), or take topk", setting.Candidates, s.Candidates, setting.Threshold)
		}
	default:
		return setting.Errorf("%s is %q: take topk, keys, lsh, exact or auto", setting.Candidates, string(s.Candidates))
	}
	if !(s.Recall >= 0 && s.Recall < 1) {
		return setting.Errorf("%s is %v: take a share above 0 and below 1", setting.Recall, s.Recall)
	}
	return nil
}

func (w *Weighing) sketch() countmin.Options {
	return countmin.Options{Epsilon: w.Epsilon, Delta: w.Delta}
}

// weigh returns the weights of tokens by df, the number of the n values that have each token.
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
		// A plain sketch does not depend on the order or number of additions.
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
