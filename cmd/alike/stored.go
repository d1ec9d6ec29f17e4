package main

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/recipe"
)

// storedFlags say whether inputs are fingerprints.
type storedFlags struct {
	given bool
	// made is how the fingerprints were made, unless flags say so.
	made recipe.Options
}

func (f *storedFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.given, "fingerprints", false, "INPUT is the output of alike sketch, not texts (default: decided by its first record)")
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
	return nil
}

// apply sets how the fingerprints were made.
func (f *storedFlags) apply(c *alike.Config) {
	if f.made.Sketch != nil || f.made.Texts != nil {
		c.Features, c.Sketch, c.Texts = f.made.Features, f.made.Sketch, f.made.Texts
	}
}
