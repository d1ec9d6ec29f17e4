package text

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Version names the pipeline. It changes when the hashes of any text change for a reason that
// the rest of the line does not show.
type Version string

// The versions. The empty value stands for V2.
const (
	// V2 is the pipeline that the package comment describes.
	V2 Version = "text/v2"
	// V1 serves comparison with stored results of V1. It treats soft hyphens, zero-width
	// characters and tatweel as ordinary characters. The two cases of Cherokee differ, and so
	// may canonically equivalent texts that have more than 30 combining marks in a row.
	V1 Version = "text/v1"
)

// segmentationVersion is the Unicode version of the tables of clipperhouse/uax29, which is
// not that of the standard library.
const segmentationVersion = "17.0.0"

// Normalization is a Unicode normalisation form.
type Normalization string

// The normalisation forms. The empty value stands for NFKC.
const (
	NFKC Normalization = "nfkc" // canonical and compatibility: Ａ is A, ½ is 1⁄2
	NFC  Normalization = "nfc"  // canonical: é is one code point, whichever way it is written
	None Normalization = "none" // unchanged
)

// form returns the form that composes; for None it is NFC.
func (n Normalization) form() norm.Form {
	if n == NFKC {
		return norm.NFKC
	}
	return norm.NFC
}

// Tokens names a tokeniser; the package comment describes them.
type Tokens string

// The tokenisers. The empty value stands for Words.
const (
	Words     Tokens = "words"
	Alnum     Tokens = "alnum"
	UAX29     Tokens = "uax29"
	Space     Tokens = "space"
	Chars     Tokens = "chars"
	Graphemes Tokens = "graphemes"
	ASCII     Tokens = "ascii"
)

var (
	versions       = []Version{V2, V1}
	normalizations = []Normalization{NFKC, NFC, None}
	tokenizers     = []Tokens{Words, Alnum, UAX29, Space, Chars, Graphemes, ASCII}
)

// Options says exactly how text becomes tokens. The zero value is the default.
type Options struct {
	Version         Version       // empty: V2
	Normalize       Normalization // empty: NFKC
	NoFold          bool          // keep upper and lower case apart
	StripDiacritics bool          // é becomes e, after the steps above
	Tokens          Tokens        // empty: Words

	// StopWords are dropped. They go through the first four steps of the pipeline too; empty
	// ones have no effect.
	StopWords []string
	// MinLength is the least number of code points of a token; shorter ones are dropped. 0 and 1
	// keep all.
	MinLength int
	// Filter reports whether to keep a token (normalised, folded, stripped); nil keeps all. It
	// must depend on the token only, and must not keep a reference to it.
	Filter func(token []byte) bool
	// FilterName stands for Filter in the canonical line.
	FilterName string
}

// withDefaults fills in the defaults.
func (o Options) withDefaults() Options {
	if o.Version == "" {
		o.Version = V2
	}
	if o.Normalize == "" {
		o.Normalize = NFKC
	}
	if o.Tokens == "" {
		o.Tokens = Words
	}
	if o.Tokens == ASCII {
		o.Normalize, o.StripDiacritics = None, false // neither changes ASCII
	}
	return o
}

// ignores reports whether ignorable code points are left out before cutting. (Graphemes need
// them, and ASCII has none.)
func (o Options) ignores() bool {
	return o.Version != V1 && o.Tokens != Graphemes && o.Tokens != ASCII
}

// Validate reports the first option that is out of range, with the allowed values.
func (o Options) Validate() error {
	if o.Version != "" && !slices.Contains(versions, o.Version) {
		return fmt.Errorf("text: unknown version %q of the pipeline: use one of %s", o.Version, list(versions))
	}
	if o.Normalize != "" && !slices.Contains(normalizations, o.Normalize) {
		return fmt.Errorf("text: unknown normalisation %q: use one of %s", o.Normalize, list(normalizations))
	}
	o = o.withDefaults()
	switch {
	case !slices.Contains(tokenizers, o.Tokens):
		return fmt.Errorf("text: unknown tokeniser %q: use one of %s", o.Tokens, list(tokenizers))
	case o.MinLength < 0:
		return fmt.Errorf("text: minimum token length %d is negative: use 0 to keep all tokens", o.MinLength)
	case o.Filter == nil && o.FilterName != "":
		return fmt.Errorf("text: filter %q has a name but no function", o.FilterName)
	case o.Filter != nil && !isName(o.FilterName):
		return fmt.Errorf("text: filter name %q: a filter needs a name without spaces, by which stored files refer to it", o.FilterName)
	}
	return nil
}

// isName reports whether s is one word without spaces.
func isName(s string) bool {
	return s != "" && len(strings.Fields(s)) == 1 && strings.TrimSpace(s) == s
}

func list[T ~string](values []T) string {
	s := make([]string, len(values))
	for i, v := range values {
		s[i] = string(v)
	}
	return strings.Join(s, ", ")
}
