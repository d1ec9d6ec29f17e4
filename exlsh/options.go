package exlsh

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/alike-dev/alike/internal/hashing"
)

// Version names the method. It changes when the fingerprint of any text changes for a
// reason that the rest of the line does not show.
const Version = "exlsh/v1"

// DefaultN is the default number of tokens in a shingle, as in ExLSH.
const DefaultN = 3

// Options say how a text becomes a fingerprint. The zero value is the choice of ExLSH for
// documents: its normaliser, words, shingles of three, MD5.
type Options struct {
	Normalizer Normalizer // zero: WordCharacters
	Tokenizer  Tokenizer  // zero: Words
	Filter     Filter     // zero: none
	N          int        // tokens in a shingle; 0: DefaultN
	Hash       Hash       // zero: MD5
}

// Word returns the options of ExLSH.wordwise_lsh, for documents.
func Word() Options { return Options{}.withDefaults() }

// Char returns the options of ExLSH.charwise_lsh, for short strings such as names.
func Char() Options { return Options{Tokenizer: Graphemes}.withDefaults() }

// A Filter drops, adds or changes tokens. The zero value leaves them unchanged.
type Filter struct {
	name  string
	apply func(tokens [][]byte) [][]byte
}

// NewFilter makes a filter of a function of all tokens of a text, which may change the
// slice that it is given, but not the tokens' bytes. Several goroutines call it at once.
// The canonical line shows the name, which must not contain spaces.
func NewFilter(name string, apply func(tokens [][]byte) [][]byte) Filter { return Filter{name, apply} }

// Keep makes a filter that keeps the tokens for which keep is true.
func Keep(name string, keep func(token []byte) bool) Filter {
	return NewFilter(name, func(tokens [][]byte) [][]byte {
		kept := tokens[:0]
		for _, t := range tokens {
			if keep(t) {
				kept = append(kept, t)
			}
		}
		return kept
	})
}

// Without makes a filter that drops stop words and tokens of fewer than minLength code
// points. The stop words go through the same normaliser as the texts, and are cut at
// white space.
func Without(n Normalizer, stopWords []string, minLength int) Filter {
	if n.apply == nil {
		n = WordCharacters
	}
	stop := map[string]bool{}
	for _, w := range stopWords {
		for _, token := range Words.apply(nil, n.apply(nil, []byte(w))) {
			stop[string(token)] = true
		}
	}
	sorted := slices.Sorted(maps.Keys(stop))
	name := fmt.Sprintf("stop:%016x,min:%d", hashing.Bytes([]byte(strings.Join(sorted, " "))), minLength)
	return Keep(name, func(token []byte) bool {
		return utf8.RuneCount(token) >= minLength && !stop[string(token)]
	})
}

func (o Options) withDefaults() Options {
	if o.Normalizer.apply == nil && o.Normalizer.name == "" {
		o.Normalizer = WordCharacters
	}
	if o.Tokenizer.apply == nil && o.Tokenizer.name == "" {
		o.Tokenizer = Words
	}
	if o.N == 0 {
		o.N = DefaultN
	}
	if o.Hash.newSums == nil && o.Hash.name == "" {
		o.Hash = MD5
	}
	return o
}

// maxHash bounds the bytes of a hash.
const maxHash = 1 << 12

// Validate reports the first option that is out of range, with the allowed values.
func (o Options) Validate() error {
	o = o.withDefaults()
	filter := o.Filter
	if filter.name == "" && filter.apply == nil {
		filter = NewFilter("none", func(tokens [][]byte) [][]byte { return tokens })
	}
	return errors.Join(
		checkStep("normaliser", o.Normalizer.name, o.Normalizer.apply == nil),
		checkStep("tokeniser", o.Tokenizer.name, o.Tokenizer.apply == nil),
		checkStep("filter", filter.name, filter.apply == nil),
		checkStep("hash function", o.Hash.name, o.Hash.newSums == nil),
		checkRange("tokens a shingle", o.N, 1<<20),
		checkRange("bytes of the hash function", o.Hash.size, maxHash),
	)
}

func checkStep(what, name string, none bool) error {
	switch {
	case none:
		return fmt.Errorf("exlsh: the %s %q has no function", what, name)
	case name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || unicode.IsSpace(r) }):
		return fmt.Errorf("exlsh: %s %q: a %s needs a name without spaces, by which stored files refer to it", what, name, what)
	}
	return nil
}

func checkRange(what string, n, most int) error {
	if n < 1 || n > most {
		return fmt.Errorf("exlsh: %d %s: take 1 to %d", n, what, most)
	}
	return nil
}

// String returns the canonical line, such as
//
//	exlsh/v1 normalize=exlsh tokens=words n=3 hash=md5
//
// with filter=NAME if there is a filter.
func (o Options) String() string {
	o = o.withDefaults()
	filter := ""
	if o.Filter.name != "" {
		filter = " filter=" + o.Filter.name
	}
	return fmt.Sprintf("%s normalize=%s tokens=%s%s n=%d hash=%s", Version, o.Normalizer.name, o.Tokenizer.name, filter, o.N, o.Hash.name)
}

var hashes = []Hash{MD5, SHA1, SHA256, SHA512, RIPEMD160, CRC32, XXH3}

// HashNames returns the names that ParseHash knows, md5 first.
func HashNames() []string {
	names := make([]string, len(hashes))
	for i, h := range hashes {
		names[i] = h.name
	}
	return names
}

// ParseHash returns the hash function of a name: md5, sha1, sha256, sha512,
// ripemd160, crc32 or xxh3.
func ParseHash(name string) (Hash, error) {
	for _, h := range hashes {
		if h.name == name {
			return h, nil
		}
	}
	return Hash{}, fmt.Errorf("exlsh: unknown hash function %q: use one of %s", name, strings.Join(HashNames(), ", "))
}
