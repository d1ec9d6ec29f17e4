package main

import (
	"cmp"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/linkage"
)

const learnHelp = `Learn how to join the records of two tables, or of one, from pairs that are known
to belong together or not.

The --truth FILE is CSV: pairs of ids, with a third column that says 1 (also y, true) or 0
(n, false), as alike label writes it. Without a third column all pairs are matches, and
these are all matches of the records in them: other candidates of these records are not.

The model starts from what alike join finds without labels, and labels correct it: how
much each column counts, how much rare words that only one of the records has speak
against a match, and by how much a pair must be better than its rivals. Cross-validation
chooses how far they correct it, so that a few labels do not make it worse: 50 can help.
The scores of the model on pairs whose labels it did not know are printed, next to the
scores without labels.

The model is JSON; alike join --model and alike pairs --records --model use it, for these
tables and for others with the same columns. The same labels give the same bytes.`

const learnExamples = `  alike learn products.csv catalogue.csv --truth pairs.csv -o model.json
  alike join products.csv catalogue.csv --model model.json > links.csv
  alike pairs customers.csv --records --model model.json > same.csv`

func newLearn() *cobra.Command {
	var flags joinFlags
	var truth string
	cmd := &cobra.Command{
		Use:     "learn LEFT [RIGHT] --truth FILE -o MODEL",
		Short:   "Learn from labelled pairs how tables are joined",
		Long:    learnHelp,
		Example: learnExamples,
		Args:    arguments(1, 2, "name two tables, or one"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if truth == "" {
				return usagef("no --truth: name a file of pairs that are known, or make one by alike label")
			}
			return flags.learn(cmd, args, truth)
		},
	}
	cmd.Flags().StringVarP(&flags.output, "output", "o", "", "`file` for the model (default: standard output)")
	cmd.Flags().StringVar(&truth, "truth", "", "`file` of known pairs of ids, CSV, with 1 or 0 in a third column or matches only")
	flags.addTables(cmd.Flags())
	addSkipped(cmd.Flags(), &flags.skipped)
	completeChoices(cmd)
	return cmd
}

func (f *joinFlags) learn(cmd *cobra.Command, args []string, truth string) (err error) {
	c, err := f.joinConfig(cmd, args)
	if err != nil {
		return err
	}
	if c.Corpus.Visit, err = keepApartFromWork(f.work, append(f.writes(), cmp.Or(f.output, "-")), append(f.reads(), c.Left, c.Right, truth)); err != nil {
		return err
	}
	if err := f.checkNames(); err != nil {
		return err
	}
	if err := checkEnding("-o", f.output, jsonEndings); err != nil {
		return err
	}
	labels, err := unless(cmd.Context(), func() (linkage.Labels, error) { return alike.ReadLabels(truth) })
	if err != nil {
		return err
	}
	stderr := f.stderr(cmd)
	skipped := f.skipping(cmd, &c)
	defer func() { err = skipped.end(err) }()
	m, r, err := alike.LearnJoin(cmd.Context(), c, labels)
	if err != nil {
		return err
	}
	if err := writeJSON(cmd, f.output, m); err != nil {
		return err
	}
	tellNotes(stderr, r.Notes)
	tellLearned(stderr, m)
	if r.Skipped > 0 {
		return errSkipped
	}
	return nil
}

// tellNotes says what a user should know about the tables.
func tellNotes(w io.Writer, notes []string) {
	for _, note := range notes {
		fmt.Fprintf(w, "alike: %s\n", note)
	}
}

// tellLearned says how many labels were used, and how good the model is.
func tellLearned(w io.Writer, m *alike.JoinModel) {
	l := m.Learned
	fmt.Fprintf(w, "learned from %s that belong together and %s that do not\n", count(int64(l.Matches), "pair"), humanize.Comma(int64(l.Others)))
	if l.Missed > 0 {
		fmt.Fprintf(w, "alike: %s of the former not among the candidates: no model finds them\n", humanize.Comma(int64(l.Missed)))
	}
	if l.Unknown > 0 {
		fmt.Fprintf(w, "alike: %s of records that the tables do not have\n", count(int64(l.Unknown), "label"))
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "labelled pairs\tprecision\trecall\tf1\tlog loss\t")
	fmt.Fprintf(t, "without labels\t%.4f\t%.4f\t%.4f\t%.4f\t\n", l.Without.Precision, l.Without.Recall, l.Without.F1, l.Without.LogLoss)
	fmt.Fprintf(t, "cross-validated\t%.4f\t%.4f\t%.4f\t%.4f\t\n", l.Cross.Precision, l.Cross.Recall, l.Cross.F1, l.Cross.LogLoss)
	_ = t.Flush()
	if l.Strength == 0 {
		fmt.Fprintln(w, "the labels agree with what was found without them, or are too few to say otherwise: the model decides as without")
	}
}
