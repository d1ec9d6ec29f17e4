package shingle

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/alike-dev/alike/text"
)

// MostN is the largest number of tokens in a shingle: setting one up takes as many steps.
const MostN = 1 << 20

// DefaultN is the number of tokens in a shingle when Options.N is 0.
const DefaultN = 5

// Options says exactly how a document becomes features. The zero value is the
// default: shingles of five words.
type Options struct {
	Text        text.Options
	N           int  // tokens in a shingle, at least 1; 0: DefaultN
	Repetitions bool // the j-th occurrence of a token is another token
	// Multiset makes the j-th occurrence of a feature another feature, so that sets also hold
	// how often a text has it: their Jaccard similarity is the weighted one of the counts, Σ
	// min / Σ max. A document then costs about 32 bytes of scratch memory a feature.
	Multiset bool
	// Weights, if set, make features count by weight. They cannot be combined with a Hash.
	Weights *Weights
	// Hash, if set, is a hash of another kind. The hashes over UTF-16 units cut words in their
	// own way: Text and Repetitions must be zero with them. FNV1 needs text.ASCII. No Hash can
	// be combined with Multiset.
	Hash Hash
}

func (o Options) withDefaults() Options {
	if o.N == 0 {
		o.N = DefaultN
	}
	return o
}

// Validate reports the first option that is out of range, with the allowed values.
func (o Options) Validate() error {
	if o.N < 0 || o.N > MostN {
		return fmt.Errorf("shingle: %d tokens in a shingle: use 1 or more, up to %d, or 0 for the default of %d", o.N, MostN, DefaultN)
	}
	switch {
	case o.Hash == "":
		return o.Text.Validate()
	case !slices.Contains(hashes, o.Hash):
		return fmt.Errorf("shingle: unknown hash %q: use one of %v, or none", o.Hash, hashes)
	case o.Weights != nil:
		return fmt.Errorf("shingle: hash %s makes sets without weights: leave one of the two out", o.Hash)
	case o.Multiset:
		return fmt.Errorf("shingle: hash %s makes sets, not multisets: leave one of the two out", o.Hash)
	case o.Hash == FNV1:
		plain := o.Text.MinLength <= 1 && o.Text.Filter == nil && len(o.Text.StopWords) == 0
		if o.Text.Tokens != text.ASCII || o.Repetitions || !plain {
			return fmt.Errorf("shingle: hash %s is one of characters as they stand: use it with tokens %s, and neither repetitions nor filters of tokens", FNV1, text.ASCII)
		}
		return o.Text.Validate()
	}
	if o.Repetitions || o.Text.String() != (text.Options{}).String() {
		return fmt.Errorf("shingle: %s cuts words in its own way: leave the version, normalisation, folding, tokens, stop words and repetitions as they are by default", o.Hash)
	}
	return nil
}

// unitsVersion names the word rules of the hashes over UTF-16 units.
const unitsVersion = "utf16/v1"

// weightsKey begins the name of weights in a line.
const weightsKey = " idf="

// unicodeKey begins the last word of the text pipeline's line. The words of this package
// stand before it.
const unicodeKey = " unicode="

// String returns the canonical line: the text pipeline's with n, then reps with Repetitions,
// multiset with Multiset, the name of weights, and the hash if there is one.
//
//	text/v2 nfkc fold words n=5 unicode=15.0.0
//	text/v2 nfkc fold words n=5 multiset unicode=15.0.0
//	utf16/v1 hash=fnv1a32 n=3 unicode=15.0.0
func (o Options) String() string {
	if o.Hash != "" && o.Hash != FNV1 {
		return fmt.Sprintf("%s hash=%s n=%d unicode=%s", unitsVersion, o.Hash, o.withDefaults().N, unicode.Version)
	}
	own := fmt.Sprintf(" n=%d", o.withDefaults().N)
	if o.Repetitions {
		own += " reps"
	}
	if o.Multiset {
		own += " multiset"
	}
	if o.Weights != nil {
		own += weightsKey + o.Weights.Name
	}
	if o.Hash != "" {
		own += " hash=" + string(o.Hash)
	}
	line := o.Text.String()
	at := strings.LastIndex(line, unicodeKey)
	return line[:at] + own + line[at:]
}

// ParseOptions reads a line that String has printed, or a part of one, under the rules of
// text.ParseOptions.
func ParseOptions(line string) (Options, error) {
	var o Options
	var rest []string
	units := false
	for _, word := range strings.Fields(line) {
		value, isN := strings.CutPrefix(word, "n=")
		switch {
		case isN:
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 {
				return Options{}, fmt.Errorf("shingle: %q: the number of tokens in a shingle is 1 or more", word)
			}
			o.N = n
		case word == "reps":
			o.Repetitions = true
		case word == "multiset":
			o.Multiset = true
		case word == unitsVersion:
			units = true
		case strings.HasPrefix(" "+word, weightsKey):
			return Options{}, fmt.Errorf("shingle: %q: weights come from a collection, and a line does not hold them: set them in Options", word)
		case strings.HasPrefix(word, "hash="):
			o.Hash = Hash(word[len("hash="):])
		default:
			rest = append(rest, word)
		}
	}
	if units && o.Hash == "" {
		return Options{}, fmt.Errorf("shingle: %s without a hash: add one of %v as hash=…", unitsVersion, hashes)
	}
	var err error
	o.Text, err = text.ParseOptions(strings.Join(rest, " "))
	if err != nil {
		return Options{}, err
	}
	return o, o.Validate()
}
