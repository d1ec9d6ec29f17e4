package advise

import (
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/text"
)

// contexts compares two texts word by word, for one goroutine. Where both have the same word before and after one, that
// one is the same, a similar one, as scanned and typed words are, or another one. Edited copies have other words, and so
// have texts that fill a template: of two texts alone nobody can say which they are.
type contexts struct {
	tokenizer    *text.Tokenizer
	textA, textB []byte
	a, b         []text.Token
	middle       map[uint64]int // word of b by those around it; −1: not only one
}

const (
	wordLeast    = 3  // bytes of a word that tells
	othersTell   = 5  // other words that tell, if they are
	othersShare  = 50 // one in so many,
	similarAmong = 4  // and fewer than one in so many are similar
)

func newContexts(o text.Options) *contexts {
	t, err := text.New(o)
	if err != nil {
		panic("advise: options that are valid are not: " + err.Error())
	}
	return &contexts{tokenizer: t, middle: map[uint64]int{}}
}

// replaced tells whether words of one text stand for others of the other text.
func (c *contexts) replaced(a, b []byte) bool {
	c.textA, c.textB = c.tokenizer.AppendNormal(c.textA[:0], a), c.tokenizer.AppendNormal(c.textB[:0], b)
	c.a, c.b = c.tokenizer.AppendTokens(c.a[:0], c.textA), c.tokenizer.AppendTokens(c.b[:0], c.textB)
	clear(c.middle)
	for i := 1; i+1 < len(c.b); i++ {
		at := i
		if _, twice := c.middle[around(c.b, i)]; twice {
			at = -1
		}
		c.middle[around(c.b, i)] = at
	}
	same, others, similar := 0, 0, 0
	for i := 1; i+1 < len(c.a); i++ {
		k, is := c.middle[around(c.a, i)]
		if !is || k < 0 {
			continue
		}
		x, y := c.textA[c.a[i].Start:c.a[i].End], c.textB[c.b[k].Start:c.b[k].End]
		switch {
		case c.a[i].Hash == c.b[k].Hash:
			same++
		case max(len(x), len(y)) >= wordLeast:
			others++
			if similarWords(x, y) {
				similar++
			}
		}
	}
	return others >= othersTell && others*othersShare >= same && similar*similarAmong < others
}

func around(tokens []text.Token, i int) uint64 {
	return hashing.Mix(tokens[i-1].Hash) ^ tokens[i+1].Hash
}

// similarWords tells whether words begin and end alike, by half of the longer one. A number with another digit is another one.
func similarWords(x, y []byte) bool {
	for _, c := range x {
		if c >= '0' && c <= '9' {
			return false
		}
	}
	start, shorter := 0, min(len(x), len(y))
	for start < shorter && x[start] == y[start] {
		start++
	}
	end := 0
	for end < shorter-start && x[len(x)-1-end] == y[len(y)-1-end] {
		end++
	}
	return 2*(start+end) >= max(len(x), len(y))
}
