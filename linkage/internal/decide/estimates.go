package decide

import (
	"github.com/alike-dev/alike/internal/logistic"
	"github.com/alike-dev/alike/linkage/internal/model"
)

// Estimates are the expected quality of links.
type Estimates struct {
	Matches           float64 // expected number among all candidates
	Precision, Recall Share
}

// A Share is expected to be Likely, and between Low and High whatever the model cannot know. All are from 0 to 1.
type Share struct{ Low, Likely, High float64 }

const (
	// dependence is by which factor the evidence of a pair may be too large or too small. The columns of a record partly say
	// the same: model.Model divides the sum of their evidence by 1.5, where 1 is right for columns that have nothing in common.
	dependence = 1.5
	// doubt is by how many nats the evidence of a pair may be wrong that has hardly any: the share of matches among the
	// candidates, from which it starts, is not known exactly.
	doubt = 0.5
	// improbable is the probability below which candidates are so many that a factor of their evidence says nothing.
	improbable = 0.05
	// largeDifference is the difference of two estimates from which both matter.
	largeDifference = 0.05
)

// Held are the clusters of one table.
type Held struct {
	Pairs    float64 // of records that share a cluster, compared or not
	Links    float64 // of the links among these: how many are expected to be right
	Rejected float64 // of the compared pairs among these that are less likely right than wrong: how many are expected to be wrong
	Sure     float64 // by which factor fewer may be right, since large clusters are right or wrong as a whole
	Apart    float64 // the share of the links that may be of other things
}

// Estimate returns the expected quality of links among candidates, with shed matches expected among those that were
// dropped. Of two tables of which a record has at most one partner, fewer is the number of records of the smaller one, or of the
// one whose records have one; otherwise 0.
//
// others are other views of the probabilities, by which both ranges reach as far as they differ from these: without the bound
// of chance, or of a model that was fitted under another assumption. Where two views of the same pairs differ, the data do
// not tell which one is right.
//
// Precision ranges over evidence that is dependence times as small and as large; of one table, also to links of which only
// those are right that are within a cluster, less one for each rejected pair of a cluster: where that is wrong as its
// evidence says, so is a link of those that connect its records.
//
// Recall ranges down to evidence that is dependence times as small, and up to where no pair with a probability below a half
// is a match: the sum of many improbable pairs is the least certain part of the model. If that makes a difference, and a
// record has at most one partner, it also ranges down to where all these records have one. Of one table,
// clusters have pairs that are no links. Let r be the share of links among the pairs of clusters. Clusters show only pairs
// that other links connect. As many records lack the only link that would connect them, if links are missing by chance; so
// recall ranges down to r·r.
//
// confirmed are the probabilities by decoys, nil if there are none. They know nothing but the score of a pair, so they are no view of
// all candidates; but of the links, which have the best scores, they count how many are no matches: precision reaches to that.
func Estimate(links []int, probability []float64, others [][]float64, confirmed []float64, shed float64, fewer int, held Held) (e Estimates) {
	e.Matches = model.SumOf(probability) + shed
	n := max(1, float64(len(links)))
	right, weak, low, high := 0.0, 0.0, 0.0, 0.0
	for _, i := range links {
		right += probability[i]
		z := model.LogOdds(probability[i])
		weak += logistic.Probability(z / dependence)
		low += logistic.Probability(min(z/dependence, z*dependence, z-doubt))
		high += logistic.Probability(max(z/dependence, z*dependence, z+doubt))
	}
	e.Precision = Share{min(right, low) / n, right / n, max(right, high) / n}
	likely, more := 0.0, e.Matches
	for _, p := range probability {
		if p > 0.5 {
			likely += p
		}
		if p >= improbable {
			more += max(0, logistic.Probability(model.LogOdds(p)/dependence)-p)
		}
	}
	e.Recall.Likely = right / max(e.Matches, 1e-300)
	e.Recall.Low, e.Recall.High = min(right, weak)/max(more, 1e-300), right/max(likely, right, 1e-300)
	if fewer > 0 && e.Recall.High-e.Recall.Likely >= largeDifference {
		e.Recall.Low = min(e.Recall.Low, right/float64(fewer))
	}
	for _, of := range others {
		e.widen(links, of, shed)
	}
	if confirmed != nil {
		right := 0.0
		for _, i := range links {
			right += confirmed[i]
		}
		e.Precision.Low, e.Precision.High = min(e.Precision.Low, right/n), max(e.Precision.High, right/n)
	}
	if held.Pairs > 0 {
		e.Precision.Low = min(e.Precision.Low, max(0, held.Links-held.Rejected)/n) * held.Sure * (1 - held.Apart)
		r := min(1, held.Links/held.Pairs)
		e.Recall.Low, e.Recall.High = min(e.Recall.Low, r*r), max(r, min(e.Recall.High, right/max(held.Pairs, right)))
		e.Recall.Likely = min(max(e.Recall.Likely, e.Recall.Low), r)
	}
	return e
}

// widen lets the ranges reach to what other probabilities lead to expect of the links.
func (e *Estimates) widen(links []int, probability []float64, shed float64) {
	right := 0.0
	for _, i := range links {
		right += probability[i]
	}
	precision := right / max(1, float64(len(links)))
	recall := right / max(model.SumOf(probability)+shed, right, 1e-300)
	e.Precision.Low, e.Precision.High = min(e.Precision.Low, precision), max(e.Precision.High, precision)
	e.Recall.Low, e.Recall.High = min(e.Recall.Low, recall), max(e.Recall.High, recall)
}
