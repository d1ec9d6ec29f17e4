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
