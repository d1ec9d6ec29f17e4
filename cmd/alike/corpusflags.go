package main

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/text"
)

// corpusFlags are the flags of the commands that read a corpus.
type corpusFlags struct {
	text   textFlags
	scheme schemeFlags
	input  inputFlags
	search searchFlags
	preset searchPreset
	// Parameters of a preset that is a fingerprint.
	fingerprint presetFlags
	stored      storedFlags
}

func (f *corpusFlags) add(flags *pflag.FlagSet) {
	f.preset.add(flags)
	f.search.add(flags)
	f.text.add(flags)
	f.scheme.add(flags)
	f.fingerprint.addParameters(flags)
	f.stored.add(flags)
	f.input.add(flags)
}

// config builds the configuration for inputs.
func (f *corpusFlags) config(cmd *cobra.Command, inputs []string) (alike.Config, error) {
	c := alike.Config{Inputs: inputs, Keep: cluster.Keep{}}
	var err error
	f.settle(cmd.Flags())
	if err := f.input.apply(&c); err != nil {
		return c, err
	}
	useObjects(cmd, &c.Corpus)
	if err := f.recognize(cmd, &c); err != nil {
		return c, err
	}
	if c.Features, err = f.text.options(); err != nil {
		return c, err
	}
	if err := f.settleDistance(&c, cmd.Flags()); err != nil {
		return c, err
	}
	if err := f.scheme.apply(&c, cmd.Flags()); err != nil {
		return c, err
	}
	f.stored.apply(&c)
	f.settleBands(cmd.Flags(), c.Sketch)
	c.Reads = append(f.text.reads(), f.scheme.reads()...)
	if err := f.search.apply(&c, cmd.Flags()); err != nil {
		return c, err
	}
	if c.Fingerprints && f.preset.name.value == "" && !cmd.Flags().Changed("verify") {
		c.Verify = "" // the default of fingerprints
	}
	return c, nil
}

// settle sets the settings of the preset before the scheme is known.
func (f *corpusFlags) settle(flags *pflag.FlagSet) {
	switch f.preset.name.value {
	case presetBroder:
		presetIf(flags, "tokens", &f.text.tokens.value, string(text.ASCII))
		presetIf(flags, "ngram", &f.text.ngram, 54)
		presetIf(flags, "scheme", &f.scheme.line, "kmins family=plainxor k=200")
		presetIf(flags, "threshold", &f.search.threshold, 0.03)
		presetIf(flags, "verify", &f.search.verify.value, string(dedup.VerifySketch))
	case presetFeatures:
		presetIf(flags, "ngram", &f.text.ngram, 10)
		presetIf(flags, "scheme", &f.scheme.line, "kmins k=84")
		presetIf(flags, "threshold", &f.search.threshold, 0.95)
		presetIf(flags, "verify", &f.search.verify.value, string(dedup.VerifyNone))
	default:
		return
	}
	presetIf(flags, "shared", &f.search.shared, true)
}

// settleBands sets the bands of the preset.
func (f *corpusFlags) settleBands(flags *pflag.FlagSet, sketch recipe.Scheme) {
	var p lsh.Params
	s, ok := sketch.(minhash.Scheme)
	switch {
	case !ok || flags.Changed("candidates"):
		return
	case f.preset.name.value == presetBroder:
		p = lsh.Params{Bands: s.K(), Rows: 1, MinBands: min(max(s.MinEqual(f.search.threshold), 1), s.K())}
	case f.preset.name.value == presetFeatures:
		p = lsh.Params{Bands: 6, Rows: 14, MinBands: 2}
	default:
		return
	}
	presetIf(flags, "bands", &f.search.bands, p.Bands)
	presetIf(flags, "rows", &f.search.rows, p.Rows)
	presetIf(flags, "min-bands", &f.search.minBands, p.MinBands)
}

// bySimilarity are the flags about finding and deciding pairs by similarity.
var bySimilarity = []string{"measure", "threshold", "recall", "candidates", "verify", "bands", "rows", "min-bands", "shared"}

// settleDistance sets up the comparison of fingerprints by Hamming distance, if it is asked for,
// and refuses flags that contradict each other.
func (f *corpusFlags) settleDistance(c *alike.Config, flags *pflag.FlagSet) (err error) {
	given := flags.Changed("distance")
	fingerprints := slices.ContainsFunc(presets, func(p preset) bool { return p.name == f.preset.name.value })
	if fingerprints {
		f.fingerprint.name.value = f.preset.name.value
	}
	if c.Texts, err = f.fingerprint.scheme(&f.text, flags); err != nil {
		return err
	}
	switch hamming := fingerprints || f.scheme.isSimHash() || f.stored.made.Texts != nil; {
	case !given && !hamming:
		return nil
	case !given:
		return usagef("these fingerprints are compared by Hamming distance: say how far they may be apart, such as --distance 3 for 64 bits")
	case !hamming:
		return usagef("--distance is for fingerprints that are compared bit by bit: add --scheme fastsimhash, or a --preset such as exlsh-word, or take --threshold instead")
	case f.search.distance < 0:
		return usagef("--distance is %d: take 0 or more, such as 3 for fingerprints of 64 bits", f.search.distance)
	case f.preset.name.value == presetBroder || f.preset.name.value == presetFeatures:
		return usagef("--preset %s and --distance both say which pairs are wanted: leave one of them out", f.preset.name.value)
	}
	for _, name := range bySimilarity {
		if flags.Changed(name) {
			return usagef("--distance says which pairs are wanted and misses none of them: leave --%s out", name)
		}
	}
	c.Distance = &f.search.distance
	return nil
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
	if slices.ContainsFunc(append(presetParameters, "preset"), flags.Changed) || !ok {
		return nil // the run will compare them
	}
	r, err := recipe.Parse(line)
	if err != nil {
		return usagef("%s: its fingerprints are of a scheme that cannot be read back (%w); say how they were made by the flags of alike sketch", fault.Shown(c.Inputs[0]), err)
	}
	f.stored.made = r.SignatureOptions()
	if f.stored.made.Sketch != nil {
		f.scheme.line = f.stored.made.Sketch.String()
	}
	return f.settleMeasure(flags)
}

// settleMeasure takes the measure that fingerprints with counts estimate.
func (f *corpusFlags) settleMeasure(flags *pflag.FlagSet) error {
	if !f.stored.made.Features.Multiset {
		return nil
	}
	if flags.Changed("measure") && f.search.measure.value != measure.WeightedJaccard.String() {
		return usagef("--measure is %s, and these fingerprints count repeated shingles: they estimate weighted-jaccard, so leave it out", f.search.measure.value)
	}
	f.search.measure.value = measure.WeightedJaccard.String()
	return nil
}
