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

// everyFold is left out by a model that learns from all.
const everyFold = -1

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

func (t *Taught) Anchors() int { return len(t.fold) - len(t.Candidates) }

// Start returns the weights of the model without labels.
func Start(features int) []float64 {
	w := make([]float64, features)
	w[Judged] = logit0
	return w
}

// A Decision says which candidates become links by some weights.
type Decision struct {
	Allowed   func(candidate int) bool // by the match rule
	Threshold float64                  // from which probability on
}

// Learned is what labels teach.
type Learned struct {
	Weights       []float64
	Strength      float64    // 0: the labels have not changed the model
	Without, With *Validated // the model without labels, and this one
}

// Learn learns the weights of features, from those of the model without labels on. decide returns what all candidates
// become by weights; nil are those of that model. Labels change the model only if the decisions become significantly better
// too: probabilities often become better where links become worse. When the context has ended, the result means nothing.
func (t *Taught) Learn(ctx context.Context, start []float64, decide func(weights []float64) (Decision, error)) (l Learned, err error) {
	l.Weights, l.Without = start, t.validate(ctx, start, strengths[0])
	if l.Without.Decision, err = decide(nil); err != nil {
		return l, err
	}
	l.With = l.Without
	for _, v := range t.likeliest(ctx, start, l.Without) {
		weights := t.fit(start, v.strength, everyFold)
		if v.Decision, err = decide(weights); err != nil {
			return l, err
		}
		if v.decidesBetter(l.Without) {
			l.Weights, l.Strength, l.With = weights, v.strength, v
			break
		}
	}
	return l, ctx.Err()
}

// likeliest returns the models whose loss is at most one standard error above the smallest one, the strongest
// regularisation first, so that a few labels do not teach more than they show (the rule of one standard error: Breiman,
// Friedman, Olshen, Stone, "Classification and Regression Trees", 1984); none, if the smallest loss is not significantly
// smaller than that of the model without labels.
func (t *Taught) likeliest(ctx context.Context, start []float64, without *Validated) (all []*Validated) {
	best := without
	for _, s := range strengths[1:] {
		v := t.validate(ctx, start, s)
		if all = append(all, v); v.loss() < best.loss() {
			best = v
		}
	}
	if best == without || !best.likelier(without, surely) {
		return nil
	}
	return slices.DeleteFunc(all, func(v *Validated) bool { return best.likelier(v, byOneError) })
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
	Decision Decision // by the weights learned from all folds; set by Learn
	strength float64
	logits   []float64
}

func (t *Taught) validate(ctx context.Context, start []float64, strength float64) *Validated {
	v := &Validated{Taught: t, strength: strength, logits: make([]float64, len(t.Candidates))}
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

// likelier tells whether the loss is smaller than that of another model for the same candidates, by more than the error
// of the difference. Candidates of a group are right or wrong together, so it counts groups (K.-Y. Liang, S. Zeger,
// "Longitudinal data analysis using generalized linear models", Biometrika 1986).
func (v *Validated) likelier(than *Validated, errors func(groups int) float64) bool {
	of := map[uint32]float64{}
	for i := range v.logits {
		of[v.group[i]] += logistic.Loss(than.logits[i], v.Positive[i]) - logistic.Loss(v.logits[i], v.Positive[i])
	}
	n, gain, squares := float64(len(of)), 0.0, 0.0
	for _, g := range slices.Sorted(maps.Keys(of)) {
		gain, squares = gain+of[g], squares+of[g]*of[g]
	}
	return n > 1 && gain > errors(len(of))*math.Sqrt(max(0, squares-gain*gain/n)*n/(n-1))
}

// decidesBetter tells whether the decisions have an F1 that is significantly larger than that of another model for the same
// candidates. The error of the difference is found by leaving out each group once (the jackknife: J. Tukey, 1958).
func (v *Validated) decidesBetter(than *Validated) bool {
	mine, other := v.byGroup(), than.byGroup()
	var all [2]counts
	for g := range mine {
		all[0].add(mine[g], 1)
		all[1].add(other[g], 1)
	}
	gain := func(of [2]counts) float64 { return of[0].f1(v.Missed) - of[1].f1(v.Missed) }
	n, sum, squares := float64(len(mine)), 0.0, 0.0
	for _, g := range slices.Sorted(maps.Keys(mine)) {
		of := all
		of[0].add(mine[g], -1)
		of[1].add(other[g], -1)
		d := gain(of)
		sum, squares = sum+d, squares+d*d
	}
	return n > 1 && gain(all) > surely(len(mine))*math.Sqrt((n-1)/n*max(0, squares-sum*sum/n))
}

// counts are links, those of them that are right, and matches.
type counts struct{ links, right, matches float64 }

func (c *counts) add(o counts, times float64) {
	c.links, c.right, c.matches = c.links+times*o.links, c.right+times*o.right, c.matches+times*o.matches
}

// f1 returns the F1 if so many more matches are no candidates.
func (c counts) f1(missed int) float64 {
	return 2 * c.right / max(1, c.links+c.matches+float64(missed))
}

// byGroup counts what is decided about the candidates of each group.
func (v *Validated) byGroup() map[uint32]counts {
	of := map[uint32]counts{}
	for i, z := range v.logits {
		c := of[v.group[i]]
		if v.Positive[i] {
			c.matches++
		}
		if v.Decision.Allowed(v.Candidates[i]) && logistic.Probability(z) > v.Decision.Threshold {
			c.links++
			if v.Positive[i] {
				c.right++
			}
		}
		of[v.group[i]] = c
	}
	return of
}

// byOneError is one standard error.
func byOneError(int) float64 { return 1 }

// surely returns how many standard errors a difference must exceed so that chance exceeds it in one of 20 cases: the
// quantile of Student's distribution. Labels often tell of few groups, two clusters perhaps.
func surely(groups int) float64 {
	few := []float64{6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812}
	if freedom := groups - 1; freedom <= len(few) {
		return few[max(0, freedom-1)]
	}
	const normal = 1.645
	return normal + (normal*normal*normal+normal)/float64(4*(groups-1))
}

// Scores compares the decisions with the labels.
func (v *Validated) Scores() Scores {
	var all counts
	for _, c := range v.byGroup() {
		all.add(c, 1) // whole numbers: their sum does not depend on the order
	}
	return Scores{all.right / max(1, all.links), all.right / max(1, all.matches+float64(v.Missed)), all.f1(v.Missed), v.loss()}
}

// Scores measure how well a decision agrees with labels.
type Scores struct {
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	F1        float64 `json:"f1"`
	LogLoss   float64 `json:"log_loss"` // mean, in nats
}
