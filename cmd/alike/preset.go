package main

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/alike-dev/alike/exlsh"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/simhash"
)

// preset is the fingerprint of another program. It replaces the text and scheme flags, except those
// that it takes itself.
type preset struct {
	name  string
	takes []string // flags of textFlags, schemeFlags and presetFlags
	make  func(f *presetFlags, text *textFlags, changed func(flag string) bool) (recipe.TextScheme, error)
}

var presets = []preset{
	{"hash4j-fastsimhash", []string{"bits"}, hash4jPreset(simhash.Fast)},
	{"hash4j-simhash", []string{"bits"}, hash4jPreset(simhash.Simple)},
	{"exlsh-word", exlshTakes, exlshPreset(exlsh.Word())},
	{"exlsh-char", exlshTakes, exlshPreset(exlsh.Char())},
}

var exlshTakes = []string{
	"ngram", "tokens", "normalize", "fold", "strip-diacritics", "stop-words", "min-token-length", "hash", "text-version",
}

// presetFlags choose a preset and its parameters.
type presetFlags struct {
	name choice
	bits int
	hash choice
}

// add adds the flags after those of text and scheme.
func (f *presetFlags) add(flags *pflag.FlagSet) {
	for _, p := range presets {
		f.name.allowed = append(f.name.allowed, p.name)
	}
	flags.Var(&f.name, "preset", "fingerprint of another program, in place of the text and scheme flags and their defaults: "+strings.Join(f.name.allowed, ", "))
	f.addParameters(flags)
}

// addParameters adds all but the name.
func (f *presetFlags) addParameters(flags *pflag.FlagSet) {
	flags.IntVar(&f.bits, "bits", simhash.DefaultBits, "bits a signature of a hash4j preset")
	f.hash = choose(exlsh.HashNames()...)
	flags.Var(&f.hash, "hash", "hash function of an exlsh preset: "+strings.Join(f.hash.allowed, ", "))
}

// presetParameters are the flags that a preset may or may not take.
var presetParameters = []string{
	"ngram", "tokens", "normalize", "fold", "strip-diacritics", "stop-words", "min-token-length", "repetitions", "shingle-hash", "text-version",
	"scheme", "seed", "permutations", "bits", "hash",
}

// scheme returns the text scheme of the chosen preset, nil when none is chosen.
func (f *presetFlags) scheme(text *textFlags, flags *pflag.FlagSet) (recipe.TextScheme, error) {
	if f.name.value == "" {
		if flags.Changed("bits") {
			return nil, usagef("--bits is for presets: add --preset NAME, or write --scheme 'oph bits=%d'", f.bits)
		}
		if flags.Changed("hash") {
			return nil, usagef("--hash is for the presets exlsh-word and exlsh-char: add one of them by --preset, or leave it out")
		}
		return nil, nil
	}
	p := presets[slices.IndexFunc(presets, func(p preset) bool { return p.name == f.name.value })]
	for _, flag := range presetParameters {
		if flags.Changed(flag) && !slices.Contains(p.takes, flag) {
			return nil, usagef("--preset %s says what --%s would: leave one of them out", p.name, flag)
		}
	}
	return p.make(f, text, flags.Changed)
}

func hash4jPreset(method simhash.Method) func(*presetFlags, *textFlags, func(string) bool) (recipe.TextScheme, error) {
	return func(f *presetFlags, _ *textFlags, _ func(string) bool) (recipe.TextScheme, error) {
		scheme, err := simhash.New(method, f.bits)
		if err != nil {
			return nil, usagef("--bits is %d: take 1 to %d, such as 64 or 1024", f.bits, simhash.MaxBits)
		}
		return recipe.Hash4jWords(scheme), nil
	}
}

// exlshPreset makes the scheme of a preset of ExLSH. Flags that are not given keep the preset's
// value.
func exlshPreset(o exlsh.Options) func(*presetFlags, *textFlags, func(string) bool) (recipe.TextScheme, error) {
	return func(f *presetFlags, words *textFlags, changed func(string) bool) (recipe.TextScheme, error) {
		o := o
		features, err := words.options()
		if err != nil {
			return nil, err
		}
		if changed("ngram") {
			o.N = words.ngram
		}
		if changed("hash") {
			o.Hash, err = exlsh.ParseHash(f.hash.value)
		}
		normalizes := changed("normalize") || changed("fold") || changed("strip-diacritics")
		if changed("text-version") && !normalizes && !changed("tokens") {
			return nil, usagef("--text-version is for --normalize, --fold, --strip-diacritics and --tokens: the preset's own do not use it, leave it out")
		}
		if normalizes {
			o.Normalizer, err = exlsh.NormalizeText(features.Text)
		}
		if changed("tokens") {
			o.Tokenizer, err = exlsh.TokenizeText(features.Text)
		}
		if changed("stop-words") || changed("min-token-length") {
			o.Filter = exlsh.Without(o.Normalizer, features.Text.StopWords, words.minLength)
		}
		if err != nil {
			return nil, usageError{err}
		}
		return recipe.ExLSH(o)
	}
}
