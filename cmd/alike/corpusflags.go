package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/recipeflags"
	"github.com/alike-dev/alike/linkage"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
)

// corpusFlags are the flags of the commands that read a corpus.
type corpusFlags struct {
	recipe recipeflags.Settings
	input  inputFlags
	stored storedFlags
	within string
}

// thirdTextsHelp is the help of --third-texts.
const thirdTextsHelp = `With --third-texts a pair goes if more of the texts that are similar to one of the two contradict
it than not: what the two have in common is not what these share with them, as where two articles
ran into the same neighbour. Where nearly all of one text stands in the other, the pair stays.
summary.json counts them as contradicted. It takes the texts once more; --recipe auto asks
where it helps. A stream, an index and a plan cannot: they answer before all is known.
`

func (f *corpusFlags) add(flags *pflag.FlagSet) {
	f.recipe.AddPreset(flags)
	f.recipe.Decision.Add(flags, dedup.DefaultBucketCap)
	candidates := recipeflags.Words(&f.recipe.Decision.Candidates, recipeflags.Auto, recipeflags.LSH, recipeflags.Exact, string(linkage.TopK), string(linkage.Keys))
	flags.Var(candidates, "candidates", "how to find pairs: lsh (fast), exact (misses none) or auto; of records also topk (the most similar of each) or keys (those that share rare values)")
	flags.BoolVar(&f.recipe.Decision.ThirdTexts, "third-texts", false, "leave out pairs of texts that share a passage only, as other texts similar to them tell")
	f.recipe.Text.Add(flags)
	f.recipe.Sketch.Add(flags)
	f.recipe.Fingerprint.AddParameters(flags)
	f.addWithin(flags)
	f.stored.add(flags)
	f.input.add(flags)
}

func (f *corpusFlags) addWithin(flags *pflag.FlagSet) {
	flags.StringVar(&f.within, "within", "", "compare only records with the same value of this `field`, such as a crawl or a language; 7 and \"7\" are one")
}

// config builds the configuration for inputs.
func (f *corpusFlags) config(cmd *cobra.Command, inputs []string) (alike.Config, error) {
	c := alike.Config{Inputs: inputs, Within: f.within}
	if err := f.input.apply(&c); err != nil {
		return c, err
	}
	useObjects(&c.Corpus)
	if err := f.recognize(cmd, &c); err != nil {
		return c, err
	}
	c.Reads = f.recipe.Reads()
	if err := f.recipe.Apply(&c, cmd.Flags()); err != nil {
		return c, err
	}
	if c.Fingerprints && f.recipe.Preset == "" && !cmd.Flags().Changed("verify") {
		if s, ok := c.Decide.(dedup.Similarity); ok {
			s.Verify = "" // the default of fingerprints
			c.Decide = s
		}
	}
	return c, nil
}

// recognize finds out whether the inputs are fingerprints and how they were made, unless flags say
// so.
func (f *corpusFlags) recognize(cmd *cobra.Command, c *alike.Config) error {
	flags := cmd.Flags()
	c.Fingerprints = f.stored.given
	if flags.Lookup("fingerprints") == nil || flags.Changed("fingerprints") && !f.stored.given {
		return nil // texts, or a command that takes nothing else
	}
	if !flags.Changed("text-field") {
		c.Corpus.TextField = ""
	}
	line, ok, err := alike.Fingerprinted(cmd.Context(), c)
	if err != nil {
		return err
	}
	if c.Fingerprints = c.Fingerprints || ok; !c.Fingerprints {
		c.Corpus.TextField = f.input.textField
		return nil
	}
	if recipeflags.Makes(flags) || !ok {
		return nil // the run will compare them
	}
	r, err := recipe.Parse(line)
	if err != nil {
		return usagef("%s: its fingerprints are of a scheme that cannot be read back (%w); say how they were made by the flags of alike sketch", fault.Shown(c.Inputs[0]), err)
	}
	f.recipe.Made = r.SignatureOptions()
	if f.recipe.Made.Sketch != nil {
		f.recipe.Sketch.Line = f.recipe.Made.Sketch.String()
	}
	return f.settleMeasure(flags)
}

// settleMeasure takes the measure that fingerprints with counts estimate.
func (f *corpusFlags) settleMeasure(flags *pflag.FlagSet) error {
	if !f.recipe.Made.Features.Multiset {
		return nil
	}
	if flags.Changed("measure") && f.recipe.Decision.Measure != measure.WeightedJaccard.String() {
		return usagef("--measure is %s, and these fingerprints count repeated shingles: they estimate weighted-jaccard, so leave it out", f.recipe.Decision.Measure)
	}
	f.recipe.Decision.Measure = measure.WeightedJaccard.String()
	return nil
}

func addKeep(flags *pflag.FlagSet, keep *string) {
	flags.StringVar(keep, "keep", "first", "`rule` of which document of a cluster stays: first, last, longest, shortest, max:FIELD or min:FIELD")
}

// storedFlags say whether inputs are fingerprints.
type storedFlags struct{ given bool }

func (f *storedFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.given, "fingerprints", false, "INPUT is the output of alike sketch, not texts (default: decided by its first record)")
}
