package recipeflags

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/alike-dev/alike/exlsh"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/simhash"
)

// preset is the fingerprint of another program. It replaces the settings of Text and Sketch, except those
// that it takes itself.
type preset struct {
	name  string
	takes []string // flags of Text, Sketch and Fingerprint
	make  func(f *Fingerprint, text *Text, changed func(flag string) bool) (recipe.TextScheme, error)
}

var presets = []preset{
	{"hash4j-fastsimhash", []string{"bits"}, hash4jPreset(simhash.Fast)},
	{"hash4j-simhash", []string{"bits"}, hash4jPreset(simhash.Simple)},
	{"exlsh-word", exlshTakes, exlshPreset(exlsh.Word())},
	{"exlsh-char", exlshTakes, exlshPreset(exlsh.Char())},
}

var exlshTakes = []string{
	"ngram", "tokens", "normalize", "fold", "strip-diacritics", "stop-words", "min-token-length", "hash",
}

func presetNames() (names []string) {
	for _, p := range presets {
		names = append(names, p.name)
	}
	return names
}

// Fingerprint chooses a preset that is a fingerprint, and its parameters.
type Fingerprint struct {
	Name string
	Bits int
	Hash string
}

// Add adds the flags after those of Text and Sketch.
func (f *Fingerprint) Add(flags *pflag.FlagSet) {
	w := Words(&f.Name, presetNames()...)
	f.Name = ""
	flags.Var(w, "preset", "fingerprint of another program, in place of the text and scheme flags and their defaults: "+strings.Join(w.Allowed, ", "))
	f.AddParameters(flags)
}

// AddParameters adds all but the name.
func (f *Fingerprint) AddParameters(flags *pflag.FlagSet) {
	flags.IntVar(&f.Bits, "bits", simhash.DefaultBits, "bits a signature of a hash4j preset")
	w := Words(&f.Hash, exlsh.HashNames()...)
	flags.Var(w, "hash", "hash function of an exlsh preset: "+strings.Join(w.Allowed, ", "))
}

// presetParameters are the flags that a preset may or may not take.
var presetParameters = []string{
	"ngram", "tokens", "normalize", "fold", "strip-diacritics", "stop-words", "min-token-length", "repetitions", "shingle-hash",
	"scheme", "seed", "permutations", "bits", "hash",
}

// Makes tells whether flags say how signatures are made.
func Makes(flags *pflag.FlagSet) bool {
	return flags.Changed("preset") || slices.ContainsFunc(presetParameters, flags.Changed)
}

// Scheme returns the text scheme of the chosen preset, nil when none is chosen.
func (f *Fingerprint) Scheme(text *Text, flags *pflag.FlagSet) (recipe.TextScheme, error) {
	if f.Name == "" {
		if flags.Changed("bits") {
			return nil, usagef("%s is for presets: add %s NAME, or write %s 'oph bits=%d'", setting.Bits, setting.Preset, setting.Scheme, f.Bits)
		}
		if flags.Changed("hash") {
			return nil, usagef("%s is for the presets exlsh-word and exlsh-char: add one of them by %s, or leave it out", setting.Hash, setting.Preset)
		}
		return nil, nil
	}
	p := presets[slices.Index(presetNames(), f.Name)]
	for _, flag := range presetParameters {
		if flags.Changed(flag) && !slices.Contains(p.takes, flag) {
			return nil, usagef("%s %s says what %s would: leave one of them out", setting.Preset, p.name, names[flag])
		}
	}
	return p.make(f, text, flags.Changed)
}

func hash4jPreset(method simhash.Method) func(*Fingerprint, *Text, func(string) bool) (recipe.TextScheme, error) {
	return func(f *Fingerprint, _ *Text, _ func(string) bool) (recipe.TextScheme, error) {
		scheme, err := simhash.New(method, f.Bits)
		if err != nil {
			return nil, usagef("%s is %d: take 1 to %d, such as 64 or 1024", setting.Bits, f.Bits, simhash.MaxBits)
		}
		return recipe.Hash4jWords(scheme), nil
	}
}

// exlshPreset makes the scheme of a preset of ExLSH. Flags that are not given keep the preset's
// value.
func exlshPreset(o exlsh.Options) func(*Fingerprint, *Text, func(string) bool) (recipe.TextScheme, error) {
	return func(f *Fingerprint, words *Text, changed func(string) bool) (recipe.TextScheme, error) {
		o := o
		features, err := words.Options()
		if err != nil {
			return nil, err
		}
		if changed("ngram") {
			o.N = words.NGram
		}
		if changed("hash") {
			o.Hash, err = exlsh.ParseHash(f.Hash)
		}
		if changed("normalize") || changed("fold") || changed("strip-diacritics") {
			o.Normalizer, err = exlsh.NormalizeText(features.Text)
		}
		if changed("tokens") {
			o.Tokenizer, err = exlsh.TokenizeText(features.Text)
		}
		if changed("stop-words") || changed("min-token-length") {
			o.Filter = exlsh.Without(o.Normalizer, features.Text.StopWords, words.MinLength)
		}
		if err != nil {
			return nil, &usage{err}
		}
		return recipe.ExLSH(o)
	}
}
