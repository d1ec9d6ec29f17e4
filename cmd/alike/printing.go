package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/dedup"
)

// printRows prints names and their values.
func printRows(w io.Writer, rows [][2]string) {
	for _, row := range rows {
		fmt.Fprintf(w, "%-10s %s\n", row[0], row[1])
	}
}

// count returns a number and the word for the things counted.
func count(n int64, word string) string {
	if n != 1 {
		word += "s"
	}
	return humanize.Comma(n) + " " + word
}

// describeSearch says how similar documents were found.
func describeSearch(s *alike.Summary) string {
	if s.CandidateMethod == dedup.Linked {
		return s.Decision
	}
	if s.Decision != "" {
		return fmt.Sprintf("%s, %d keys a document", s.Decision, s.Bands)
	}
	similarity := cmp.Or(s.Measure, "similarity")
	if s.Sample > 0 {
		return fmt.Sprintf("%s ≥ %v, samples of %d features, expected recall %.4f at the threshold", similarity, s.Threshold, s.Sample, s.ExpectedRecall)
	}
	if s.Bands == 0 {
		return fmt.Sprintf("%s ≥ %v, exact join", similarity, s.Threshold)
	}
	if s.Verify == string(dedup.VerifyNone) {
		return fmt.Sprintf("%d bands of %d rows decide, which find %.4f of the pairs at %v", s.Bands, s.Rows, s.ExpectedRecall, s.Threshold)
	}
	return fmt.Sprintf("%s ≥ %v, %d bands of %d rows, expected recall %.4f at the threshold",
		similarity, s.Threshold, s.Bands, s.Rows, s.ExpectedRecall)
}

// describeCost says what a run took.
func describeCost(s *alike.Summary) string {
	cost := fmt.Sprintf("%.2f s", s.Seconds)
	for _, stage := range s.Stages {
		if stage.Name == "read" && s.Seconds > 0.1 { // the rate of a shorter stage says nothing
			cost += fmt.Sprintf(", %.0f MB/s", float64(stage.Bytes)/1e6/s.Seconds)
		}
	}
	if s.PeakMemoryBytes > 0 {
		cost += ", " + humanize.IBytes(uint64(s.PeakMemoryBytes)) + " of memory at most"
	}
	return cost
}

func printJSON(cmd *cobra.Command, v any) error {
	e := json.NewEncoder(cmd.OutOrStdout())
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// visible returns a text with every character escaped, except line ends, that would control a
// terminal or be invisible there: no message passes on a control character from the data, wherever
// it was worded.
func visible(text string) string {
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], string(r)):
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r == '\n' || unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return b.String()
}

// rawID returns an id that JSON cannot hold, because it is not UTF-8, and nil for others.
func rawID(id []byte) []byte {
	if utf8.Valid(id) {
		return nil
	}
	return id
}
