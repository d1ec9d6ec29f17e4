// Package learn learns from labels how to correct the probabilities of candidates.
package learn

import (
	"context"
	"maps"
	"math"
	"slices"

	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/logistic"
)

// Folds is the number of parts for cross-validation.
const Folds = 5

// anchored is the fold of anchors: every model learns from them, and none is validated with them.
const anchored = -2

// strengths of the regularisation, from which cross-validation chooses. With infinite strength the model does
// not change.
var strengths = []float64{math.Inf(1), 100, 30, 10, 3, 1, 0.3, 0.1}

// Taught are the labelled candidates, followed by some anchors, with their features.
type Taught struct {
	*logistic.Observations
	Candidates      []int
	group           []uint32 // of Candidates: those of one hang together by labels
	fold            []int    // of Candidates; anchored for anchors
	Missed, Unknown int      // labels of matches that are no candidates, and of records that are not there
}

// Matches returns the number of labelled matches.
func (t *Taught) Matches() (n int) {
	for _, positive := range t.Positive[:len(t.Candidates)] {
		if positive {
			n++
		}
	}
	return n
}

// Add adds a labelled candidate with its features. Candidates of one group are those of records that labels connect.
func (t *Taught) Add(x []float64, match bool, candidate int, group uint32) {
	t.Append(x, match)
	t.Candidates, t.group = append(t.Candidates, candidate), append(t.group, group)
	t.fold = append(t.fold, int(hashing.Mix(uint64(group)+1)%Folds))
}

// Anchor adds an anchor with its features: a candidate without a label that is hardly a match.
func (t *Taught) Anchor(x []float64) {
	t.Append(x, false)
	t.fold = append(t.fold, anchored)
}

// Anchors returns the number of anchors.
func (t *Taught) Anchors() int { return len(t.fold) - len(t.Candidates) }

// Start returns the weights of the model without labels.
func Start(features int) []float64 {
	w := make([]float64, features)
	w[Judged] = logit0
	return w
}

// Learned is what labels teach.
type Learned struct {
	Weights       []float64
	Changes       bool // the labels have changed the model
	Strength      float64
	Without, With *Validated // the model without labels, and this one
}

// Learn learns the weights of features, from those of the model without labels on. When the context has ended, the result
// means nothing.
func (t *Taught) Learn(ctx context.Context, start []float64) Learned {
	without := t.validate(ctx, start, strengths[0])
	best := t.strongest(ctx, start, without)
	l := Learned{Changes: best != without, Without: without, With: best}
	if ctx.Err() == nil {
		l.Weights = t.fit(start, best.strength, -1)
	}
	if !math.IsInf(best.strength, 0) {
		l.Strength = best.strength
	}
	return l
}

// strongest chooses the strength of regularisation. Among the models whose loss is at most one standard error
// above the smallest one, it takes the strongest, so that a few labels do not teach more than they show (the
// rule of one standard error: Breiman, Friedman, Olshen, Stone, "Classification and Regression Trees", 1984).
// It returns the model without labels if the smallest loss is not significantly smaller than its loss, or if
// the decisions of the others are worse. When the context has ended, it stops, and the result means nothing.
func (t *Taught) strongest(ctx context.Context, start []float64, without *Validated) *Validated {
	all := []*Validated{without}
	best := without
	for _, s := range strengths[1:] {
		v := t.validate(ctx, start, s)
		if all = append(all, v); v.loss() < best.loss() {
			best = v
		}
	}
	if !best.surelyBetter(without) {
		return without
	}
	for _, v := range all[1:] {
		if !best.betterBy(v, 1) && v.Scores(0.5).F1 >= without.Scores(0.5).F1 {
			return v
		}
	}
	return without
}

// fit returns the weights learned from the observations outside of a fold.
func (t *Taught) fit(start []float64, strength float64, fold int) []float64 {
	if math.IsInf(strength, 0) {
		return start
	}
	return logistic.Fit(t.Observations, func(i int) bool { return t.fold[i] != fold }, start, strength)
}

// Validated has the predictions of cross-validation: those for a fold come from a model that has not seen it.
type Validated struct {
	*Taught
	strength float64
	logits   []float64
}

func (t *Taught) validate(ctx context.Context, start []float64, strength float64) *Validated {
	v := &Validated{t, strength, make([]float64, len(t.Candidates))}
	for fold := range Folds {
		if ctx.Err() != nil {
			break
		}
		weights := t.fit(start, strength, fold)
		for i := range v.logits {
			if t.fold[i] == fold {
				v.logits[i] = logistic.Logit(weights, t.Row(i))
			}
		}
	}
	return v
}

// loss returns the mean log loss.
func (v *Validated) loss() (l float64) {
	for i, z := range v.logits {
		l += logistic.Loss(z, v.Positive[i])
	}
	return l / float64(len(v.logits))
}

// surelyBetter tells whether the loss is significantly smaller than that of another model for the same
// candidates, at a level of 1 in 20.
func (v *Validated) surelyBetter(than *Validated) bool { return v.betterBy(than, 1.645) }

// betterBy tells whether the loss is smaller than that of another model for the same candidates by more than
// this number of standard errors of the difference. Candidates of a group are right or wrong together, so it counts
// groups (K.-Y. Liang, S. Zeger, "Longitudinal data analysis using generalized linear models", Biometrika 1986).
func (v *Validated) betterBy(than *Validated, errors float64) bool {
	of := map[uint32]float64{}
	for i := range v.logits {
		of[v.group[i]] += logistic.Loss(than.logits[i], v.Positive[i]) - logistic.Loss(v.logits[i], v.Positive[i])
	}
	n, gain, squares := float64(len(of)), 0.0, 0.0
	for _, g := range slices.Sorted(maps.Keys(of)) {
		gain, squares = gain+of[g], squares+of[g]*of[g]
	}
	return n > 1 && gain > errors*math.Sqrt(max(0, squares-gain*gain/n)*n/(n-1))
}

// Scores compares the decisions at a threshold with the labels.
func (v *Validated) Scores(threshold float64) Scores {
	var kept, right, matches float64
	for i, z := range v.logits {
		keep := logistic.Probability(z) > threshold
		if v.Positive[i] {
			matches++
		}
		if keep {
			kept++
		}
		if keep && v.Positive[i] {
			right++
		}
	}
	matches += float64(v.Missed)
	return Scores{right / max(1, kept), right / max(1, matches), 2 * right / max(1, kept+matches), v.loss()}
}

// Scores measure how well a decision agrees with labels.
type Scores struct {
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	F1        float64 `json:"f1"`
	LogLoss   float64 `json:"log_loss"` // mean, in nats
}
