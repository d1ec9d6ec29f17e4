package linkage

import (
	"context"
	"slices"

	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/linkage/internal/columns"
)

// Chosen says what a join compares, and how records are named.
type Chosen struct {
	Fields          []Field  // weight and tokens are settled
	LeftID, RightID string   // columns; corpus.NoID: the number of the record
	With            []string // columns of both tables that are passed through
	Sources         []string // found in the one table, see Config.SourcesFound
	Doubled         []string
	LeftOut         []LeftOut
	Notes           []string // what is unusual in the first records of the tables
}

// Choose returns what a join would compare. It reads the beginnings of the tables.
func Choose(ctx context.Context, c Config) (*Chosen, error) {
	if err := c.complete(); err != nil {
		return nil, err
	}
	left, right, err := findTables(ctx, &c)
	if err != nil {
		return nil, err
	}
	r := &Result{}
	if err := chooseColumns(ctx, &c, left, right, r); err != nil {
		return nil, err
	}
	chosen := &Chosen{LeftID: left.options.IDField, RightID: right.options.IDField, With: c.With, LeftOut: r.LeftOut, Notes: r.Notes}
	if c.SourcesFound {
		chosen.Sources, chosen.Doubled = c.Sources, c.Doubled
	}
	for _, column := range r.Columns {
		chosen.Fields = append(chosen.Fields, column.Field)
	}
	return chosen, nil
}

// sampleRows is the number of first rows of a table that show what its columns hold.
const sampleRows = 5000

// chooseColumns decides which columns are compared, and how they are cut.
func chooseColumns(ctx context.Context, c *Config, left, right *source, result *Result) error {
	l, err := left.look(ctx, result)
	if err != nil {
		return err
	}
	r := l
	if right != left {
		if r, err = right.look(ctx, result); err != nil {
			return err
		}
	}
	if len(c.Fields) > 0 {
		result.Columns, err = byHand(c.Fields, l, r, left, right)
		return err
	}
	if len(c.Same) > 0 && len(c.Sources) == 0 {
		c.Sources = []string{NoSource}
	}
	chosen, err := columns.Choose(ctx, l, r, c.Sources, c.Table)
	if err != nil {
		return err
	}
	if len(c.Sources) == 0 {
		c.SourcesFound, c.Doubled = true, chosen.Doubled
	}
	result.LeftOut, c.Sources = append(result.LeftOut, chosen.LeftOut...), chosen.Sources
	for _, column := range chosen.Columns {
		for _, part := range columns.Parts(column.Kind) {
			result.Columns = append(result.Columns, Column{Field: Field{Left: column.Left, Right: column.Right, Weight: 1, Tokens: part}})
		}
	}
	return result.checkColumns(left, right)
}

// look returns a sample of a table, and notes in the result what is unusual in it.
func (s *source) look(ctx context.Context, r *Result) (*columns.Sample, error) {
	rows, all, err := s.sample(ctx, sampleRows)
	if err != nil {
		return nil, err
	}
	sample := &columns.Sample{Names: s.columns, ID: s.id, Rows: rows}
	if !all {
		sample.Akin = func(of []int) ([][][]byte, error) { return s.akin(ctx, of, sampleRows) }
	}
	return sample, s.note(ctx, rows, r)
}

// checkColumns returns an error if no column is compared. It says why.
func (r *Report) checkColumns(left, right *source) error {
	var reasons []string
	for _, u := range r.LeftOut {
		reasons = append(reasons, fault.Shown(u.Name)+" "+u.Reason)
	}
	switch {
	case len(r.Columns) > 0:
	case len(reasons) > 0:
		tables := fault.Shown(left.name)
		if right.name != left.name {
			tables += " and " + fault.Shown(right.name)
		}
		return setting.Errorf("no column of %s tells records apart: %s; say which to compare (%s)", tables, fault.List(reasons), setting.Field)
	default:
		separators := ""
		if len(left.columns) == 1 || len(right.columns) == 1 {
			separators = "columns of CSV are separated by commas, semicolons, tabs or vertical bars, those of TSV by tabs: convert a table with others, or "
		}
		return setting.Errorf("%s and %s have no column in common: the first has %s, the second %s; %ssay which belong together (%s left=right)",
			fault.Shown(left.name), fault.Shown(right.name), fault.List(left.columns), fault.List(right.columns), separators, setting.Field)
	}
	return nil
}

// byHand returns the columns that the user named.
func byHand(fields []Field, l, r *columns.Sample, left, right *source) (list []Column, err error) {
	for _, f := range fields {
		if f.Right == "" {
			f.Right = f.Left
		}
		if f.Weight == 0 {
			f.Weight = 1
		}
		if !slices.Contains(l.Names, f.Left) {
			return nil, setting.Errorf("%s has no column %q, there are: %s (%s)", fault.Shown(left.name), f.Left, fault.List(left.columns), setting.Field)
		}
		if !slices.Contains(r.Names, f.Right) {
			return nil, setting.Errorf("%s has no column %q, there are: %s (%s left=right)", fault.Shown(right.name), f.Right, fault.List(right.columns), setting.Field)
		}
		if f.Tokens == "" {
			f.Tokens = columns.Kind(l, r, f.Left, f.Right)
		}
		for _, part := range columns.Parts(f.Tokens) {
			f.Tokens = part
			list = append(list, Column{Field: f})
		}
	}
	return list, nil
}
