package main

import (
	"github.com/spf13/cobra"

	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/stage/runner"
)

const planPassagesHelp = `Plan to cut out of texts what stands in earlier ones, on other machines: the results are
those of alike passages with the same flags, byte for byte. See alike help plan.

With --threshold one task, similar, compares the different units, with all processors of
its machine.`

const planPassagesExamples = `  alike plan passages s3://bucket/crawl/ -o plan.json --results s3://bucket/clean --unit line --min-count 10
  alike plan passages mails/ -o plan.json --results clean/ --unit substring --partitions 16`

func newPlanPassages() *cobra.Command {
	var flags passagesFlags
	var own planFlags
	cmd := &cobra.Command{
		Use:     "passages INPUT... -o FILE --results PLACE --unit UNIT",
		Short:   "Plan to cut out of texts what stands in earlier ones",
		Long:    planPassagesHelp,
		Example: planPassagesExamples,
		Args:    inputs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := own.check(cmd, 1); err != nil {
				return err
			}
			if err := flags.check(cmd.Flags()); err != nil {
				return err
			}
			c := dedup.Config{Inputs: args}
			if err := flags.input.apply(&c); err != nil {
				return err
			}
			useObjects(&c.Corpus)
			return own.make(cmd, &flags.input, c, func(c dedup.Config, o runner.PlanOptions) (*runner.Plan, error) {
				return runner.MakePassages(cmd.Context(), c, flags.what, o)
			})
		},
	}
	f := cmd.Flags()
	own.add(f, "where the results go: a `folder` or prefix")
	own.addPrices(f)
	flags.addUnits(f)
	flags.addInput(f)
	tellOfTasks(f)
	f.SortFlags = false
	completeChoices(cmd)
	return cmd
}
