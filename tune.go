package alike

import (
	"math"

	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
)

// Tuning says how documents are found for a threshold, by bands of their signatures or,
// for containment, by samples of their features, and with which result.
type Tuning struct {
	Measure        string  `json:"measure,omitempty"` // of the threshold; absent: jaccard
	Threshold      float64 `json:"threshold"`
	Jaccard        float64 `json:"jaccard,omitempty"` // least similarity of a pair at the threshold of another measure with bands
	Recall         float64 `json:"recall"`            // requested at the threshold; 0: the bands were given
	Hashes         int     `json:"hashes"`            // components of the signature
	Bits           int     `json:"bits"`              // of a component
	Bands          int     `json:"bands"`
	Rows           int     `json:"rows"`
	Sample         int     `json:"sample,omitempty"` // features of a document that are searched in others; absent: bands
	Agree          int     `json:"agree,omitempty"`  // how many of them a candidate has
	ExpectedRecall float64 `json:"expected_recall"`  // at the threshold
	// FalseCandidates is the share of pairs that are verified although they do not match, at
	// some similarities below the threshold.
	FalseCandidates []CurvePoint `json:"false_candidates"`
	Curve           []CurvePoint `json:"curve"` // from similarity 0 to 1

	probability func(similarity float64) float64
}

// Points returns the curve from similarity 0 to 1 in so many steps.
func (t *Tuning) Points(steps int) (points []CurvePoint) {
	for i := range steps + 1 {
		similarity := math.Round(float64(i)/float64(steps)*1e6) / 1e6 // rounded for people to read
		points = append(points, CurvePoint{similarity, t.probability(similarity)})
	}
	return points
}

// CurvePoint is a point of the S-curve.
type CurvePoint struct {
	Similarity  float64 `json:"similarity"`
	Probability float64 `json:"probability"` // of becoming a candidate
}

// curveSteps is how many intervals a Tuning's curve has.
const curveSteps = 20

// Tune chooses the cheapest bands and rows for the wanted recall at the threshold. See
// lsh.Tune for the errors.
func Tune(threshold, recall float64, hashes, bits int) (*Tuning, error) {
	params, err := lsh.Tune(threshold, recall, hashes, bits)
	if err != nil {
		return nil, err
	}
	return bandTuning(params, threshold, recall, hashes, bits), nil
}

// TuneFor is Tune for the threshold of any measure but Overlap. For containment, which
// does not use hashes and bits, it tunes samples: see lsh.TuneSample for the errors. For
// other measures it takes the least Jaccard similarity of a pair, to which the curve and
// the false candidates then refer: see lsh.TuneFor.
func TuneFor(t measure.Threshold, recall float64, hashes, bits int) (tuning *Tuning, err error) {
	if t.Measure().ByParts() {
		tuning, err = sampleTuning(t, recall)
	} else {
		var params lsh.Params
		if params, err = lsh.TuneFor(t, recall, hashes, bits); err == nil {
			least, _ := t.LeastJaccard()
			tuning = bandTuning(params, least, recall, hashes, bits)
			tuning.Jaccard = least
		}
	}
	if err != nil {
		return nil, err
	}
	if tuning.Threshold = t.Float(); t.Measure() == measure.Jaccard {
		tuning.Jaccard = 0
	} else {
		tuning.Measure = t.Measure().String()
	}
	return tuning, nil
}

// TuningOf describes given bands, for a threshold of Jaccard similarity and components of so many bits.
func TuningOf(params lsh.Params, threshold float64, bits int) *Tuning {
	return bandTuning(params, threshold, 0, params.Bands*params.Rows, bits)
}

// sampleTuning describes the effect of samples, by containment.
func sampleTuning(t measure.Threshold, recall float64) (*Tuning, error) {
	sample, err := lsh.TuneSample(t, recall)
	if err != nil {
		return nil, err
	}
	tuning := &Tuning{Recall: recall, Sample: sample.Size, Agree: sample.Agree}
	tuning.draw(t.Float(), sample.Probability)
	return tuning, nil
}

// bandTuning describes the effect of bands, by Jaccard similarity.
func bandTuning(params lsh.Params, threshold, recall float64, hashes, bits int) *Tuning {
	t := &Tuning{Threshold: threshold, Recall: recall, Hashes: hashes, Bits: bits, Bands: params.Bands, Rows: params.Rows}
	t.draw(threshold, func(similarity float64) float64 { return params.Probability(lsh.ComponentAgreement(similarity, bits)) })
	return t
}

// draw fills in the figures that follow from the probability of becoming a candidate.
func (t *Tuning) draw(threshold float64, probability func(similarity float64) float64) {
	t.probability = probability
	at := func(similarity float64) CurvePoint {
		similarity = math.Round(similarity*1e6) / 1e6 // rounded for people to read
		return CurvePoint{similarity, probability(similarity)}
	}
	t.ExpectedRecall = at(threshold).Probability
	for _, share := range []float64{0.25, 0.5, 0.75, 0.9} {
		t.FalseCandidates = append(t.FalseCandidates, at(share*threshold))
	}
	t.Curve = t.Points(curveSteps)
}
