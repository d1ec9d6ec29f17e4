package linkage

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/linkage/internal/closeness"
	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/find"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/record"
	"github.com/alike-dev/alike/simjoin"
	"github.com/alike-dev/alike/topk"
)

// MatchConfig says among which records a Matcher finds those of a record, and how. Model and Table must be set.
type MatchConfig struct {
	Model     *Model         // Result.Model, or learned by Learner.Fit
	Table     string         // see TableFiles
	ID        string         // column of the ids, as Config.LeftID
	Corpus    corpus.Options // how the table is read
	Threshold float64        // least similarity of a match; 0: the model's probability decides
	Top       int            // most matches of an answer; 0: DefaultTop
	// Entities has the entity of each record by its id; nil: each record is one of its own. Records that are not there are
	// too.
	Entities map[string]string
	Threads  int // to read the table; 0: all processors
	Fail     bool
	OnSkip   func(*corpus.Problem) // is called for each record of the table that cannot be read, unless Fail ends the work
}

// DefaultTop is MatchConfig.Top if that is 0.
const DefaultTop = 3

// A Matcher finds the records of a table that are one thing with a record, by a model. It holds the table in memory, and is
// safe for concurrent use.
//
//	open   the table's rows → tokens and values with numbers, an index of weighted tokens
//	match  a record → tokens → the most similar rows (package topk) → an excerpt of these rows and the record, compared and
//	       judged as a join of both tables would → answer
type Matcher struct {
	config    MatchConfig
	kinds     []record.Kind
	own       []string // columns of a record to match, as Columns
	idColumn  string   // of the table; "": its records are numbered
	kept      []string // all columns, whose values are kept for the evidence
	side      int      // of the table in the model: 0 or 1
	table     *record.Table
	numbering record.Numbering
	input     compare.Input
	seen      *compare.Frequencies
	weights   record.Weights
	wordsOnly bool
	index     *topk.Index
	scales    []*closeness.Scale // of each column, nil: none; nil if there are none at all
	threshold measure.Threshold  // of Config.Threshold
	scratch   sync.Pool          // of *matching
}

// matching is the scratch of one goroutine.
type matching struct {
	cutter   *record.Cutter
	searcher *topk.Searcher
}

// OpenMatcher reads a table, and indexes it. O(tokens of the table).
func OpenMatcher(ctx context.Context, c MatchConfig) (*Matcher, error) {
	if c.Model == nil {
		return nil, setting.Errorf("no model (%s)", setting.Model)
	}
	if err := c.Model.check(); err != nil {
		return nil, err
	}
	if !(c.Threshold >= 0 && c.Threshold <= 1) {
		return nil, setting.Errorf("%s is %v: take a similarity above 0 and up to 1", setting.Threshold, c.Threshold)
	}
	if c.Top < 0 {
		return nil, setting.Errorf("%s is %d: take 1 or more", setting.Top, c.Top)
	}
	if c.Top == 0 {
		c.Top = DefaultTop
	}
	m := &Matcher{config: c}
	settings := Config{Weighing: c.Model.Weighing, Threads: cmp.Or(max(0, c.Threads), runtime.GOMAXPROCS(0))}
	if c.Threshold > 0 {
		var err error
		if m.threshold, err = measure.NewThreshold(settings.scale().Measure, c.Threshold); err != nil {
			return nil, err
		}
	}
	if err := m.read(ctx, settings.Threads); err != nil {
		return nil, err
	}
	m.input = compare.Input{
		Left: m.table, Numbering: &m.numbering, Kinds: m.kinds, Scale: settings.scale(), Weigh: settings.weigh, Threads: settings.Threads, Room: math.MaxInt64,
		OneKind: c.Model.OneTable, Passing: c.Model.Base.Passing,
	}
	for _, f := range c.Model.Fields {
		m.input.Columns = append(m.input.Columns, f.Weight)
	}
	if err := m.build(ctx); err != nil {
		return nil, err
	}
	m.scratch.New = func() any {
		s := &matching{cutter: record.NewCutter(), searcher: m.index.NewSearcher()}
		s.cutter.Repetitions = c.Model.Weighing.Repetitions
		return s
	}
	return m, nil
}

// Columns are the names of the values of a record to match, in their order.
func (m *Matcher) Columns() []string { return m.own }

// IDColumn is the column of the table's ids; "": its records are named by their numbers.
func (m *Matcher) IDColumn() string { return m.idColumn }

// Records returns how many records the table has.
func (m *Matcher) Records() int { return m.table.Rows() }

// read reads the columns of the table that the model compares.
func (m *Matcher) read(ctx context.Context, threads int) error {
	c := &m.config
	s, err := findSource(ctx, c.Table, c.ID, c.Corpus)
	if err != nil {
		return err
	}
	var names [2][]string
	for _, f := range c.Model.Fields {
		names[0], names[1] = append(names[0], f.Left), append(names[1], f.Right)
		m.kinds = append(m.kinds, f.Tokens)
	}
	if m.side, err = sideOf(s, names); err != nil {
		return err
	}
	m.idColumn = s.id
	m.own, m.kept = names[1-m.side], withAll(nil, names[0], names[1])
	for _, evidence := range c.Model.Base.Evidence {
		m.numbering.Openings = m.numbering.Openings || compare.HasClose(evidence)
	}
	m.table = record.NewTable(len(m.kinds), &m.numbering)
	of := &reader{source: s, kinds: m.kinds, repetitions: c.Model.Weighing.Repetitions, table: m.table, grown: func() error { return nil }}
	of.onSkip = func(p *corpus.Problem) error {
		if c.Fail {
			return p
		}
		if c.OnSkip != nil {
			c.OnSkip(p)
		}
		return nil
	}
	return of.read(ctx, threads, names[m.side], m.kept)
}

// sideOf returns the side of a model's columns that a table has: the right one, if it may be either.
func sideOf(s *source, names [2][]string) (side int, err error) {
	missing := func(names []string) (list []string) {
		for _, name := range names {
			if !slices.Contains(s.columns, name) {
				list = append(list, name)
			}
		}
		return list
	}
	of := [2][]string{missing(names[0]), missing(names[1])}
	switch {
	case len(of[1]) == 0:
		return 1, nil
	case len(of[0]) == 0:
		return 0, nil
	}
	if len(of[0]) < len(of[1]) {
		side = 0
	} else {
		side = 1
	}
	return 0, setting.Errorf("%s lacks %s, which the model compares; it has: %s", fault.Shown(s.name), strings.Join(of[side], ", "), fault.List(s.columns))
}

// build weighs the tokens of the table, and makes the index.
func (m *Matcher) build(ctx context.Context) (err error) {
	if m.seen, err = compare.NewFrequencies(ctx, &m.input); err != nil {
		return err
	}
	if m.weights, err = m.seen.Weights(&m.input); err != nil {
		return err
	}
	m.wordsOnly = m.table.Rows() > manyRecords
	vectors := &simjoin.Vectors{}
	whole := compare.WeightedRecords(&m.input, m.weights)
	rows := func(yield func(uint32) bool) {
		for i := range uint32(m.table.Rows()) {
			if i%readAtOnce == 0 && ctx.Err() != nil || !yield(i) {
				return
			}
		}
	}
	if err := whole.AddVectors(m.table, rows, m.skip, vectors.Append); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if m.index, err = topk.NewIndex(vectors, topk.Options{Measure: m.input.Scale.Measure, K: mostCompared}); err != nil {
		return fmt.Errorf("%s: %w", fault.Shown(m.config.Table), err)
	}
	if m.numbering.Openings {
		m.scales = make([]*closeness.Scale, len(m.kinds))
		for f := range m.scales {
			if column := m.numbering.Column(f); m.kinds[f].Measured() && compare.HasClose(m.config.Model.Base.Evidence[f]) {
				m.scales[f] = scaleOf(column, m.config.Model.Base.Shifts, f, m.side)
			}
		}
	}
	return nil
}

// scaleOf returns the scale of a column of one side's values, which are shifted against those of the other side.
func scaleOf(column *record.Column, shifts []Shift, f, side int) *closeness.Scale {
	if shifts == nil || shifts[f] == (Shift{}) {
		return closeness.NewScale(column.Points(), column.Counts())
	}
	var counts [2][]uint32
	counts[side] = column.Counts()
	return closeness.NewShiftedScale(column.Points(), counts, shifts[f])
}

// readAtOnce is how many rows are indexed until it is asked whether the context has ended.
const readAtOnce = 1 << 14

// mostCompared is how many rows are compared with a record: those most similar by their weighted tokens. A join looks at ten
// in either direction.
const mostCompared = 2 * find.FirstK

// skip tells whether a token says too little to search by: a gram, if there are many records.
func (m *Matcher) skip(token uint32) bool { return m.wordsOnly && m.numbering.IsGram(token) }
