package contam

import (
	"bytes"
	"encoding/hex"
	"unicode"

	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/text"
)

// Gram is the number of words of a gram: the unit by which items are looked for, and whose frequency is counted.
const Gram = 4

// words says how documents and items are cut into words: accents, case and punctuation do not count.
var words = text.Options{StripDiacritics: true}

// An Item is what is looked for. Rows of a set that ask the same thing are one Item.
type Item struct {
	ID, Set  string // of the first row
	Question []byte // or the whole text, where rows have no columns
	Passage  []byte // what the question is about; nil: there is none
	Rows     []Row  // with their answers; nil: there are none

	text    []byte     // what is looked for: the question, perhaps with its passage or answer
	whole   bool       // the answer is a part of text
	tokens  []uint64   // its words
	letters int        // words with a letter
	grams   []uint32   // of each word with which a gram begins: the number of the gram
	asking  []span     // words of the sentences that ask
	answers [][]uint64 // words of the answers; nil where there are none to look for
}

// A Row is a row of a set: its name and its answer.
type Row struct {
	ID     string
	Answer []byte
}

// Text returns what is looked for.
func (i *Item) Text() []byte { return i.text }

// span is a range of words.
type span struct{ from, to int }

const (
	generic      = 8 // words of a question; a shorter one is looked for with its passage or answer
	leastLetters = 1 // words with letters that an item must have: sums of numbers stand everywhere
)

// An analyst cuts texts into words. It belongs to one goroutine.
type analyst struct {
	tokenizer *text.Tokenizer
	buf       []byte
	tokens    []text.Token
	short     []uint64      // see hashes
	words     arena[uint64] // of items
}

func newAnalyst() *analyst {
	t, err := text.New(words)
	if err != nil {
		panic(err) // the options are constant
	}
	return &analyst{tokenizer: t}
}

func newShingler() *shingle.Shingler {
	s, err := shingle.New(shingle.Options{Text: words, N: Gram})
	if err != nil {
		panic(err) // the options are constant
	}
	return s
}

// cut returns the words of a text with their places, until the next call.
func (a *analyst) cut(doc []byte) []text.Token {
	a.tokens = a.tokenizer.AppendTokens(a.tokens[:0], plain(&a.buf, doc))
	return a.tokens
}

// hashes returns the words of a text, until the next call.
func (a *analyst) hashes(doc []byte) []uint64 {
	a.short = a.tokenizer.AppendHashes(a.short[:0], plain(&a.buf, doc))
	return a.short
}

// arena hands out slices of larger ones, so that the collector has few objects to visit.
type arena[T any] struct{ free []T }

// take returns n zero values.
func (a *arena[T]) take(n int) []T {
	if n > len(a.free) {
		a.free = make([]T, max(n, 1<<14))
	}
	taken := a.free[:n:n]
	a.free = a.free[n:]
	return taken
}

// complete fills in what follows from the text to look for, in which the question begins at ask.
func (a *analyst) complete(i *Item, text []byte, ask int) {
	i.text, i.letters, i.answers = text, 0, nil
	tokens := a.cut(text)
	i.tokens = a.words.take(len(tokens))
	for n, t := range tokens {
		i.tokens[n] = t.Hash
		if bytes.IndexFunc(text[t.Start:t.End], unicode.IsLetter) >= 0 {
			i.letters++
		}
	}
	i.asking = asking(text, tokens, ask)
	for _, r := range i.Rows {
		words := a.hashes(r.Answer)
		i.answers = append(i.answers, append(a.words.take(len(words))[:0], words...))
	}
}

// mostTag is the length in bytes up to which something between angle brackets is a tag.
const mostTag = 256

// plain returns text with blanks in place of tags, entities, names of TeX commands and escapes of JSON, so that words with markup between
// them stand together. Every other byte keeps its place. The result is text itself if it has none of these; otherwise it
// is in *buf.
func plain(buf *[]byte, text []byte) []byte {
	copied := false
	for _, mark := range []byte("<&\\") {
		for at := bytes.IndexByte(text, mark); at >= 0; {
			n := markup(text[at:])
			if n > 0 && !copied {
				*buf = append((*buf)[:0], text...)
				text, copied = *buf, true
			}
			for i := range n {
				text[at+i] = ' '
			}
			next := bytes.IndexByte(text[at+max(n, 1):], mark)
			if next < 0 {
				break
			}
			at += max(n, 1) + next
		}
	}
	return text
}

// markup returns the length of the tag, entity or command with which text begins; 0: it begins with none.
func markup(text []byte) int {
	switch text[0] {
	case '<':
		if len(text) < 3 || !isLetter(text[1]) && !(text[1] == '/' && isLetter(text[2])) {
			return 0
		}
		near := text[1:min(len(text), mostTag)]
		if end := bytes.IndexByte(near, '>'); end >= 0 && bytes.IndexByte(near[:end], '<') < 0 {
			return end + 2
		}
	case '&':
		n := 1
		for n < len(text) && n < 12 && (isLetter(text[n]) || text[n] == '#' || text[n]-'0' < 10) {
			n++
		}
		if n > 1 && n < len(text) && text[n] == ';' {
			return n + 1
		}
	case '\\':
		if n := escaped(text); n > 0 {
			return n
		}
		n := 1
		for n < len(text) && isLetter(text[n]) {
			n++
		}
		if n > 1 {
			return n
		}
	}
	return 0
}

// escaped returns the length of the escape of JSON with which text begins: a character by its number, or white space if a
// capital follows, where hardly any command of TeX has one. 0: it begins with none.
func escaped(text []byte) int {
	if len(text) < 3 {
		return 0
	}
	switch text[1] {
	case 'u':
		if len(text) >= 6 {
			if _, err := hex.Decode(make([]byte, 2), text[2:6]); err == nil {
				return 6
			}
		}
	case 'n', 'r', 't':
		if text[2]-'A' < 26 {
			return 2
		}
	}
	return 0
}

func isLetter(c byte) bool { return c|0x20-'a' < 26 }
