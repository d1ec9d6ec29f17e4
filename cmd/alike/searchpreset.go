package main

import (
	"strings"

	"github.com/spf13/pflag"
)

// The presets of the commands that look for pairs: settings of published systems. Flags override
// them.
const (
	presetBroder   = "broder"
	presetFeatures = "features"
)

// searchPreset is the flag --preset of these commands.
type searchPreset struct{ name choice }

func (p *searchPreset) add(flags *pflag.FlagSet) {
	p.name = choose(presetBroder, presetFeatures)
	p.name.value = ""
	for _, other := range presets {
		p.name.allowed = append(p.name.allowed, other.name)
	}
	flags.Var(&p.name, "preset", "settings of a published system (see alike help pairs) in place of the defaults, which flags override; or fingerprints to compare by --distance: "+
		strings.Join(p.name.allowed, ", "))
}

// presetIf sets a flag's value unless it was given.
func presetIf[T any](flags *pflag.FlagSet, name string, field *T, value T) {
	if !flags.Changed(name) {
		*field = value
	}
}
