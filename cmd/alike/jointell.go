package main

import (
	"cmp"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/candidates"
	"github.com/alike-dev/alike/countmin"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/linkage"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/report"
)

// tellKnown says how many of the given links are of records in both tables.
func tellKnown(w io.Writer, r *alike.JoinResult, given int) {
	fmt.Fprintf(w, "known before: %s", count(int64(r.Known), "link"))
	if absent := given - r.Known; absent > 0 {
		fmt.Fprintf(w, ", and %s of records that are not in both tables", humanize.Comma(int64(absent)))
	}
	fmt.Fprintln(w)
}

// tellChoices prints and saves the choices that were made, and why pairs are links, as far as
// asked for.
func (f *joinFlags) tellChoices(cmd *cobra.Command, w io.Writer, c alike.JoinConfig, r *alike.JoinResult) error {
	if f.explain {
		explainColumns(w, r)
		fmt.Fprintf(w, "similarity: %s\n", describeWeighing(&c))
	}
	if f.verbose {
		fmt.Fprintf(w, "candidates: %s\n", describeCandidates(&r.Search))
	}
	if f.save != "" {
		if err := f.saveConfig(cmd, c, r); err != nil {
			return err
		}
	}
	if f.page != "" {
		if err := f.writePage(cmd, c, r); err != nil {
			return err
		}
	}
	return f.found.records(cmd, c, r)
}

// writePage writes the page that explains pairs.
func (f *joinFlags) writePage(cmd *cobra.Command, c alike.JoinConfig, r *alike.JoinResult) error {
	tables := []string{c.Left}
	if c.Right != "" {
		tables = append(tables, c.Right)
	}
	err := writeOutput(cmd, f.page, func(w io.Writer) error { return report.Pairs(w, r, tables, labelNames(r.OneTable)) })
	if err != nil {
		return fmt.Errorf("--explain-pairs: %w", err)
	}
	return nil
}

// describeWeighing describes the similarity.
func describeWeighing(c *alike.JoinConfig) string {
	m := c.Measure
	if m == measure.Jaccard {
		m = measure.Cosine
	}
	text := m.String() + " of tokens"
	if c.Repetitions {
		text += ", repeated ones counted,"
	}
	switch c.IDF {
	case linkage.IDFNone:
		return text + " of equal weight"
	case linkage.IDFSketch:
		o := countmin.Options{Epsilon: cmp.Or(c.Epsilon, countmin.DefaultEpsilon), Delta: cmp.Or(c.Delta, countmin.DefaultDelta)}
		return fmt.Sprintf("%s weighted by inverse document frequency, counted by a sketch (epsilon %v, delta %v)", text, o.Epsilon, o.Delta)
	}
	return text + " weighted by inverse document frequency"
}

// describeCandidates says how candidates were found, and at what cost.
func describeCandidates(s *candidates.Summary) string {
	text := string(s.Method)
	if s.TopKSeconds > 0 {
		text += fmt.Sprintf(" (estimated: topk %.2f s, lsh %.2f s of one core)", s.TopKSeconds, s.BandsSeconds)
	}
	if s.Method == candidates.Bands {
		text += fmt.Sprintf(", %d bands of %d rows", s.Params.Bands, s.Params.Rows)
	}
	text += fmt.Sprintf("; %s searched for", count(s.Searched, "record"))
	if s.Searched > 0 && (s.Dropped > 0 || s.Method != candidates.ByKeys) {
		text += fmt.Sprintf(", %s of them (%.1f %%) dropped before that", humanize.Comma(s.Dropped), 100*float64(s.Dropped)/float64(s.Searched))
	}
	if s.Method == candidates.ByKeys {
		return text
	}
	if s.Method == candidates.Bands {
		text += fmt.Sprintf("; %s looked at, %s too large", count(s.Entries, "key"), count(s.Capped, "bucket"))
	} else {
		text += fmt.Sprintf("; %s looked at, %s compared", humanize.Comma(s.Entries)+" list entries", count(s.Compared, "pair"))
	}
	return text
}

// explainColumns prints how much each column says, and which kinds of pairs there are.
func explainColumns(w io.Writer, r *alike.JoinResult) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "column\ttokens\tweight\tfilled\tsimilarity of matches\tof others\ttells (nats)\tof its own")
	for _, c := range r.Columns {
		fmt.Fprintf(t, "%s\t%s\t%g\t%.0f %% / %.0f %%\t%.2f\t%.2f\t%.2f\t%.0f %%\n", fault.ShownPair(c.Names()), c.Tokens, c.Weight,
			100*c.Filled[0], 100*c.Filled[1], c.Agreement, c.Chance, c.Information, 100*c.Share)
	}
	_ = t.Flush()
	if !r.TellsKinds() { // else they have been told
		for _, line := range r.KindLines() {
			fmt.Fprintln(w, line)
		}
	}
}

// curvePoints is how many points of the curve are printed.
const curvePoints = 10

func printJoinScores(w io.Writer, s *alike.JoinScores) {
	printPairScores(w, &s.Decision)
	fmt.Fprintf(w, "best cut         f1 %.6f, precision %.6f, recall %.6f at probability %.6f\n", s.Best.F1, s.Best.Precision, s.Best.Recall, s.Best.Score)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "probability\tpairs\tprecision\trecall\tf1\t")
	points := min(curvePoints, len(s.Curve))
	for i := range points {
		p := s.Curve[(i+1)*len(s.Curve)/points-1]
		fmt.Fprintf(t, "%.6f\t%d\t%.4f\t%.4f\t%.4f\t\n", p.Score, p.Pairs, p.Precision, p.Recall, p.F1)
	}
	_ = t.Flush()
}
