package main

import (
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/stage/runner"
)

const planJoinHelp = `Plan to join two tables on other machines: the links are those of alike join with the
same flags, byte for byte. See alike help plan.

The columns to compare, their weights and how they are cut are chosen when the plan is
made, from the beginnings of the tables, or by --field. How links are decided settles how the
work is divided:

With --match all, --candidates lsh and a --threshold each pair is decided by itself. Stages
find and compare the pairs, in as many tasks as there are --partitions.

All else that alike join decides, with nothing chosen too, depends on all candidates: on
the model that is learned from them, and on which other partners a record has. Tasks read
the tables at once; one task then joins them, with all processors of its machine. Both
tables must fit into its --memory (10 million records in 2 GiB).

--with, --against-links, --explain, --truth and one table are there on one machine only.
Links are CSV, or what the name in --results says: .tsv, .jsonl. A table may be several
files: name their folder, a prefix of a bucket or a glob. A task reads some of them.`

const planJoinExamples = `  alike plan join products.csv catalogue.parquet -o plan.json --results links.csv
  alike plan join products.csv catalogue.csv --match all --candidates lsh --threshold 0.7 \
    -o plan.json --results links.csv --partitions 16
  alike plan join s3://bucket/a.parquet s3://bucket/b.parquet --config join.json -o plan.json \
    --results s3://bucket/links.csv --work s3://bucket/tmp`

// planJoinFlags are those of a join that its plan takes, and those of plans.
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
		Args:    exactly(2, "name two tables"),
		RunE:    flags.run,
	}
	f := cmd.Flags()
	flags.own.add(f, "where the links go: a `file` or object, .csv, .tsv or .jsonl")
	f.IntSliceVar(&flags.own.engine, "engine", nil, "an engine hands over both tables through pipes, in so `many` parts each, such as 8,2; LEFT and RIGHT are their beginnings, by which columns are chosen")
	flags.join.addTables(f)
	flags.join.addDecision(f)
	flags.join.weigh.add(f)
	tellOfTasks(f)
	f.SortFlags = false
	completeChoices(cmd)
	return cmd
}

func (flags *planJoinFlags) run(cmd *cobra.Command, args []string) error {
	if err := flags.own.check(cmd, 2); err != nil {
		return err
	}
	work, memory := flags.join.work, flags.join.memory
	flags.join.work, flags.join.memory = "", "" // of a join here
	c, err := flags.join.joinConfig(cmd, args)
	if err != nil {
		return err
	}
	c.Memory = 0
	if err := dedup.Apart(named(flags.own.output, flags.own.results), append(flags.join.reads(), args...)); err != nil {
		return err
	}
	o := runner.PlanOptions{Work: work, Output: flags.own.results, Partitions: flags.own.partitions, Engine: flags.own.engine, Probability: flags.join.probability}
	if memory != "" {
		if o.Memory, err = parseSize("memory", memory); err != nil {
			return err
		}
	}
	p, err := runner.MakeJoin(cmd.Context(), c, o)
	if err != nil {
		return err
	}
	if err := flags.own.write(cmd, p); err != nil {
		return err
	}
	stderr := flags.join.stderr(cmd)
	if p.Join.Rule != nil {
		fmt.Fprintf(stderr, "decided    in one task, which has all records: take --match all, --candidates lsh and a --threshold to divide the work\n")
	}
	for i, column := range p.Join.Columns {
		left, right := p.Tables[0].Fields[i], p.Tables[1].Fields[i]
		if left != right {
			left += "=" + right
		}
		fmt.Fprintf(stderr, "compared   %s:%s:%s\n", left, humanize.Ftoa(column.Weight), column.Tokens)
	}
	if !flags.join.quiet {
		printEstimate(cmd, p)
	}
	return nil
}
