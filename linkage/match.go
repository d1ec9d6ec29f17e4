package linkage

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/alike-dev/alike/internal/sorting"
	"github.com/alike-dev/alike/linkage/internal/columns"
	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/explain"
	"github.com/alike-dev/alike/linkage/internal/held"
	"github.com/alike-dev/alike/linkage/internal/judge"
	"github.com/alike-dev/alike/linkage/internal/learn"
	"github.com/alike-dev/alike/linkage/internal/model"
	"github.com/alike-dev/alike/record"
	"github.com/alike-dev/alike/simjoin"
)

// A MatchAnswer says which records, or entities, are one thing with a record.
type MatchAnswer struct {
	ID string `json:"id"`
	// New says that none of the matches is, as the model decides, or the least similarity of the configuration.
	New     bool      `json:"new"`
	Matches []Matched `json:"matches"` // the most probable ones, the best first; MatchConfig.Top at most
}

// A Matched is a record of the table, or an entity by that record of it which matches best.
type Matched struct {
	Entity      string   `json:"entity,omitempty"` // with MatchConfig.Entities
	ID          string   `json:"id"`               // of the record in the table
	Probability float64  `json:"probability"`      // that the entity, or the record, is one thing with the record asked for
	Similarity  float64  `json:"similarity"`       // of the records as a whole, from 0 to 1
	Evidence    []Reason `json:"evidence"`         // about the record ID; its log odds add up to those of the record's own probability
}

// A Reason is a term of the log odds of a match, in nats, see Step.
type Reason struct {
	Of         StepOf   `json:"of"`
	Column     string   `json:"column,omitempty"` // in the record asked for; of labels, the feature
	Record     string   `json:"record,omitempty"` // the value in the record asked for
	Found      string   `json:"found,omitempty"`  // and in the table
	Similarity *float64 `json:"similarity,omitempty"`
	LogOdds    float64  `json:"log_odds"`
	Rival      string   `json:"rival,omitempty"` // the other record of the table that takes most from the probability
}

// leastTold is the least probability of a match that is told.
const leastTold = 0.001

// Match finds the records of the table that are one thing with a record, of which it gets the values in the order of Columns.
// Any number of goroutines may call it.
func (m *Matcher) Match(ctx context.Context, id string, values [][]byte) (*MatchAnswer, error) {
	s := m.scratch.Get().(*matching)
	defer m.scratch.Put(s)
	guest := s.cutter.Guest(m.kinds, []byte(id), values, m.keptOf(values)...)
	answer := &MatchAnswer{ID: id, New: true, Matches: []Matched{}}
	rows := m.nearest(s, guest)
	if len(rows) == 0 {
		return answer, ctx.Err()
	}
	e, t, err := m.examine(ctx, guest, rows)
	if err != nil {
		return nil, err
	}
	groups := m.grouped(e, t)
	var best []int
	isLink := make([]bool, len(rows))
	for _, g := range groups {
		if m.accepts(e, g) {
			answer.New = false
			isLink[g.best] = true
		}
		best = append(best, g.best)
	}
	o := explain.Options{Columns: m.compared(), Repetitions: m.config.Model.Weighing.Repetitions}
	if m.config.Model.Learned.Strength > 0 {
		o.Weights = m.config.Model.Weights
	}
	for i, of := range explain.Each(e, t, best, isLink, o) {
		g := groups[i]
		found := Matched{Entity: g.entity, ID: m.idOf(t, g.best), Probability: rounded(g.probability), Similarity: rounded(of.Similarity)}
		found.Evidence = m.reasons(&of)
		answer.Matches = append(answer.Matches, found)
	}
	return answer, nil
}

// keptOf returns the values of a record to match in the columns that are kept.
func (m *Matcher) keptOf(values [][]byte) [][]byte {
	kept := make([][]byte, len(m.kept))
	for f, name := range m.own {
		kept[slices.Index(m.kept, name)] = values[f]
	}
	return kept
}

// nearest returns the rows of the table that are most similar to a guest, ascending.
func (m *Matcher) nearest(s *matching, guest *record.Guest) (rows []uint32) {
	var v simjoin.Vector
	for _, token := range m.numbering.Known(guest) {
		if !m.skip(token) {
			v.Features, v.Weights = append(v.Features, token), append(v.Weights, uint32(m.weights[token]))
		}
	}
	if len(v.Features) == 0 {
		return nil
	}
	for _, found := range s.searcher.Search(nil, v) {
		rows = append(rows, found.Index)
	}
	slices.Sort(rows)
	return rows
}

// examine compares a guest with some rows, and judges each pair by the model.
func (m *Matcher) examine(ctx context.Context, guest *record.Guest, rows []uint32) (*judge.Examiner, *held.Tables, error) {
	c := m.config.Model
	t := &held.Tables{Kinds: m.kinds, Kept: m.kept}
	x := m.numbering.Excerpt(&t.Numbering, m.table, rows, len(m.kept), guest)
	t.Set(m.side, x.Rows)
	t.Set(1-m.side, x.Guest)
	in := m.input
	in.Left, in.Right, in.Numbering, in.Rest, in.Threads = t.Left, t.Right, &t.Numbering, m.seen.Rest(&m.numbering, x), 1
	whole, err := compare.NewRecords(ctx, &in)
	if err != nil {
		return nil, nil, err
	}
	comparer, err := compare.NewComparer(ctx, &in)
	if err != nil {
		return nil, nil, err
	}
	if m.scales != nil {
		comparer.UseScales(m.scales, c.Base.Shifts)
	}
	e := &judge.Examiner{Comparer: comparer, Model: m.model(len(rows)), Matchers: whole.NewMatchers(1)}
	e.Once = m.config.Model.Match.once()
	pairs := make([]compare.Pair, len(rows))
	for i := range pairs {
		if m.side == 0 {
			pairs[i].A = uint32(i)
		} else {
			pairs[i].B = uint32(i)
		}
	}
	if e.Found, err = e.Compare(ctx, e.Matchers, pairs); err != nil {
		return nil, nil, err
	}
	if err := e.Judge(ctx); err != nil {
		return nil, nil, err
	}
	if c.Learned.Strength > 0 {
		e.Probability, e.Rank, err = learn.Describe(e).Correct(ctx, c.weights())
	}
	return e, t, err
}

// model returns the model of the candidates of one record. In a join the prior of a candidate follows from all records of
// both tables, which compete for each other; here one record has so many candidates, and as many have a partner as there.
func (m *Matcher) model(candidates int) *model.Model {
	base := m.config.Model.base()
	if share := m.config.Model.Base.Partners[1-m.side]; m.onePartner() && share > 0 {
		base.Prior = model.LogOdds(share) - math.Log(float64(candidates))
	}
	return base
}

// onePartner tells whether a record is one thing with one record of the table at most, as the model was learned.
func (m *Matcher) onePartner() bool {
	once := m.config.Model.Match.once()
	return [2]bool{once.Left, once.Right}[1-m.side]
}

// matchedGroup is the candidates of one entity.
type matchedGroup struct {
	entity      string
	best        int // the candidate with the largest probability
	probability float64
}

// grouped returns the entities of the candidates, the most probable ones, best first. Where a record has one partner, its
// entity is as likely as all of the entity's records together; else it is as likely as the likeliest of them.
func (m *Matcher) grouped(e *judge.Examiner, t *held.Tables) (groups []matchedGroup) {
	together := m.onePartner() && m.config.Model.Learned.Strength == 0
	at := map[string]int{}
	for i, p := range e.Probability {
		entity, known := m.config.Entities[m.idOf(t, i)]
		g, there := at[entity]
		if !known || !there {
			if known {
				at[entity] = len(groups)
			}
			groups = append(groups, matchedGroup{entity, i, p})
			continue
		}
		of := &groups[g]
		if m.likelier(e, i, of.best) {
			of.best = i
		}
		if together {
			of.probability = min(1, of.probability+p)
		} else {
			of.probability = max(of.probability, p)
		}
	}
	sorting.Stable(groups, func(x, y matchedGroup) int {
		return cmp.Or(cmp.Compare(y.probability, x.probability), cmp.Compare(e.Found.Wholes[y.best], e.Found.Wholes[x.best]))
	})
	groups = slices.DeleteFunc(groups, func(g matchedGroup) bool { return g.probability < leastTold && !m.accepts(e, g) })
	return groups[:min(m.config.Top, len(groups))]
}

// likelier tells whether candidate i is likelier than candidate j.
func (m *Matcher) likelier(e *judge.Examiner, i, j int) bool {
	return cmp.Or(cmp.Compare(e.Probability[i], e.Probability[j]), cmp.Compare(e.Found.Wholes[i], e.Found.Wholes[j])) > 0
}

// accepts tells whether an entity is one thing with the record, by the rule of the configuration.
func (m *Matcher) accepts(e *judge.Examiner, g matchedGroup) bool {
	if m.config.Threshold > 0 {
		return e.Matchers[0].Reaches(e.Found.Pairs[g.best], m.threshold)
	}
	return g.probability > m.config.Model.Threshold
}

// reasons returns the evidence about a candidate.
func (m *Matcher) reasons(of *Explained) (list []Reason) {
	column := 0
	for _, step := range of.Steps {
		r := Reason{Of: step.Of, Column: step.Name, LogOdds: rounded(step.LogOdds)}
		switch step.Of {
		case StepColumn:
			v := of.Columns[column].Values
			column++
			r.Column, r.Record, r.Found = v.Left, v.A, v.B
			if m.side == 0 {
				r.Column, r.Record, r.Found = v.Right, v.B, v.A
			}
			if v.Similarity >= 0 {
				s := rounded(v.Similarity)
				r.Similarity = &s
			}
		case StepRivals:
			if of.Rival != nil {
				r.Rival = string([2][]byte{of.Rival.A, of.Rival.B}[m.side])
			}
		}
		list = append(list, r)
	}
	return list
}

func (m *Matcher) compared() (list []columns.Column) {
	for _, f := range m.config.Model.Fields {
		list = append(list, columns.Column{Left: f.Left, Right: f.Right, Kind: f.Tokens})
	}
	return list
}

// idOf returns the id of the row of a candidate.
func (m *Matcher) idOf(t *held.Tables, i int) string { return string(t.All()[m.side].ID(i)) }

// rounded rounds to a millionth.
func rounded(x float64) float64 { return math.Round(x*1e6) / 1e6 }

// What explains why some candidates became links, or not.
type (
	// Evidence shows some candidates, half of them those about which the decision is least certain.
	Evidence = explain.Evidence
	// Explained is the evidence about a candidate.
	Explained = explain.Explained
	// A Rival is the most likely other candidate with either record of a pair.
	Rival = explain.Rival
	// A Step is a term of the log odds of a match, in nats.
	Step = explain.Step
	// StepOf says what a step comes from.
	StepOf = explain.StepOf
	// ColumnEvidence is the evidence of a compared column.
	ColumnEvidence = explain.ColumnEvidence
	// Values are the values of a compared column in both records.
	Values = explain.Values
	// WordEvidence is the evidence of a word of a value, with its 3-grams if the column is cut into them.
	WordEvidence = explain.WordEvidence
)

// The steps, in their order. A step that adds nothing is left out, except columns.
const (
	StepPrior  = explain.StepPrior  // the log odds of any candidate
	StepColumn = explain.StepColumn // the similarity of two values
	StepWhole  = explain.StepWhole  // the similarity of the records as a whole
	StepRivals = explain.StepRivals // other candidates of either record, if it has one partner at most
	StepLabels = explain.StepLabels // a feature whose weight was learned from labels
	StepChance = explain.StepChance // the bound by the scores that records reach by chance
)
