package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/alike-dev/alike/dedup"
)

// across is the table of removed documents by groups, without rows and columns in which there are none.
func across(a *dedup.ReportAcross) matrix {
	m := matrix{What: "removed", Of: cmp.Or(a.Of, "file")}
	name := func(names []string, i int) string {
		if i == len(names) {
			return "others"
		}
		return cmp.Or(cut(names[i], shownName), "none")
	}
	var columns []int
	for j := range len(a.Columns) + 1 {
		if slices.ContainsFunc(a.Removed, func(row []int64) bool { return row[j] > 0 }) {
			columns = append(columns, j)
			m.Top = append(m.Top, name(a.Columns, j))
		}
	}
	for i, row := range a.Removed {
		if slices.Max(row) == 0 {
			continue
		}
		m.Left = append(m.Left, name(a.Rows, i))
		var counts []int64
		for _, j := range columns {
			counts = append(counts, row[j])
		}
		m.Counts = append(m.Counts, counts)
	}
	return m
}

// decided says in a sentence when documents count as similar.
func decided(s *dedup.Summary) string {
	switch {
	case s.CandidateMethod == dedup.MethodRecords:
		return "Records that belong together: " + s.Decision + "."
	case s.Decision != "":
		return "Signatures decide: " + s.Decision + "."
	}
	name := s.Measure
	if name == "" {
		name = "Jaccard similarity"
	}
	how := fmt.Sprintf("Documents are alike from a %s of %v on", name, s.Threshold)
	if s.CandidateMethod == dedup.MethodExact {
		return how + "; all pairs were found."
	}
	if s.Bands > 0 {
		how += fmt.Sprintf("; candidates share one of %d bands of %d rows", s.Bands, s.Rows)
	}
	share := fmt.Sprintf("%.2f", 100*s.ExpectedRecall.Low)
	if s.ExpectedRecall.Range {
		share += fmt.Sprintf(" to %.2f", 100*s.ExpectedRecall.High)
	}
	return fmt.Sprintf("%s; at the threshold %s %% of the pairs are found.", how, share)
}

func curve(recall []float64) string {
	var points strings.Builder
	for i, p := range recall {
		fmt.Fprintf(&points, "%.1f,%.1f ", 100*float64(i)/float64(len(recall)-1), 100*(1-p))
	}
	return strings.TrimSpace(points.String())
}
