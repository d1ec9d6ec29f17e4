package plant

import (
	"bytes"
	"unicode/utf8"

	"github.com/alike-dev/alike/internal/hashing"
)

// Sentences with more words than longestSentence are cut; those with fewer than shortestSentence
// are left out of the pool (headings, list items, numbers).
const (
	longestSentence  = 80
	shortestSentence = 4
)

// Base holds the base texts as sentences, in one or more pools. An original
// never mixes sentences of two pools: give every language a pool of its own.
// Memory is that of the texts and 24 bytes a sentence.
type Base struct {
	pools []*pool
	seen  map[uint64]struct{} // sentences already there, whichever pool
}

// pool is the text of one language: sentences one after another, each ending in the line end, space
// or nothing that separates it from the next.
type pool struct {
	data      []byte
	sentences []sentence
	texts     []int // index of the first sentence of each base text
}

type sentence struct{ start, end, words int }

// NewPool starts a pool: texts added from now on are recombined with each other
// only.
func (b *Base) NewPool() { b.pools = append(b.pools, new(pool)) }

// Add adds a base text to the current pool. A sentence that was added before is left out, so that
// boilerplate does not make originals alike; with whole (for Options.Cut) every sentence is kept.
func (b *Base) Add(text []byte, whole bool) {
	if len(b.pools) == 0 {
		b.NewPool()
	}
	if b.seen == nil {
		b.seen = make(map[uint64]struct{})
	}
	p := b.pools[len(b.pools)-1]
	p.texts = append(p.texts, len(p.sentences))
	for len(text) > 0 {
		n := sentenceLength(text)
		b.addSentence(p, text[:n], whole)
		text = text[n:]
	}
}

func (b *Base) addSentence(p *pool, text []byte, whole bool) {
	start := len(p.data)
	p.data = appendClean(p.data, text)
	words := countWords(p.data[start:])
	h := hashing.Bytes(p.data[start:])
	_, known := b.seen[h]
	if words == 0 || !whole && (known || words < shortestSentence) {
		p.data = p.data[:start]
		return
	}
	b.seen[h] = struct{}{}
	if text[len(text)-1] == '\n' {
		p.data = append(p.data, '\n')
	} else if last, _ := utf8.DecodeLastRune(p.data[start:]); !endsWithoutSpace(last) {
		p.data = append(p.data, ' ')
	}
	p.sentences = append(p.sentences, sentence{start, len(p.data), words})
}

// Size returns the number of sentences and the bytes of their texts.
func (b *Base) Size() (sentences int, size int64) {
	for _, p := range b.pools {
		sentences += len(p.sentences)
		size += int64(len(p.data))
	}
	return sentences, size
}

// sentenceLength returns the length of the first sentence of text, including its full stop or line
// end. A sentence ends at a line end, at a full stop with a space after it, at a full stop of
// Chinese and Japanese, or after too many words.
func sentenceLength(text []byte) int {
	words, inWord := 0, false
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == '\n':
			return i + 1
		case (c == '.' || c == '!' || c == '?') && i+1 < len(text) && text[i+1] == ' ':
			return i + 1
		}
		class, size := classAt(text[i:])
		if size > 1 && class == separator {
			switch r, _ := utf8.DecodeRune(text[i:]); r {
			case '。', '！', '？':
				return i + size
			}
		}
		if class == single || class == letter && !inWord {
			if words++; words > longestSentence {
				return i
			}
		}
		inWord = class == letter || class == mark && inWord
		i += size
	}
	return len(text)
}

// appendClean appends text as valid UTF-8 without control characters, with
// single spaces and none at its ends.
func appendClean(dst, text []byte) []byte {
	for i, field := range bytes.FieldsFunc(text, func(r rune) bool { return r <= ' ' || r == utf8.RuneError || r == 0xa0 }) {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = append(dst, field...)
	}
	return dst
}

// endsWithoutSpace says whether text ending in r needs no space before the next
// sentence.
func endsWithoutSpace(r rune) bool {
	switch r {
	case '。', '！', '？', '」', '』', '）', '…':
		return true
	}
	return classOf(r) == single
}

// appendPiece appends a random sentence of the pool or, if it is longer than limit words, up to
// that many consecutive words of it, and returns the number of words.
func (p *pool) appendPiece(dst []byte, s *source, limit int) ([]byte, int) {
	sent := p.sentences[s.below(len(p.sentences))]
	text := p.data[sent.start:sent.end]
	if sent.words <= limit {
		return append(dst, text...), sent.words
	}
	text = text[someWord(text, s.below(len(text))):]
	start, end := nextWord(text, 0)
	words := 1
	for words < limit {
		next, nextEnd := nextWord(text, end)
		if next == len(text) {
			break
		}
		start, end = next, nextEnd
		words++
	}
	dst = append(dst, text[:end]...)
	if !isSpaceless(text[start:]) {
		dst = append(dst, ' ')
	}
	return dst, words
}

// someWord returns the start of the first word that begins at or after near, or
// of the first word at all if there is none.
func someWord(text []byte, near int) int {
	for near > 0 && near < len(text) && !utf8.RuneStart(text[near]) {
		near++
	}
	if near > 0 && near < len(text) {
		// The word that contains near, if any, is skipped.
		near = wordEnd(text, near, letter)
	}
	start, _ := nextWord(text, near)
	if start == len(text) {
		start, _ = nextWord(text, 0)
	}
	return start
}
