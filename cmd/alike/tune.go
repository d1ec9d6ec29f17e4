package main

import (
	"fmt"
	"io"

	"github.com/guptarohit/asciigraph"
	"github.com/spf13/cobra"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/internal/recipeflags"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/minhash"
)

const tuneHelp = `Show the bands and rows, or the sample, for a threshold.

A signature of --hashes components is cut into bands of a number of rows; two
documents become a candidate pair when they agree in a whole band. The S-curve
is the probability of that for a pair of each similarity. Candidates are
verified, so a false one only costs time: bands are chosen first for
recall, then for little work. The other commands choose them in the same way.

With another measure the bands are those for the least Jaccard similarity that a pair
at its threshold can have; the S-curve goes by the Jaccard similarity. Containment has no
such similarity, and no bands: every document has a sample of a few features, and a
document that has enough of them is a candidate. With overlap pairs are found exactly.`

const tuneExamples = `  alike tune --threshold 0.8
  alike tune --threshold 0.5 --hashes 256 --recall 0.95 --json
  alike tune --measure cosine --threshold 0.9`

func newTune() *cobra.Command {
	var by string
	var threshold, recall float64
	var hashes, bits int
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "tune --threshold T",
		Short:   "Show bands, rows and S-curve for a threshold",
		Long:    tuneHelp,
		Example: tuneExamples,
		Args:    exactly(0, "a threshold is given as --threshold 0.8"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := measure.Parse(by)
			if err != nil {
				return usageError{err}
			}
			if err := recipeflags.CheckThreshold(m, threshold, recall); err != nil {
				return err
			}
			limit, err := measure.NewThreshold(m, threshold)
			if err != nil {
				return usageError{err}
			}
			if _, err := minhash.OPH(hashes, bits, 1); err != nil {
				return usageError{err}
			}
			if _, err := keepApart([]string{"-"}, nil); err != nil {
				return err
			}
			tuning, err := alike.TuneFor(limit, recall, hashes, bits)
			if err != nil {
				return usageError{err}
			}
			if asJSON {
				return printJSON(cmd, tuning)
			}
			printTuning(printed(cmd), tuning)
			return nil
		},
	}
	flags := cmd.Flags()
	recipeflags.AddMeasure(flags, &by)
	flags.Float64Var(&threshold, "threshold", dedup.DefaultThreshold, "similarity from which pairs are wanted, above 0 and up to 1")
	flags.Float64Var(&recall, "recall", dedup.DefaultRecall, "share of the pairs at the threshold to be found, on average over seeds")
	flags.IntVar(&hashes, "hashes", alike.DefaultScheme().K(), "components of the signature")
	flags.IntVar(&bits, "bits", alike.DefaultScheme().Bits(), "bits of a component: 1, 2, 4, 8, 16 or 32")
	flags.BoolVar(&asJSON, "json", false, "JSON")
	cmd.Flags().SortFlags = false // in the order of the work
	completeChoices(cmd)
	return cmd
}

func printTuning(w io.Writer, t *alike.Tuning) {
	fmt.Fprintf(w, "threshold        %v", t.Threshold)
	if t.Measure != "" {
		fmt.Fprintf(w, " by %s", t.Measure)
	}
	if t.Jaccard > 0 {
		fmt.Fprintf(w, ", a Jaccard similarity of at least %.6g", t.Jaccard)
	}
	fmt.Fprintln(w)
	if t.Sample > 0 {
		fmt.Fprintf(w, "sample           %d features of each document\n", t.Sample)
		fmt.Fprintf(w, "agree            %d of them are in a candidate, or more\n", t.Agree)
	} else {
		fmt.Fprintf(w, "bands            %d\n", t.Bands)
		fmt.Fprintf(w, "rows             %d  (%d of %d components used)\n", t.Rows, t.Bands*t.Rows, t.Hashes)
	}
	fmt.Fprintf(w, "expected recall  %.6f at the threshold, %v asked for\n", t.ExpectedRecall, t.Recall)
	fmt.Fprintf(w, "\nfalse candidates: share of the pairs of a similarity that is verified in vain\n")
	for _, p := range t.FalseCandidates {
		fmt.Fprintf(w, "  %.3f  %.3g\n", p.Similarity, p.Probability)
	}
	fmt.Fprintf(w, "\nsimilarity  probability of becoming a candidate\n")
	plot := make([]float64, len(t.Curve))
	for i, p := range t.Curve {
		fmt.Fprintf(w, "  %.2f      %.6f\n", p.Similarity, p.Probability)
		plot[i] = p.Probability
	}
	fmt.Fprintf(w, "\n%s\n", asciigraph.Plot(plot,
		asciigraph.Height(12), asciigraph.Width(61), asciigraph.LowerBound(0), asciigraph.UpperBound(1),
		asciigraph.XAxisRange(0, 1), asciigraph.XAxisTickCount(6),
		asciigraph.Caption("probability of becoming a candidate, by similarity")))
}
