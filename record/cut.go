package record

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/text"
)

// maxTokens is the most tokens kept of one value. It bounds the cost of a cell of megabytes; far fewer
// tokens are enough to distinguish a value from others.
const maxTokens = 1 << 13

// maxWord is how many code points of a word, less one, have grams.
const maxWord = 1 << 8

// A Cutter cuts values into tokens. It owns scratch memory and belongs to one goroutine.
type Cutter struct {
	general  *text.Tokenizer // for what is not ASCII
	normal   []byte
	word     []rune
	tied     []rune
	joined   []byte
	memory                                      // of the values of chunks
	distinct int                                // values of the last chunk
	point    float64                            // of the last value that was read, see Column.Point
	begins   beginning                          // of the last value that was cut, see Column.Openings
	onWord   func(word []byte, tokens []uint64) // called with each word and its tokens; nil: not called
	// Repetitions makes a repeated token of a value count as another token. Without it, repeats are the
	// same token.
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

// normalise puts the value into c.normal: NFKC, case folded, without diacritics, invalid bytes as
// separators.
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

// Cut appends the hashes of the tokens of a value, possibly with repeats, and returns the Whole that
// identifies the value. A missing value has no tokens. O(len(value)).
func (c *Cutter) Cut(dst []uint64, value []byte, kind Kind) (tokens []uint64, whole Whole) {
	if !c.read(value, kind) {
		return dst, Whole{}
	}
	start := len(dst)
	dst, whole = c.cutWords(dst, kind)
	if whole.Words != 0 && kind == Value {
		dst = append(dst[:start], hashing.Mix(whole.Words^valueSalt)&^gramBit)
	}
	if c.Repetitions {
		tellApart(dst[start:])
	}
	return dst, whole
}

// whole returns what Cut returns of a value that is no text.
func (c *Cutter) whole(value []byte, kind Kind) (whole Whole) {
	if c.read(value, kind) {
		_, whole = c.cutWords(nil, Value) // of which words have no tokens
	}
	return whole
}

// read puts the canonical form of the value into c.normal and reports whether there is a value.
func (c *Cutter) read(value []byte, kind Kind) bool {
	c.normalise(value)
	c.point = math.NaN()
	if c.isMissing() {
		return false
	}
	switch kind {
	case Number:
		c.readNumber(c.normal)
	case Quantity:
		number, _ := cutUnit(c.normal)
		c.readNumber(number)
	case Date:
		if d, ok := canonicalDate(c.joined[:0], c.normal); ok {
			c.normal, c.joined = append(c.normal[:0], d...), d
			c.point = pointOfDate(d)
		}
	case Time:
		if t, ok := canonicalTime(c.joined[:0], c.normal); ok {
			c.normal, c.joined = append(c.normal[:0], t...), t
			c.point = pointOfTime(t)
		}
	case Latitude, Longitude:
		c.readCoordinate(kind)
	case Code:
		c.join()
	}
	return true
}

// readCoordinate leaves the one coordinate of c.normal that the kind says, if it is a place.
func (c *Cutter) readCoordinate(kind Kind) {
	of, ok := coordinates(c.normal)
	if !ok {
		return
	}
	number := of[0]
	if kind == Longitude {
		number = of[1]
	}
	c.readNumber(number)
}

// readNumber leaves a number in its canonical form in c.normal, if it is one.
func (c *Cutter) readNumber(value []byte) {
	if n, ok := canonicalNumber(c.joined[:0], value); ok {
		c.normal, c.joined = append(c.normal[:0], n...), n
		c.point = pointOfNumber(n)
	}
}

// gramBit is set in the hashes of grams, and not in those of words and values.
const gramBit = 1

// IsGram reports whether the hash of a token is that of a gram.
func IsGram(hash uint64) bool { return hash&gramBit != 0 }

// Salts keep tokens of different kinds apart.
const (
	gramSalt  = 0x9fb21c651e98df25
	valueSalt = 0x2545f4914f6cdd1d
	againSalt = 0xd6e8feb86659fd93
)

// cutWords appends the tokens of c.normal, and returns its Whole.
func (c *Cutter) cutWords(dst []uint64, kind Kind) (_ []uint64, whole Whole) {
	first, tied := len(dst), -1 // where words begin that signs tie to the next one
	words := 0
	c.begins = beginning{}
	for i := 0; i < len(c.normal); {
		start := i
		i = c.readWord(i)
		if i == start {
			_, size := utf8.DecodeRune(c.normal[i:])
			i += size
			continue
		}
		h := hashing.Bytes(c.normal[start:i])
		whole.Words = hashing.Mix(whole.Words ^ h)
		c.begins.beginsWith(words, c.normal[start:i], whole.Words)
		words++
		if len(dst)-first >= maxTokens {
			continue
		}
		before := len(dst)
		dst = appendWord(dst, h, append(c.word, edge), kind)
		if c.onWord != nil {
			c.onWord(c.normal[start:i], dst[before:])
		}
		ties := kind.OfWords() && c.ties(i) || kind == Units && c.hasUnit(start, i)
		if ties { // the words up to here tell where it is
			whole.Ties = hashing.Mix(whole.Ties ^ whole.Words)
		}
		switch {
		case ties && tied < 0:
			tied = start
		case !ties && tied >= 0:
			dst = c.appendTied(dst, c.normal[tied:i], kind)
			tied = -1
		}
	}
	return dst, whole
}

// readWord puts the word that begins at i into c.word, after an edge, and returns its end.
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

// ties reports whether the sign at i is between two words that may also be written as one: TS-MR1640 and
// TSMR1640, 404/231-1368 and 404-231-1368.
func (c *Cutter) ties(i int) bool {
	if i+1 >= len(c.normal) || c.normal[i] != '-' && c.normal[i] != '/' {
		return false
	}
	r, _ := utf8.DecodeRune(c.normal[i+1:])
	return isWord(r)
}

// mostOfUnit is the largest number of letters of a unit.
const mostOfUnit = 3

// hasUnit reports whether the word from start to i is a number with a unit behind it, which may also be written as one word: 128 GB
// and 128GB.
func (c *Cutter) hasUnit(start, i int) bool {
	for _, b := range c.normal[start:i] {
		if b < '0' || b > '9' {
			return false
		}
	}
	if i+1 >= len(c.normal) || c.normal[i] != ' ' {
		return false
	}
	letters := 0
	for rest := c.normal[i+1:]; len(rest) > 0 && letters <= mostOfUnit; letters++ {
		r, size := utf8.DecodeRune(rest)
		if !isWord(r) {
			break
		}
		if !unicode.IsLetter(r) {
			return false
		}
		rest = rest[size:]
	}
	return 0 < letters && letters <= mostOfUnit
}

// appendTied appends the tokens of words that signs join, treated as one word.
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

// isMissing reports whether c.normal means that there is no value.
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

// join removes everything except letters and numbers from c.normal.
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

// tellApart sorts hashes and gives repeated hashes new ones: one for the second occurrence, one for the
// third, and so on. O(n log n).
func tellApart(hashes []uint64) {
	slices.Sort(hashes)
	first, nth := uint64(0), uint64(0)
	for i, h := range hashes {
		if i == 0 || h != first {
			first, nth = h, 0
			continue
		}
		nth++
		hashes[i] = again(h, nth)
	}
}

// again returns the hash of the occurrence of a token after so many others of it.
func again(h, nth uint64) uint64 {
	return hashing.Mix(h+nth*againSalt)&^gramBit | h&gramBit
}
