package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/internal/bands"
	"github.com/alike-dev/alike/internal/linklist"
	"github.com/alike-dev/alike/internal/noclobber"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/linkage"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/stage"
)

// MakeJoin makes the plan of a join of two tables, or of one table with itself. It chooses the columns that the
// configuration leaves open; for an engine the configuration names files with the beginnings of the tables, to
// choose from. The links are those of linkage.Join.
//
// If each pair can be decided by itself (see byBands), all tasks share that work, else one task decides. With the
// Command stage.Dedup, the plan keeps one record of every cluster, as alike.DedupRecords does. If a plan cannot
// express a setting, the error wraps dedup.ErrUsage.
func MakeJoin(ctx context.Context, c linkage.Config, o PlanOptions) (*Plan, error) {
	if o.Command != stage.Dedup {
		o.Command = stage.Join
	}
	if err := checkJoin(&c, &o); err != nil {
		return nil, fmt.Errorf("%w: %w", dedup.ErrUsage, err)
	}
	p := &joinPlan{Plan: o.plan(), c: c, o: o}
	p.Join = &stage.Tables{Format: listFormat(o.Output)}
	p.Reading = Reading{Format: c.Corpus.Format, MaxRecord: c.Corpus.MaxRecord, Fail: c.Fail, Field: o.Keep.Field()}
	chosen, err := p.chooseColumns(ctx)
	if err != nil {
		return nil, err
	}
	if p.byBands() {
		err = p.decideByBands()
	} else {
		p.decideByRule(chosen)
	}
	if err == nil && o.Command == stage.Dedup {
		err = p.keepOfRecords(ctx)
	}
	if err != nil {
		return nil, err
	}
	p.Join.Sources, p.Tables[0].Fields = chosen.Sources, slices.Concat(p.Tables[0].Fields, chosen.Sources)
	if len(o.Engine) > 0 {
		if c.Right != "" {
			p.Join.RightFile = o.Engine[0]
		}
		p.divideParts(o.Engine)
		if p.Command == stage.Dedup && p.Work != "" {
			p.Partitions, p.Joined = 1, true
		}
		return p.made()
	}
	if err := p.findTables(ctx); err != nil {
		return nil, err
	}
	p.Estimate.ReadRequests, p.Estimate.WriteRequests = p.requests(0)
	return p.made()
}

// joinPlan is the plan of a join in the making.
type joinPlan struct {
	*Plan
	c linkage.Config
	o PlanOptions
}

// listFormat returns how tasks write the lines of a list, from the name of its file. For Parquet they write packed
// rows, from which stage.Publish makes the file.
func listFormat(name string) linklist.Format {
	switch format, _, _ := corpus.NameFormat(name); format {
	case corpus.TSV:
		return linklist.TSV
	case corpus.JSONL:
		return linklist.JSONL
	case corpus.Parquet:
		return linklist.Packed
	}
	return linklist.CSV
}

// keepOfRecords sets the keep rule, and adds the columns that it needs.
func (p *joinPlan) keepOfRecords(ctx context.Context) error {
	p.Keep = p.o.Keep.String()
	columns, id, err := linkage.Columns(ctx, p.c.Left, p.c.LeftID, p.c.Corpus)
	if err != nil {
		return err
	}
	if p.c.LeftID == "" && id != "id" {
		p.Join.Rule.GuessedID = id
	}
	if p.o.Keep.NeedsLength() {
		p.Join.Others = columns
		p.Tables[0].Fields = slices.Concat(p.Tables[0].Fields, columns)
	}
	return nil
}

// findTables finds the files of the tables and divides them among tasks. A task reads files of one table only.
func (p *joinPlan) findTables(ctx context.Context) error {
	c, right := &p.c, 0
	for i, name := range named(c.Left, c.Right) {
		found, err := linkage.TableFiles(ctx, name, c.Corpus)
		if err != nil {
			return err
		}
		if p.Command == stage.Dedup {
			var inputs []string // each file by itself, since a folder may have files that are no tables
			for _, s := range found {
				inputs = append(inputs, s.Input())
			}
			if err := p.findFiles(ctx, dedup.Config{Inputs: inputs, Corpus: c.Corpus}); err != nil {
				return err
			}
		} else {
			for _, s := range found {
				f, err := fileOf(ctx, s, c.Corpus)
				if err != nil {
					return err
				}
				p.Files = append(p.Files, f)
			}
		}
		size := int64(0)
		for _, s := range found {
			size += s.Size
		}
		if p.Join.Rule != nil {
			p.Join.Rule.Originals[i] = linkage.Original{Name: name, Bytes: size}
		}
		p.Estimate.InputBytes += size
		if right == 0 {
			right = len(p.Files)
		}
	}
	p.Estimate.Files = len(p.Files)
	if p.Partitions == 0 {
		p.Partitions = p.partitionsFor(joinedOfInput*p.Estimate.InputBytes, p.Estimate.InputBytes, 0)
	}
	if c.Right != "" {
		p.Join.RightFile = right
	}
	p.FirstFiles = p.cutBehind(p.Join.RightFile, p.Partitions)
	if p.Command == stage.Dedup { // one task decides in any case
		p.Partitions, p.Joined = 1, true
	}
	return nil
}

// named returns the names of the one or two tables.
func named(left, right string) []string {
	if right == "" {
		return []string{left}
	}
	return []string{left, right}
}

// joinedOfInput is how many bytes the tasks of a join exchange, for each byte of the tables.
const joinedOfInput = 50

// checkJoin refuses settings that plans cannot express, and completes the others.
func checkJoin(c *linkage.Config, o *PlanOptions) error {
	switch {
	case o.Command == stage.Dedup && c.Right != "":
		return errors.New("records are kept of one table: name one")
	case len(c.Known) > 0 || c.Considered || c.Evidence > 0:
		return errors.New("links of an earlier run, and evidence, are there on one machine only: leave them out, or use alike join")
	case len(o.Engine) > 0:
		return nil
	case o.Output == "":
		return errors.New("no place for the results: name a file or a URL")
	}
	if o.Work == "" {
		o.Work = beside(o.Output)
	}
	return noclobber.Check([]string{o.Output}, named(c.Left, c.Right))
}

// byBands tells whether pairs are found by bands and each is decided by itself.
func (p *joinPlan) byBands() bool {
	c := &p.c
	return c.Right != "" && c.Match == linkage.All && c.Threshold > 0 && c.Candidates == linkage.LSH &&
		c.Top == 0 && c.Model == nil && c.IDF != linkage.IDFSketch && !p.o.Probability
}

// decideByBands sets how the stages find all pairs that reach a threshold.
func (p *joinPlan) decideByBands() error {
	t, c := p.Join, &p.c
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
		return fmt.Errorf("%w: %w", dedup.ErrUsage,
			setting.Errorf("bands do not find pairs of so little similarity (%s %v) with this recall: take a higher one, or less %s",
				setting.Threshold, c.Threshold, setting.Recall))
	}
	t.Bands, t.Rows = params.Bands, params.Rows
	return err
}

// decideByRule sets the rule by which one task decides.
func (p *joinPlan) decideByRule(chosen *linkage.Chosen) {
	c := &p.c
	p.Join.Rule = &stage.Rule{
		Fields: chosen.Fields, Match: c.Match, Threshold: c.Threshold, Precision: c.Precision, Top: c.Top, Model: c.Model, Probability: p.o.Probability,
		LeftOut: chosen.LeftOut, Notes: chosen.Notes, Doubled: chosen.Doubled, Connected: p.o.Connected, Accept: p.o.Accept, Weighing: c.Weighing, Searching: c.Searching,
	}
	for i, name := range named("left", "right")[:len(p.Tables)] { // findTables replaces these by names of files
		p.Join.Rule.Originals[i].Name = name
	}
}

// chooseColumns chooses the columns, and sets how to read the tables.
func (p *joinPlan) chooseColumns(ctx context.Context) (*linkage.Chosen, error) {
	chosen, err := linkage.Choose(ctx, p.c)
	if err != nil {
		return nil, err
	}
	p.Join.Others = chosen.With
	left, right := Table{IDField: chosen.LeftID}, Table{IDField: chosen.RightID}
	for _, f := range chosen.Fields {
		left.Fields, right.Fields = append(left.Fields, f.Left), append(right.Fields, f.Right)
		p.Join.Columns = append(p.Join.Columns, stage.TableColumn{Tokens: f.Tokens, Weight: f.Weight})
	}
	left.Fields, right.Fields = append(left.Fields, chosen.With...), append(right.Fields, chosen.With...)
	ids := []string{"left_id", "right_id"}
	if p.Tables = []Table{left, right}; p.c.Right == "" {
		p.Tables, ids = p.Tables[:1], []string{"a", "b"}
	}
	if p.Command == stage.Join {
		p.Join.Header = headerOf(ids, chosen.Fields, p.o.Probability, chosen.With)
	}
	return chosen, nil
}

// headerOf returns the names of the columns of the list of links. All are different.
func headerOf(ids []string, fields []linkage.Field, probability bool, with []string) []string {
	var compared []string
	for _, f := range fields {
		compared = append(compared, f.Left)
	}
	return linklist.Names(linklist.Columns(ids, compared, probability, with))
}
