package pieces

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"
)

// isAbbreviation tells whether a word, in lower case, ends with a full stop that is not the end of a sentence.
func isAbbreviation(word string) bool {
	switch word {
	case "mr", "mrs", "ms", "dr", "prof", "st", "sr", "jr", "gen", "col", "lt", "rev", "gov", "sen", "rep", "vs", "e.g", "i.e", "cf", "al",
		"fig", "figs", "no", "nos", "vol", "vols", "pp", "ch", "sec", "eq", "approx", "ca", "inc", "ltd", "co", "corp", "dept",
		"jan", "feb", "mar", "apr", "aug", "sept", "oct", "nov", "dec", "z.b", "d.h", "bzw", "nr", "mme":
		return true
	}
	return false
}

// appendSentences appends the sentences of text[start:end], whose line ends are spaces: by UAX #29, but not behind an
// abbreviation, and also behind the full stops of Tibetan. A sentence has the space behind it, and not the one before.
func (c *Cutter) appendSentences(dst []span, text []byte, start, end int) []span {
	run := append(c.run[:0], text[start:end]...)
	c.run = run
	for at := 0; at < len(run); {
		stop, next := lineEnd(run[at:])
		for i := at + stop; i < at+next; i++ {
			run[i] = ' '
		}
		at += next
	}
	s := span{start, start}
	segments := sentences.FromBytes(run)
	for segments.Next() {
		for _, n := range tibetan(segments.Value()) {
			s.end += n
			if sentence := run[s.start-start : s.end-start]; s.end < end && abbreviated(sentence) {
				continue
			}
			dst = append(dst, s.withoutLeading(text))
			s.start = s.end
		}
	}
	if s.start < s.end {
		dst = append(dst, s.withoutLeading(text))
	}
	return dst
}

// withoutLeading leaves the white space at the start of a span out.
func (s span) withoutLeading(text []byte) span {
	content := text[s.start:s.end]
	s.start += len(content) - len(bytes.TrimLeftFunc(content, unicode.IsSpace))
	return s
}

// tibetan returns the lengths of the sentences of a segment: Tibetan ends them with a shad and a space.
func tibetan(segment []byte) (lengths []int) {
	const shad, space = "\u0f0d", " "
	at := 0
	for {
		i := bytes.Index(segment[at:], []byte(shad+space))
		if i < 0 {
			break
		}
		next := at + i + len(shad)
		for next < len(segment) && segment[next] == ' ' {
			next++
		}
		lengths = append(lengths, next-at)
		at = next
	}
	if at < len(segment) {
		lengths = append(lengths, len(segment)-at)
	}
	return lengths
}

// abbreviated tells whether a sentence ends with an abbreviation.
func abbreviated(sentence []byte) bool {
	sentence = bytes.TrimRightFunc(sentence, unicode.IsSpace)
	word, ok := bytes.CutSuffix(sentence, []byte("."))
	if !ok {
		return false
	}
	if i := bytes.LastIndexFunc(word, func(r rune) bool { return r != '.' && !unicode.IsLetter(r) }); i >= 0 {
		_, size := utf8.DecodeRune(word[i:])
		word = word[i+size:]
	}
	return len(word) <= 6 && isAbbreviation(string(bytes.ToLower(word)))
}

// byLine tells whether a line is mostly of a script that has no full stops: Thai or Lao.
func byLine(content []byte) bool {
	own, letters := 0, 0
	for i := 0; i < len(content); {
		r, size := utf8.DecodeRune(content[i:])
		i += size
		if r < utf8.RuneSelf && !unicode.IsLetter(r) {
			continue
		}
		if unicode.In(r, unicode.Thai, unicode.Lao) {
			own++
		} else if !unicode.IsLetter(r) {
			continue
		}
		letters++
	}
	return 2*own > letters
}
