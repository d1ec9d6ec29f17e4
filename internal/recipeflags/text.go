package recipeflags

import (
	"errors"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/alike-dev/alike/internal/bom"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/text"
)

// Text are the settings that say how a text becomes features.
type Text struct {
	NGram           int
	Tokens          string
	Normalize       string
	Fold            bool
	StripDiacritics bool
	StopWords       string // a file, or a language
	MinLength       int
	Repetitions     bool
	Hash            string
	// WordsOf, if set, returns the words that StopWords names, in place of reading a file of that name: for programs
	// that take settings from afar.
	WordsOf func(name string) ([]string, error)
}

func (f *Text) Add(flags *pflag.FlagSet) {
	flags.IntVar(&f.NGram, "ngram", 5, "tokens a shingle")
	tokens := Words(&f.Tokens, text.Words, text.Alnum, text.UAX29, text.Space, text.Chars, text.Graphemes, text.ASCII)
	flags.Var(tokens, "tokens", "what a token is: words, alnum, uax29, space, chars, graphemes or ascii (characters; all else and white space dropped)")
	flags.Var(Words(&f.Normalize, text.NFKC, text.NFC, text.None), "normalize", "Unicode normalisation: nfkc, nfc or none")
	flags.BoolVar(&f.Fold, "fold", true, "treat upper and lower case as the same")
	flags.BoolVar(&f.StripDiacritics, "strip-diacritics", false, "treat é as e")
	flags.StringVar(&f.StopWords, "stop-words", "", "drop these words: a `FILE` with one a line, or a language (en, de, fr, …)")
	flags.IntVar(&f.MinLength, "min-token-length", 0, "drop tokens of fewer characters")
	hash := Words(&f.Hash, shingle.FNV1)
	f.Hash = ""
	flags.Var(hash, "shingle-hash", "fnv1: hash shingles of ascii tokens by FNV-1, to agree with other programs (default: a hash that rolls)")
	flags.BoolVar(&f.Repetitions, "repetitions", false, "count repeated tokens: a token's second occurrence is another token")
}

func (f *Text) Options() (shingle.Options, error) {
	o := shingle.Options{
		Text: text.Options{
			Normalize:       text.Normalization(f.Normalize),
			NoFold:          !f.Fold,
			StripDiacritics: f.StripDiacritics,
			Tokens:          text.Tokens(f.Tokens),
			MinLength:       f.MinLength,
		},
		N:           f.NGram,
		Repetitions: f.Repetitions,
		Hash:        shingle.Hash(f.Hash),
	}
	if f.NGram < 1 {
		return o, usagef("%s is %d: take 1 or more, 5 for near-duplicates of prose", setting.NGram, f.NGram)
	}
	if f.StopWords != "" {
		wordsOf := readStopWords
		if f.WordsOf != nil {
			wordsOf = f.WordsOf
		}
		words, err := wordsOf(f.StopWords)
		if err != nil {
			return o, err
		}
		o.Text.StopWords = words
	}
	if err := o.Validate(); err != nil {
		return o, &usage{err}
	}
	return o, nil
}

// Reads returns the files that the flags name.
func (f *Text) Reads() []string {
	if f.StopWords == "" {
		return nil
	}
	return []string{f.StopWords} // or a language, if there is no such file
}

// readStopWords reads a file or, if there is none of that name, takes the built-in list of a
// language.
func readStopWords(name string) ([]string, error) {
	data, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		words, err := text.BuiltinStopWords(name)
		if err != nil {
			return nil, usagef("%s is %q: there is no such file, and %w", setting.StopWords, name, err)
		}
		return words, nil
	}
	if err != nil {
		return nil, err
	}
	data, _ = bom.Text(data)
	return strings.Fields(string(data)), nil
}
