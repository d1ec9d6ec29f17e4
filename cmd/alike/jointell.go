package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/linkage"
)

// tellJoin says in a few lines what was done, and how good it is as far as the data tell.
func tellJoin(w io.Writer, r *alike.JoinResult) {
	var used, unused []string
	for _, c := range r.Columns {
		name := c.Left
		if c.Right != c.Left {
			name += "=" + c.Right
		}
		used = append(used, name)
	}
	for _, u := range r.Unused {
		unused = append(unused, fmt.Sprintf("%s (%s)", u.Name, u.Reason))
	}
	among := humanize.Comma(int64(r.Left)) + " × " + count(int64(r.Right), "record")
	if r.OneTable {
		among = count(int64(r.Left), "record")
	}
	fmt.Fprintf(w, "%s among %s, %s; %s considered\n", count(int64(len(r.Links)), "link"), among, r.Match, count(int64(r.Candidates), "candidate"))
	if r.Match == linkage.OneToOne {
		tellAssignment(w, r.Assignment)
	}
	fmt.Fprintf(w, "likely right: %.1f %% of the links; likely found: %.1f %% of the matches\n", 100*r.Precision, 100*r.Recall)
	fmt.Fprintf(w, "compared: %s\n", strings.Join(used, ", "))
	if len(unused) > 0 {
		fmt.Fprintf(w, "not compared: %s\n", strings.Join(unused, ", "))
	}
	for _, id := range r.Repeated {
		fmt.Fprintf(w, "alike: %s is there more than once: links do not tell which record is meant\n", id)
	}
}

// tellKnown says how many of the given links stand.
func tellKnown(w io.Writer, r *alike.JoinResult, given int) {
	fmt.Fprintf(w, "known before: %s", count(int64(r.Known), "link"))
	if absent := given - r.Known; absent > 0 {
		fmt.Fprintf(w, ", and %s of records that are not in both tables", humanize.Comma(int64(absent)))
	}
	fmt.Fprintln(w)
}

// tellAssignment says how far one-to-one links are the best choice there is.
func tellAssignment(w io.Writer, a linkage.Assignment) {
	fmt.Fprintf(w, "one-to-one: the best choice in %s of records that hang together", count(int64(a.Components-a.Greedy), "group"))
	if a.Greedy > 0 {
		fmt.Fprintf(w, "; the best pair first in %s of more than %s records or with an odd circle",
			count(int64(a.Greedy), "group"), humanize.Comma(linkage.Assigned))
	}
	fmt.Fprintln(w)
}

// explainColumns prints what each column tells.
func explainColumns(w io.Writer, r *alike.JoinResult) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "column\ttokens\tweight\tfilled\tsimilarity of matches\tof others\ttells (nats)\tof its own")
	for _, c := range r.Columns {
		name := c.Left
		if c.Right != c.Left {
			name += "=" + c.Right
		}
		fmt.Fprintf(t, "%s\t%s\t%g\t%.0f %% / %.0f %%\t%.2f\t%.2f\t%.2f\t%.0f %%\n", name, c.Tokens, c.Weight,
			100*c.Filled[0], 100*c.Filled[1], c.Agreement, c.Chance, c.Information, 100*c.Share)
	}
	_ = t.Flush()
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
