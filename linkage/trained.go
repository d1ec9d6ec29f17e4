package linkage

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/linkage/internal/closeness"
	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/learn"
	"github.com/alike-dev/alike/linkage/internal/model"
)

// A Model is the result of learning from labels: which columns are compared and how, the evidence of each of their
// levels, and the correction by labels. Its JSON is stable: later versions read the files of this one.
type Model struct {
	Version   int      `json:"alike_model"` // modelVersion
	Fields    []Field  `json:"fields"`
	OneTable  bool     `json:"one_table"`
	Match     Match    `json:"match"`
	Weighing  Weighing `json:"weighing"`
	Sources   []string `json:"sources,omitempty"` // columns that name the sources of records, where the table has them
	Doubled   []string `json:"doubled,omitempty"` // sources that have things twice, see Config.Doubled
	Threshold float64  `json:"threshold"`         // pairs that are more probable than this are links
	Learned   Learned  `json:"learned"`
	Base      Base     `json:"base"`
	Weights   []Weight `json:"weights"` // log odds of a match are the sum of weights times features
}

// modelVersion is 4 since records that have a rare word have levels of their own, and 3 since texts do in which words stand in each
// other's place. Models of versions 2 and 3 are read.
const modelVersion = 4

// Weight is the weight of a feature of a pair: Feature and Weight.
type Weight = learn.Weight

// Base is the model without labels, of the tables from which the Model was learned.
type Base struct {
	Prior float64 `json:"prior"` // log odds of a candidate
	// Partners is the share of the left and of the right records that have a partner, if they have one at most. A Matcher
	// needs it; 0: not known.
	Partners [2]float64  `json:"partners,omitzero"`
	Share    []float64   `json:"share"`    // of each column, how much of what it tells no other does
	Evidence [][]float64 `json:"evidence"` // of each column, then of the records as a whole, by level
	// BySource says that a record has one partner of each source of the only table.
	BySource bool `json:"by_source,omitempty"`
	// Shifts are by how much the numbers or dates of a column of the right table exceed those of the left one; nil: by nothing.
	Shifts []Shift `json:"shifts,omitempty"`
	// Passing are, of each column, the hashes of words that tell nothing by standing in each other's place; nil: there are none.
	Passing [][]uint64 `json:"passing,omitempty"`
}

// A Shift is a difference, or the logarithm of a factor: Ratio and By.
type Shift = closeness.Shift

// Learned says what a model was learned from, and its quality by cross-validation.
type Learned struct {
	Matches  int     `json:"matches"`         // labelled pairs that belong together
	Others   int     `json:"others"`          // and that do not
	Missed   int     `json:"missed"`          // matches that are not among the candidates: no model finds them
	Unknown  int     `json:"unknown"`         // labels of records that are not there
	Strength float64 `json:"strength"`        // by which labels are held back; 0: they changed nothing
	Without  Scores  `json:"without"`         // of the decision without labels, among the labelled pairs
	Cross    Scores  `json:"cross_validated"` // of the model, each pair by the labels of other records
}

// Scores measure how well a decision agrees with labels: precision, recall, F1, and the mean loss in nats.
type Scores = learn.Scores

// ReadModel returns the model in a JSON text.
func ReadModel(data []byte) (*Model, error) {
	m := &Model{}
	if err := fault.Decode(bytes.NewReader(data), m, false); err != nil {
		return nil, fmt.Errorf("no model: %w", err)
	}
	if m.Version == 2 || m.Version == 3 {
		m.update()
	}
	return m, m.check()
}

// update gives a model of an earlier program the evidence of levels that are new.
func (m *Model) update() {
	m.Version = modelVersion
	for f, evidence := range m.Base.Evidence {
		m.Base.Evidence[f] = compare.WithExchanged(evidence)
	}
	if last := len(m.Base.Evidence) - 1; last > 0 && len(m.Base.Evidence[last]) == compare.Levels {
		m.Base.Evidence[last] = compare.WithRare(m.Base.Evidence[last])
	}
}

// check returns an error that says what is wrong with a model.
func (m *Model) check() error {
	columns := len(m.Fields)
	switch {
	case m.Version == 0:
		return errors.New("no model: alike_model is missing")
	case m.Version != modelVersion:
		return fmt.Errorf("the model is of version %d, and this program knows %d: learn it again", m.Version, modelVersion)
	case columns == 0:
		return errors.New("the model compares no fields")
	case len(m.Base.Share) != columns || len(m.Base.Evidence) != columns+1:
		return fmt.Errorf("the model has %d fields, %d shares and the evidence of %d: not what was learned", columns, len(m.Base.Share), len(m.Base.Evidence))
	case m.Base.Shifts != nil && len(m.Base.Shifts) != columns:
		return fmt.Errorf("the model has %d fields and %d shifts: not what was learned", columns, len(m.Base.Shifts))
	case m.Base.Passing != nil && len(m.Base.Passing) != columns:
		return fmt.Errorf("the model has %d fields, and passing words of %d: not what was learned", columns, len(m.Base.Passing))
	case !(m.Threshold >= 0 && m.Threshold < 1):
		return fmt.Errorf("the model's threshold is %v: take a probability from 0 to below 1", m.Threshold)
	}
	for _, e := range m.Base.Evidence {
		if len(e) != compare.Levels {
			return fmt.Errorf("the model has %d levels of a field, and this program knows %d: learn it again", len(e), compare.Levels)
		}
	}
	names := featureNames(m.Fields)
	if len(m.Weights) != len(names) {
		return fmt.Errorf("the model has %d weights, and its fields have %d features: learn it again", len(m.Weights), len(names))
	}
	for i, w := range m.Weights {
		if w.Feature != names[i] {
			return fmt.Errorf("weight %d of the model is of %q, want %q: learn it again", i+1, w.Feature, names[i])
		}
	}
	if err := m.checkNumbers(); err != nil {
		return err
	}
	if err := (Config{Left: "-", Match: m.Match, Fields: m.Fields, Weighing: m.Weighing}).Validate(); err != nil {
		return fmt.Errorf("the model's settings: %w", err)
	}
	return nil
}

// mostLogOdds bounds the numbers of a model, all of which are log odds or factors of them. Learned ones are below a
// thousand; sums of numbers up to this bound are exact enough to decide by.
const mostLogOdds = 1e6

// checkNumbers returns an error that names a number of the model that is not finite, or out of bounds.
func (m *Model) checkNumbers() (err error) {
	check := func(least, most, x float64, name string, args ...any) {
		if err == nil && !(x >= least && x <= most) { // also refuses NaN
			err = fmt.Errorf("the model's %s is %v: take a number from %g to %g, or learn it again", fmt.Sprintf(name, args...), x, least, most)
		}
	}
	check(-mostLogOdds, mostLogOdds, m.Base.Prior, "base.prior")
	for side, x := range m.Base.Partners {
		check(0, 1, x, "base.partners[%d]", side)
	}
	for f, x := range m.Base.Share {
		check(0, 1, x, "base.share[%d]", f)
	}
	for f, levels := range m.Base.Evidence {
		for l, x := range levels {
			check(-mostLogOdds, mostLogOdds, x, "base.evidence[%d][%d]", f, l)
		}
	}
	for _, w := range m.Weights {
		check(-mostLogOdds, mostLogOdds, w.Weight, "weight of %q", w.Feature)
	}
	check(0, math.Inf(1), m.Learned.Strength, "learned.strength")
	return err
}

// base returns the model without labels. What its tables did not show is completed, see model.FillUnseen.
func (m *Model) base() *model.Model {
	b := &model.Model{Width: len(m.Fields) + 1, Prior: m.Base.Prior, Share: append(slices.Clone(m.Base.Share), 1), Evidence: slices.Concat(m.Base.Evidence...)}
	b.FillUnseen()
	return b
}

func (m *Model) weights() (w []float64) {
	for _, weight := range m.Weights {
		w = append(w, weight.Weight)
	}
	return w
}

// featureNames returns the names of the features, for reading.
func featureNames(fields []Field) []string {
	columns := make([]string, len(fields))
	for i, f := range fields {
		columns[i], _ = f.Names()
	}
	return learn.Names(columns)
}
