package main

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/simhash"
)

// preset is the fingerprint of another program. It replaces the text and scheme
// flags, but for those it takes itself.
type preset struct {
	name  string
	takes []string // flags of textFlags, schemeFlags and presetFlags
	make  func(f *presetFlags, changed func(flag string) bool) (alike.TextScheme, error)
}

var presets = []preset{
	{"hash4j-fastsimhash", []string{"bits"}, hash4jPreset(simhash.Fast)},
	{"hash4j-simhash", []string{"bits"}, hash4jPreset(simhash.Simple)},
}

// presetFlags choose a preset and its parameters.
type presetFlags struct {
	name choice
	bits int
}

// add adds the flags after those of text and scheme.
func (f *presetFlags) add(flags *pflag.FlagSet) {
	for _, p := range presets {
		f.name.allowed = append(f.name.allowed, p.name)
	}
	flags.Var(&f.name, "preset", "fingerprint of another program, in place of the text and scheme flags: "+strings.Join(f.name.allowed, ", "))
	flags.IntVar(&f.bits, "bits", simhash.DefaultBits, "bits a signature of a hash4j preset")
}

// presetParameters are the flags that a preset may or may not take.
var presetParameters = []string{
	"ngram", "tokens", "normalize", "fold", "strip-diacritics", "stop-words", "min-token-length", "repetitions",
	"scheme", "seed", "bits",
}

// scheme returns the text scheme of the chosen preset, nil when none is chosen.
func (f *presetFlags) scheme(flags *pflag.FlagSet) (alike.TextScheme, error) {
	if f.name.value == "" {
		if flags.Changed("bits") {
			return nil, usagef("--bits is for presets: add --preset NAME, or write --scheme 'oph bits=%d'", f.bits)
		}
		return nil, nil
	}
	p := presets[slices.IndexFunc(presets, func(p preset) bool { return p.name == f.name.value })]
	for _, flag := range presetParameters {
		if flags.Changed(flag) && !slices.Contains(p.takes, flag) {
			return nil, usagef("--preset %s says what --%s would: leave one of them out", p.name, flag)
		}
	}
	return p.make(f, flags.Changed)
}

func hash4jPreset(method simhash.Method) func(*presetFlags, func(string) bool) (alike.TextScheme, error) {
	return func(f *presetFlags, _ func(string) bool) (alike.TextScheme, error) {
		scheme, err := simhash.New(method, f.bits)
		if err != nil {
			return nil, usagef("--bits is %d: take 1 to %d, such as 64 or 1024", f.bits, simhash.MaxBits)
		}
		return alike.Hash4jWords(scheme), nil
	}
}
