package record

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/text"
)

// Kind says how the values of a column are cut into tokens.
type Kind string

// The kinds. The zero value is Text.
const (
	Text   Kind = "text"   // words, and the 3-grams within words; words that - or / ties together also as one
	Words  Kind = "words"  // words, tied ones also as one
	Grams  Kind = "grams"  // the 3-grams within words, tied ones also as one
	Code   Kind = "code"   // numbers and letters alone, as one word: its 3-grams and itself
	Number Kind = "number" // a number, however it is written: $1,200.00 is 1200; text where it is none
	Date   Kind = "date"   // year, month and day in any order, with or without separators; text where it is none
	Value  Kind = "value"  // the whole value, one token
)

// OfWords tells whether values of the kind are told apart by their words, and not as a whole.
func (k Kind) OfWords() bool { return k == "" || k == Text || k == Words || k == Grams }

var kinds = []Kind{Text, Words, Grams, Code, Number, Date, Value}

// ParseKind returns the kind of a name; the error lists the names.
func ParseKind(name string) (Kind, error) {
	if k := Kind(name); slices.Contains(kinds, k) {
		return k, nil
	}
	var names []string
	for _, k := range kinds {
		names = append(names, string(k))
	}
	return "", fmt.Errorf("unknown tokens %q: want one of %s", name, strings.Join(names, ", "))
}

// maxTokens is how many tokens of one value are kept. It bounds what a cell of megabytes
// costs; a value of so many tokens is told from others by far fewer.
const maxTokens = 1 << 13

// maxWord is how many code points of a word, less one, have grams.
const maxWord = 1 << 8

// A Cutter cuts values into tokens. It owns scratch memory and belongs to one goroutine.
type Cutter struct {
	general *text.Tokenizer // for what is not ASCII
	normal  []byte
	word    []rune
	tied    []rune
	joined  []byte
	memory                                     // of the values of chunks
	onWord  func(word []byte, tokens []uint64) // nil: nobody asks which word a token is of
	// Repetitions counts a token that is in a value again as another one. Without it repeated
	// tokens are the same.
	Repetitions bool
}

// NewCutter returns a cutter.
func NewCutter() *Cutter {
	t, err := text.New(text.Options{StripDiacritics: true})
	if err != nil {
		panic(err) // the options are constant
	}
	return &Cutter{general: t}
}

// normalise leaves the value in c.normal: NFKC, case folded, without diacritics, invalid bytes
// as separators.
func (c *Cutter) normalise(value []byte) {
	c.normal = c.normal[:0]
	for i, b := range value {
		if b >= utf8.RuneSelf {
			c.normal = c.general.AppendNormal(c.normal[:0], value)
			return
		}
		if i == 0 {
			c.normal = slices.Grow(c.normal, len(value))
		}
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		c.normal = append(c.normal, b)
	}
}

// Cut appends the hashes of the tokens of a value, of which some may repeat, and returns with
// them a hash of the whole value that does not depend on case, diacritics and separators: 0
// if the value is missing, and then there are no tokens. O(len(value)).
func (c *Cutter) Cut(dst []uint64, value []byte, kind Kind) (tokens []uint64, whole uint64) {
	if !c.read(value, kind) {
		return dst, 0
	}
	start := len(dst)
	dst, whole = c.cutWords(dst, kind)
	if whole != 0 && kind == Value {
		dst = append(dst[:start], hashing.Mix(whole^valueSalt)&^gramBit)
	}
	if c.Repetitions {
		tellApart(dst[start:])
	}
	return dst, whole
}

// whole returns the hash of the whole value that Cut returns.
func (c *Cutter) whole(value []byte, kind Kind) (whole uint64) {
	if c.read(value, kind) {
		_, whole = c.cutWords(nil, Value) // of which words have no tokens
	}
	return whole
}

// read leaves the value in c.normal, as it is compared, and tells whether there is one.
func (c *Cutter) read(value []byte, kind Kind) bool {
	c.normalise(value)
	if c.isMissing() {
		return false
	}
	switch kind {
	case Number:
		if n, ok := canonicalNumber(c.joined[:0], c.normal); ok {
			c.normal, c.joined = append(c.normal[:0], n...), n
		}
	case Date:
		if d, ok := canonicalDate(c.joined[:0], c.normal); ok {
			c.normal, c.joined = append(c.normal[:0], d...), d
		}
	case Code:
		c.join()
	}
	return true
}

// gramBit is set in the hashes of grams, and not in those of words and values.
const gramBit = 1

// Salts keep tokens of different sorts apart.
const (
	gramSalt  = 0x9fb21c651e98df25
	valueSalt = 0x2545f4914f6cdd1d
	againSalt = 0xd6e8feb86659fd93
)

// cutWords appends the tokens of c.normal, and returns the hash of its words in order.
func (c *Cutter) cutWords(dst []uint64, kind Kind) (_ []uint64, whole uint64) {
	first, tied := len(dst), -1 // where words begin that signs tie to the next one
	for i := 0; i < len(c.normal); {
		start := i
		i = c.readWord(i)
		if i == start {
			_, size := utf8.DecodeRune(c.normal[i:])
			i += size
			continue
		}
		h := hashing.Bytes(c.normal[start:i])
		whole = hashing.Mix(whole ^ h)
		if len(dst)-first >= maxTokens {
			continue
		}
		before := len(dst)
		dst = appendWord(dst, h, append(c.word, edge), kind)
		if c.onWord != nil {
			c.onWord(c.normal[start:i], dst[before:])
		}
		switch ties := c.ties(i); {
		case ties && tied < 0:
			tied = start
		case !ties && tied >= 0:
			dst = c.appendTied(dst, c.normal[tied:i], kind)
			tied = -1
		}
	}
	return dst, whole
}

// readWord leaves the word that begins at i in c.word, with an edge before it, and returns
// where it ends.
func (c *Cutter) readWord(i int) int {
	c.word = append(c.word[:0], edge)
	for i < len(c.normal) {
		r, size := rune(c.normal[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(c.normal[i:])
		}
		if !isWord(r) || r == utf8.RuneError && size == 1 {
			break
		}
		if len(c.word) < maxWord {
			c.word = append(c.word, r)
		}
		i += size
	}
	return i
}

// appendWord appends the tokens of a word, given its hash and its code points between edges.
func appendWord(dst []uint64, h uint64, word []rune, kind Kind) []uint64 {
	if kind != Grams && kind != Value {
		dst = append(dst, h&^gramBit)
	}
	if kind != Words && kind != Value {
		dst = appendGrams(dst, word)
	}
	return dst
}

// ties tells whether at i a sign stands between two words that may also be written as one:
// TS-MR1640 and TSMR1640, 404/231-1368 and 404-231-1368.
func (c *Cutter) ties(i int) bool {
	if i+1 >= len(c.normal) || c.normal[i] != '-' && c.normal[i] != '/' {
		return false
	}
	r, _ := utf8.DecodeRune(c.normal[i+1:])
	return isWord(r)
}

// appendTied appends the tokens of words that signs tie together, taken for one.
func (c *Cutter) appendTied(dst []uint64, words []byte, kind Kind) []uint64 {
	c.joined, c.tied = c.joined[:0], append(c.tied[:0], edge)
	for i := 0; i < len(words); {
		r, size := utf8.DecodeRune(words[i:])
		if isWord(r) {
			c.joined = append(c.joined, words[i:i+size]...)
			if len(c.tied) < maxWord {
				c.tied = append(c.tied, r)
			}
		}
		i += size
	}
	c.tied = append(c.tied, edge)
	before := len(dst)
	dst = appendWord(dst, hashing.Bytes(c.joined), c.tied, kind)
	if c.onWord != nil {
		c.onWord(c.joined, dst[before:])
	}
	return dst
}

// edge marks both ends of a word in its grams.
const edge = 0

// appendGrams appends the 3-grams of a word with its edges.
func appendGrams(dst []uint64, word []rune) []uint64 {
	for i := 2; i < len(word); i++ {
		g := uint64(word[i-2])<<42 | uint64(word[i-1])<<21 | uint64(word[i])
		dst = append(dst, hashing.Mix(g^gramSalt)|gramBit)
	}
	return dst
}

func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}

// isMissing tells whether c.normal stands for no value.
func (c *Cutter) isMissing() bool {
	switch trimmed := strings.TrimSpace(string(c.normal[:min(len(c.normal), 8)])); trimmed {
	case "", "null", "nan", "n/a", "none", `\n`:
		if len(c.normal) <= 8 {
			return true
		}
	}
	for i := 0; i < len(c.normal); {
		r, size := utf8.DecodeRune(c.normal[i:])
		if isWord(r) {
			return false
		}
		i += size
	}
	return true
}

// join leaves of c.normal the letters and numbers.
func (c *Cutter) join() {
	kept := c.normal[:0]
	for i := 0; i < len(c.normal); {
		r, size := utf8.DecodeRune(c.normal[i:])
		if isWord(r) {
			kept = append(kept, c.normal[i:i+size]...)
		}
		i += size
	}
	c.normal = kept
}
