package pieces

import (
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"

	"github.com/alike-dev/alike/text"
)

// A Source is the first place of a piece.
type Source struct {
	Document uint64 // its number; they ascend
	At       uint32 // where it begins: a byte; of substrings the number of a token
}

// A Row is a place of a text that stands in an earlier one, word for word: text[Start:End].
type Row struct {
	Start, End int
	Source     Source
}

// Little is the number of words below which a document that was cut is left with too little.
const Little = 50

// Gone says of the key of a hash whether its pieces go, and where they stand first, which is in an earlier document.
type Gone func(key uint64) (Source, bool)

// A Cut is what is cut out of a text: ascending, disjoint spans of bytes.
type Cut struct{ Start, End int }

// Find returns what goes of the text that was cut into pieces last, and the rows that say where it stands. Both are
// valid until the next call.
func (c *Cutter) Find(doc []byte, pieces []Piece, gone Gone) (cuts []Cut, rows []Row) {
	if c.o.Unit == Substring {
		return c.findRuns(doc, pieces, gone)
	}
	for i := 0; i < len(pieces); {
		at := len(rows)
		for ; i < len(pieces) && (len(rows) == at || pieces[i].Start == rows[len(rows)-1].End); i++ {
			source, ok := gone(pieces[i].Key)
			if !ok {
				break
			}
			rows = append(rows, Row{pieces[i].Start, pieces[i].End, source})
		}
		if len(rows) == at {
			i++
			continue
		}
		for len(rows) > at && !mayMeet(doc, rows[at].Start, rows[len(rows)-1].End) {
			rows = rows[:len(rows)-1]
		}
		if len(rows) > at {
			cuts = append(cuts, Cut{rows[at].Start, rows[len(rows)-1].End})
		}
	}
	return cuts, rows
}

// A streak is tokens from first to end that stand one after the other at their source.
type streak struct {
	first, end int
	source     Source
}

// goesOn tells whether a window from a token on, with that source, makes the streak one token longer.
func (s *streak) goesOn(first, tokens int, source Source) bool {
	return s.end == first+tokens-1 && source == Source{s.source.Document, s.source.At + uint32(first-s.first)}
}

// findRuns is Find of substrings: the windows that go cover runs of tokens, and each run goes as far as may be.
func (c *Cutter) findRuns(doc []byte, pieces []Piece, gone Gone) (cuts []Cut, rows []Row) {
	var run []streak
	take := func() {
		if len(run) == 0 {
			return
		}
		end := run[0].end
		for _, s := range run {
			end = max(end, s.end)
		}
		first, end, ok := shrink(doc, c.tokens, run[0].first, end, c.o.Tokens)
		if ok {
			cuts = append(cuts, Cut{c.tokens[first].Start, c.tokens[end-1].End})
			rows = c.appendRows(rows, run, first, end)
		}
		run = run[:0]
	}
	for _, p := range pieces {
		source, ok := gone(p.Key)
		if !ok {
			continue
		}
		if last := len(run) - 1; last >= 0 {
			if run[last].goesOn(p.First, c.o.Tokens, source) {
				run[last].end++
				continue
			}
			if run[last].end < p.First || p.Leads {
				take()
			}
		}
		run = append(run, streak{p.First, p.First + c.o.Tokens, source})
	}
	take()
	return cuts, rows
}

// appendRows covers the tokens from first to end by the streaks of a run, which begin in ascending order: leftmost, then the
// one that reaches farthest. What stands between the tokens of two rows is in the first one, so that rows list all that is
// cut. Each streak is looked at once: a periodic text has as many as tokens.
func (c *Cutter) appendRows(dst []Row, run []streak, first, end int) []Row {
	s, rest := run[0], run
	for at := first; at < end; {
		for ; len(rest) > 0 && rest[0].first <= at; rest = rest[1:] {
			if rest[0].end > s.end {
				s = rest[0]
			}
		}
		to := min(s.end, end)
		source := Source{s.source.Document, s.source.At + uint32(at-s.first)}
		if at > first {
			dst[len(dst)-1].End = c.tokens[at].Start
		}
		dst = append(dst, Row{c.tokens[at].Start, c.tokens[to-1].End, source})
		at = to
	}
	return dst
}

// shrink returns the longest run within tokens first to end that can be cut out: it splits no character, and what stands
// beside it may meet. It loses tokens on one side only, if that will do: where fewer go, at the end if as many. ok is
// false if fewer than least are left.
func shrink(doc []byte, tokens []text.Token, first, end, least int) (from, to int, ok bool) {
	for first < end && !startsAt(doc, tokens, first) {
		first++
	}
	for end > first && !endsAt(doc, tokens, end) {
		end--
	}
	meet := func(first, end int) bool { return mayMeet(doc, tokens[first].Start, tokens[end-1].End) }
	for lost := 0; end-lost-first >= least; lost++ {
		if endsAt(doc, tokens, end-lost) && meet(first, end-lost) {
			return first, end - lost, true
		}
		if startsAt(doc, tokens, first+lost) && meet(first+lost, end) {
			return first + lost, end, true
		}
	}
	return first, end, false
}

// startsAt tells whether a cut may begin with token i.
func startsAt(doc []byte, tokens []text.Token, i int) bool {
	return (i == 0 || tokens[i-1].End <= tokens[i].Start) && isBoundary(doc, tokens[i].Start)
}

// endsAt tells whether a cut may end before token i.
func endsAt(doc []byte, tokens []text.Token, i int) bool {
	return (i == len(tokens) || tokens[i-1].End <= tokens[i].Start) && isBoundary(doc, tokens[i-1].End)
}

// mayMeet tells whether doc[:left] and doc[right:] may stand side by side: no two letters meet, and no two characters
// become one.
func mayMeet(doc []byte, left, right int) bool {
	if left == 0 || right == len(doc) {
		return true
	}
	before, _ := utf8.DecodeLastRune(doc[:left])
	behind, _ := utf8.DecodeRune(doc[right:])
	if isLetter(before) && isLetter(behind) {
		return false
	}
	if behind < utf8.RuneSelf {
		return before != '\r' || behind != '\n'
	}
	joined := append(append([]byte(nil), doc[runeStart(doc, left-contextBytes):left]...), doc[right:min(right+contextBytes, len(doc))]...)
	return isBoundary(joined, left-runeStart(doc, left-contextBytes))
}

// isLetter tells whether a character belongs to a word.
func isLetter(r rune) bool { return unicode.In(r, unicode.L, unicode.N, unicode.M) }

// contextBytes is how far back a character is looked for that begins one for sure.
const contextBytes = 128

// runeStart returns the start of the character at i, or 0.
func runeStart(doc []byte, i int) int {
	for i > 0 && !utf8.RuneStart(doc[i]) {
		i--
	}
	return max(i, 0)
}

// isBoundary tells whether no character of a reader (UAX #29) lies on both sides of doc[i].
func isBoundary(doc []byte, i int) bool {
	if i == 0 || i == len(doc) {
		return true
	}
	if doc[i] < utf8.RuneSelf {
		return doc[i] != '\n' || doc[i-1] != '\r'
	}
	at := i - 1
	for at > 0 && at > i-contextBytes && doc[at] >= utf8.RuneSelf {
		at--
	}
	at = runeStart(doc, at)
	clusters := graphemes.FromBytes(doc[at:min(i+contextBytes, len(doc))])
	for at < i && clusters.Next() {
		at += len(clusters.Value())
	}
	return at == i
}
