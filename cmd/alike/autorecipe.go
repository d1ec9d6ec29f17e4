package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/advise"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/internal/setting"
)

// autoRecipe is --recipe auto: a sample of the inputs says what is alike.
type autoRecipe struct {
	word   choice
	wrong  float64
	banded bool // for a collection that grows
	alone  bool // for tasks that have a part of the texts each
	lists  bool // pairs, and removes none of them
	// samples are texts like those to come, for a command whose inputs cannot be read twice.
	samples []string
	settled bool    // what was chosen before holds
	asked   bool    // samples are flags of the command
	told    string  // what the sample says; "": it was not asked
	cluster *choice // of a command that removes: set to whole where it was not given, and a recipe was chosen
}

func (f *autoRecipe) add(flags *pflag.FlagSet) {
	f.word = choose("auto")
	f.word.value = ""
	flags.Var(&f.word, "recipe", "auto: choose tokens, ngram, measure and threshold by a sample of INPUT, as alike tune INPUT")
	flags.Float64Var(&f.wrong, "wrong", advise.DefaultWrong, "with --recipe auto: largest share of pairs that are alike by chance, above 0 and below 1")
}

// addSampled adds the flags of a command that reads a stream.
func (f *autoRecipe) addSampled(flags *pflag.FlagSet) {
	f.add(flags)
	f.asked = true
	flags.Lookup("recipe").Usage = "auto: choose tokens, ngram, measure and threshold by the texts of --sample, as alike tune does"
	flags.StringArrayVar(&f.samples, "sample", nil, "with --recipe auto: `file`, folder or pattern of texts like those to come; may be repeated")
}

func (f *autoRecipe) wanted() bool { return f.word.value != "" && !f.settled }

// openSettings are the flags that may be given beside --recipe auto, of those that say what is alike.
var openSettings = []string{"normalize", "fold", "strip-diacritics", "recall", "candidates", "bucket-cap", "seed"}

// check refuses flags that say what the sample is to say.
func (f *autoRecipe) check(cmd *cobra.Command) (err error) {
	if f.settled {
		return nil
	}
	if !f.wanted() {
		if cmd.Flags().Changed("wrong") {
			return usagef("--wrong is about --recipe auto: give that too, or leave it out")
		}
		if len(f.samples) > 0 {
			return usagef("--sample is for --recipe auto: give that too, or leave it out")
		}
		return nil
	}
	if f.asked && len(f.samples) == 0 {
		return usagef("--recipe auto looks at texts like those to come: name files of them by --sample")
	}
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		switch topicOf(cmd, flag.Name) {
		case "similarity", "text", "records", presetsTopic:
			if flag.Name != "recipe" && flag.Name != "wrong" && flag.Name != "sample" && !slices.Contains(openSettings, flag.Name) && err == nil {
				err = usagef("--%s is what --recipe auto chooses, or does not go with it: leave one of them out", flag.Name)
			}
		}
	})
	return err
}

// apply sets what is alike, if a sample is to say it, in a configuration that is complete but for that.
func (f *autoRecipe) apply(cmd *cobra.Command, c *alike.Config, threads int) error {
	if !f.wanted() {
		return nil
	}
	decide, ok := c.Decide.(dedup.Similarity)
	shingles, both := c.Signatures.(dedup.OfShingles)
	if c.Fingerprints || !ok || !both {
		return usagef("--recipe auto needs texts, and INPUT is fingerprints, which say how they were made: leave it out")
	}
	inputs, corpus := c.Inputs, c.Corpus
	if f.asked {
		inputs, corpus.Format = f.samples, ""
	}
	a, err := adviseOn(cmd.Context(), inputs, adviceOptions{corpus: corpus, again: true, memory: c.Memory, banded: f.banded, alone: f.alone, removes: !f.lists, wrong: f.wrong, threads: threads})
	if err != nil {
		return err
	}
	shingles.Options.Text.Tokens, shingles.Options.N = a.Chosen.Tokens, a.Chosen.N
	shingles.Options.Text.StripDiacritics = shingles.Options.Text.StripDiacritics || a.Chosen.StripDiacritics
	decide.Measure, decide.Threshold, decide.ThirdTexts = a.Chosen.Measure, a.Chosen.Threshold, a.Chosen.ThirdTexts
	if idf := idfOf(a.Chosen); idf != "" {
		shingles.Rarity = rarityOf(idf)
	}
	c.Signatures, c.Decide = shingles, decide
	chosen := flagsOf(a.Chosen)
	if f.cluster != nil && a.Told && a.Chosen != advise.Default && !cmd.Flags().Changed("cluster") {
		f.cluster.value = clusterWhole // a chain of noisy copies passes from one text to another, and a passage is not all of a text
		chosen += " --cluster " + clusterWhole
	}
	f.told = fmt.Sprintf("recipe by a sample of %s: %s (%s)", count(int64(a.Documents), "text"), chosen, a.Reason)
	return nil
}

// tell says what was chosen, once messages can be heard.
func (f *autoRecipe) tell(c *alike.Config) {
	if f.told != "" && c.OnNotice != nil {
		c.OnNotice(setting.Textf("%s", f.told))
	}
}
