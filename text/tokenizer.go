package text

import (
	"slices"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"github.com/clipperhouse/uax29/v2/words"

	"github.com/alike-dev/alike/internal/hashing"
)

// A Token is a token with its place: doc[Start:End], in bytes of the original document.
// Normalisation may make several tokens of one place (½ is 1 and 2), or a token of a
// place that holds more than the token.
type Token struct {
	Hash       uint64
	Start, End int
}

// A Tokenizer turns documents into tokens. It owns scratch memory that grows to the needs
// of the longest document, allocates nothing once warm, and belongs to one goroutine;
// make one for each.
type Tokenizer struct {
	*rules
	fast    fastPath
	general general

	wide       *wide       // state of the fast path for all scripts, nil until first used
	asciiChars [128]uint64 // hashes of the ASCII code points, for fastChars and fastASCII
	visible    []byte      // visible characters of a block, for fastASCII
	token      []byte      // the copied part of the current token, see scan
}

// A fastPath says how to process a stretch of ASCII.
type fastPath uint8

const (
	fastNone     fastPath = iota // scan does ASCII as well
	fastWords                    // words of letters and digits: the vector kernel
	fastChars                    // a table of 128 hashes
	fastASCII                    // drops everything but visible ASCII first; no scan at all
	fastSegments                 // runs of letters and numbers, otherwise the general path; no scan at all
	generalOnly                  // filters need the tokens' bytes, or the tokeniser needs whole texts: no scan at all
)

// New returns a tokenizer, or the error of o.Validate.
func New(o Options) (*Tokenizer, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	o.StopWords = slices.Clone(o.StopWords)
	r := &rules{options: o, table: tableFor(o), pipe: memo{pipe: newPipeline(o)}}
	t := &Tokenizer{rules: r, general: general{rules: r}}
	if hashes := o.stopHashes(); len(hashes) > 0 {
		t.stop = make(map[uint64]struct{}, len(hashes))
		for _, h := range hashes {
			t.stop[h] = struct{}{}
		}
	}
	switch {
	case o.Tokens == UAX29 || o.Tokens == Graphemes || o.MinLength > 1 || o.Filter != nil:
		t.fast = generalOnly
		if o.Tokens == UAX29 && o.MinLength <= 1 && o.Filter == nil {
			t.fast = fastSegments
		}
		t.general.words = words.FromBytes(nil)
		t.general.clusters = graphemes.FromBytes(nil)
	case o.Tokens == Words || o.Tokens == Alnum:
		t.fast = fastWords
	case o.Tokens == Chars, o.Tokens == ASCII:
		t.fast = fastChars
		if o.Tokens == ASCII {
			t.fast = fastASCII
		}
		for c := range t.asciiChars {
			t.asciiChars[c] = hashing.Bytes(t.pipe.apply([]byte{byte(c)}))
		}
	}
	return t, nil
}

// Options returns the options of the tokenizer, with defaults filled in.
func (t *Tokenizer) Options() Options { return t.options }
