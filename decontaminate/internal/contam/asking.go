package contam

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/alike-dev/alike/text"
)

// A sentence is some words of an item.
type sentence struct {
	words   span
	asks    bool   // it has a question mark
	said    bool   // it is in quotation marks to its end
	opens   bool   // its first words are followed by a colon: the name of a speaker
	speaker string // of the last such sentence on its line
}

// asking returns the sentences that ask: those with a question mark that no one in the item says to another. Where there is
// none it is the first or the last one, before or behind a text that the item only quotes, and nothing tells which: both are
// returned.
func asking(doc []byte, tokens []text.Token, from int) (all []span) {
	var first, last span
	sentences := sentencesOf(doc, tokens, from)
	turns := speakers(sentences)
	for _, s := range sentences {
		last = s.words
		if last.to-last.from < leastAsking {
			continue
		}
		if first.to == 0 {
			first = last
		}
		if s.asks && !s.said && turns[s.speaker] < 2 {
			all = append(all, last)
		}
	}
	switch {
	case len(all) > 0 || last.to == 0:
		return all
	case first.to == 0 || first == last:
		return []span{last}
	}
	return []span{first, last}
}

// leastAsking is the number of words of a sentence that asks: Why? does not tell.
const leastAsking = 3

// sentencesOf cuts the text from a byte on, of which the words are given.
func sentencesOf(doc []byte, tokens []text.Token, from int) (all []sentence) {
	begin := 0
	for begin < len(tokens) && tokens[begin].Start < from {
		begin++
	}
	speaker := ""
	fresh := true // a line begins
	for n := begin; n < len(tokens); n++ {
		end := len(doc)
		if n+1 < len(tokens) {
			end = tokens[n+1].Start
		}
		between := doc[min(tokens[n].End, end):end]
		if n+1 < len(tokens) && !ends(between) {
			continue
		}
		name := speakerOf(doc[tokens[begin].Start:tokens[n].End])
		if fresh || name != "" {
			speaker = name
		}
		asks := bytes.IndexAny(between, "?？؟⁇")
		all = append(all, sentence{
			words: span{begin, n + 1}, asks: asks >= 0, said: asks >= 0 && closes(between[asks:]),
			opens: name != "", speaker: speaker,
		})
		fresh, begin = bytes.ContainsAny(between, "\n\r\u2028\u2029"), n+1
	}
	return all
}

// mostSpeaker is the length in bytes up to which something before a colon is the name of a speaker.
const mostSpeaker = 32

// speakerOf returns what stands before the colon near the beginning of a sentence; "": there is none.
func speakerOf(sentence []byte) string {
	near := sentence[:min(len(sentence), mostSpeaker)]
	return string(near[:max(bytes.IndexAny(near, ":："), 0)])
}

// speakers counts for each speaker how often he begins to speak. What has one turn, such as Q or a choice, is no speaker.
func speakers(sentences []sentence) map[string]int {
	turns := map[string]int{}
	for _, s := range sentences {
		if s.opens {
			turns[s.speaker]++
		}
	}
	return turns
}

// closes tells whether a quotation ends behind the mark with which between begins.
func closes(between []byte) bool {
	_, n := utf8.DecodeRune(between)
	r, _ := utf8.DecodeRune(between[n:])
	return r == '"' || r == '\'' || unicode.In(r, unicode.Pf, unicode.Pi, unicode.Pe) && r != ')' && r != ']'
}

// ends tells whether a sentence or line ends between two words.
func ends(between []byte) bool {
	for len(between) > 0 {
		r, n := utf8.DecodeRune(between)
		between = between[n:]
		switch {
		case r == '\n', r == '\r', r == '\u2028', r == '\u2029':
			return true
		case unicode.Is(unicode.Sentence_Terminal, r):
			// An ending of ASCII stands before white space: 1.5 and a.b are no ends.
			if next, _ := utf8.DecodeRune(between); len(between) == 0 || r >= utf8.RuneSelf || !unicode.IsLetter(next) && !unicode.IsDigit(next) {
				return true
			}
		}
	}
	return false
}
