package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/internal/bom"
	"github.com/alike-dev/alike/linkage"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/simhash"
	"github.com/alike-dev/alike/text"
)

// textFlags say how a text becomes features.
type textFlags struct {
	ngram       int
	tokens      choice
	normalize   choice
	fold        bool
	strip       bool
	stopWords   string
	minLength   int
	repetitions bool
	hash        choice
	version     choice
}

// textVersions are the versions of package text, by the names they have here.
var textVersions = []string{strings.TrimPrefix(string(text.V2), textPrefix), strings.TrimPrefix(string(text.V1), textPrefix)}

const textPrefix = "text/"

func (f *textFlags) add(flags *pflag.FlagSet) {
	flags.IntVar(&f.ngram, "ngram", 5, "tokens a shingle")
	f.tokens = choose(text.Words, text.Alnum, text.UAX29, text.Space, text.Chars, text.Graphemes, text.ASCII)
	flags.Var(&f.tokens, "tokens", "what a token is: words, alnum, uax29, space, chars, graphemes or ascii (characters; all else and white space dropped)")
	f.normalize = choose(text.NFKC, text.NFC, text.None)
	flags.Var(&f.normalize, "normalize", "Unicode normalisation: nfkc, nfc or none")
	flags.BoolVar(&f.fold, "fold", true, "treat upper and lower case as the same")
	flags.BoolVar(&f.strip, "strip-diacritics", false, "treat é as e")
	flags.StringVar(&f.stopWords, "stop-words", "", "drop these words: a `FILE` with one a line, or a language (en, de, fr, …)")
	flags.IntVar(&f.minLength, "min-token-length", 0, "drop tokens of fewer characters")
	f.hash = choose(shingle.FNV1)
	f.hash.value = ""
	flags.Var(&f.hash, "shingle-hash", "fnv1: hash shingles of ascii tokens by FNV-1, to agree with other programs (default: a hash that rolls)")
	flags.BoolVar(&f.repetitions, "repetitions", false, "count repeated tokens: a token's second occurrence is another token")
	f.version = choose(textVersions...)
	flags.Var(&f.version, "text-version", "how text becomes tokens: v2, or v1 to agree with what was made by earlier versions of alike")
}

func (f *textFlags) options() (shingle.Options, error) {
	o := shingle.Options{
		Text: text.Options{
			Version:         text.Version(textPrefix + f.version.value),
			Normalize:       text.Normalization(f.normalize.value),
			NoFold:          !f.fold,
			StripDiacritics: f.strip,
			Tokens:          text.Tokens(f.tokens.value),
			MinLength:       f.minLength,
		},
		N:           f.ngram,
		Repetitions: f.repetitions,
		Hash:        shingle.Hash(f.hash.value),
	}
	if f.ngram < 1 {
		return o, usagef("--ngram is %d: take 1 or more, 5 for near-duplicates of prose", f.ngram)
	}
	if f.stopWords != "" {
		words, err := readStopWords(f.stopWords)
		if err != nil {
			return o, err
		}
		o.Text.StopWords = words
	}
	if err := o.Validate(); err != nil {
		return o, usageError{err}
	}
	return o, nil
}

// reads returns the files that the flags name.
func (f *textFlags) reads() []string {
	if f.stopWords == "" {
		return nil
	}
	return []string{f.stopWords} // or a language, if there is no such file
}

// readStopWords reads a file or, if there is none of that name, takes the built-in list of a
// language.
func readStopWords(name string) ([]string, error) {
	data, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		words, err := text.BuiltinStopWords(name)
		if err != nil {
			return nil, usagef("--stop-words is %q: there is no such file, and %w", name, err)
		}
		return words, nil
	}
	if err != nil {
		return nil, err
	}
	data, _ = bom.Text(data)
	return strings.Fields(string(data)), nil
}

// schemeFlags say how features become a signature.
type schemeFlags struct {
	line         string
	seed         uint64
	permutations string
}

func (f *schemeFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.line, "scheme", alike.DefaultScheme().String(), "signature: oph, kmins, weighted, bottomk, or simhash and fastsimhash, with k=, bits=, family=, hash=")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of the signature's hash functions")
	flags.StringVar(&f.permutations, "permutations", "", "`file` with the numbers of XOR permutations, one a line, in place of --scheme; the first permutation leaves features as they are")
}

// reads returns the files that the flags name.
func (f *schemeFlags) reads() []string {
	if f.permutations == "" {
		return nil
	}
	return []string{f.permutations}
}

func (f *schemeFlags) scheme(flags *pflag.FlagSet) (minhash.Scheme, error) {
	line := f.line
	if f.permutations != "" {
		if flags.Changed("scheme") || flags.Changed("seed") {
			return minhash.Scheme{}, usagef("--permutations says what --scheme and --seed would: leave them out")
		}
		return readPermutations(f.permutations)
	}
	if flags.Changed("seed") {
		fields := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == ',' })
		kept := fields[:0]
		for _, field := range fields {
			if !strings.HasPrefix(field, "seed=") {
				kept = append(kept, field)
			}
		}
		line = fmt.Sprintf("%s seed=%d", strings.Join(kept, " "), f.seed)
	}
	s, err := minhash.ParseScheme(line)
	if err != nil {
		return s, usageError{err}
	}
	return s, nil
}

// addMeasure adds the flag --measure.
func addMeasure(flags *pflag.FlagSet, m *choice) {
	var names []string
	for _, m := range measure.All() {
		names = append(names, m.String())
	}
	*m = choose(names...)
	flags.Var(m, "measure", "what similarity is: jaccard, containment (share of A that is in B), max-containment (of the smaller), cosine, dice, overlap (shingles in common) or weighted-jaccard (repeated shingles count)")
}

// searchFlags say which pairs are wanted.
type searchFlags struct {
	measure    choice
	threshold  float64
	recall     float64
	candidates choice
	verify     choice
	bands      int
	rows       int
	minBands   int
	bucketCap  int
	distance   int
	shared     bool // only the command pairs has the flag
}

func (f *searchFlags) add(flags *pflag.FlagSet) {
	f.addDecision(flags, dedup.DefaultBucketCap)
	f.candidates = choose(dedup.CandidatesAuto, dedup.CandidatesLSH, dedup.CandidatesExact)
	f.candidates.allowed = append(f.candidates.allowed, string(linkage.TopK))
	flags.Var(&f.candidates, "candidates", "how to find pairs: lsh (fast), exact (misses none) or auto; of --records topk (the most similar of each, the default) too")
}

// addDecision adds the flags of all commands that decide about pairs.
func (f *searchFlags) addDecision(flags *pflag.FlagSet, bucketCap int) {
	addMeasure(flags, &f.measure)
	flags.Float64Var(&f.threshold, "threshold", dedup.DefaultThreshold, "least similarity of a pair, above 0 and up to 1; of overlap, a number of shingles, without a default")
	flags.IntVar(&f.distance, "distance", 0, "with SimHash and presets of fingerprints: most bits in which a pair differs, instead of a threshold")
	flags.Float64Var(&f.recall, "recall", dedup.DefaultRecall, "share of the pairs at the threshold to be found: an average over seeds; with one seed a family of near-copies may have less")
	f.verify = choose(dedup.VerifyExact, dedup.VerifySketch, dedup.VerifyNone)
	flags.Var(&f.verify, "verify", "similarity of a pair: exact, sketch (estimated) or none")
	flags.IntVar(&f.bands, "bands", 0, "bands of the signature (default: tuned, see alike tune)")
	flags.IntVar(&f.rows, "rows", 0, "components a band (default: tuned)")
	flags.IntVar(&f.minBands, "min-bands", 1, "bands in which a pair must agree")
	flags.IntVar(&f.bucketCap, "bucket-cap", bucketCap, "documents in a bucket up to which all its pairs are compared")
}

func (f *searchFlags) apply(c *alike.Config, flags *pflag.FlagSet) error {
	c.BucketCap = f.bucketCap
	if f.bucketCap < 2 || f.bucketCap > dedup.MaxBucketCap {
		return usagef("--bucket-cap is %d: take 2 to %d, such as %d", f.bucketCap, dedup.MaxBucketCap, dedup.DefaultBucketCap)
	}
	if c.Distance != nil {
		return nil
	}
	var err error
	if c.Measure, err = measure.Parse(f.measure.value); err != nil {
		return usageError{err}
	}
	c.Threshold, c.Recall, c.Shared = f.threshold, f.recall, f.shared
	c.Candidates, c.Verify = dedup.Candidates(f.candidates.value), dedup.Verify(f.verify.value)
	if c.Measure == measure.Overlap && !flags.Changed("threshold") {
		return usagef("--measure overlap has no threshold that suits all data: say how many shingles must be common, such as --threshold 10")
	}
	if err := checkThreshold(c.Measure, f.threshold, f.recall); err != nil {
		return err
	}
	switch {
	case f.bands != 0 && f.rows != 0:
		c.Banding.Bands, c.Banding.Rows, c.Banding.MinBands = f.bands, f.rows, f.minBands
	case f.bands != 0 || f.rows != 0 || f.minBands != 1:
		return usagef("--bands and --rows go together, and --min-bands needs both")
	}
	return nil
}

// checkThreshold checks a threshold and a recall that the user has given. A configuration takes 0
// for its default, so it would not refuse a 0 of the user's.
func checkThreshold(m measure.Measure, threshold, recall float64) error {
	switch {
	case m == measure.Overlap:
		if _, err := measure.NewThreshold(m, threshold); err != nil {
			return usagef("--threshold is %v: by --measure overlap take a whole number from 1 on, such as 10", threshold)
		}
	case !(threshold > 0 && threshold <= 1):
		return usagef("--threshold is %v: take a number above 0 and up to 1, such as 0.8", threshold)
	}
	return checkRecall(recall)
}

func checkRecall(recall float64) error {
	if !(recall > 0 && recall < 1) {
		return usagef("--recall is %v: take a number between 0 and 1, such as 0.99 (--candidates exact misses nothing)", recall)
	}
	return nil
}

// addKeep adds the flag --keep.
func addKeep(flags *pflag.FlagSet, keep *string) {
	flags.StringVar(keep, "keep", "first", "which document of a cluster stays: first, last, longest, shortest, max:FIELD or min:FIELD")
}

// readPermutations returns the scheme of a file of numbers.
func readPermutations(path string) (minhash.Scheme, error) {
	file, err := os.Open(path)
	if err != nil {
		return minhash.Scheme{}, fmt.Errorf("--permutations: %w", err)
	}
	defer file.Close()
	numbers, err := minhash.ReadNumbers(bom.NewReader(file))
	if err != nil {
		return minhash.Scheme{}, fmt.Errorf("--permutations %s: %w", path, err)
	}
	return minhash.Permutations(numbers, minhash.DefaultBits)
}

// isSimHash tells whether the scheme is one of package simhash.
func (f *schemeFlags) isSimHash() bool {
	line := strings.TrimLeft(f.line, " ")
	return strings.HasPrefix(line, simhash.Simple.String()) || strings.HasPrefix(line, simhash.Fast.String())
}

// apply sets how signatures are made: by a MinHash scheme or, unless a preset has a text scheme, by
// SimHash.
func (f *schemeFlags) apply(c *alike.Config, flags *pflag.FlagSet) error {
	if !f.isSimHash() {
		var err error
		c.Sketch, err = f.scheme(flags)
		return err
	}
	if flags.Changed("seed") {
		return usagef("--seed is for MinHash: SimHash has none, leave it out")
	}
	scheme, err := simhash.ParseScheme(f.line)
	if err != nil {
		return usageError{err}
	}
	c.Sketch = recipe.SimHash(scheme)
	return nil
}
