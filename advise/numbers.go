package advise

import (
	"cmp"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/alike-dev/alike/internal/sorting"
	"github.com/alike-dev/alike/text"
)

// Of a series, such as one product in many sizes or the same notice of each week, texts are the same but for their numbers.
// So are copies of a talk whose times somebody counted from another start: the numbers say that a pair is doubtful, no more.
// They are compared where both texts have one beside the same word:
//
//	A   …, size 91 cm. Item no. 5841260. Was £64.99, …
//	B   …, size 75 cm. ltem no. 2290418. Was £82.99, …
//	             ||             |||||||       ||||         15 digits, of which 2 are the same
//
// Noise is as rare in digits as elsewhere. In a short text of a template digits are told character by character: see own.go.

// number is what stands between two words that are none: their hashes.
type number struct {
	before, after uint64
	digits        string
}

// numbers are those of a text, ascending by the word before each, and by the word after it.
type numbers [2][]number

func (n *number) beside(side int) uint64 { return [2]uint64{n.before, n.after}[side] }

func numbersOf(t *text.Tokenizer, doc []byte) (all numbers) {
	doc = t.AppendNormal(nil, doc)
	var found []number
	var before uint64
	var digits []byte
	for _, token := range t.AppendTokens(nil, doc) {
		size := len(digits)
		for word := doc[token.Start:token.End]; len(word) > 0; {
			r, n := utf8.DecodeRune(word)
			if unicode.IsDigit(r) {
				digits = append(digits, word[:n]...)
			}
			word = word[n:]
		}
		if len(digits) > size {
			continue
		}
		if size > 0 {
			found = append(found, number{before, token.Hash, string(digits)})
			digits = digits[:0]
		}
		before = token.Hash
	}
	if len(digits) > 0 {
		found = append(found, number{before, 0, string(digits)})
	}
	for side := range all {
		all[side] = once(slices.Clone(found), side)
	}
	return all
}

// once returns the numbers beside whose word on one side no other one stands, in order of that word.
func once(all []number, side int) []number {
	sorting.Func(all, func(a, b number) int { return cmp.Compare(a.beside(side), b.beside(side)) })
	kept := all[:0:0]
	for i, n := range all {
		is := n.beside(side)
		if is != 0 && (i == 0 || all[i-1].beside(side) != is) && (i+1 == len(all) || all[i+1].beside(side) != is) {
			kept = append(kept, n)
		}
	}
	return kept
}

// numbersDiffer tells whether two texts have other digits beside the same words.
func numbersDiffer(a, b *numbers) bool {
	all, same := 0, 0
	for side := range a {
		x, y := a[side], b[side]
		for len(x) > 0 && len(y) > 0 {
			switch c := cmp.Compare(x[0].beside(side), y[0].beside(side)); {
			case c < 0:
				x = x[1:]
			case c > 0:
				y = y[1:]
			default:
				if side == 0 || x[0].before != y[0].before { // otherwise counted by that
					start, end := sameEnds([]byte(x[0].digits), []byte(y[0].digits))
					all, same = all+max(len(x[0].digits), len(y[0].digits)), same+start+end
				}
				x, y = x[1:], y[1:]
			}
		}
	}
	return all >= digitsLeast && float64(same) < digitsSame*float64(all)
}
