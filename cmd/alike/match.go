package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/linkage"
)

const matchHelp = `Find, for each record on standard input, the records of a table that are one thing
with it: one person, product or place. The table is read once; each record is answered as
soon as it arrives, in order.

MODEL is the file of alike join --save-config, or a model of alike learn. The table needs
the columns that it compares, by their names in either table of the join; a record has
those of the other one, and what it lacks is a missing value.

The input is JSON Lines, or with --format csv or tsv a table with a header. An answer is a
JSON object on a line: id; new, which says that none of the matches is sure enough to be the
same; matches, the most probable first, with id, probability, similarity of the records and
evidence, whose log_odds add up. SIGTERM ends the command after the answer that it is at. With
--entities, which alike entities has written, an answer has entities, each once, by its most
probable record.`

const matchExamples = `  alike join crm.csv register.csv --save-config model.json -o links.csv
  tail -F new.jsonl | alike match model.json register.csv
  alike match model.json register.csv --format csv < new.csv > answers.jsonl`

// matchFlags are the flags of alike match.
type matchFlags struct {
	entities  string
	idField   string
	top       int
	format    choice
	maxRecord string
	onError   choice
	skipped   string
	threads   int
	quiet     bool
}

func newMatch() *cobra.Command {
	var f matchFlags
	cmd := &cobra.Command{
		Use:     "match MODEL TABLE",
		Short:   "Find the records of a table that are one thing with each on standard input",
		Long:    matchHelp,
		Example: matchExamples,
		Args:    arguments(2, 2, "name the model, and the table"),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.entities, "entities", "", "`file` of alike entities: answers are entities of the table's records")
	flags.IntVar(&f.top, "top", linkage.DefaultTop, "most matches of an answer")
	flags.StringVar(&f.idField, "id-field", "", "`column` with the ids, of the table and of the records; - numbers them (default: id, else the first column of the table)")
	f.format = choose(corpus.JSONL, corpus.CSV, corpus.TSV)
	flags.Var(&f.format, "format", "of the records on standard input: jsonl, csv or tsv")
	flags.StringVar(&f.maxRecord, "max-record", "64MiB", "skip records above this `size`")
	f.onError = choose(dedup.OnErrorSkip, dedup.OnErrorFail)
	flags.Var(&f.onError, "on-error", onErrorHelp)
	addSkipped(flags, &f.skipped)
	flags.IntVar(&f.threads, "threads", 0, "workers (default: all processors)")
	flags.BoolVar(&f.quiet, "quiet", false, "nothing on standard error but errors")
	completeChoices(cmd)
	return cmd
}

func (f *matchFlags) run(cmd *cobra.Command, args []string) (err error) {
	c, o, err := f.config(cmd, args)
	if err != nil {
		return err
	}
	stderr := cmd.ErrOrStderr()
	skipped := newSkips(stderr, f.quiet, appendedList(f.skipped))
	skipped.fail = c.Fail
	defer func() { err = skipped.end(err) }()
	any := false
	skip := func(p *corpus.Problem) error {
		any = true
		return skipped.take(p)
	}
	c.OnSkip = func(p *corpus.Problem) {
		any = true
		skipped.add(p)
	}
	m, err := alike.OpenMatcher(cmd.Context(), c)
	if err != nil {
		return err
	}
	if !f.quiet {
		fmt.Fprintf(stderr, "%s in %s: ready\n", count(int64(m.Records()), "record"), args[1])
	}
	sources, _, err := corpus.Find(cmd.Context(), []string{"-"}, o)
	if err != nil {
		return err
	}
	lines := json.NewEncoder(cmd.OutOrStdout())
	lines.SetEscapeHTML(false)
	answer := func(a *alike.MatchAnswer) error { return lines.Encode(a) }
	seen := o.Watch()
	err = alike.MatchRecords(cmd.Context(), m, sources[0], o, f.threads, answer, skip)
	if err != nil && !errors.Is(err, context.Canceled) { // a signal is how a resident process ends
		return err
	}
	if f.idField != "" && seen.Lacks(f.idField) && !f.quiet {
		fmt.Fprintf(stderr, "alike: no record has a field %s (--id-field): they are numbered\n", visible(strconv.Quote(f.idField)))
	}
	if any {
		return errSkipped
	}
	return nil
}

// config returns what is matched, and how records are read.
func (f *matchFlags) config(cmd *cobra.Command, args []string) (c alike.MatchConfig, o corpus.Options, err error) {
	size, err := parseSize("max-record", f.maxRecord)
	if err != nil {
		return c, o, err
	}
	if f.top < 1 {
		return c, o, usagef("--top is %d: take 1 or more", f.top)
	}
	if err := checkThreads(f.threads); err != nil {
		return c, o, err
	}
	if err := checkSkipped(f.skipped); err != nil {
		return c, o, err
	}
	c = alike.MatchConfig{
		Table: args[1], ID: f.idField, Top: f.top, Threads: f.threads, Corpus: corpus.Options{MaxRecord: size},
		Fail: dedup.OnError(f.onError.value) == dedup.OnErrorFail,
	}
	o = corpus.Options{Format: corpus.Format(f.format.value), IDField: f.idField, MaxRecord: size}
	useObjects(&c.Corpus)
	visit, err := keepApart(append(named(f.skipped), "-"), append(named(f.entities), args[0], args[1], "-"))
	if err != nil {
		return c, o, err
	}
	c.Corpus.Visit, o.Visit = visit, visit
	if c.Model, c.Threshold, err = alike.ReadMatchModel(args[0]); err != nil {
		return c, o, err
	}
	if f.entities != "" {
		c.Entities, err = alike.ReadEntitiesOf(cmd.Context(), f.entities, args[1])
	}
	return c, o, err
}
