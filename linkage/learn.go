package linkage

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/logistic"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/decide"
	"github.com/alike-dev/alike/record"
)

// A Label says whether two records, by their ids, belong together. In one table the order of
// the two does not matter.
type Label struct {
	A, B  string
	Match bool
}

// Labels are the known pairs.
type Labels struct {
	Pairs []Label
	// Complete: all pairs are matches, and there are no other matches of the records that they name. So
	// all other candidates of these records do not belong together.
	Complete bool
}

// A Learner learns models from labels about two tables, or about one, until the context of NewLearner ends. One
// goroutine at a time may use it.
type Learner struct {
	ctx    context.Context
	config Config
	tables *tables
	*describer
	matcher *compare.Matcher
	rows    [2]map[string]uint32
	at      map[compare.Pair]int // candidates by their records
	pool    *pool                // nil: no question was asked yet
}

// NewLearner reads tables and compares candidates, as Join does. It does not use the configuration's Model,
// Threshold, Precision and Top.
func NewLearner(ctx context.Context, c Config) (*Learner, error) {
	c.Model, c.Threshold, c.Precision, c.Top, c.WithAll = nil, 0, 0, 0, true
	t, err := prepare(ctx, &c, false)
	if err != nil {
		return nil, err
	}
	if t.Left.Rows() == 0 || t.Right != nil && t.Right.Rows() == 0 {
		return nil, setting.Errorf("a table has no records: there is nothing to learn")
	}
	e, err := t.examine(ctx, &c, assumption{onePartner: c.exclusive()})
	if err := errors.Join(err, t.Memory.Close()); err != nil {
		return nil, err
	}
	l := &Learner{ctx: ctx, config: c, tables: t, describer: e.describer(), matcher: e.matchers[0], at: make(map[compare.Pair]int, len(e.found.Pairs))}
	for i, p := range e.found.Pairs {
		l.at[p] = i
	}
	l.rows[0] = rowsByID(t.Left)
	if l.rows[1] = l.rows[0]; t.Right != nil {
		l.rows[1] = rowsByID(t.Right)
	}
	return l, nil
}

// Result describes the tables and the use of their columns. It has no links.
func (l *Learner) Result() *Result { return l.tables.result }

const (
	// folds of the cross-validation. Pairs of records that labels connect are in one fold.
	folds = 5
	// mostLearned is the largest number of labelled candidates to learn from.
	mostLearned = 20_000
)

// strengths of the regularisation, from which cross-validation chooses. With infinite strength the model does
// not change.
var strengths = []float64{math.Inf(1), 100, 30, 10, 3, 1, 0.3, 0.1}

// Fit learns a model from labels: it corrects the model without labels as far as cross-validation shows that
// this helps. It counts, but does not learn from, labels of unknown records and matches that are not among the
// candidates.
func (l *Learner) Fit(labels Labels) (*Model, error) {
	taught := l.teach(labels)
	if n := taught.matches(); n == 0 || n == len(taught.candidates) {
		absent := ""
		if taught.unknown > 0 {
			absent = fmt.Sprintf("; %s more of records that the tables do not have", counted(taught.unknown, "label"))
		}
		return nil, setting.Errorf("%d labelled pairs among the candidates belong together, and %d do not: a model is learned from both (%s)%s",
			n, len(taught.candidates)-n, setting.Truth, absent)
	}
	start := l.start()
	without := taught.validate(l.ctx, start, strengths[0])
	best := taught.strongest(l.ctx, start, without)
	if err := l.ctx.Err(); err != nil {
		return nil, err
	}
	weights := taught.fit(start, best.strength, -1)
	probability, rank := l.examiner.probability, l.examiner.rank
	if best != without { // else the probabilities do not change
		var err error
		if probability, rank, err = l.examiner.correct(l.ctx, weights); err != nil {
			return nil, err
		}
	}
	m := l.model(weights, probability, rank)
	m.Learned = Learned{
		Matches: taught.matches() + taught.missed, Missed: taught.missed, Unknown: taught.unknown,
		Without: without.scores(0.5), Cross: best.scores(m.Threshold),
	}
	m.Learned.Others = len(taught.candidates) - taught.matches()
	if !math.IsInf(best.strength, 0) {
		m.Learned.Strength = best.strength
	}
	return m, nil
}

// strongest chooses the strength of regularisation. Among the models whose loss is at most one standard error
// above the smallest one, it takes the strongest, so that a few labels do not teach more than they show (the
// rule of one standard error: Breiman, Friedman, Olshen, Stone, "Classification and Regression Trees", 1984).
// It returns the model without labels if the smallest loss is not significantly smaller than its loss, or if
// the decisions of the others are worse. When the context has ended, it stops, and the result means nothing.
func (t *taught) strongest(ctx context.Context, start []float64, without *validated) *validated {
	all := []*validated{without}
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
		if !best.betterBy(v, 1) && v.scores(0.5).F1 >= without.scores(0.5).F1 {
			return v
		}
	}
	return without
}

// start returns the weights of the model without labels.
func (l *Learner) start() []float64 {
	w := make([]float64, l.features())
	w[judged] = logit0
	return w
}

// model returns a model with these weights. probability and rank are those of the candidates by these weights; the
// threshold follows from them.
func (l *Learner) model(weights, probability, rank []float64) *Model {
	r := l.tables.result
	m := &Model{Version: modelVersion, OneTable: r.OneTable, Match: r.Match, Weighing: l.config.Weighing}
	for _, c := range r.Columns {
		m.Fields = append(m.Fields, c.Field)
	}
	b := l.examiner.model
	m.Base = Base{Prior: b.Prior, Share: b.Share[:len(m.Fields)]}
	for f := range b.Width {
		m.Base.Evidence = append(m.Base.Evidence, b.Evidence[f*compare.Levels:(f+1)*compare.Levels])
	}
	for i, name := range featureNames(m.Fields) {
		m.Weights = append(m.Weights, Weight{name, weights[i]})
	}
	m.Threshold = decide.Balance(l.tables.allowed(l.examiner, probability, rank), probability)
	return m
}

// taught are the labelled candidates, followed by some anchors, with their features.
type taught struct {
	*logistic.Observations
	candidates      []int
	fold            []int // of candidates; anchored for anchors
	missed, unknown int
}

func (t *taught) matches() (n int) {
	for _, positive := range t.Positive[:len(t.candidates)] {
		if positive {
			n++
		}
	}
	return n
}

// teach finds the candidates that labels are about, and adds anchors.
func (l *Learner) teach(labels Labels) *taught {
	t := &taught{Observations: &logistic.Observations{Features: l.features()}}
	says := map[int]bool{}                  // by candidate: whether it is a match
	groups := cluster.New(l.Left + l.Right) // of records that labels connect
	named := map[uint32]bool{}
	for _, label := range labels.Pairs {
		p, ok := l.pairOf(label)
		if !ok {
			t.unknown++
			continue
		}
		i, found := l.at[p]
		if found {
			says[i] = label.Match
		} else if label.Match {
			t.missed++
		}
		if label.Match {
			groups.Union(l.node(0, p.A), l.node(1, p.B))
			named[l.node(0, p.A)], named[l.node(1, p.B)] = true, true
		}
	}
	if labels.Complete {
		for i, p := range l.Pairs {
			a, b := l.node(0, p.A), l.node(1, p.B)
			if _, said := says[i]; !said && (named[a] || named[b]) && groups.Find(a) != groups.Find(b) {
				says[i] = false
			}
		}
	}
	x := make([]float64, l.features())
	part := uint64((len(says) + mostLearned - 1) / mostLearned)
	for i, p := range l.Pairs {
		match, said := says[i]
		if !said {
			continue
		}
		if hashing.Mix(uint64(p.A)<<32|uint64(p.B))>>32%part != 0 {
			continue
		}
		l.describe(x, i, l.matcher)
		t.Append(x, match)
		t.candidates = append(t.candidates, i)
		t.fold = append(t.fold, int(hashing.Mix(uint64(groups.Find(l.node(0, p.A)))+1)%folds))
	}
	l.anchor(t, says)
	return t
}

const (
	anchored = -2 // the fold of anchors: every model learns from them, and none is validated with them
	// Anchors are candidates with a probability of at most improbable. There are as many as labels, at most
	// mostAnchors.
	mostAnchors = 1000
	improbable  = 0.02
)

// anchor adds unlabelled candidates that the model without labels takes for non-matches. Most labels are about
// very similar pairs; without anchors, the learned weights could give any probability to all other candidates.
func (l *Learner) anchor(t *taught, says map[int]bool) {
	wanted := min(len(t.candidates), mostAnchors)
	part := uint64(max(1, len(l.Pairs)/max(1, 2*wanted)))
	x := make([]float64, l.features())
	for i, p := range l.Pairs {
		if len(t.fold)-len(t.candidates) == wanted {
			return
		}
		_, said := says[i]
		if said || logistic.Probability(l.rank[i]) > improbable || hashing.Mix(uint64(p.A)<<32|uint64(p.B)+1)>>32%part != 0 {
			continue
		}
		l.describe(x, i, l.matcher)
		t.Append(x, false)
		t.fold = append(t.fold, anchored)
	}
}

// rowsByID returns the first row of each id.
func rowsByID(t *record.Table) map[string]uint32 {
	rows := make(map[string]uint32, t.Rows())
	for i := t.Rows() - 1; i >= 0; i-- {
		rows[string(t.ID(i))] = uint32(i)
	}
	return rows
}

// node returns the number of a record among the records of both tables.
func (l *Learner) node(side int, row uint32) uint32 {
	if side == 1 && l.Right > 0 {
		return uint32(l.Left) + row
	}
	return row
}

// pairOf returns the records that a label names.
func (l *Learner) pairOf(label Label) (p compare.Pair, ok bool) {
	a, okA := l.rows[0][label.A]
	b, okB := l.rows[1][label.B]
	if p = (compare.Pair{A: a, B: b}); l.Right == 0 && a > b {
		p = compare.Pair{A: b, B: a}
	}
	return p, okA && okB && (l.Right > 0 || a != b)
}

// fit returns the weights learned from the observations outside of a fold.
func (t *taught) fit(start []float64, strength float64, fold int) []float64 {
	if math.IsInf(strength, 0) {
		return start
	}
	return logistic.Fit(t.Observations, func(i int) bool { return t.fold[i] != fold }, start, strength)
}

// validated has the predictions of cross-validation: those for a fold come from a model that has not seen it.
type validated struct {
	*taught
	strength float64
	logits   []float64
}

func (t *taught) validate(ctx context.Context, start []float64, strength float64) *validated {
	v := &validated{t, strength, make([]float64, len(t.candidates))}
	for fold := range folds {
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
func (v *validated) loss() (l float64) {
	for i, z := range v.logits {
		l += logistic.Loss(z, v.Positive[i])
	}
	return l / float64(len(v.logits))
}

// surelyBetter tells whether the loss is significantly smaller than that of another model for the same
// candidates, at a level of 1 in 20.
func (v *validated) surelyBetter(than *validated) bool { return v.betterBy(than, 1.645) }

// betterBy tells whether the loss is smaller than that of another model for the same candidates by more than
// this number of standard errors of the difference.
func (v *validated) betterBy(than *validated, errors float64) bool {
	n, gain, squares := float64(len(v.logits)), 0.0, 0.0
	for i := range v.logits {
		d := logistic.Loss(than.logits[i], v.Positive[i]) - logistic.Loss(v.logits[i], v.Positive[i])
		gain, squares = gain+d, squares+d*d
	}
	return gain > errors*math.Sqrt(max(0, squares-gain*gain/n))
}

// scores compares the decisions at a threshold with the labels.
func (v *validated) scores(threshold float64) Scores {
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
	matches += float64(v.missed)
	return Scores{right / max(1, kept), right / max(1, matches), 2 * right / max(1, kept+matches), v.loss()}
}
