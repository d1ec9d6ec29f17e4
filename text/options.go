package text

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/alike-dev/alike/internal/hashing"
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

// String returns the canonical line, such as
//
//	text/v2 nfkc fold words unicode=15.0.0
//	text/v2 none nofold uax29 strip stop=6f7a… min=3 filter=name segments=17.0.0 unicode=15.0.0
//
// Stop words appear as a hash of their set.
func (o Options) String() string {
	o = o.withDefaults()
	line := []string{string(o.Version), string(o.Normalize), "fold", string(o.Tokens)}
	if o.NoFold {
		line[2] = "nofold"
	}
	if o.StripDiacritics {
		line = append(line, "strip")
	}
	if stop := o.stopHashes(); len(stop) > 0 {
		line = append(line, fmt.Sprintf("stop=%016x", hashOfHashes(stop)))
	}
	if o.MinLength > 1 {
		line = append(line, fmt.Sprintf("min=%d", o.MinLength))
	}
	if o.FilterName != "" {
		line = append(line, "filter="+o.FilterName)
	}
	if o.Tokens == UAX29 || o.Tokens == Graphemes {
		line = append(line, "segments="+segmentationVersion)
	}
	return strings.Join(append(line, "unicode="+norm.Version), " ")
}

// stopHashes returns the hashes of the stop words as a set.
func (o Options) stopHashes() []uint64 {
	if len(o.StopWords) == 0 {
		return nil
	}
	p := newPipeline(o)
	var hashes []uint64
	for _, w := range o.StopWords {
		if b := p.apply([]byte(w)); len(b) > 0 {
			hashes = append(hashes, hashing.Bytes(b))
		}
	}
	slices.Sort(hashes)
	return slices.Compact(hashes)
}

func hashOfHashes(set []uint64) uint64 {
	var b []byte
	for _, h := range set {
		b = binary.LittleEndian.AppendUint64(b, h)
	}
	return hashing.Bytes(b)
}

// ParseOptions reads a line that String has printed, or a part of one: words may be missing
// and may stand in any order. The line holds only a hash of the stop words and the name of a
// filter; for those, ParseOptions returns an error that says to set them in Options. Another
// version of the pipeline or of Unicode is an error too.
func ParseOptions(line string) (Options, error) {
	var o Options
	for _, word := range strings.Fields(line) {
		if err := o.parseWord(word); err != nil {
			return Options{}, err
		}
	}
	return o, o.Validate()
}

func (o *Options) parseWord(word string) error {
	key, value, _ := strings.Cut(word, "=")
	switch {
	case slices.Contains(versions, Version(word)):
		o.Version = Version(word)
	case strings.HasPrefix(word, "text/"):
		return fmt.Errorf("text: %s is not a version that this program knows: use one of %s", word, list(versions))
	case slices.Contains(normalizations, Normalization(word)):
		o.Normalize = Normalization(word)
	case slices.Contains(tokenizers, Tokens(word)):
		o.Tokens = Tokens(word)
	case word == "fold", word == "nofold":
		o.NoFold = word == "nofold"
	case word == "strip":
		o.StripDiacritics = true
	case key == "min":
		n, err := strconv.Atoi(value)
		if err != nil {
			return fmt.Errorf("text: minimum token length in %q is not a number", word)
		}
		o.MinLength = n
	case key == "unicode":
		return sameVersion(word, value, norm.Version)
	case key == "segments":
		return sameVersion(word, value, segmentationVersion)
	case key == "stop", key == "filter":
		return fmt.Errorf("text: %q names stop words or a filter, but does not hold them: set them in Options", word)
	default:
		return fmt.Errorf("text: unknown word %q: use a normalisation (%s), fold or nofold, a tokeniser (%s), strip, min=N",
			word, list(normalizations), list(tokenizers))
	}
	return nil
}

func sameVersion(word, value, ours string) error {
	if value != ours {
		return fmt.Errorf("text: made with %s, but this program has version %s: the two cannot be compared", word, ours)
	}
	return nil
}
