package alike

import (
	"math"

	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
)

// Tuning says how signatures are banded for a threshold, and what that does.
type Tuning struct {
	Measure        string  `json:"measure,omitempty"` // of the threshold; missing: jaccard
	Threshold      float64 `json:"threshold"`
	Jaccard        float64 `json:"jaccard,omitempty"` // least similarity of a pair at the threshold of another measure
	Recall         float64 `json:"recall"`            // asked for, at the threshold
	Hashes         int     `json:"hashes"`            // components of the signature
	Bits           int     `json:"bits"`              // of a component
	Bands          int     `json:"bands"`
	Rows           int     `json:"rows"`
	ExpectedRecall float64 `json:"expected_recall"` // at the threshold
	// FalseCandidates is the share of the pairs of some similarities below the
	// threshold that are verified in vain.
	FalseCandidates []CurvePoint `json:"false_candidates"`
	Curve           []CurvePoint `json:"curve"` // from similarity 0 to 1
}

// CurvePoint is a point of the S-curve.
type CurvePoint struct {
	Similarity  float64 `json:"similarity"`
	Probability float64 `json:"probability"` // of becoming a candidate
}

// curveSteps is how many intervals a Tuning's curve has.
const curveSteps = 20

// Tune chooses bands and rows for the least work at the recall wanted at the
// threshold, see lsh.Tune for the errors.
func Tune(threshold, recall float64, hashes, bits int) (*Tuning, error) {
	params, err := lsh.Tune(threshold, recall, hashes, bits)
	if err != nil {
		return nil, err
	}
	return newTuning(params, threshold, recall, hashes, bits), nil
}

// TuneFor is Tune for the threshold of any measure that leads to a least Jaccard
// similarity, see lsh.TuneFor for the errors. The curve and the false candidates go by
// the Jaccard similarity.
func TuneFor(t measure.Threshold, recall float64, hashes, bits int) (*Tuning, error) {
	params, err := lsh.TuneFor(t, recall, hashes, bits)
	if err != nil {
		return nil, err
	}
	least, _ := t.LeastJaccard()
	tuning := newTuning(params, least, recall, hashes, bits)
	if t.Measure() != measure.Jaccard {
		tuning.Measure, tuning.Threshold, tuning.Jaccard = t.Measure().String(), t.Float(), least
	}
	return tuning, nil
}

// newTuning says what bands do, by the Jaccard similarity.
func newTuning(params lsh.Params, threshold, recall float64, hashes, bits int) *Tuning {
	at := func(similarity float64) CurvePoint {
		similarity = math.Round(similarity*1e6) / 1e6 // for people to read
		return CurvePoint{similarity, params.Probability(lsh.ComponentAgreement(similarity, bits))}
	}
	t := &Tuning{
		Threshold: threshold, Recall: recall, Hashes: hashes, Bits: bits,
		Bands: params.Bands, Rows: params.Rows, ExpectedRecall: at(threshold).Probability,
	}
	for _, share := range []float64{0.25, 0.5, 0.75, 0.9} {
		t.FalseCandidates = append(t.FalseCandidates, at(share*threshold))
	}
	for i := range curveSteps + 1 {
		t.Curve = append(t.Curve, at(float64(i)/curveSteps))
	}
	return t
}
