package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/recipe"
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
	said := describeJoin(s)
	if s.Contradicted != nil {
		said += fmt.Sprintf("; third texts took out %s", count(*s.Contradicted, "pair"))
	}
	if s.Partial != nil && *s.Partial > 0 {
		said += fmt.Sprintf("; of %s no text stands in the other one", count(*s.Partial, "pair"))
	}
	return said
}

// describeJoin is describeSearch without what was taken out.
func describeJoin(s *alike.Summary) string {
	if s.CandidateMethod == dedup.MethodRecords {
		return s.Decision
	}
	if s.Decision != "" {
		return fmt.Sprintf("%s, %d keys a document", s.Decision, s.Bands)
	}
	similarity := cmp.Or(s.Measure, "similarity")
	if s.Sample > 0 {
		return fmt.Sprintf("%s ≥ %v, samples of %d features, expected recall %v at the threshold", similarity, s.Threshold, s.Sample, s.ExpectedRecall)
	}
	if s.Bands == 0 {
		return fmt.Sprintf("%s ≥ %v, exact join", similarity, s.Threshold)
	}
	if s.Verify == string(recipe.None) {
		return fmt.Sprintf("%d bands of %d rows decide, which find %v of the pairs at %v", s.Bands, s.Rows, s.ExpectedRecall, s.Threshold)
	}
	return fmt.Sprintf("%s ≥ %v, %d bands of %d rows, expected recall %v at the threshold",
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

func printJSON(cmd *cobra.Command, v any) error { return encodeJSON(cmd.OutOrStdout(), v) }

// encodeJSON writes a value as JSON that people can read.
func encodeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// writeSummary writes a value as JSON to a file; "": to none.
func writeSummary(cmd *cobra.Command, path string, v any) error {
	if path == "" {
		return nil
	}
	err := writeOutput(cmd, path, func(w io.Writer) error { return encodeJSON(w, v) })
	if err != nil {
		return fmt.Errorf("--summary: %w", err)
	}
	return nil
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

// A printer writes text for people: it passes on what visible leaves, however the text was worded
// and cut into writes. Every line that a command writes to standard error goes through one (newRoot
// sets it), and so do reports on standard output; lists and JSON there keep their bytes.
// It is safe for concurrent use.
type printer struct {
	to   io.Writer
	mu   sync.Mutex
	held []byte // the beginning of a character that the last write has cut
}

// printed returns the writer of a command's reports on standard output.
func printed(cmd *cobra.Command) *printer { return &printer{to: cmd.OutOrStdout()} }

func (p *printer) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	whole := append(p.held, text...)
	cut := len(whole)
	for n := 1; n < utf8.UTFMax && n <= len(whole); n++ {
		if at := len(whole) - n; utf8.RuneStart(whole[at]) {
			if !utf8.FullRune(whole[at:]) {
				cut = at
			}
			break
		}
	}
	p.held = append([]byte(nil), whole[cut:]...)
	if _, err := io.WriteString(p.to, visible(string(whole[:cut]))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// terminal returns the terminal that the printer writes to, nil if it is none.
func (p *printer) terminal() *os.File {
	if file, ok := p.to.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		return file
	}
	return nil
}

// sizeOf returns how many columns and lines a terminal has.
func sizeOf(terminal *os.File) (width, height int) {
	width, height, err := term.GetSize(int(terminal.Fd()))
	if err != nil || width <= 0 || height <= 0 { // such as a serial line
		return 80, 24
	}
	return width, height
}

// visibleJSON returns JSON with the same value in which strings show no character that visible
// would escape.
func visibleJSON(data []byte) []byte {
	var b []byte
	for _, r := range string(data) {
		switch {
		case unicode.IsPrint(r):
			b = utf8.AppendRune(b, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			b = fmt.Appendf(b, `\u%04x\u%04x`, high, low)
		default:
			b = fmt.Appendf(b, `\u%04x`, r)
		}
	}
	return b
}

// rawID returns an id that JSON cannot hold, because it is not UTF-8, and nil for others.
func rawID(id []byte) []byte {
	if utf8.Valid(id) {
		return nil
	}
	return id
}

// tellApart says what documents that were named apart are called; nothing if there are none.
func tellApart(w io.Writer, n int64) {
	if n > 0 {
		fmt.Fprintf(w, "alike: the index has another document named by the same file and line as %s without an id: named file:line#hash there; --id-field says where ids are\n", count(n, "document"))
	}
}
