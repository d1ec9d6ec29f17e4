package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/internal/bands"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/linklist"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/linkage"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/stage"
)

// Table says how a table of a Join is read.
type Table struct {
	IDField string   `json:"id_field"` // corpus.NoID: records are named by their numbers
	Fields  []string `json:"fields"`   // that are compared
}

// MakeJoin makes the plan of a join of two tables: it chooses the columns that the configuration leaves
// open. For an engine the configuration names the beginnings of the tables, by which columns are chosen. The
// links are those of linkage.Join; the list says how likely each is if Probability of the options asks for it.
// Where the configuration lets each pair be decided by itself, see byBands, stages find the links, else one
// task does. What plans cannot say is refused: the error wraps dedup.ErrUsage.
func MakeJoin(ctx context.Context, c linkage.Config, o PlanOptions) (*Plan, error) {
	if err := checkJoin(&c, &o); err != nil {
		return nil, fmt.Errorf("%w: %w", dedup.ErrUsage, err)
	}
	o.Command = stage.Join
	p := o.plan()
	p.Join = &stage.Tables{Format: linklist.CSV}
	switch format, _, _ := corpus.NameFormat(o.Output); format {
	case corpus.TSV:
		p.Join.Format = linklist.TSV
	case corpus.JSONL:
		p.Join.Format = linklist.JSONL
	}
	p.Reading = Reading{Format: c.Corpus.Format, MaxRecord: c.Corpus.MaxRecord, Fail: c.Fail}
	fields, err := p.chooseColumns(ctx, c, &o)
	if err != nil {
		return nil, err
	}
	if byBands(&c, &o) {
		err = p.decideByBands(&c)
	} else {
		p.decideByRule(&c, fields, o.Probability)
	}
	if err != nil {
		return nil, err
	}
	if len(o.Engine) > 0 {
		p.Join.RightFile = o.Engine[0]
		p.divideParts(o.Engine)
		return p, p.Settle()
	}
	if err := p.findTables(ctx, c); err != nil {
		return nil, err
	}
	p.Estimate.ReadRequests, p.Estimate.WriteRequests = p.requests()
	return p, p.Settle()
}

// findTables notes the files of both tables as they are now, and gives them to tasks: one reads files of one
// table.
func (p *Plan) findTables(ctx context.Context, c linkage.Config) error {
	var of [2][]File
	for i, name := range []string{c.Left, c.Right} {
		found, err := linkage.TableFiles(ctx, name, c.Corpus)
		if err != nil {
			return err
		}
		for _, s := range found {
			of[i] = append(of[i], fileOf(s))
			p.Estimate.InputBytes += s.Size
		}
	}
	p.Files, p.Join.RightFile = slices.Concat(of[0], of[1]), len(of[0])
	p.Estimate.Files = len(p.Files)
	if p.Partitions == 0 {
		p.Partitions = int(min(max(joinedOfInput*p.Estimate.InputBytes/(p.Memory/2), 1), stage.MaxPartitions))
	}
	p.FirstFiles = Cut(of[0], p.Partitions)
	for _, first := range Cut(of[1], p.Partitions) {
		p.FirstFiles = append(p.FirstFiles, p.Join.RightFile+first)
	}
	return nil
}

// joinedOfInput is how many bytes the tasks of a join hand each other, in times of those of the tables.
const joinedOfInput = 50

// checkJoin tells what plans cannot say.
func checkJoin(c *linkage.Config, o *PlanOptions) error {
	switch {
	case c.Right == "":
		return errors.New("one table is compared with itself on one machine only: name two")
	case len(c.With) > 0 || c.WithAll || len(c.Known) > 0 || c.Considered || c.Evidence > 0:
		return setting.Errorf("columns that are handed on (%s), links of an earlier run and evidence are there on one machine only", setting.With)
	case len(o.Engine) > 0:
		return nil
	case o.Output == "":
		return errors.New("no place for the results: name a file or a URL")
	}
	if format, _, _ := corpus.NameFormat(o.Output); format == corpus.Parquet {
		return fmt.Errorf("links are written as CSV, TSV or JSON lines on several machines: %s names another format", fault.Shown(o.Output))
	}
	if o.Work == "" {
		o.Work = beside(o.Output)
	}
	return dedup.Apart([]string{o.Output}, []string{c.Left, c.Right})
}

// byBands tells whether each pair is decided by itself, and found by bands.
func byBands(c *linkage.Config, o *PlanOptions) bool {
	return c.Match == linkage.All && c.Threshold > 0 && c.Candidates == linkage.LSH &&
		c.Top == 0 && c.Model == nil && c.IDF != linkage.IDFSketch && !o.Probability
}

// decideByBands settles a join of pairs that reach a threshold.
func (p *Plan) decideByBands(c *linkage.Config) error {
	t := p.Join
	t.Measure, t.Threshold, t.SameWeights, t.Repetitions = measure.Cosine, c.Threshold, c.IDF == linkage.IDFNone, c.Repetitions
	if c.Measure == measure.WeightedJaccard {
		t.Measure = c.Measure
	}
	threshold, err := measure.NewThreshold(t.Measure, t.Threshold)
	if err != nil {
		return err
	}
	params, err := bands.Tune(threshold, c.Recall)
	if errors.Is(err, lsh.ErrRecallOutOfReach) || errors.Is(err, lsh.ErrNoBound) {
		return fmt.Errorf("%w: %w", dedup.ErrUsage, setting.Errorf("bands do not find pairs of so little similarity (%s %v) with this recall: take a higher one, or less %s",
			setting.Threshold, c.Threshold, setting.Recall))
	}
	t.Bands, t.Rows = params.Bands, params.Rows
	return err
}

// decideByRule settles a join of which one task decides.
func (p *Plan) decideByRule(c *linkage.Config, fields []linkage.Field, probability bool) {
	p.Join.Rule = &stage.Rule{
		Fields: fields, Match: c.Match, Threshold: c.Threshold, Precision: c.Precision, Top: c.Top, Model: c.Model, Probability: probability,
		Weighing: c.Weighing, Searching: c.Searching,
	}
}

// chooseColumns settles the columns, which it returns, and how tables are read.
func (p *Plan) chooseColumns(ctx context.Context, c linkage.Config, o *PlanOptions) ([]linkage.Field, error) {
	chosen, err := linkage.Choose(ctx, c)
	if err != nil {
		return nil, err
	}
	left, right := Table{IDField: chosen.LeftID}, Table{IDField: chosen.RightID}
	for _, f := range chosen.Fields {
		left.Fields, right.Fields = append(left.Fields, f.Left), append(right.Fields, f.Right)
		p.Join.Columns = append(p.Join.Columns, stage.TableColumn{Tokens: f.Tokens, Weight: f.Weight})
	}
	p.Tables = []Table{left, right}
	p.Join.Header = headerOf(chosen.Fields, o.Probability)
	return chosen.Fields, nil
}

// headerOf returns the names of the columns of the list of links, each another one.
func headerOf(fields []linkage.Field, probability bool) []string {
	var compared []string
	for _, f := range fields {
		compared = append(compared, f.Left)
	}
	return linklist.Names(linklist.Columns([]string{"left_id", "right_id"}, compared, probability, nil))
}
