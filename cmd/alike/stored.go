package main

import (
	"github.com/spf13/pflag"
)

// storedFlags say whether inputs are fingerprints.
type storedFlags struct{ given bool }

func (f *storedFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.given, "fingerprints", false, "INPUT is the output of alike sketch, not texts (default: decided by its first record)")
}
