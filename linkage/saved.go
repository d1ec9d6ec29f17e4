package linkage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"

	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/judge"
	"github.com/alike-dev/alike/linkage/internal/learn"
	"github.com/alike-dev/alike/linkage/internal/model"
)

// newModel returns a model of the columns of a result, with the evidence of an examiner's model, without labels, and the weights
// of its features; nil: those that change nothing. It has no threshold yet.
func newModel(c *Config, r *Result, e *judge.Examiner, weights []float64) *Model {
	base := e.Model
	m := &Model{Version: modelVersion, OneTable: r.OneTable, Match: r.Match, Weighing: c.Weighing}
	for _, column := range r.Columns {
		m.Fields = append(m.Fields, column.Field)
	}
	m.Base = Base{Prior: base.Prior, Share: base.Share[:len(m.Fields)], Shifts: e.Shifts, BySource: e.ByKinds, Passing: e.Passing}
	if !c.noSources() {
		m.Sources, m.Doubled = c.Sources, c.Doubled
	}
	for f := range base.Width {
		m.Base.Evidence = append(m.Base.Evidence, base.Evidence[f*compare.Levels:(f+1)*compare.Levels])
	}
	names := featureNames(m.Fields)
	if weights == nil {
		weights = learn.Start(len(names))
	}
	for i, name := range names {
		m.Weights = append(m.Weights, Weight{Feature: name, Weight: weights[i]})
	}
	return m
}

// found returns the model by which links were decided, whose least probability is given: that of the configuration, or else
// what the tables have shown without labels. Where the data show that records have one partner, its rule says so.
func found(c *Config, r *Result, e *judge.Examiner, least float64) *Model {
	if c.Model != nil {
		return c.Model
	}
	m := newModel(c, r, e, nil)
	m.Base.Partners = partners(e, r)
	switch {
	case c.Threshold > 0: // least is a similarity
		m.Threshold = 0.5
	case c.Precision > 0: // least is that of a link
		m.Threshold = math.Nextafter(least, 0)
	default:
		m.Threshold = least
	}
	if e.Once.Both() && !c.exclusive() {
		m.Match = Mutual
	}
	return m
}

// partners returns the share of the records of either table that have a partner, if each has one at most; else 0. The share is a little below 1 where all have: the next record may be the first without one.
func partners(e *judge.Examiner, r *Result) (share [2]float64) {
	if r.OneTable {
		return share
	}
	matches, once := model.SumOf(e.Probability), [2]bool{e.Once.Left, e.Once.Right}
	for side, records := range [2]int{r.Left, r.Right} {
		if !once[side] {
			continue
		}
		share[side] = (min(matches, float64(records)) + 0.5) / float64(records+1)
	}
	return share
}

// ReadSaved reads a model for a Matcher, JSON: of Learner.Fit, or in the settings of a join, which may have a least
// similarity, too; 0: they have none.
func ReadSaved(data []byte) (m *Model, threshold float64, err error) {
	var settings struct {
		Learned   *int            `json:"alike_model"`
		Fields    json.RawMessage `json:"fields"`
		Model     json.RawMessage `json:"model"`
		Threshold float64         `json:"threshold"`
	}
	if err := fault.Decode(bytes.NewReader(data), &settings, false); err != nil {
		return nil, 0, fmt.Errorf("no model: %w", err)
	}
	switch {
	case settings.Learned != nil:
		m, err = ReadModel(data)
		return m, 0, err
	case settings.Model == nil && settings.Fields != nil:
		return nil, 0, setting.Errorf("these are settings without a model, as of tables without records, or by an earlier version: let alike join write them again (%s)", setting.SaveConfig)
	case settings.Model == nil:
		return nil, 0, setting.Errorf("no model: let alike learn write one, or alike join (%s)", setting.SaveConfig)
	}
	m, err = ReadModel(settings.Model)
	return m, settings.Threshold, err
}
