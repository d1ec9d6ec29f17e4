package lsh

import (
	"errors"
	"fmt"
	"math"

	"github.com/alike-dev/alike/measure"
)

// DefaultRecall is the recall at the threshold that Tune aims at when the caller gives
// none.
const DefaultRecall = 0.99

// ErrRecallOutOfReach means that no banding of so few components reaches the recall.
// Errors of this kind are of type *RecallError.
var ErrRecallOutOfReach = errors.New("lsh: recall out of reach")

// RecallError is the error of [Tune] when no banding reaches the recall.
type RecallError struct {
	Threshold, Recall float64 // the arguments of Tune
	K                 int
	Best              float64 // the recall of the best banding, K bands of one row
}

// Error names what to change.
func (e *RecallError) Error() string {
	return fmt.Sprintf("lsh: recall %g at threshold %g is out of reach of %d components (at best %.4g): "+
		"take more components, a higher threshold or a lower recall, or find candidates exactly", e.Recall, e.Threshold, e.K, e.Best)
}

// Is makes errors.Is(err, ErrRecallOutOfReach) true.
func (e *RecallError) Is(target error) bool { return target == ErrRecallOutOfReach }

// Tune chooses the cheapest bands and rows for a recall of at least recall at Jaccard
// similarity threshold, in signatures of k components of the given number of bits, of
// which bands·rows are used. 0 < threshold ≤ 1; 0 ≤ recall < 1, where 0 means
// DefaultRecall; 1 ≤ bits ≤ 32.
//
// The cost is the number of keys to sort plus the number of candidates to verify. The
// more rows a band has, the steeper the S-curve and the fewer pairs below the threshold
// are candidates. So Tune takes the most rows with which k components reach the recall,
// and no more bands than needed. Above the threshold recall is higher.
//
// When even single rows do not reach the recall, Tune returns the best banding, k bands
// of one row, and a *RecallError. A caller that can find candidates exactly should do so
// then, and should consider it whenever Rows is 1.
func Tune(threshold, recall float64, k, bits int) (Params, error) {
	if recall == 0 {
		recall = DefaultRecall
	}
	switch {
	case !(threshold > 0 && threshold <= 1):
		return Params{}, fmt.Errorf("lsh: threshold %g: must be above 0 and at most 1", threshold)
	case !(recall > 0 && recall < 1):
		return Params{}, fmt.Errorf("lsh: recall %g: must be above 0 and below 1 (only exact candidates give 1)", recall)
	case k < 1:
		return Params{}, fmt.Errorf("lsh: k=%d: a signature has at least 1 component", k)
	case bits < 1 || bits > 32:
		return Params{}, fmt.Errorf("lsh: bits=%d: a component has 1 to 32 bits", bits)
	}
	s := ComponentAgreement(threshold, bits)
	for rows := k; rows > 0; rows-- {
		p := Params{Bands: k / rows, Rows: rows, MinBands: 1}
		if p.Probability(s) < recall {
			continue
		}
		p.Bands = fewestBands(s, recall, p)
		return p, nil
	}
	p := Params{Bands: k, Rows: 1, MinBands: 1}
	return p, &RecallError{Threshold: threshold, Recall: recall, K: k, Best: p.Probability(s)}
}

// ErrNoBound means that a measure's threshold does not bound the Jaccard similarity of a
// pair from below, so that no banding can promise to find it. Errors of this kind are of
// type *BoundError.
var ErrNoBound = errors.New("lsh: no least Jaccard similarity")

// BoundError is the error of [TuneFor] for measures for which banding does not work.
type BoundError struct{ Threshold measure.Threshold }

// Error names what to change.
func (e *BoundError) Error() string {
	return fmt.Sprintf("lsh: sets of %v may have any Jaccard similarity, however small, so banding can miss them: "+
		"find candidates exactly, or containment by samples (TuneSample)", e.Threshold)
}

// Is makes errors.Is(err, ErrNoBound) true.
func (e *BoundError) Is(target error) bool { return target == ErrNoBound }

// TuneFor is [Tune] for the threshold of any measure that bounds the Jaccard similarity
// of a pair from below (measure.Threshold.LeastJaccard): the recall holds at that bound,
// and so for every pair that reaches the threshold. For Dice d it is d/(2−d), and for
// Cosine c it is c², which only pairs of sizes 1 and c² reach. For WeightedJaccard
// components must be those of a sketch of weighted sets. For both containments and
// Overlap there is no bound, and the error is a *BoundError.
func TuneFor(t measure.Threshold, recall float64, k, bits int) (Params, error) {
	least, ok := t.LeastJaccard()
	if !ok {
		return Params{}, &BoundError{t}
	}
	return Tune(least, recall, k, bits)
}

// fewestBands returns the least number of bands with which p still reaches the recall. It
// reaches it with p.Bands.
func fewestBands(s, recall float64, p Params) int {
	band := math.Pow(s, float64(p.Rows))
	if band >= 1 {
		return 1
	}
	// 1 − (1 − band)ᵇ ≥ recall; rounding may put the solution off by one.
	b := int(math.Log1p(-recall)/math.Log1p(-band)) - 1
	for p.Bands, b = min(max(b, 1), p.Bands), p.Bands; p.Bands < b && p.Probability(s) < recall; {
		p.Bands++
	}
	return p.Bands
}
