package main

import (
	"cmp"
	"fmt"
	"io"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/alike-dev/alike/stage"
	"github.com/alike-dev/alike/stage/runner"
)

const planJoinHelp = `Plan to join two tables on other machines: the links are those of alike join with the
same flags, byte for byte. See alike help plan.

The columns to compare, their weights and how they are cut are chosen when the plan is
made, from the beginnings of the tables, or by --field. How the work is divided depends
on how links are decided:

With --match all, --candidates lsh and a --threshold each pair is decided by itself. Stages
find and compare the pairs, in as many tasks as there are --partitions.

Every other decision of alike join, including the defaults, depends on all candidates: on
the model that is learned from them, and on which other partners a record has. Tasks read
the tables in parallel; one task then joins them, with all processors of its machine. Both
tables must fit into its --memory (10 million records in 2 GiB). The last task prints what
alike join prints about the links.

On one machine only: --against-links, --explain, --explain-pairs and --truth. Links
are CSV, or as the name in --results says: .tsv, .jsonl, .parquet. A table may be several
files: name their folder, a prefix of a bucket or a glob. A task reads some of them. The
records of one table are compared by alike plan pairs --records and alike plan dedup --records.`

const planJoinExamples = `  alike plan join products.csv catalogue.parquet -o plan.json --results links.csv
  alike plan join products.csv catalogue.csv --match all --candidates lsh --threshold 0.7 \
    -o plan.json --results links.csv --partitions 16
  alike plan join s3://bucket/a.parquet s3://bucket/b.parquet --config join.json -o plan.json \
    --results s3://bucket/links.csv --work s3://bucket/tmp`

// planJoinFlags are the flags of a join that its plan takes, and those of plans.
type planJoinFlags struct {
	join joinFlags
	own  planFlags
}

func newPlanJoin() *cobra.Command {
	var flags planJoinFlags
	cmd := &cobra.Command{
		Use:     "join LEFT RIGHT -o FILE --results PLACE",
		Short:   "Plan to find the records of two tables that belong together",
		Long:    planJoinHelp,
		Example: planJoinExamples,
		Args:    arguments(2, 2, "name two tables"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return flags.own.planJoin(cmd, &flags.join, args, runner.PlanOptions{})
		},
	}
	f := cmd.Flags()
	flags.own.add(f, "where the links go: a `file` or object, .csv, .tsv, .jsonl or .parquet")
	f.IntSliceVar(&flags.own.engine, "engine", nil, "for engines: an engine passes both tables through pipes, in so many `parts` each, such as 8,2; LEFT and RIGHT are their beginnings, from which columns are chosen")
	flags.join.addTables(f)
	flags.join.addDecision(f)
	flags.join.addWith(f)
	flags.join.weigh.add(f)
	tellOfTasks(f)
	completeChoices(cmd)
	return cmd
}

// planJoin plans a join of the tables that arguments name. o says what to make of the links.
func (own *planFlags) planJoin(cmd *cobra.Command, join *joinFlags, args []string, o runner.PlanOptions) error {
	if err := own.check(cmd, len(args)); err != nil {
		return err
	}
	if o.Command != stage.Dedup {
		if err := checkEnding("--results", own.results, linkEndings); err != nil {
			return err
		}
	}
	o.Work, o.Output, o.Partitions, o.Engine, o.Probability = join.work, own.results, own.partitions, own.engine, join.probability
	memory := join.memory
	join.work, join.memory = "", "" // of a join on this machine
	c, err := join.joinConfig(cmd, args)
	if err != nil {
		return err
	}
	c.Memory = 0
	if c.Corpus.Visit, err = keepApart([]string{cmp.Or(own.output, "-"), own.results}, append(join.reads(), args...)); err != nil {
		return err
	}
	if memory != "" {
		if o.Memory, err = parseSize("memory", memory); err != nil {
			return err
		}
	}
	p, err := runner.MakeJoin(cmd.Context(), c, o)
	if err != nil {
		return err
	}
	if err := own.write(cmd, p); err != nil {
		return err
	}
	tellJoinPlan(join.stderr(cmd), p)
	if !join.quiet {
		printEstimate(cmd, p)
	}
	return nil
}

// tellJoinPlan says what was chosen.
func tellJoinPlan(w io.Writer, p *runner.Plan) {
	rule := p.Join.Rule
	if rule != nil {
		divided := ""
		if len(p.Tables) > 1 {
			divided = ": take --match all, --candidates lsh and a --threshold to divide the work"
		}
		fmt.Fprintf(w, "decided    in one task, which has all records%s\n", divided)
	}
	for i, column := range p.Join.Columns {
		left, right := p.Tables[0].Fields[i], p.Tables[len(p.Tables)-1].Fields[i]
		if left != right {
			left += "=" + right
		}
		fmt.Fprintf(w, "compared   %s:%s:%s\n", left, humanize.Ftoa(column.Weight), column.Tokens)
	}
	if rule != nil {
		tellNotes(w, rule.Notes)
	}
}
