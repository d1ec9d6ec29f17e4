package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/internal/recipeflags"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/minhash"
)

const tuneHelp = `Find the recipe for texts, or show bands, rows and S-curve for a threshold.

With INPUT, a sample of its documents tells which recipe, and which threshold, finds
their copies: however texts are cut, scanned, edited or retyped. The table has for each
recipe the pairs of distinct texts to be expected in the whole, the share of wrong ones, with a
range, the share of all copies that are found, and the seconds that one core takes. Below
it stand the flags to copy, and pairs on both sides of the threshold, to judge. Where
the data do not tell, it says why, and stays with the default.

With --examples pairs that you have judged decide, 20 to 200 of them, with an interval of
95 %; --ask 30 asks for them, side by side: y yes, they are copies; n no; u unsure; b back to
the question before; q ends. Answers are saved after each key.

Without INPUT: a signature of --hashes components is cut into bands of a number of rows; two
documents become a candidate pair when they agree in a whole band. The S-curve
is the probability of that for a pair of each similarity. Candidates are
verified, so a false one only costs time: bands are chosen first for
recall, then for little work. The other commands choose them in the same way. --bands and
--rows show others, and --plot draws the curves.

With another measure the bands are those for the least Jaccard similarity that a pair
at its threshold can have; the S-curve goes by the Jaccard similarity. Containment has no
such similarity, and no bands: every document has a sample of a few features, and a
document that has enough of them is a candidate. With overlap pairs are found exactly.`

const tuneExamples = `  alike tune news.jsonl --html recipe.html
  alike tune news.jsonl --examples pairs.csv --ask 30
  alike tune --bands 6,20,42 --rows 3,5,6 --plot curves.svg`

func newTune() *cobra.Command {
	var by string
	var threshold, recall float64
	var hashes, bits int
	var given bandFlags
	var asJSON bool
	var texts textTuning
	cmd := &cobra.Command{
		Use:     "tune [INPUT...] [--threshold T]",
		Short:   "Find the recipe for texts, or bands for a threshold",
		Long:    tuneHelp,
		Example: tuneExamples,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkTuning(cmd, args); err != nil {
				return err
			}
			if len(args) > 0 {
				return texts.run(cmd, args, asJSON)
			}
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
			if _, err := keepApart(append(named(given.plot), "-"), nil); err != nil {
				return err
			}
			var tunings []*alike.Tuning
			if given.wanted() {
				tunings, err = given.tunings(limit, bits)
			} else {
				tunings = make([]*alike.Tuning, 1)
				tunings[0], err = alike.TuneFor(limit, recall, hashes, bits)
			}
			if err != nil {
				return usageError{err}
			}
			return given.show(cmd, tunings, asJSON)
		},
	}
	flags := cmd.Flags()
	recipeflags.AddMeasure(flags, &by)
	flags.Float64Var(&threshold, "threshold", dedup.DefaultThreshold, "similarity from which pairs are wanted, above 0 and up to 1")
	flags.Float64Var(&recall, "recall", dedup.DefaultRecall, "share of the pairs at the threshold to be found, on average over seeds")
	flags.IntVar(&hashes, "hashes", alike.DefaultScheme().K(), "components of the signature")
	flags.IntVar(&bits, "bits", alike.DefaultScheme().Bits(), "bits of a component: 1, 2, 4, 8, 16 or 32")
	given.add(flags)
	flags.BoolVar(&asJSON, "json", false, "JSON on standard output")
	texts.add(flags)
	completeChoices(cmd)
	return cmd
}

// checkTuning refuses flags of the one use with the other one.
func checkTuning(cmd *cobra.Command, args []string) (err error) {
	of, other := "goes with INPUT", false
	if len(args) > 0 {
		of, other = "is for a threshold without INPUT, whose texts say which one suits them", true
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "json", "help", helpAll:
		case "measure", "threshold", "recall", "hashes", "bits", "bands", "rows", "plot":
			if other && err == nil {
				err = usagef("--%s %s", f.Name, of)
			}
		default:
			if !other && err == nil {
				err = usagef("--%s %s: name files or folders of texts", f.Name, of)
			}
		}
	})
	return err
}
