package contam

import (
	"bytes"
	"sort"
	"unicode"
	"unicode/utf8"

	"github.com/alike-dev/alike/text"
)

// A stretch is some words of a document. Only the blocks that it lies in are cut into words, those of the last stretch
// not again: most documents have no item, and a few words of one.
type stretch struct {
	analyst     *analyst
	doc         []byte
	blocks      []block
	begin, stop int // blocks whose words are in words
	before      int // words before these blocks
	words       []uint64
	places      []text.Token // of words, if they were asked for
	placed      bool
	first       int // number of the stretch's first word in the document
}

// init sets the document.
func (w *stretch) init(a *analyst, blocks []block, doc []byte) {
	*w = stretch{analyst: a, doc: doc, blocks: blocks, begin: -1, words: w.words, places: w.places}
}

// open returns the words from first to end of the document, until the next call.
func (w *stretch) open(first, end int) []uint64 {
	w.cut(first, end)
	lo := min(max(first-w.before, 0), len(w.words))
	hi := min(max(end-w.before, lo), len(w.words))
	w.first = w.before + lo
	return w.words[lo:hi]
}

// cut cuts the blocks with the words from first to end.
func (w *stretch) cut(first, end int) {
	begin := sort.Search(len(w.blocks), func(b int) bool { return w.wordsBefore(b) > first }) - 1
	if begin < 0 || w.wordsBefore(begin) == 0 {
		begin = 0 // the first blocks may have less than a gram
	}
	stop := begin + 1
	for stop < len(w.blocks) && w.wordsBefore(stop) < end {
		stop++
	}
	if begin == w.begin && stop == w.stop {
		return
	}
	w.begin, w.stop, w.before, w.words, w.placed = begin, stop, w.wordsBefore(begin), w.words[:0], false
	for at := w.blocks[begin].from; at < w.blocks[stop-1].to; {
		w.words, at = w.analyst.tokenizer.AppendHashesFrom(w.words, w.doc, at)
	}
}

// wordsBefore returns the number of words before block b, 0 if they are fewer than a gram's: a block ends with the gram
// before blocks[b].grams, whose last word is Gram-1 words on.
func (w *stretch) wordsBefore(b int) int {
	if b == 0 || w.blocks[b-1].grams == 0 {
		return 0
	}
	return w.blocks[b-1].grams + Gram - 1
}

// bytes returns the place of the words from first to end of the document, which were opened, and whether a
// sentence begins and ends there.
func (w *stretch) bytes(first, end int) (from, to int, starts, ends bool) {
	at := w.blocks[w.begin].from
	doc := w.doc[at:w.blocks[w.stop-1].to]
	if !w.placed { // documents with one place often have others
		w.places, w.placed = w.analyst.tokenizer.AppendTokens(w.places[:0], doc), true
	}
	lo, hi := first-w.before, end-w.before
	behind := len(doc)
	if hi < len(w.places) {
		behind = w.places[hi].Start
	}
	from, to = w.places[lo].Start, w.places[hi-1].End
	ends = hi == len(w.places) || apart(doc[to:max(behind, to)])
	return at + from, at + to, w.starts(doc, lo), ends
}

// starts tells whether a sentence begins at a word, or a line of which only numbers stand before it: they count lines.
func (w *stretch) starts(doc []byte, word int) bool {
	for n := word; n > 0; n-- {
		before, from := w.places[n-1], w.places[n].Start
		between := doc[min(before.End, from):from]
		if n == word && apart(between) || bytes.ContainsAny(between, "\r\n") {
			return true
		}
		if bytes.ContainsFunc(doc[before.Start:before.End], func(r rune) bool { return !unicode.IsDigit(r) }) {
			return false
		}
	}
	return true
}

// apart tells whether what stands between two words divides them: an end of a sentence or line, a quotation mark, a
// colon, a bullet, but no white space, comma or hyphen.
func apart(between []byte) bool {
	if ends(between) {
		return true
	}
	for len(between) > 0 {
		r, n := utf8.DecodeRune(between)
		between = between[n:]
		if !unicode.IsSpace(r) && r != ',' && r != '-' && r != '\'' && r != '\u2019' && !unicode.IsLetter(r) && !unicode.IsMark(r) {
			return true
		}
	}
	return false
}
