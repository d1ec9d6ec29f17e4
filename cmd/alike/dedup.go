package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/measure"
)

const dedupHelp = `Keep one document of every cluster of near-duplicates.

Documents at or above the threshold are connected, and what is connected is one
cluster. The output folder gets

  kept/          the inputs without the removed records, in the same formats and
                 compressions, kept lines byte for byte as they were
  kept.txt       the paths of kept documents that are files of their own; one with
                 control characters, or a quotation mark in front, as a literal of Go
  removed.csv    id,kept_id,similarity: what was removed, and for which document
  clusters.csv   id,cluster: the members of clusters of two or more
  summary.json   the account of the run, written last: where it is, all is there

With --ids-only there is kept.csv, the ids of what is kept, in place of kept/ and
kept.txt: for who has the records at hand, in a table or a database.

By --measure containment, or max-containment, what is inside another document
goes: largest texts first, by their number of different shingles, each is kept
unless --threshold of it is in one that is kept. A text is never removed for a
part of it: --keep decides between texts of one size only. Against references,
what is inside a reference goes. The similarity in removed.csv is the share of the
removed text that is in the kept one.

A document without an id is named by its file, or file:line; a reference whose
name an input has too is against://file:line. A name means one document.

read = kept + removed + skipped, always. An empty document is kept and matches
nothing. The output is the same for any number of threads.`

const dedupExamples = `  alike dedup corpus/ -o clean/
  alike dedup news-*.jsonl.zst -o clean/ --threshold 0.7 --keep longest
  alike dedup train.jsonl -o clean/ --against test.jsonl     # decontaminate
  alike dedup mails/ -o clean/ --measure containment --threshold 0.9   # quoted in another
  zcat dump.gz | alike dedup - -o clean/ --format lines --json`

func newDedup() *cobra.Command {
	var flags corpusFlags
	var output, keep string
	mode := choose("components", "star")
	var against []string
	var dryRun, idsOnly bool
	cmd := &cobra.Command{
		Use:     "dedup INPUT... -o DIR",
		Short:   "Keep one document of every cluster of near-duplicates",
		Long:    dedupHelp,
		Example: dedupExamples,
		Args:    inputs,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := flags.config(cmd, args)
			if err != nil {
				return err
			}
			if output == "" {
				return usagef("-o DIR is missing: name a folder for the output")
			}
			c.Output, c.Against, c.IDsOnly = output, against, idsOnly
			if flags.input.json {
				c.Outputs = append(c.Outputs, "-")
			}
			if c.Keep, err = cluster.ParseKeep(keep); err != nil {
				return usageError{err}
			}
			c.Star = mode.value == "star"
			if byParts := c.Measure == measure.Containment || c.Measure == measure.MaxContainment; byParts && cmd.Flags().Changed("cluster") && !c.Star {
				return usagef("--cluster components is not for --measure %s: texts that are parts of one long text are not alike; leave --cluster out", c.Measure)
			}
			if dryRun {
				return printPlan(cmd, &flags.input, c)
			}
			done := flags.input.follow(cmd, &c)
			summary, err := alike.Dedup(cmd.Context(), c)
			done(err)
			if err != nil {
				return err
			}
			if err := printDedup(cmd, &flags.input, output, summary); err != nil {
				return err
			}
			return flags.input.finish(cmd, summary)
		},
	}
	own := cmd.Flags()
	own.StringVarP(&output, "output", "o", "", "`folder` for the output; must not exist or be empty")
	own.StringVar(&keep, "keep", "first", "which document of a cluster stays: first, last, longest, shortest, max:FIELD or min:FIELD")
	own.StringArrayVar(&against, "against", nil, "reference `input`: remove what is like a document of it; repeatable")
	own.Var(&mode, "cluster", "components (whatever is connected) or star (only what is similar to the kept document itself)")
	own.BoolVar(&idsOnly, "ids-only", false, "write the ids of what is kept, kept.csv, and no records")
	own.BoolVar(&dryRun, "dry-run", false, "say what documents, memory, disk and time it will take, and do nothing")
	flags.add(own)
	cmd.Flags().SortFlags = false // in the order of the work
	completeChoices(cmd)
	return cmd
}

// printDedup prints the summary: as JSON on standard output when asked for,
// else in words on standard error.
func printDedup(cmd *cobra.Command, f *inputFlags, output string, s *alike.Summary) error {
	if f.json {
		return printJSON(cmd, s)
	}
	if !f.talks() {
		return nil
	}
	stderr := cmd.ErrOrStderr()
	fmt.Fprintf(stderr, "%s read: %s kept, %s removed in %s, %s skipped\n", count(s.Read, "document"),
		humanize.Comma(s.Kept), humanize.Comma(s.Removed), count(s.Clusters, "cluster"), humanize.Comma(s.Skipped))
	fmt.Fprintf(stderr, "%s\n", describeSearch(s))
	fmt.Fprintf(stderr, "output in %s after %s\n", fault.Shown(output), describeCost(s))
	return nil
}

// printPlan says what a run would take.
func printPlan(cmd *cobra.Command, f *inputFlags, c alike.Config) error {
	e, err := alike.MakePlan(cmd.Context(), c)
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(cmd, e)
	}
	size := func(n int64) string { return humanize.IBytes(uint64(n)) }
	rows := [][2]string{
		{"input", fmt.Sprintf("%s of %s", count(int64(e.Files), "file"), size(e.InputBytes))},
		{"documents", "about " + humanize.Comma(e.Documents)},
		{"memory", "about " + size(e.MemoryBytes)},
		{"disk", "up to " + size(e.OutputBytes) + " of output"},
		{"time", fmt.Sprintf("about %s", (time.Duration(e.Seconds*1e3) * time.Millisecond).Round(100*time.Millisecond))},
	}
	if e.CeilingBytes > 0 {
		rows[2][1] += ", of " + size(e.CeilingBytes) + " allowed"
	}
	if e.WorkBytes > 0 {
		rows[3][1] += ", about " + size(e.WorkBytes) + " in the work folder"
	}
	for _, row := range rows {
		fmt.Fprintf(cmd.OutOrStdout(), "%-10s %s\n", row[0], row[1])
	}
	return nil
}

// count puts a number and the word for what was counted together.
func count(n int64, word string) string {
	if n != 1 {
		word += "s"
	}
	return humanize.Comma(n) + " " + word
}

func describeSearch(s *alike.Summary) string {
	if s.Decision != "" {
		return fmt.Sprintf("%s, %d keys a document", s.Decision, s.Bands)
	}
	similarity := cmp.Or(s.Measure, "similarity")
	if s.Sample > 0 {
		return fmt.Sprintf("%s ≥ %v, samples of %d features, expected recall %.4f at the threshold", similarity, s.Threshold, s.Sample, s.ExpectedRecall)
	}
	if s.Bands == 0 {
		return fmt.Sprintf("%s ≥ %v, exact join", similarity, s.Threshold)
	}
	if s.Verify == string(dedup.VerifyNone) {
		return fmt.Sprintf("%d bands of %d rows decide, which find %.4f of the pairs at %v", s.Bands, s.Rows, s.ExpectedRecall, s.Threshold)
	}
	return fmt.Sprintf("%s ≥ %v, %d bands of %d rows, expected recall %.4f at the threshold",
		similarity, s.Threshold, s.Bands, s.Rows, s.ExpectedRecall)
}

func describeCost(s *alike.Summary) string {
	cost := fmt.Sprintf("%.2f s", s.Seconds)
	for _, stage := range s.Stages {
		if stage.Name == "read" && s.Seconds > 0.1 { // a rate of less says nothing
			cost += fmt.Sprintf(", %.0f MB/s", float64(stage.Bytes)/1e6/s.Seconds)
		}
	}
	if s.PeakMemoryBytes > 0 {
		cost += ", " + humanize.IBytes(uint64(s.PeakMemoryBytes)) + " of memory at most"
	}
	return cost
}

func printJSON(cmd *cobra.Command, v any) error {
	e := json.NewEncoder(cmd.OutOrStdout())
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
