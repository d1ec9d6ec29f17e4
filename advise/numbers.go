package advise

import (
	"cmp"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/alike-dev/alike/text"
)

// Of a series, such as one product in many sizes or the same notice of each week, texts are the same but for their numbers.
// So are copies of a talk whose times somebody counted from another start: the numbers say that a pair is doubtful, no more.
// They are compared where both texts have one between the same two words:
//
//	A   …, size 91 cm. Item no. 5841260. Was £64.99, …
//	B   …, size 75 cm. ltem no. 2290418. Was £82.99, …
//	             ||             |||||||       ||||         15 digits, of which 2 are the same
//
// Noise is as rare in digits as elsewhere. In a short text of a template digits are told character by character: see own.go.

// number is what stands between two words that are none.
type number struct {
	around uint64
	digits string
}

// numbersOf returns the numbers of a text between words between which no other one stands, ascending.
func numbersOf(t *text.Tokenizer, doc []byte) (all []number) {
	doc = t.AppendNormal(nil, doc)
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
			all = append(all, number{between(before, token.Hash), string(digits)})
			digits = digits[:0]
		}
		before = token.Hash
	}
	slices.SortFunc(all, func(a, b number) int { return cmp.Compare(a.around, b.around) })
	once := all[:0]
	for i, n := range all {
		if (i == 0 || all[i-1].around != n.around) && (i+1 == len(all) || all[i+1].around != n.around) {
			once = append(once, n)
		}
	}
	return once
}

// numbersDiffer tells whether two texts have other digits where the rest is the same.
func numbersDiffer(a, b []number) bool {
	all, same := 0, 0
	for len(a) > 0 && len(b) > 0 {
		switch x, y := a[0], b[0]; {
		case x.around < y.around:
			a = a[1:]
		case x.around > y.around:
			b = b[1:]
		default:
			start, end := sameEnds([]byte(x.digits), []byte(y.digits))
			all, same = all+max(len(x.digits), len(y.digits)), same+start+end
			a, b = a[1:], b[1:]
		}
	}
	return all >= digitsLeast && float64(same) < digitsSame*float64(all)
}
