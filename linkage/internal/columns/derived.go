package columns

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/alike-dev/alike/internal/fault"
)

// A derived column says again what other columns of the same record say: their values joined, one of them copied,
// shortened, or its year or initials. Its agreement would count as evidence a second time, so it is not compared.

const (
	// derivedFrom is the least share of a column's values that other columns of the record make up.
	derivedFrom = 0.95
	// mostWhole is the largest share of beginnings that are whole words: others are words themselves, such as brands.
	mostWhole = 0.5
	// leastDerived is the least number of values that show it.
	leastDerived = 50
)

// derivedColumns returns, for some columns of a table, why each is derived; "" if it is not. rows are a sample of the
// table. A column is derived from columns that are not derived themselves, so one of two equal ones stays.
// O(rows · columns² · words).
func derivedColumns(ctx context.Context, rows [][][]byte, names []string, columns []int) []string {
	why := make([]string, len(columns))
	if len(rows) < leastDerived {
		return why
	}
	words := make([][][]string, len(columns)) // of each column, of each row
	for k, column := range columns {
		words[k] = make([][]string, len(rows))
		for i, row := range rows {
			words[k][i] = wordsOf(row[column])
		}
	}
	order := make([]int, len(columns))
	for k := range order {
		order[k] = k
	}
	// The longest first: a full name is made of its parts, and they are not left out for being a part of it. Of columns with
	// as many words the last is left out first.
	slices.SortFunc(order, func(x, y int) int {
		return cmp.Or(cmp.Compare(meanWords(words[y]), meanWords(words[x])), cmp.Compare(y, x))
	})
	for _, k := range order {
		if ctx.Err() != nil {
			break // the caller sees it
		}
		var others []int
		for o := range columns {
			if o != k && why[o] == "" {
				others = append(others, o)
			}
		}
		if from := joinedFrom(words, k, others); len(from) > 0 {
			var of []string
			for _, o := range from {
				of = append(of, names[columns[o]])
			}
			why[k] = "is made of " + fault.List(of)
			continue
		}
		for _, o := range others {
			if partOf(words[k], words[o]) {
				why[k] = "is a part of " + fault.Shown(names[columns[o]])
				break
			}
		}
	}
	return why
}

// wordsOf returns the words of a value, in lower case.
func wordsOf(value []byte) []string {
	return strings.FieldsFunc(strings.ToLower(string(value)), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}

func meanWords(of [][]string) float64 {
	n, filled := 0, 0
	for _, words := range of {
		if n += len(words); len(words) > 0 {
			filled++
		}
	}
	return float64(n) / float64(max(filled, 1))
}

// joinedFrom returns the columns, two or more, whose words make up column k; nil if they do not.
func joinedFrom(words [][][]string, k int, others []int) []int {
	var from []int
	for _, o := range others { // that have something to do with it: most of their values are in it
		if follows(words[o], words[k], holds) {
			from = append(from, o)
		}
	}
	if len(from) < 2 {
		return nil
	}
	union := make([][]string, len(words[k]))
	for i := range union {
		for _, o := range from {
			union[i] = append(union[i], words[o][i]...)
		}
	}
	if share(words[k], union, holds) < derivedFrom {
		return nil
	}
	return from
}

// partOf tells whether a column's values are copies, beginnings, initials or numbers of another one's, as the year of a date is.
// Words of a longer text are none of these: a last name beside a full name says which of the words it is, and so does a brand
// that a title begins with.
func partOf(part, of [][]string) bool {
	for _, is := range []func(part, of []string) bool{copies, numbersOf} {
		if follows(part, of, is) {
			return true
		}
	}
	return follows(part, of, shortened) && share(part, of, holds) < mostWhole
}

// copies tells whether two values have the same words.
func copies(part, of []string) bool { return holds(part, of) && holds(of, part) }

// begins tells whether another value begins with the letters of a value, as "robert" does with "rob".
func begins(part, of []string) bool {
	return strings.HasPrefix(strings.Join(of, ""), strings.Join(part, ""))
}

// shortened tells whether a value is a beginning of another one, or its initials.
func shortened(part, of []string) bool { return begins(part, of) || initials(part, of) }

// numbersOf tells whether a value is numbers that another one has too.
func numbersOf(part, of []string) bool {
	return holds(part, of) && !slices.ContainsFunc(part, func(w string) bool { return strings.Trim(w, "0123456789") != "" })
}

// share returns the share of the values of a column, among those that have another one beside them, of which is is true;
// 0 if there are too few.
func share(part, of [][]string, is func(part, of []string) bool) float64 {
	n, yes := 0, 0
	for i, words := range part {
		if len(words) == 0 || len(of[i]) == 0 {
			continue
		}
		if n++; is(words, of[i]) {
			yes++
		}
		if n == leastDerived && 2*yes < n { // most columns have nothing to do with each other
			return 0
		}
	}
	if n < leastDerived {
		return 0
	}
	return float64(yes) / float64(n)
}

// follows tells whether is is true of the values of the same records, in nearly all rows, and that ten times as seldom false as
// of the values of different records.
func follows(part, of [][]string, is func(part, of []string) bool) bool {
	same, half := share(part, of, is), len(of)/2
	return same >= derivedFrom && 1-same < (1-share(part, slices.Concat(of[half:], of[:half]), is))/10
}

// holds tells whether all words of a value are in another one.
func holds(part, of []string) bool {
	return !slices.ContainsFunc(part, func(w string) bool { return !slices.Contains(of, w) })
}

// initials tells whether a value is the first letters of words of another one, in order, and of most of them: "jfk" or "j f k".
func initials(part, of []string) bool {
	rest := strings.Join(part, "")
	letters := utf8.RuneCountInString(rest)
	for _, w := range of {
		if first, size := utf8.DecodeRuneInString(w); strings.HasPrefix(rest, string(first)) {
			rest = rest[size:]
		}
	}
	return rest == "" && len(of) > 1 && 2*letters > len(of)
}
