package main

import (
	"cmp"
	"errors"

	"github.com/spf13/cobra"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/stage"
	"github.com/alike-dev/alike/stage/runner"
)

const planHelp = `Plan a run of dedup, pairs, join or passages over many machines.

A plan is a file that names the inputs in their present state, and fixes everything that
the results depend on. With it alike stage runs the work as independent tasks, under any
scheduler: each reads files, and the objects that earlier tasks have left in --work, and
leaves one object there. The results are those of alike dedup, pairs and passages with the
same flags, and of alike join, byte for byte. --candidates auto is lsh here, and exact by
--measure overlap.

For all but a join the cost is estimated from a sample of the input and printed before
anything runs: processor hours, bytes moved, requests and, with --prices, money. Inputs,
--work and --results may be URLs. A file is the smallest part of the input that a task
takes: split large ones. See docs/cluster.md.`

const planExamples = `  alike plan dedup s3://bucket/corpus/ -o plan.json --results s3://bucket/clean --work s3://bucket/tmp
  alike plan pairs corpus/ -o plan.json --results pairs.csv --threshold 0.7
  alike stage list --plan plan.json | while read stage tasks; do
    for task in $(seq 0 $((tasks - 1))); do alike stage $stage --task $task --plan plan.json; done
  done`

func newPlan() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "plan dedup|pairs|join|passages INPUT... -o FILE --results PLACE",
		Short:   "Plan a run over many machines",
		Long:    planHelp,
		Example: planExamples,
		Args:    knownCommand,
		RunE:    showHelp,
	}
	cmd.AddCommand(newPlanOf(stage.Dedup, "Plan to keep one document of every cluster"), newPlanOf(stage.Pairs, "Plan to list every pair of similar documents"), newPlanJoin(), newPlanPassages())
	return cmd
}

func newPlanOf(command, short string) *cobra.Command {
	var flags corpusFlags
	var own planFlags
	var records recordFlags
	cmd := &cobra.Command{
		Use:   command + " INPUT... -o FILE --results PLACE",
		Short: short,
		Long:  short + planOfHelp,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := own.auto.check(cmd); err != nil {
				return err
			}
			if records.wanted() {
				return own.runRecords(cmd, command, &records, &flags, args)
			}
			if err := records.checkTexts(cmd.Flags(), "idf", "idf-epsilon", "idf-delta"); err != nil {
				return err
			}
			return own.run(cmd, command, &flags, args)
		},
	}
	f := cmd.Flags()
	results := "where the results go: a `folder` or prefix"
	if command == stage.Pairs {
		results = "where the pairs go: a `file` or object"
	}
	own.add(f, results)
	own.addPrices(f)
	f.IntSliceVar(&own.engine, "engine", nil, "for engines, without INPUT: an engine passes documents through pipes, in so many `parts`")
	own.auto.add(f)
	if command == stage.Dedup {
		addKeep(f, &own.keep)
		own.clusters.add(f)
		addAccept(f, &own.accept)
		own.tags.add(f)
	}
	flags.add(f)
	if records.addSettings(f); command == stage.Pairs {
		records.addDecision(f)
	}
	sayDefaults(f)
	tellOfTasks(f)
	completeChoices(cmd)
	return cmd
}

// planOfHelp ends the help of plans of texts.
const planOfHelp = `. See alike help plan.

With --records, INPUT is one table, and the plan is about its records that belong together.
One task decides which do: see alike plan join --help.`

// runRecords plans a run over the records of a table.
func (own *planFlags) runRecords(cmd *cobra.Command, command string, records *recordFlags, flags *corpusFlags, args []string) error {
	if err := records.check(cmd, args); err != nil {
		return err
	}
	o := runner.PlanOptions{Command: command}
	if own.tags.tag || own.tags.prefix != "" {
		return usagef("records of a table are tagged on one machine: alike dedup --records --tag; leave --tag out")
	}
	if command == stage.Dedup {
		var err error
		if o.Keep, err = cluster.ParseKeep(own.keep); err != nil {
			return usageError{err}
		}
		if own.clusters.mode.value == clusterStar || own.clusters.mode.value == clusterWhole || len(own.clusters.against) > 0 {
			return usagef("--cluster star, whole and --against are for texts in plans: of records take alike dedup --records, or leave them out")
		}
		o.Connected, o.Accept = !own.clusters.holds(cmd), own.accept
	}
	return own.planJoin(cmd, records.joinFlags(cmd, flags), args, o)
}

func (own *planFlags) run(cmd *cobra.Command, command string, flags *corpusFlags, args []string) error {
	if len(own.engine) == 0 {
		if err := inputs(cmd, args); err != nil {
			return err
		}
	}
	if err := own.check(cmd, 1); err != nil {
		return err
	}
	if command == stage.Pairs {
		if err := checkEnding("--results", own.results, tableEndings); err != nil {
			return err
		}
	}
	c, err := flags.config(cmd, args)
	if err != nil {
		return err
	}
	if own.auto.wanted() && len(own.engine) > 0 {
		return usagef("--recipe auto reads INPUT, and an engine passes documents later: take the flags that alike tune names for a file of them")
	}
	if own.auto.alone, own.auto.lists = true, command == stage.Pairs; command == stage.Dedup {
		own.auto.cluster = &own.clusters.mode
	}
	if err := own.auto.apply(cmd, &c, flags.input.threads); err != nil {
		return err
	}
	if command == stage.Dedup {
		if own.clusters.mode.value == clusterHeld {
			return usagef("--cluster held is about the records of a table: give --records too, or take components, star or whole")
		}
		if err := errors.Join(own.clusters.apply(cmd, own.keep, &c), own.tags.apply(&c)); err != nil {
			return err
		}
	}
	return own.make(cmd, &flags.input, c, func(c dedup.Config, o runner.PlanOptions) (*runner.Plan, error) {
		o.Command = command
		return runner.Make(cmd.Context(), c, o)
	})
}

// make makes a plan and writes it. The configuration is that of the flags.
func (own *planFlags) make(cmd *cobra.Command, input *inputFlags, c dedup.Config, plan func(dedup.Config, runner.PlanOptions) (*runner.Plan, error)) error {
	o := runner.PlanOptions{Work: input.work, Output: own.results, Partitions: own.partitions, Engine: own.engine}
	if input.memory != "" {
		o.Memory = c.Memory
	}
	c.Work, c.Memory = nil, 0
	if own.prices != "" {
		if err := readPrices(own.prices, &o.Prices); err != nil {
			return err
		}
		c.Reads = append(c.Reads, own.prices)
	}
	c.Outputs = append(c.Outputs, cmp.Or(own.output, "-"))
	done := input.follow(cmd, &c)
	own.auto.tell(&c)
	p, err := plan(c, o)
	if err := done(err); err != nil {
		return err
	}
	if err := own.write(cmd, p); err != nil {
		return err
	}
	if input.talks() {
		printEstimate(cmd, p)
	}
	return nil
}
