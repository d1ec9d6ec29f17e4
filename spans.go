package alike

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/alike-dev/alike/eval"
)

// SpanScores says how well the places in a list agree with true ones.
type SpanScores = eval.SpanScores

// PlaceScores counts places that overlap one of the other list.
type PlaceScores = eval.PlaceScores

// ScoreSpans compares the places in one CSV file, such as found.csv of decontaminate, with those in another. Both have a
// header with document, start and end, in any order; start and end are bytes. Items count if both have a column item.
func ScoreSpans(found, truth string) (*SpanScores, error) {
	f, err := readRows(found)
	if err != nil {
		return nil, err
	}
	t, err := readRows(truth)
	if err != nil {
		return nil, err
	}
	items := f.column("item") >= 0 && t.column("item") >= 0
	foundSpans, err := f.spans(items)
	if err != nil {
		return nil, err
	}
	trueSpans, err := t.spans(items)
	if err != nil {
		return nil, err
	}
	scores := eval.Spans(foundSpans, trueSpans)
	return &scores, nil
}

// column returns the number of a column by its name in the first row, -1 if there is none.
func (r *rows) column(name string) int {
	if len(r.rows) == 0 {
		return -1
	}
	return slices.IndexFunc(r.rows[0], func(s string) bool { return strings.EqualFold(s, name) })
}

// spans returns the rows as spans, with their items if wanted.
func (r *rows) spans(items bool) ([]eval.Span, error) {
	var at [4]int
	for i, name := range []string{"document", "start", "end", "item"} {
		if at[i] = r.column(name); at[i] < 0 && i < 3 {
			return nil, fmt.Errorf("%s: there is no column %q: spans have a header with document, start and end", r.path, name)
		}
	}
	last := max(at[0], at[1], at[2], at[3])
	spans := make([]eval.Span, 0, len(r.rows)-1)
	for i, row := range r.rows[1:] {
		if len(row) <= last {
			return nil, fmt.Errorf("%s: row %d has too few columns", r.path, i+2)
		}
		start, err := strconv.ParseUint(row[at[1]], 10, 63)
		if err != nil {
			return nil, fmt.Errorf("%s: row %d: start %q is not a number of bytes", r.path, i+2, row[at[1]])
		}
		end, err := strconv.ParseUint(row[at[2]], 10, 63)
		if err != nil || end < start {
			return nil, fmt.Errorf("%s: row %d: end %q is not a number of bytes from %d on", r.path, i+2, row[at[2]], start)
		}
		s := eval.Span{Document: row[at[0]], Start: start, End: end}
		if items {
			s.Item = row[at[3]]
		}
		spans = append(spans, s)
	}
	return spans, nil
}
