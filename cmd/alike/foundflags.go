package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/report"
)

// foundFlags are about the page of a list of pairs.
type foundFlags struct {
	page, by string
	tables   []string // of entities

	found *report.Found
	file  outputFile
}

func (f *foundFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.page, "report", "", "write a page about the pairs to this `file`, HTML: what other thresholds leave, clusters, verdicts")
	flags.StringVar(&f.by, "by", "", "with --report: count pairs by the values of this `field` of records, too")
}

// check refuses what makes no sense, before the work.
func (f *foundFlags) check() error {
	if f.page == "" && f.by != "" {
		return usagef("--by is about the page of --report: name a file for it")
	}
	return checkEnding("--report", f.page, pageEndings)
}

// begin starts the page of texts.
func (f *foundFlags) begin(c *alike.Config, m measure.Measure, two bool) {
	if f.page == "" {
		return
	}
	of := report.FoundOf{
		Title: "of similar documents", Decided: "Pairs are listed from the threshold of the run on.", Value: "similarity", Of: "documents", Texts: true,
		Two: two, By: f.by, Header: labelNames(true), Directed: m == measure.Containment,
	}
	switch d := c.Decide.(type) {
	case dedup.Similarity:
		if d.Threshold > 0 {
			of.Decided = fmt.Sprintf("Pairs are listed from a similarity of %v on.", d.Threshold)
		}
	case dedup.Distance:
		of.Decided = fmt.Sprintf("Pairs are listed that differ in at most %d bits.", int(d))
	}
	if m != measure.Jaccard {
		of.Value = m.String()
	}
	f.found = report.NewFound(of)
}

// emit returns a function that adds a pair to the page, too.
func (f *foundFlags) emit(list func(alike.Pair) error) func(alike.Pair) error {
	if f.found == nil {
		return list
	}
	return func(p alike.Pair) error {
		f.found.Add(p.A, p.B, p.Similarity, true)
		return list(p)
	}
}

// open opens the file, when it is clear that it is no input.
func (f *foundFlags) open(cmd *cobra.Command) error {
	if f.page == "" {
		return nil
	}
	return f.file.open(cmd, f.page)
}

// end writes the page of texts.
func (f *foundFlags) end(cmd *cobra.Command, c *alike.Config) error {
	if f.found == nil {
		return nil
	}
	f.found.Settle()
	o := c.Corpus
	o.NoText = c.Fingerprints
	err := alike.DescribeFound(cmd.Context(), f.found, c.Inputs, false, o, f.by)
	if with, ok := c.Beside.(dedup.With); ok && err == nil {
		err = alike.DescribeFound(cmd.Context(), f.found, with, true, o, f.by)
	}
	if err == nil {
		err = f.found.Write(&f.file)
	}
	if err == nil {
		err = f.file.commit()
	}
	return f.told(err)
}

func (f *foundFlags) told(err error) error {
	if err != nil {
		return fmt.Errorf("--report: %w", err)
	}
	return nil
}

// records writes the page of links.
func (f *foundFlags) records(cmd *cobra.Command, c alike.JoinConfig, r *alike.JoinResult) error {
	if f.page == "" {
		return nil
	}
	of := report.FoundOf{
		Title: "of records that belong together", Value: "probability", Of: "records", Two: !r.OneTable, By: f.by, Header: labelNames(r.OneTable),
		Decided: fmt.Sprintf("%s candidates were compared; a pair is a link by its probability and the rule %s.", humanize.Comma(int64(r.Candidates)), r.Match),
	}
	found := report.NewFound(of)
	linked := map[[2]string]bool{}
	for l := range r.Links.All() {
		linked[[2]string{string(l.A), string(l.B)}] = true
		found.Add(l.A, l.B, l.Probability, true)
	}
	for _, p := range r.Considered {
		if !linked[[2]string{string(p.A), string(p.B)}] {
			found.Add(p.A, p.B, p.Probability, false)
		}
	}
	found.Settle()
	err := f.describe(cmd.Context(), found, &c)
	if err == nil {
		err = writeOutput(cmd, f.page, func(w io.Writer) error { return found.Write(w) })
	}
	return f.told(err)
}

// describe reads the tables again.
func (f *foundFlags) describe(ctx context.Context, found *report.Found, c *alike.JoinConfig) error {
	if f.tables != nil {
		return alike.DescribeEntities(ctx, found, f.tables, c.LeftID, c.Corpus, f.by)
	}
	err := alike.DescribeRecords(ctx, found, c.Left, c.LeftID, false, c.Corpus, f.by)
	if err == nil && c.Right != "" {
		err = alike.DescribeRecords(ctx, found, c.Right, c.RightID, true, c.Corpus, f.by)
	}
	return err
}

// checkLabels refuses what labels cannot be read from and written to again, such as a device.
func checkLabels(flag, path string) error {
	if at, err := os.Stat(path); err == nil && !at.Mode().IsRegular() {
		return usagef("%s %s is no file: labels are read again, to go on with them; name a file", flag, fault.Shown(path))
	}
	return nil
}

// labelNames are the columns of labels.
func labelNames(oneTable bool) []string {
	if oneTable {
		return []string{"a", "b", "match"}
	}
	return []string{"left_id", "right_id", "match"}
}
