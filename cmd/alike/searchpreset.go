package main

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/text"
)

// The presets of the commands that look for pairs: settings of published systems. A
// flag that is given counts more than the preset.
const (
	presetBroder   = "broder"
	presetFeatures = "features"
)

// searchPreset is the flag --preset of these commands.
type searchPreset struct{ name choice }

func (p *searchPreset) add(flags *pflag.FlagSet) {
	p.name = choose(presetBroder, presetFeatures)
	p.name.value = ""
	flags.Var(&p.name, "preset", "settings of a published system, broder or features (see alike help pairs); flags that are given count more")
}

// presetIf sets a flag's value unless it was given.
func presetIf[T any](flags *pflag.FlagSet, name string, field *T, value T) {
	if !flags.Changed(name) {
		*field = value
	}
}

// settle sets all that the preset says before the scheme is known.
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
func (f *corpusFlags) settleBands(flags *pflag.FlagSet, s minhash.Scheme) {
	var p lsh.Params
	switch {
	case flags.Changed("candidates"):
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

// readPermutations returns the scheme of a file of numbers.
func readPermutations(path string) (minhash.Scheme, error) {
	file, err := os.Open(path)
	if err != nil {
		return minhash.Scheme{}, fmt.Errorf("--permutations: %w", err)
	}
	defer file.Close()
	numbers, err := minhash.ReadNumbers(file)
	if err != nil {
		return minhash.Scheme{}, fmt.Errorf("--permutations %s: %w", path, err)
	}
	return minhash.Permutations(numbers, minhash.DefaultBits)
}
