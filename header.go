package alike

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/alike-dev/alike/internal/setting"
)

// HeaderMode says whether the first line of a CSV file of pairs or clusters names its
// columns.
type HeaderMode string

const (
	HeaderAuto HeaderMode = "auto" // judged by the files' contents; see ScorePairs
	HeaderYes  HeaderMode = "yes"
	HeaderNo   HeaderMode = "no"
)

// A ScoreOption changes how ScorePairs and ScoreClusters read their files.
type ScoreOption func(*scoring)

// scoring holds the options for reading files to score.
type scoring struct {
	header HeaderMode
	notice func(Notice)
}

// Header sets whether first lines are headers. Without it ScorePairs and ScoreClusters
// judge.
func Header(mode HeaderMode) ScoreOption { return func(s *scoring) { s.header = mode } }

// Notices sets a function to receive messages for the user: which line was treated as a
// header, and which pairs do not count.
func Notices(notice func(Notice)) ScoreOption { return func(s *scoring) { s.notice = notice } }

// ownHeaders are the headers that alike itself writes.
var ownHeaders = [][]string{
	{"a", "b", "similarity"}, {"left_id", "right_id", "similarity"}, {"id", "kept_id", "similarity"}, {"id", "cluster"},
}

// isOwn reports whether a row is a header that alike writes. More columns may follow a
// similarity.
func isOwn(row []string) bool {
	return slices.ContainsFunc(ownHeaders, func(h []string) bool {
		return slices.Equal(h, row) || len(h) == 3 && len(row) > 3 && slices.Equal(h, row[:3])
	})
}

// Usual names of the two columns, in lower case.
var (
	firstNames  = []string{"a", "id", "id1", "id_1", "ida", "id_a", "left", "left_id", "left id", "doc1"}
	secondNames = []string{"b", "id", "id2", "id_2", "idb", "id_b", "right", "right_id", "right id", "doc2", "kept_id", "cluster"}
)

// readTwo reads two files and removes their headers.
func (s *scoring) readTwo(found, truth string) (f, t *rows, err error) {
	if f, err = readRows(found); err != nil {
		return nil, nil, err
	}
	if t, err = readRows(truth); err != nil {
		return nil, nil, err
	}
	fIsHeader, tIsHeader := s.isHeader(f, t), s.isHeader(t, f)
	for _, r := range []struct {
		*rows
		isHeader bool
	}{{f, fIsHeader}, {t, tIsHeader}} {
		if r.isHeader {
			r.header, r.rows.rows = r.rows.rows[0], r.rows.rows[1:]
		}
		if err := r.check(); err != nil {
			return nil, nil, err
		}
	}
	if (f.linksTables() || t.linksTables()) && !f.namesClusters() && !t.namesClusters() {
		f.tellSides()
		t.tellSides()
	}
	return f, t, nil
}

// linksTables reports whether the pairs are of records of two tables, which may have the same ids.
func (r *rows) linksTables() bool {
	return len(r.header) >= 2 && r.header[0] == "left_id" && r.header[1] == "right_id"
}

// namesClusters reports whether the rows are ids with their clusters.
func (r *rows) namesClusters() bool {
	return len(r.header) >= 2 && strings.EqualFold(r.header[1], "cluster")
}

// tellSides makes the ids of the left table others than those of the right one.
func (r *rows) tellSides() {
	for _, row := range r.rows {
		row[0], row[1] = "left "+row[0], "right "+row[1]
	}
}

// isHeader judges the first row of a file, which is scored with another, and tells the user
// its judgement if that could be wrong.
//
// Headers that alike writes, and usual names, are headers. Any other first row is a header
// if neither of its ids is in any other row of the two files and, in addition, its third
// column is no number while those below are, or its ids have no digits while all ids below
// have, or its ids have letters while none below has.
func (s *scoring) isHeader(r, other *rows) bool {
	switch {
	case r.named && len(r.rows) > 0:
		return true
	case len(r.rows) == 0 || len(r.rows[0]) < 2 || s.header == HeaderNo:
		return false
	case s.header == HeaderYes:
		return true
	}
	first := r.rows[0]
	if isOwn(first) {
		return true
	}
	usual := slices.Contains(firstNames, strings.ToLower(first[0])) && slices.Contains(secondNames, strings.ToLower(first[1]))
	again := r.namesAgain(first) || other.namesAgain(first)
	switch line := fmt.Sprintf("%s: first line %q", r.path, strings.Join(first, ",")); {
	case usual || !again && (r.numbersBelow(first) || r.digitsBelow(first) || r.noLettersBelow(first)):
		s.notice(setting.Textf("%s is taken for a header; if it is a pair, say %s no", line, setting.Header))
		return true
	case !again && !hasDigit(first[0]) && !hasDigit(first[1]):
		s.notice(setting.Textf("%s is taken for a pair; if it is a header, say %s yes", line, setting.Header))
	}
	return false
}

// namesAgain reports whether an id of a first row is in a later row.
func (r *rows) namesAgain(first []string) bool {
	return len(r.rows) > 0 && slices.ContainsFunc(r.rows[1:], func(row []string) bool {
		return slices.ContainsFunc(row[:min(2, len(row))], func(id string) bool { return id == first[0] || id == first[1] })
	})
}

// numbersBelow reports whether the third columns of all rows after the first are numbers.
func (r *rows) numbersBelow(first []string) bool {
	isNumber := func(row []string) bool {
		if len(row) < 3 {
			return false
		}
		_, err := strconv.ParseFloat(row[2], 64)
		return err == nil
	}
	return len(r.rows) > 1 && len(first) > 2 && !isNumber(first) && all(r.rows[1:], isNumber)
}

// digitsBelow reports whether the ids of the first row have no digit and all other ids
// have.
func (r *rows) digitsBelow(first []string) bool {
	return len(r.rows) > 1 && !hasDigit(first[0]) && !hasDigit(first[1]) &&
		all(r.rows[1:], func(row []string) bool { return len(row) > 1 && hasDigit(row[0]) && hasDigit(row[1]) })
}

// noLettersBelow reports whether both ids of the first row have a letter and no other id has
// one.
func (r *rows) noLettersBelow(first []string) bool {
	return len(r.rows) > 1 && hasLetter(first[0]) && hasLetter(first[1]) &&
		all(r.rows[1:], func(row []string) bool { return len(row) > 1 && !hasLetter(row[0]) && !hasLetter(row[1]) })
}

func hasLetter(id string) bool { return strings.ContainsFunc(id, unicode.IsLetter) }

func all(rows [][]string, is func([]string) bool) bool {
	return !slices.ContainsFunc(rows, func(row []string) bool { return !is(row) })
}

func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }
