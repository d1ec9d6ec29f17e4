package linkage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/logistic"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/decide"
	"github.com/alike-dev/alike/linkage/internal/explain"
	"github.com/alike-dev/alike/linkage/internal/held"
	"github.com/alike-dev/alike/linkage/internal/judge"
	"github.com/alike-dev/alike/linkage/internal/learn"
	"github.com/alike-dev/alike/record"
)

// A Learner learns models from labels about two tables, or about one, until the context of NewLearner ends. One
// goroutine at a time may use it.
type Learner struct {
	ctx    context.Context
	config Config
	result *Result
	tables *held.Tables
	judged *judge.Examiner
	of     *learn.Describer
	rows   [2]map[string]uint32
	at     map[compare.Pair]int // candidates by their records
	pool   *learn.Pool          // nil: no question was asked yet
}

// NewLearner reads tables and compares candidates, as Join does. It does not use the configuration's Model,
// Threshold, Precision and Top.
func NewLearner(ctx context.Context, c Config) (*Learner, error) {
	c.Model, c.Threshold, c.Precision, c.Top, c.WithAll = nil, 0, 0, 0, true
	f, r, err := prepare(ctx, &c, false)
	if err != nil {
		return nil, err
	}
	if f.Empty() {
		return nil, setting.Errorf("a table has no records: there is nothing to learn")
	}
	var e *judge.Examiner
	if c.Match == ByData {
		e, _, err = examineAs(ctx, &c, f, r)
	} else {
		e, _, err = examine(ctx, &c, f, r, judge.Options{Once: c.once()})
	}
	if err := errors.Join(err, f.Memory.Close()); err != nil {
		return nil, err
	}
	l := &Learner{ctx: ctx, config: c, result: r, tables: f.Tables, judged: e, of: learn.Describe(e), at: make(map[compare.Pair]int, len(e.Found.Pairs))}
	for i, p := range e.Found.Pairs {
		l.at[p] = i
	}
	l.rows[0] = rowsByID(f.Left)
	if l.rows[1] = l.rows[0]; f.Right != nil {
		l.rows[1] = rowsByID(f.Right)
	}
	return l, nil
}

// Result describes the tables and the use of their columns. It has no links.
func (l *Learner) Result() *Result { return l.result }

// mostLearned is the largest number of labelled candidates to learn from.
const mostLearned = 20_000

// Fit learns a model from labels: it corrects the model without labels as far as cross-validation shows that
// this helps. It counts, but does not learn from, labels of unknown records and matches that are not among the
// candidates.
func (l *Learner) Fit(labels Labels) (*Model, error) {
	taught := l.teach(labels)
	if n := taught.Matches(); n == 0 || n == len(taught.Candidates) {
		absent := ""
		if taught.Unknown > 0 {
			absent = fmt.Sprintf("; %s more of records that the tables do not have", counted(taught.Unknown, "label"))
		}
		return nil, setting.Errorf("%d labelled pairs among the candidates belong together, and %d do not: a model is learned from both (%s)%s",
			n, len(taught.Candidates)-n, setting.Truth, absent)
	}
	learned, err := taught.Learn(l.ctx, learn.Start(l.of.Features()), l.decideBy)
	if err != nil {
		return nil, err
	}
	m := l.model(learned.Weights, learned.With.Decision.Threshold)
	m.Learned = Learned{
		Matches: taught.Matches() + taught.Missed, Others: len(taught.Candidates) - taught.Matches(), Missed: taught.Missed, Unknown: taught.Unknown,
		Strength: learned.Strength, Without: learned.Without.Scores(), Cross: learned.With.Scores(),
	}
	return m, nil
}

// decideBy returns what candidates become by weights; nil are those of the model without labels.
func (l *Learner) decideBy(weights []float64) (d learn.Decision, err error) {
	probability, rank := l.judged.Probability, l.judged.Rank
	if weights != nil {
		if probability, rank, err = l.of.Correct(l.ctx, weights); err != nil {
			return d, err
		}
	}
	edges, _ := allowed(l.judged, l.result.Match, probability, rank)
	may := bitset.New[int](len(probability))
	for _, i := range edges {
		may.Add(i)
	}
	return learn.Decision{Allowed: may.Has, Threshold: decide.Balance(edges, probability)}, nil
}

func (l *Learner) model(weights []float64, threshold float64) *Model {
	m := newModel(&l.config, l.result, l.judged, weights)
	m.Base.Partners = partners(l.judged, l.result)
	m.Threshold = threshold
	return m
}

// teach finds the candidates that labels are about, and adds anchors.
func (l *Learner) teach(labels Labels) *learn.Taught {
	t := &learn.Taught{Observations: &logistic.Observations{Features: l.of.Features()}}
	says := map[int]bool{}                        // by candidate: whether it is a match
	groups := cluster.New(l.of.Left + l.of.Right) // of records that labels connect
	named := map[uint32]bool{}
	for _, label := range labels.Pairs {
		p, ok := l.pairOf(label)
		if !ok {
			t.Unknown++
			continue
		}
		i, found := l.at[p]
		if found {
			says[i] = label.Match
		} else if label.Match {
			t.Missed++
		}
		if label.Match {
			groups.Union(l.node(0, p.A), l.node(1, p.B))
			named[l.node(0, p.A)], named[l.node(1, p.B)] = true, true
		}
	}
	if labels.Complete {
		for i, p := range l.of.Pairs {
			a, b := l.node(0, p.A), l.node(1, p.B)
			if _, said := says[i]; !said && (named[a] || named[b]) && groups.Find(a) != groups.Find(b) {
				says[i] = false
			}
		}
	}
	x := make([]float64, l.of.Features())
	part := uint64((len(says) + mostLearned - 1) / mostLearned)
	for i, p := range l.of.Pairs {
		match, said := says[i]
		if !said {
			continue
		}
		if hashing.Mix(uint64(p.A)<<32|uint64(p.B))>>32%part != 0 {
			continue
		}
		l.of.Put(x, i, l.judged.Matchers[0])
		t.Add(x, match, i, uint32(groups.Find(l.node(0, p.A))))
	}
	l.anchor(t, says)
	return t
}

const (
	// Anchors are candidates with a probability of at most improbable. There are as many as labels, at most
	// mostAnchors.
	mostAnchors = 1000
	improbable  = 0.02
)

// anchor adds unlabelled candidates that the model without labels takes for non-matches. Most labels are about
// very similar pairs; without anchors, the learned weights could give any probability to all other candidates.
func (l *Learner) anchor(t *learn.Taught, says map[int]bool) {
	wanted := min(len(t.Candidates), mostAnchors)
	part := uint64(max(1, len(l.of.Pairs)/max(1, 2*wanted)))
	x := make([]float64, l.of.Features())
	for i, p := range l.of.Pairs {
		if t.Anchors() == wanted {
			return
		}
		_, said := says[i]
		if said || logistic.Probability(l.of.Rank[i]) > improbable || hashing.Mix(uint64(p.A)<<32|uint64(p.B)+1)>>32%part != 0 {
			continue
		}
		l.of.Put(x, i, l.judged.Matchers[0])
		t.Anchor(x)
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
	if side == 1 && l.of.Right > 0 {
		return uint32(l.of.Left) + row
	}
	return row
}

// pairOf returns the records that a label names.
func (l *Learner) pairOf(label Label) (p compare.Pair, ok bool) {
	a, okA := l.rows[0][label.A]
	b, okB := l.rows[1][label.B]
	if p = (compare.Pair{A: a, B: b}); l.of.Right == 0 && a > b {
		p = compare.Pair{A: b, B: a}
	}
	return p, okA && okB && (l.of.Right > 0 || a != b)
}

// mostAsked is the largest number of candidates from which questions are chosen.
const mostAsked = 20_000

// Ask returns the candidate whose label would teach most, given the labels so far; ok is false if there is none
// left. may, if it is not nil, tells which pairs may be asked about. Every other question is a pair about which the
// model learned from the labels is uncertain, among records that are far from labelled ones. The others are taken
// evenly along the ranks of the likely links, which shows where the model is certain and wrong. The same labels lead
// to the same question.
func (l *Learner) Ask(labels []Label, may func(a, b string) bool) (q Question, ok bool) {
	if l.pool == nil {
		l.pool = l.newPool()
	}
	weights := learn.Start(l.of.Features())
	if m, err := l.Fit(Labels{Pairs: labels}); err == nil {
		weights = m.weights()
	} // else there are not yet labels of both kinds
	asked, near := map[int]bool{}, map[uint32]bool{}
	for _, label := range labels {
		if p, ok := l.pairOf(label); ok {
			near[l.node(0, p.A)], near[l.node(1, p.B)] = true, true
			if i, ok := l.at[p]; ok {
				asked[i] = true
			}
		}
	}
	open := func(i int) bool {
		a, b := l.tables.IDs(l.of.Pairs[i])
		return !asked[i] && (may == nil || may(a, b))
	}
	best := -1
	if n := len(labels); n%2 == 0 {
		best = l.pool.Along(n/2, open)
	}
	if best < 0 {
		best = l.pool.LeastSure(weights, func(i int) float64 {
			p := l.of.Pairs[i]
			switch {
			case !open(i):
				return 0
			case near[l.node(0, p.A)] || near[l.node(1, p.B)]:
				return 0.3
			}
			return 1
		})
	}
	if best < 0 {
		return q, false
	}
	i := l.pool.Candidates[best]
	return l.question(i, logistic.Probability(logistic.Logit(weights, l.pool.Features.Row(best)))), true
}

// newPool takes all candidates of as many left records as fit. A hash chooses the records.
func (l *Learner) newPool() *learn.Pool {
	p := &learn.Pool{Features: &logistic.Observations{Features: l.of.Features()}}
	part := uint64((len(l.of.Pairs) + mostAsked - 1) / mostAsked)
	isFirst := make([]bool, len(l.of.Pairs))
	for _, i := range l.judged.Graph().Mutual(l.of.Rank, l.of.Wholes) {
		isFirst[i] = true
	}
	x := make([]float64, l.of.Features())
	for i, pair := range l.of.Pairs {
		if part > 1 && hashing.Mix(uint64(pair.A)+1)>>32%part != 0 {
			continue
		}
		l.of.Put(x, i, l.judged.Matchers[0])
		if isFirst[i] {
			p.Links = append(p.Links, len(p.Candidates))
		}
		p.Candidates = append(p.Candidates, i)
		p.Features.Append(x, false)
	}
	slices.SortFunc(p.Links, func(a, b int) int {
		return cmp.Or(cmp.Compare(l.of.Rank[p.Candidates[b]], l.of.Rank[p.Candidates[a]]), cmp.Compare(a, b))
	})
	return p
}

// question returns a candidate as a question, with its values.
func (l *Learner) question(i int, probability float64) Question {
	p := l.of.Pairs[i]
	a, b := l.tables.IDs(p)
	return Question{a, b, probability, explain.ValuesOf(l.tables, namesOf(l.result.Columns), l.judged.Comparer, p)}
}
