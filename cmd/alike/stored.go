package main

import (
	"github.com/spf13/pflag"

	"github.com/alike-dev/alike"
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

// apply sets how the fingerprints were made.
func (f *storedFlags) apply(c *alike.Config) {
	if f.made.Sketch != nil || f.made.Texts != nil {
		c.Features, c.Sketch, c.Texts = f.made.Features, f.made.Sketch, f.made.Texts
	}
}
