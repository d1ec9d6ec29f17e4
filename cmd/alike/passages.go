package main

import (
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/stage/runner"
)

const passagesHelp = `Keep a repeated line, sentence, paragraph or run of words in the first document
that has it, and cut it out of all others.

Units are compared by their words: case, spaces and punctuation do not count. What
repeats inside the first document stays there. --unit substring cuts any run of words
that stands in an earlier document, from --min-tokens on. Code fences and rows of
tables stay unless --code is given. With --threshold 0.9 a unit also goes if nine tenths
of the words that it and an earlier unit have are in both.

The output folder has kept/, the documents in the files, formats and compressions of the
inputs, where every byte stays but those of what is cut; found.csv, what was cut and where
it stands first (document,start,end,first_document,first_start, bytes of the text);
little.csv, documents of which fewer than 50 words are left; and summary.json, written
last. A document of which nothing is left keeps its record, with an empty text. With
--found-only nothing is cut.`

const passagesExamples = `  alike passages crawl/ -o clean/ --unit line --min-count 10
  alike passages mails.jsonl -o clean/ --unit paragraph
  alike passages corpus-*.jsonl.zst -o found/ --unit substring --found-only`

type passagesFlags struct {
	input  inputFlags
	unit   choice
	keep   choice
	output string
	noSync bool
	what   alike.Passages
}

func (f *passagesFlags) add(flags *pflag.FlagSet) {
	flags.StringVarP(&f.output, "output", "o", "", "`folder` for the output; must not exist or be empty")
	f.addUnits(flags)
	flags.BoolVar(&f.noSync, "no-sync", false, "do not wait until the output is on disk: done sooner, but lost or damaged if the power fails within seconds")
	f.addInput(flags)
}

// addUnits adds the flags that say what is cut.
func (f *passagesFlags) addUnits(flags *pflag.FlagSet) {
	f.unit = choose(dedup.Units...)
	f.unit.value = ""
	flags.Var(&f.unit, "unit", "what is compared and cut: line, sentence, paragraph or substring (runs of words)")
	flags.IntVar(&f.what.MinTokens, "min-tokens", 0, "least number of words of a unit (default: line 3, sentence 5, paragraph 8, substring 50)")
	flags.IntVar(&f.what.MinCount, "min-count", 2, "least number of documents that have a unit")
	flags.Float64Var(&f.what.Threshold, "threshold", 0, "also cut lines, sentences and paragraphs whose words are alike those of an earlier one by this `share` or more, up to 1")
	flags.IntVar(&f.what.NGram, "ngram", 0, "words in a shingle of --threshold; from 2 on their order counts (default 1)")
	f.keep = choose("first")
	flags.Var(&f.keep, "keep", "which document keeps a unit: first")
	flags.BoolVar(&f.what.Code, "code", false, "cut code fences and rows of tables too")
	flags.BoolVar(&f.what.FoundOnly, "found-only", false, "write found.csv, and cut nothing")
}

func (f *passagesFlags) addInput(flags *pflag.FlagSet) {
	f.input.addReading(flags)
	f.input.addWork(flags)
	f.input.addReports(flags)
}

func newPassages() *cobra.Command {
	var flags passagesFlags
	cmd := &cobra.Command{
		Use:     "passages INPUT... -o DIR --unit UNIT",
		Short:   "Cut out of texts what stands in earlier ones",
		Long:    passagesHelp,
		Example: passagesExamples,
		Args:    inputs,
		RunE:    flags.run,
	}
	flags.add(cmd.Flags())
	completeChoices(cmd)
	return cmd
}

// check checks the flags that say what is cut.
func (f *passagesFlags) check(flags *pflag.FlagSet) error {
	f.what.Unit = dedup.Unit(f.unit.value)
	switch {
	case f.unit.value == "":
		return usagef("--unit is missing: say what to compare and cut: line, sentence, paragraph or substring")
	case flags.Changed("min-tokens") && f.what.MinTokens < 1:
		return usagef("--min-tokens is %d: take 1 or more", f.what.MinTokens)
	case flags.Changed("threshold") && !(f.what.Threshold > 0 && f.what.Threshold <= 1):
		return usagef("--threshold is %v: take more than 0, up to 1", f.what.Threshold)
	case f.what.NGram > 1 && f.what.Threshold == 0:
		return usagef("--ngram is for similar units: say --threshold as well, or leave it out")
	case flags.Changed("ngram") && f.what.NGram < 1:
		return usagef("--ngram is %d: take 1 or more", f.what.NGram)
	case f.what.MinCount < 2:
		return usagef("--min-count is %d: take 2 or more", f.what.MinCount)
	}
	return nil
}

func (f *passagesFlags) run(cmd *cobra.Command, args []string) error {
	if f.output == "" {
		return usagef("-o DIR is missing: name a folder for the output")
	}
	if err := f.check(cmd.Flags()); err != nil {
		return err
	}
	c := alike.Config{Inputs: args, Output: f.output}
	if err := f.input.apply(&c); err != nil {
		return err
	}
	useObjects(&c.Corpus)
	if f.noSync {
		if f.input.work != "" {
			return usagef("--no-sync leaves nothing from which a killed run could continue: leave --work out, or sync")
		}
		c.Work = dedup.Unsynced{}
	}
	if f.input.json {
		c.Outputs = append(c.Outputs, "-")
	}
	done := f.input.follow(cmd, &c)
	summary, err := alike.CutPassages(cmd.Context(), c, f.what)
	if err := done(err); err != nil {
		return err
	}
	if err := f.print(cmd, summary); err != nil {
		return err
	}
	return f.input.finish(cmd, summary)
}

// print prints the summary: as JSON on standard output when asked for, otherwise in words on standard error.
func (f *passagesFlags) print(cmd *cobra.Command, s *alike.Summary) error {
	if f.input.json {
		return printJSON(cmd, s)
	}
	if !f.input.talks() {
		return nil
	}
	tellPassages(cmd, s.Read, s.Skipped, s.Passages, f.what.FoundOnly)
	fmt.Fprintf(cmd.ErrOrStderr(), "output in %s after %s\n", fault.Shown(f.output), describeCost(s))
	return nil
}

// tellPassages says what was cut or found.
func tellPassages(cmd *cobra.Command, read, skipped int64, p *dedup.PassageCounts, foundOnly bool) {
	verb, stderr := "cut out", cmd.ErrOrStderr()
	if foundOnly {
		verb = "found"
	}
	fmt.Fprintf(stderr, "%s read, %s skipped: %s %s of %s, %s of text\n", count(read, "document"), humanize.Comma(skipped),
		count(p.Found, "passage"), verb, humanize.Comma(p.Changed), humanize.IBytes(uint64(p.Bytes)))
	if p.Little > 0 {
		fmt.Fprintf(stderr, "fewer than 50 words are left of %s, none of %s: see little.csv\n", count(p.Little, "document"), humanize.Comma(p.Emptied))
	}
}

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
	completeChoices(cmd)
	return cmd
}
