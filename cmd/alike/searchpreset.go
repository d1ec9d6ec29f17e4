package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/text"
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
	flags.Var(&p.name, "preset", "settings of a published system (see alike help pairs), which flags override; or fingerprints to compare by --distance: "+
		strings.Join(p.name.allowed, ", "))
}

// presetIf sets a flag's value unless it was given.
func presetIf[T any](flags *pflag.FlagSet, name string, field *T, value T) {
	if !flags.Changed(name) {
		*field = value
	}
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
