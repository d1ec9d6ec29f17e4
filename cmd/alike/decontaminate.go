package main

import (
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/decontaminate"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/report"
)

const decontaminateHelp = `Remove training documents in which items of evaluation sets stand.

Each row of a set of --against is an item: its question, if it has a column of that, otherwise
its text. An item is found also inside a long document, with changes, and with markup, line
ends or other punctuation between its words. The output folder gets

  kept/          the inputs without the removed records, kept lines byte for byte
  kept.txt       the paths of kept documents that are files of their own
  found.csv      document,item,set,score,start,end,part: where each item stands, in bytes of the
                 document's text; part is question, question+answer or text
  report.html    a page with items beside the places where they stand
  summary.json   figures of the run, and of each set how many items were found, written last

With --cut documents stay, without these places; documents that are files of their own are in
kept/ too. With --found-only nothing is written of them.

The score is the share of the item's words that stand there, by weight: what many documents or
many items have weighs nothing. The sentence that asks must be there, or the answer: a text
that an item only quotes is no item. An item of up to 12 words must stand there whole. Rows of
one question are one item; a question of up to 7 words counts only with its passage or answer.

read = kept + removed + skipped, always. The output is the same for any number of threads.`

const decontaminateExamples = `  alike decontaminate train/ --against evals/ -o clean/
  alike decontaminate train.jsonl.zst --against mmlu.csv --question prompt --answer target -o clean/
  alike decontaminate train/ --against evals/ -o cut/ --cut`

type decontaminateFlags struct {
	input     inputFlags
	output    string
	against   []string
	columns   decontaminate.Columns
	threshold float64
	cut       bool
	foundOnly bool
}

func (f *decontaminateFlags) add(own *pflag.FlagSet) {
	own.StringVarP(&f.output, "output", "o", "", "`folder` for the output; must not exist or be empty")
	own.StringArrayVar(&f.against, "against", nil, "`input` with an evaluation set, or several; repeatable")
	own.StringVar(&f.columns.Question, "question", "", "`column` of the sets with the question (default: question, where a set has it; otherwise the text)")
	own.StringVar(&f.columns.Answer, "answer", "", "`column` of the sets with the answer, or an answer to choose (default: answer)")
	own.StringVar(&f.columns.Passage, "passage", "", "`column` of the sets with the text that is asked about (default: passage)")
	own.Float64Var(&f.threshold, "threshold", decontaminate.DefaultThreshold, "least score")
	own.BoolVar(&f.cut, "cut", false, "cut the places out of the documents, instead of removing these")
	own.BoolVar(&f.foundOnly, "found-only", false, "list what is found, and write no documents")
	f.input.add(own)
}

func newDecontaminate() *cobra.Command {
	var flags decontaminateFlags
	cmd := &cobra.Command{
		Use:     "decontaminate TRAIN... --against EVALS -o DIR",
		Short:   "Remove training documents in which items of evaluation sets stand",
		Long:    decontaminateHelp,
		Example: decontaminateExamples,
		Args:    inputs,
		RunE:    flags.run,
	}
	flags.add(cmd.Flags())
	completeChoices(cmd)
	return cmd
}

func (f *decontaminateFlags) run(cmd *cobra.Command, args []string) error {
	if f.output == "" {
		return usagef("-o DIR is missing: name a folder for the output")
	}
	if len(f.against) == 0 {
		return usagef("--against EVALS is missing: name the evaluation sets")
	}
	if !(f.threshold > 0 && f.threshold <= 1) {
		return usagef("--threshold is %v: take a number above 0 and up to 1, such as %v", f.threshold, decontaminate.DefaultThreshold)
	}
	c := decontaminate.Config{Columns: f.columns, Threshold: f.threshold, Cut: f.cut, FoundOnly: f.foundOnly, Page: report.Contamination}
	c.Inputs, c.Output, c.Beside = args, f.output, dedup.Against(f.against)
	if err := f.input.apply(&c.Config); err != nil {
		return err
	}
	if f.input.json {
		c.Outputs = append(c.Outputs, "-")
	}
	useObjects(&c.Corpus)
	done := f.input.follow(cmd, &c.Config)
	s, err := decontaminate.Run(cmd.Context(), c)
	if err := done(err); err != nil {
		return err
	}
	if err := f.print(cmd, s); err != nil {
		return err
	}
	return f.input.finish(cmd, s.Costs())
}

func (f *decontaminateFlags) print(cmd *cobra.Command, s *decontaminate.Summary) error {
	if f.input.json {
		return printJSON(cmd, s)
	}
	if !f.input.talks() {
		return nil
	}
	stderr := cmd.ErrOrStderr()
	fmt.Fprintf(stderr, "%s read: %s kept, %s removed, %s skipped\n", count(s.Read, "document"),
		humanize.Comma(s.Kept), humanize.Comma(s.Removed), humanize.Comma(s.Skipped))
	if s.Cut > 0 {
		fmt.Fprintf(stderr, "cut out of %s\n", count(s.Cut, "document"))
	}
	fmt.Fprintf(stderr, "found %s in %s\n", count(s.Found, "place"), count(s.Documents, "document"))
	if d, ok := s.Details.(decontaminate.Details); ok {
		for _, set := range d.Sets {
			fmt.Fprintf(stderr, "%s: %s of %s\n", fault.Shown(set.Set), humanize.Comma(int64(set.Found)), count(int64(set.Items), "item"))
		}
	}
	fmt.Fprintf(stderr, "output in %s after %s\n", fault.Shown(f.output), describeCost((*alike.Summary)(s.Costs())))
	return nil
}
