package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/noclobber"
	"github.com/alike-dev/alike/internal/recipeflags"
)

const dedupHelp = `Keep one document of every cluster of near-duplicates.

Documents at or above the threshold are linked; documents linked directly or
through others are one cluster. The output folder gets

  kept/          the inputs without the removed records, in the same formats and
                 compressions, kept lines byte for byte as they were
  kept.txt       the paths of kept documents that are files of their own; one with
                 control characters, or a quotation mark in front, as a literal of Go
  removed.csv    id,kept_id,similarity: each removed document, and the kept one it is like
  clusters.csv   id,cluster: the members of clusters of two or more
  report.html    a page to look at: similarities, cluster sizes, and removed texts
                 next to those that were kept, with the differences marked
  summary.json   figures of the run, written last: when it exists, all is complete

With --tag every record stays, and says what would be removed; see --help-all.
With --ids-only the output has kept.csv, the ids of kept documents, instead of kept/ and
kept.txt: for records that are already in a table or a database.

A document without an id is named by its file, or file:line; a reference whose name an
input also has is named against://file:line. So a name means one document.

read = kept + removed + skipped, always. An empty document is kept and matches
nothing. The output is the same for any number of threads.`

// dedupNotes are what the help says about topics.
var dedupNotes = map[string]string{
	"similarity": `With --within FIELD records are compared with those that have the same value there, byte for
byte (7 and "7" are one): one run gives what a run of each value would give by the same
--candidates lsh or exact. Records without the field, or with an empty one, are one value.
summary.json counts by value.

  alike dedup crawls/ -o clean/ --within crawl

` + thirdTextsHelp + `
With --measure containment, or max-containment, a document that is inside another one is
removed: the texts with the most different shingles come first, and each is kept unless
--threshold of it is in one that is kept. A text is never removed for a part of it:
--keep decides only between texts of one size. With references, a document inside a
reference is removed. The similarity in removed.csv is the share of the removed text
that is in the kept one.

  alike dedup mails/ -o clean/ --measure containment --threshold 0.9   # quoted in another`,
	"records": `With --records, INPUT is one table, and a cluster is records of one thing, even if no
column of theirs is equal: columns, weights and decision come from the data, as in
alike join; --field names the columns to compare. Then longest and shortest go by the
bytes of all values, and the similarity in removed.csv is that of alike join.

A cluster is split where its own pairs contradict it: pairs that were compared and rejected
count against it, and two records of one are more likely the same than not. --cluster
components takes all that links connect. --source COLUMN names the source of a record: one
that has each thing once, so that no two of its records share a cluster. clusters.csv is
id,cluster,probability: the probability that the two parts of the cluster that fit least are
one thing, empty with --cluster components and star; summary.json has, of the largest
clusters, also the pair that holds these parts together.

Where less than half of the pairs may be right, no record is removed, and the exit status
is 5. --accept takes the result all the same; so do --threshold, --precision and --model.

  alike dedup customers.csv -o clean/ --records --keep longest`,
	"output": `With --tag no record is removed: kept/ has all of them, in the same files and order, each with more
fields: cluster (the name of its first document; its own, if it is alone), cluster_size, duplicate_of
(the record that would be kept instead of it; null, or empty in a table, for one that would be kept),
and similarity to that one. With references there is duplicate_in too, the file of duplicate_of. In
Parquet they are columns with types. --tag-prefix stands before these names; a record or file that
has one of them already ends the run, so that no name stands there twice. Documents that are files or
lines of their own, and with --ids-only all, have their tags in kept.csv. removed.csv is empty.

  alike dedup crawl/ -o tagged/ --tag --tag-prefix alike_`,
	"index": `With --index the documents of an index come before those of the inputs: a document like
one of them is removed, and so is one like a document that was kept before it. Kept
documents are added to the index. So a crawl each week keeps the same documents as all
crawls at once would with --cluster star. The output and the index belong together:
killed at any moment, the same command ends with the same output and adds what is
missing; until then no other command may add to the index (--fresh undoes what this one
has added). clusters.csv has clusters of the inputs only. A record without an id that has
the name of another document of the index is file:line#hash there, and removed.csv calls
that one index://file:line. --measure containment is not for an index: a document would
have to go for a larger one that comes later, and what is in the index stays; alike
search --measure containment lists the documents of an index that contain a text.

  alike dedup week-42/ -o new/ --index corpus.index     # what no week before had`,
}

const dedupExamples = `  alike dedup corpus/ -o clean/
  alike dedup news-*.jsonl.zst -o clean/ --threshold 0.7 --keep longest
  alike dedup train.jsonl -o clean/ --against test.jsonl     # decontaminate`

type dedupFlags struct {
	corpusFlags
	records  recordFlags
	auto     autoRecipe
	output   string
	keep     string
	clusters clusterFlags
	idsOnly  bool
	tags     tagFlags
	noSync   bool
	dryRun   bool
	index    string
	by       string
	accept   bool
}

func (f *dedupFlags) add(own *pflag.FlagSet) {
	own.StringVarP(&f.output, "output", "o", "", "`folder` for the output; must not exist or be empty")
	addKeep(own, &f.keep)
	f.clusters.add(own)
	own.StringVar(&f.index, "index", "", "remove what is like a document of the index in this `folder`, and add what is kept; it is made if missing, and takes a part of --memory from the rest of the run")
	own.BoolVar(&f.noSync, "no-sync", false, "do not wait until the output is on disk: done sooner, but lost or damaged if the power fails within seconds")
	own.BoolVar(&f.idsOnly, "ids-only", false, "write only the ids of what is kept, kept.csv, and no records")
	f.tags.add(own)
	own.StringVar(&f.by, "by", "", "count documents, and removed ones, by the values of this `field` of records, on the page and in the summary")
	own.BoolVar(&f.dryRun, "dry-run", false, "estimate documents, memory, disk and time, and do nothing")
	addAccept(own, &f.accept)
	own.Float64Var(&f.records.join.precision, "precision", 0, "with --records, instead of a threshold: the `share` of pairs in clusters that should be right, as far as the data tell")
	own.StringVar(&f.records.join.model, "model", "", "with --records, which it implies: `file` of a model of alike learn")
	f.auto.add(own)
	f.records.add(own)
	f.corpusFlags.add(own)
	sayDefaults(own)
}

// apply sets which document of a cluster is kept, and where the output goes.
func (f *dedupFlags) apply(cmd *cobra.Command, c *alike.Config) error {
	if f.output == "" {
		return usagef("-o DIR is missing: name a folder for the output")
	}
	c.Output, c.IDsOnly, c.By = f.output, f.idsOnly, f.by
	if err := f.tags.apply(c); err != nil {
		return err
	}
	if f.noSync {
		if c.Work != nil || f.index != "" {
			return usagef("--no-sync leaves nothing from which a killed run could continue: leave --work and an index out, or sync")
		}
		c.Work = dedup.Unsynced{}
	}
	if f.input.json || f.dryRun {
		c.Outputs = append(c.Outputs, "-")
	}
	return f.clusters.apply(cmd, f.keep, c)
}

func newDedup() *cobra.Command {
	var flags dedupFlags
	cmd := &cobra.Command{
		Use:         "dedup INPUT... -o DIR",
		Short:       "Keep one document of every cluster of near-duplicates",
		Long:        dedupHelp,
		Example:     dedupExamples,
		Annotations: dedupNotes,
		Args:        inputs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.auto.check(cmd); err != nil {
				return err
			}
			if flags.records.wanted() {
				return flags.runRecords(cmd, args)
			}
			return flags.run(cmd, args)
		},
	}
	flags.add(cmd.Flags())
	completeChoices(cmd)
	return cmd
}

func (f *dedupFlags) run(cmd *cobra.Command, args []string) (err error) {
	if f.index != "" && f.recipe.Decision.Candidates == recipeflags.Auto {
		f.recipe.Decision.Candidates = recipeflags.LSH // the only way to find documents of an index
	}
	f.input.freshIndex = f.index != ""
	if err := f.records.checkTexts(cmd.Flags()); err != nil {
		return err
	}
	if f.clusters.mode.value == clusterHeld {
		return usagef("--cluster held is about the records of a table: give --records too, or take components, star or whole")
	}
	c, err := f.config(cmd, args)
	if err != nil {
		return err
	}
	if f.auto.wanted() && f.index != "" {
		return usagef("--recipe auto is not for --index, which has a recipe of its own: leave one of them out")
	}
	f.auto.cluster = &f.clusters.mode
	if err := f.auto.apply(cmd, &c, f.input.threads); err != nil {
		return err
	}
	if err := errors.Join(f.records.weigh(cmd.Flags(), &c), f.apply(cmd, &c)); err != nil {
		return err
	}
	if f.index != "" {
		if f.clusters.components(cmd) {
			return usagef("--cluster components is not for --index: whether two documents are connected may depend on one that comes later, and what is in the index stays; leave --cluster out")
		}
		if kept, _ := c.Survivors.(dedup.OnePerCluster); kept.Keep.String() != "first" {
			return usagef("--keep %s: the documents of an index come first and stay, so it can only be first: leave it out", kept.Keep)
		}
		known, err := growing(f.index, c, args, f.input.fresh, f.dryRun)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, known.Close()) }()
		c.Survivors = dedup.NewTo{Known: known}
	}
	if f.dryRun {
		return printPlan(cmd, &f.input, c)
	}
	return f.report(cmd, c, func(c alike.Config) (*alike.Summary, error) { return alike.Dedup(cmd.Context(), c) })
}

// runRecords keeps one record of every cluster of linked records.
func (f *dedupFlags) runRecords(cmd *cobra.Command, args []string) error {
	if err := f.records.check(cmd, args); err != nil {
		return err
	}
	if f.clusters.mode.value == clusterWhole {
		return usagef("--cluster whole looks at texts: of records take held, components or star")
	}
	flags := f.records.joinFlags(cmd, &f.corpusFlags)
	join, err := flags.joinConfig(cmd, args)
	if err != nil {
		return err
	}
	if f.clusters.mode.value == clusterStar && len(join.Verdicts) > 0 {
		return usagef("--cluster star compares with the kept record only, and --verdicts hold among all: take held or components")
	}
	join.Clusters = f.clusters.holds(cmd)
	c := alike.Config{OnError: dedup.OnError(f.input.onError.value), Timings: f.input.timings != "", Outputs: append(flags.writes(), noclobber.StandardError), Reads: flags.reads()}
	if c.Timings {
		c.Outputs = append(c.Outputs, f.input.timings)
	}
	if join.Work != "" {
		c.Work = dedup.WorkFolder{Path: join.Work, Fresh: join.Fresh}
	}
	if err := f.apply(cmd, &c); err != nil {
		return err
	}
	var result *alike.JoinResult
	undecided := false
	err = f.report(cmd, c, func(c alike.Config) (summary *alike.Summary, err error) {
		summary, result, err = alike.DedupRecords(cmd.Context(), c, join, f.accept)
		undecided = err == nil && summary.Undecided
		return summary, err
	})
	if result == nil {
		return err
	}
	err = errors.Join(err, flags.tellChoices(cmd, cmd.ErrOrStderr(), join, result))
	if undecided && (err == nil || errors.Is(err, errSkipped)) {
		return errUndecided
	}
	return err
}

// report runs, and reports progress and the result.
func (f *dedupFlags) report(cmd *cobra.Command, c alike.Config, run func(alike.Config) (*alike.Summary, error)) error {
	done := f.input.follow(cmd, &c)
	f.auto.tell(&c)
	summary, err := run(c)
	if err := done(err); err != nil {
		return err
	}
	if err := printDedup(cmd, &f.input, f.output, summary); err != nil {
		return err
	}
	return f.input.finish(cmd, summary)
}

// printDedup prints the summary: as JSON on standard output when asked for, otherwise in words on
// standard error.
func printDedup(cmd *cobra.Command, f *inputFlags, output string, s *alike.Summary) error {
	if f.json {
		return printJSON(cmd, s)
	}
	if !f.talks() {
		return nil
	}
	stderr := cmd.ErrOrStderr()
	n, what := removedOr(s.Removed, s.Tagged)
	fmt.Fprintf(stderr, "%s read: %s kept, %s %s in %s, %s skipped\n", count(s.Read, "document"),
		humanize.Comma(s.Kept), humanize.Comma(n), what, count(s.Clusters, "cluster"), humanize.Comma(s.Skipped))
	if s.Known > 0 {
		fmt.Fprintf(stderr, "%s of those removed are like a document of the index\n", humanize.Comma(s.Known))
	}
	tellApart(stderr, s.Apart)
	tellWithin(stderr, s.Within, s.By, func(v *dedup.ValueCounts) string { return humanize.Comma(v.Removed) + " " + what })
	tellEntities(stderr, s)
	fmt.Fprintf(stderr, "%s\n", describeSearch(s))
	fmt.Fprintf(stderr, "output in %s after %s\n", fault.Shown(output), describeCost(s))
	return nil
}

// removedOr returns the number of duplicates, and what has become of them: with tags they are kept.
func removedOr(removed int64, tagged *int64) (n int64, what string) {
	if tagged != nil {
		return *tagged, "tagged as duplicates"
	}
	return removed, "removed"
}

// tellWithin says what was found among the values with the most documents; nothing if documents were not counted by a
// field.
func tellWithin(w io.Writer, within, by *dedup.Within, found func(*dedup.ValueCounts) string) {
	how := "within"
	if within != nil {
		by = within
	} else if how = "by"; by == nil {
		return
	}
	const most = 5
	var values []string
	for i := range by.Values[:min(most, len(by.Values))] {
		v := &by.Values[i]
		values = append(values, fmt.Sprintf("%s %s, %s", cmp.Or(fault.Shown(v.Value), `""`), count(v.Documents, "document"), found(v)))
	}
	if more := len(by.Values) - most; more > 0 || by.Others != nil {
		values = append(values, "and more in the summary")
	}
	fmt.Fprintf(w, "%s %s: %s\n", how, fault.Shown(by.Field), strings.Join(values, "; "))
}

// namedEntities is how many of the largest clusters of records are named.
const namedEntities = 3

// tellEntities names the largest clusters of records, and warns of those that look like strangers.
func tellEntities(w io.Writer, s *alike.Summary) {
	var largest []string
	for _, e := range s.LargestEntities[:min(namedEntities, len(s.LargestEntities))] {
		largest = append(largest, fmt.Sprintf("%s of %s (probability %.3f)", fault.Shown(e.Cluster), count(int64(e.Records), "record"), e.Probability))
	}
	if len(largest) > 0 {
		fmt.Fprintf(w, "largest clusters: %s\n", strings.Join(largest, ", "))
	}
	tellDoubtful(w, s.DoubtfulClusters, "clusters.csv")
}

// printPlan prints the estimated cost of a run.
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
	if _, growing := c.Survivors.(dedup.NewTo); growing {
		rows[1][1] += fmt.Sprintf(", of which about %s are like one of the index", humanize.Comma(e.Known))
	}
	if e.CeilingBytes > 0 {
		rows[2][1] += ", of " + size(e.CeilingBytes) + " allowed"
	}
	if e.WorkBytes > 0 {
		rows[3][1] += ", about " + size(e.WorkBytes) + " in the work folder"
	}
	printRows(printed(cmd), rows)
	return nil
}
