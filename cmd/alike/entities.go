package main

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/linklist"
	"github.com/alike-dev/alike/linkage"
)

const entitiesHelp = `Find the records of any number of tables that are one thing: one person, product or
place. Records of one table may be one thing too, unless --unique names the table.

Columns meet by name, else by the words they hold, which is told; what a table lacks is a
missing value. Records are compared and grouped as alike dedup --records does: the records
of an entity hold together by all that is known of their pairs, and not because a chain
connects them.

The output is CSV: table,id,entity,probability, a line for each record, in the order of the
tables. An entity is named by its least record, by table and id, whatever the order of
records. Its probability is that of its weakest join; 1 if it has one record only. Nothing is
removed. With --known, entities of an earlier output keep their names; new records join them,
or found others, and changes.csv says what was merged, split or founded, and why. --json, or a
FILE named .jsonl, has an object a line; .parquet is Parquet.`

const entitiesExamples = `  alike entities patients.csv visits.csv register.parquet -o entities.csv
  alike entities a.csv b.csv new.csv --known entities.csv -o now/entities.csv
  alike entities a.csv b.csv c.csv --unique a.csv,c.csv --summary summary.json -o entities.csv`

// entityFlags say how entities are found.
type entityFlags struct {
	joinFlags
	unique  []string
	earlier string
	changes string
}

func newEntities() *cobra.Command {
	var flags entityFlags
	cmd := &cobra.Command{
		Use:     "entities TABLE... [-o FILE]",
		Short:   "Find the records of several tables that are one thing",
		Long:    entitiesHelp,
		Example: entitiesExamples,
		Args:    arguments(1, 0, "name one or more tables"),
		RunE:    func(cmd *cobra.Command, args []string) error { return flags.run(cmd, args) },
	}
	flags.add(cmd)
	return cmd
}

func (f *entityFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVarP(&f.output, "output", "o", "", "`file` for the entities (default: standard output)")
	flags.StringSliceVar(&f.unique, "unique", nil, "`tables` that have each thing once, separated by commas")
	flags.StringVar(&f.earlier, "known", "", "`file` of entities of an earlier run: they keep their names, and changes.csv beside the output says what has changed")
	flags.StringVar(&f.changes, "changes", "", "with --known: `file` for what has changed, CSV (default: changes.csv beside the output)")
	flags.StringVar(&f.leftID, "id-field", "", "`column` with the ids, in the tables that have it; - numbers the rows (default: id, else the first column of several)")
	f.match = choose(linkage.All)
	f.addFields(flags)
	f.addReading(flags)
	addSkipped(flags, &f.skipped)
	f.addCut(flags)
	f.weigh.add(flags)
	addSame(flags, &f.same)
	addSummary(flags, &f.summary, "")
	addVerdicts(flags, &f.verdicts, "")
	flags.StringVar(&f.save, "save-config", "", "write the choices made, with the model for alike match, to this JSON `file`")
	flags.BoolVar(&f.explain, "explain", false, "print how much each column says, and which kinds of pairs there are, to standard error")
	f.found.add(flags)
	flags.BoolVar(&f.verbose, "verbose", false, "print how candidates were found, and at what cost, to standard error")
	flags.BoolVar(&f.json, "json", false, "JSON on standard output")
	flags.BoolVar(&f.quiet, "quiet", false, "nothing on standard error but errors")
	completeChoices(cmd)
}

func (f *entityFlags) run(cmd *cobra.Command, args []string) (err error) {
	f.found.tables = args
	c, err := f.joinConfig(cmd, args[:1])
	if err != nil {
		return err
	}
	if err := f.completeChanges(); err != nil {
		return err
	}
	writes, reads := append(f.writes(), named(f.changes)...), append(f.reads(), named(f.earlier)...)
	if c.Corpus.Visit, err = keepApart(append(writes, cmp.Or(f.output, "-")), append(reads, args...)); err != nil {
		return err
	}
	if err := f.checkNames(); err != nil {
		return err
	}
	format, err := listFormat("-o", f.output, f.json)
	if err != nil {
		return err
	}
	var known []linkage.EntityOf
	if f.earlier != "" {
		if known, err = linkage.ReadEntities(cmd.Context(), f.earlier, corpus.Options{}); err != nil {
			return fmt.Errorf("--known: %w", err)
		}
	}
	skipped := f.skipping(cmd, &c)
	defer func() { err = skipped.end(err) }()
	e, err := alike.FindEntities(cmd.Context(), args, f.unique, c)
	if err != nil {
		return err
	}
	var changes []alike.EntityChange
	if f.earlier != "" {
		changes = e.KeepNames(known, c.Verdicts)
		if err := writeOutput(cmd, f.changes, func(w io.Writer) error { return writeChanges(w, changes) }); err != nil {
			return fmt.Errorf("--changes: %w", err)
		}
	}
	if err := writeOutput(cmd, f.output, func(w io.Writer) error { return writeEntities(w, e.InOrder(args), format) }); err != nil {
		return err
	}
	if err := writeSummary(cmd, f.summary, e); err != nil {
		return err
	}
	stderr := f.stderr(cmd)
	tellEntitiesOf(stderr, e)
	if f.earlier != "" {
		tellChanges(stderr, changes, f.changes)
	}
	if err := f.tellChoices(cmd, stderr, c, e.Join); err != nil {
		return err
	}
	if e.Skipped > 0 {
		return errSkipped
	}
	return nil
}

// completeChanges sets where changes are written.
func (f *entityFlags) completeChanges() error {
	switch {
	case f.earlier == "" && f.changes != "":
		return usagef("--changes is for --known: name a file of entities, or leave --changes out")
	case f.earlier != "" && f.changes == "" && f.output == "":
		return usagef("--known writes changes.csv beside the output: name one by -o, or another file by --changes")
	case f.earlier != "" && f.changes == "":
		f.changes = filepath.Join(filepath.Dir(f.output), "changes.csv")
	}
	return nil
}

// writeChanges writes what has changed since the known entities.
func writeChanges(out io.Writer, changes []alike.EntityChange) error {
	columns := []linklist.Column{{Name: "change"}, {Name: "entity"}, {Name: "other"}, {Name: "why"}}
	return writeRows(out, columns, corpus.CSV, len(changes), func(i int) []string {
		c := &changes[i]
		return []string{string(c.Change), c.Entity, c.Other, c.Why}
	})
}

// tellChanges counts what has changed.
func tellChanges(w io.Writer, changes []alike.EntityChange, file string) {
	of := map[alike.Change]int{}
	for _, c := range changes {
		of[c.Change]++
	}
	fmt.Fprintf(w, "since the known entities: %d founded, %d merged, %d moved, %d split, %d gone; see %s\n",
		of[alike.Founded], of[alike.Merged], of[alike.Moved], of[alike.Split], of[alike.Gone], fault.Shown(file))
}

var entityColumns = []linklist.Column{{Name: "table"}, {Name: "id"}, {Name: "entity"}, {Name: "probability", Number: true}}

// writeEntities writes which entity each record belongs to.
func writeEntities(out io.Writer, records []alike.EntityRecord, format corpus.Format) error {
	return writeRows(out, entityColumns, format, len(records), func(i int) []string {
		r := &records[i]
		return []string{r.Table, r.ID, r.Entity, strconv.FormatFloat(r.Probability, 'f', 6, 64)}
	})
}

// tellEntitiesOf describes entities.
func tellEntitiesOf(w io.Writer, e *alike.Entities) {
	fmt.Fprintf(w, "%s of %s records\n", counted(e.Entities, "entity", "entities"), humanize.Comma(int64(len(e.Records))))
	fmt.Fprint(w, &e.Report)
	var largest []string
	for _, l := range e.Largest[:min(namedEntities, len(e.Largest))] {
		largest = append(largest, fmt.Sprintf("%s of %s (probability %.3f)", fault.Shown(l.Entity), count(int64(l.Records), "record"), l.Probability))
	}
	if len(largest) > 0 {
		fmt.Fprintf(w, "largest entities: %s\n", strings.Join(largest, ", "))
	}
	if e.Doubtful > 0 {
		fmt.Fprintf(w, "alike: in %s most pairs of records are, by themselves, more likely wrong than right: look at them before you use the result\n",
			counted(e.Doubtful, "entity", "entities"))
	}
	if !linkage.MostlyRight(e.ExpectedPrecision) {
		fmt.Fprintln(w, "alike: the data do not tell which records are one thing: less than two thirds of the links may be right; what helps: --unique TABLES, labels, --precision 0.9")
	}
}

func counted(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return humanize.Comma(int64(n)) + " " + several
}
