// Package pieces cuts texts into the pieces that passages are made of, and finds what goes of a text once it is known
// which of them stand in earlier ones. Package dedup/internal/passages uses it on one machine, package stage on many.
//
//	Cutter  text → pieces (line, sentence, paragraph, or each run of so many tokens), each with a hash of its words
//	Group   the documents of a piece → those from which it goes
//	Find    text, the pieces that stand in earlier texts → cuts, rows
package pieces

import (
	"fmt"
	"slices"

	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/text"
)

// Unit is what is compared, and cut.
type Unit string

const (
	Line      Unit = "line"
	Sentence  Unit = "sentence"
	Paragraph Unit = "paragraph"
	Substring Unit = "substring"
)

var Units = []Unit{Line, Sentence, Paragraph, Substring}

// Least returns the least number of tokens of a piece that counts, if no other is asked for.
func (u Unit) Least() int {
	return map[Unit]int{Line: 3, Sentence: 5, Paragraph: 8, Substring: 50}[u]
}

// Options say how texts are cut into pieces.
type Options struct {
	Unit   Unit
	Tokens int  // least number of tokens of a piece, at least 1
	Code   bool // code fences and rows of tables too
}

// Validate returns an error for the first option out of range.
func (o Options) Validate() error {
	switch {
	case !slices.Contains(Units, o.Unit):
		return fmt.Errorf("unit is %q: choose one of %v", o.Unit, Units)
	case o.Tokens < 1 || o.Tokens > 1<<20:
		return fmt.Errorf("the least number of tokens is %d: take 1 to 2^20", o.Tokens)
	case o.Unit == Substring && o.Tokens < 2:
		return fmt.Errorf("substrings of %d token: take 2 or more", o.Tokens)
	}
	return nil
}

// A Hash identifies the words of a piece, by 96 bits.
type Hash struct {
	Key   uint64
	Check uint32
}

// A Piece is a unit of a text. Of substrings it is a window: the tokens from First on, Options.Tokens of them.
type Piece struct {
	Hash
	Start, End int  // in bytes, with what a cut takes beside the unit
	First      int  // number of its first token in the text; only of substrings, as is the next
	Leads      bool // no token before it is on the same side of a line that stays
}

type span struct{ start, end int }

// A Cutter cuts texts into pieces. It owns scratch memory, and belongs to one goroutine.
type Cutter struct {
	o      Options
	words  *text.Tokenizer
	lines  []line
	spans  []span
	run    []byte
	hashes []uint64
	tokens []text.Token
	pieces []Piece
	power  [2]uint64 // of the bases of windows, to the number of tokens
}

// NewCutter returns a cutter. The options must be valid.
func NewCutter(o Options) *Cutter {
	words, err := text.New(text.Options{})
	if err != nil {
		panic("pieces: the default of texts is not valid: " + err.Error())
	}
	c := &Cutter{o: o, words: words, power: [2]uint64{1, 1}}
	for range o.Tokens {
		c.power[0] *= bases[0]
		c.power[1] *= bases[1]
	}
	return c
}

// bases of two polynomials modulo 2⁶⁴, both 3 modulo 8.
var bases = [2]uint64{hashing.Key1, hashing.Key0 + 2}

// hash finishes the two polynomials of n tokens.
func hash(a, b uint64, n int) Hash {
	key := hashing.Key3 ^ uint64(n)
	return Hash{Key: hashing.Fold(a^hashing.Key2, key), Check: uint32(hashing.Mix(b^key) >> 32)}
}

// Pieces returns the pieces of a text in order, until the next call. Their tokens are those of the unit by itself.
func (c *Cutter) Pieces(doc []byte) []Piece {
	c.lines, c.spans, c.pieces = appendLines(c.lines[:0], doc, c.o.Code), c.spans[:0], c.pieces[:0]
	switch c.o.Unit {
	case Line:
		for _, l := range c.lines {
			if l.kind != blank && c.open(l) {
				c.spans = append(c.spans, span{l.start, l.next})
			}
		}
	case Sentence:
		c.sentences(doc)
	case Paragraph:
		c.paragraphs()
	case Substring:
		return c.windows(doc)
	}
	for _, s := range c.spans {
		c.hashes = c.words.AppendHashes(c.hashes[:0], doc[s.start:s.end])
		if len(c.hashes) >= c.o.Tokens {
			var a, b uint64
			for _, t := range c.hashes {
				a, b = a*bases[0]+t, b*bases[1]+t
			}
			c.pieces = append(c.pieces, Piece{Hash: hash(a, b, len(c.hashes)), Start: s.start, End: s.end})
		}
	}
	return c.pieces
}

// Tokens returns the tokens of the text that was cut into windows last, until the next call.
func (c *Cutter) Tokens() []text.Token { return c.tokens }

// Words returns the number of words of a text.
func (c *Cutter) Words(doc []byte) int {
	c.hashes = c.words.AppendHashes(c.hashes[:0], doc)
	return len(c.hashes)
}

// Trim frees the memory that an unusually long text has needed.
func (c *Cutter) Trim() {
	if cap(c.tokens) > trimFrom || cap(c.hashes) > trimFrom || cap(c.lines) > trimFrom || cap(c.run) > 8*trimFrom {
		c.lines, c.spans, c.run, c.hashes, c.tokens, c.pieces = nil, nil, nil, nil, nil, nil
	}
}

const trimFrom = 1 << 17

// open tells whether a line may be cut.
func (c *Cutter) open(l line) bool { return c.o.Code || l.kind != code && l.kind != table }

// sentences finds the sentences: lines of prose are joined; headings, items of lists and, if they count, lines of code
// and rows of tables are lines of their own.
func (c *Cutter) sentences(doc []byte) {
	for i := 0; i < len(c.lines); {
		l := c.lines[i]
		i++
		switch {
		case l.kind == blank || !c.open(l):
		case l.kind != prose:
			c.spans = append(c.spans, span{l.start, l.next})
		case byLine(doc[l.start:l.end]):
			c.spans = append(c.spans, span{l.start, l.next})
		default:
			end := l.end
			for ; i < len(c.lines) && c.lines[i].kind == prose && !byLine(doc[c.lines[i].start:c.lines[i].end]); i++ {
				end = c.lines[i].end
			}
			c.spans = c.appendSentences(c.spans, doc, l.start, end)
		}
	}
}

// paragraphs finds the paragraphs: lines of white space separate them, but not inside a code fence. One with code or a
// table stays whole, unless these count.
func (c *Cutter) paragraphs() {
	for i := 0; i < len(c.lines); {
		if c.lines[i].kind == blank {
			i++
			continue
		}
		s, open := span{c.lines[i].start, 0}, true
		for ; i < len(c.lines) && c.lines[i].kind != blank; i++ {
			s.end, open = c.lines[i].next, open && c.open(c.lines[i])
		}
		if open {
			c.spans = append(c.spans, s)
		}
	}
}

// windows finds the runs of Options.Tokens tokens, none of them across a line that stays.
func (c *Cutter) windows(doc []byte) []Piece {
	c.tokens = c.tokens[:0]
	for i := 0; i < len(c.lines); {
		if !c.open(c.lines[i]) {
			i++
			continue
		}
		first := len(c.tokens)
		for ; i < len(c.lines) && c.open(c.lines[i]); i++ { // no word goes on in another line, and places take many times a text
			l, from := c.lines[i], len(c.tokens)
			c.tokens = c.words.AppendTokens(c.tokens, doc[l.start:l.next])
			for t := from; t < len(c.tokens); t++ {
				c.tokens[t].Start += l.start
				c.tokens[t].End += l.start
			}
		}
		c.roll(first)
	}
	return c.pieces
}

// roll appends the windows of the tokens from first on.
func (c *Cutter) roll(first int) {
	var a, b uint64
	c.pieces = slices.Grow(c.pieces, max(len(c.tokens)-first+1-c.o.Tokens, 0))
	for i := first; i < len(c.tokens); i++ {
		t := c.tokens[i].Hash
		a, b = a*bases[0]+t, b*bases[1]+t
		if left := i - c.o.Tokens; left >= first {
			t := c.tokens[left].Hash
			a, b = a-t*c.power[0], b-t*c.power[1]
		}
		if from := i + 1 - c.o.Tokens; from >= first {
			c.pieces = append(c.pieces, Piece{Hash: hash(a, b, c.o.Tokens), Start: c.tokens[from].Start, End: c.tokens[i].End, First: from, Leads: from == first})
		}
	}
}
