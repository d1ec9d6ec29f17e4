package main

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"golang.org/x/term"
	"golang.org/x/text/width"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/linkage"
	"github.com/alike-dev/alike/report"
)

const labelHelp = `Ask about the pairs of records whose labels teach most, and write the answers
as labels for alike learn.

Each question shows two records side by side; words that only one of them has are
marked. Answer with a key: y yes, they belong together; n no; u unsure; b back to the
question before; q ends. Answers are saved after each key, and the same command with
the same file continues from there.

Every other question is about the pair of which the model of the answers so far is least
sure, among records that were not asked about; the others are spread evenly over the
likely links, from the surest on, which shows where the model is sure and wrong.
Fifty answers are a good start.

Keys may also come through a pipe; white space between them does not count.`

const labelExamples = `  alike label products.csv catalogue.csv -o labels.csv
  alike label customers.csv -o labels.csv
  alike learn products.csv catalogue.csv --truth labels.csv -o model.json`

func newLabel() *cobra.Command {
	var flags joinFlags
	cmd := &cobra.Command{
		Use:     "label LEFT [RIGHT] -o LABELS",
		Short:   "Ask for the labels that teach most",
		Long:    labelHelp,
		Example: labelExamples,
		Args:    arguments(1, 2, "name two tables, or one"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if flags.output == "" {
				return usagef("no -o: name a file for the labels, a new one or one to continue")
			}
			if err := checkEnding("-o", flags.output, tableEndings); err != nil {
				return err
			}
			if _, c := endingOf(flags.output); c != corpus.Plain {
				return usagef("-o %s: labels are not compressed: leave this ending out", fault.Shown(flags.output))
			}
			if err := checkLabels("-o", flags.output); err != nil {
				return err
			}
			return flags.label(cmd, args)
		},
	}
	cmd.Flags().StringVarP(&flags.output, "output", "o", "", "`file` for the labels, CSV; an existing one is continued")
	flags.addTables(cmd.Flags())
	addSkipped(cmd.Flags(), &flags.skipped)
	completeChoices(cmd)
	return cmd
}

func (f *joinFlags) label(cmd *cobra.Command, args []string) (err error) {
	c, err := f.joinConfig(cmd, args)
	if err != nil {
		return err
	}
	if c.Corpus.Visit, err = keepApartFromWork(f.work, append(f.writes(), "-", f.output), append(f.reads(), "-", c.Left, c.Right)); err != nil {
		return err
	}
	if err := f.checkNames(); err != nil {
		return err
	}
	s, err := newLabelling(f.output, cmd.OutOrStdout(), labelNames(c.Right == ""))
	if err != nil {
		return err
	}
	skipped := f.skipping(cmd, &c)
	defer func() { err = skipped.end(err) }()
	learner, err := linkage.NewLearner(cmd.Context(), c)
	if err != nil {
		return err
	}
	tellNotes(f.stderr(cmd), learner.Result().Notes)
	s.next = func() (q linkage.Question, title string, ok bool) {
		q, ok = learner.Ask(s.taught())
		return q, fmt.Sprintf("%d. likely %.0f %%", len(s.verdicts)+1, 100*q.Probability), ok
	}
	if err := s.run(cmd); err != nil {
		return err
	}
	if learner.Result().Skipped > 0 {
		return errSkipped
	}
	return nil
}

// newLabelling begins a session that goes on with the answers in a file, if it is there.
func newLabelling(path string, out io.Writer, names []string) (*labelling, error) {
	verdicts, labelled, err := alike.ReadVerdicts(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return nil, err
	case !labelled:
		return nil, fmt.Errorf("%s has no column of labels: it is left as it is; name another file", path)
	}
	return &labelling{path: path, out: out, names: names, verdicts: verdicts, lines: mostLines}, nil
}

// labelling is a session of questions.
type labelling struct {
	next     func() (q linkage.Question, title string, ok bool) // ok is false if there is nothing left to ask
	path     string
	names    []string
	verdicts []alike.Verdict
	out      io.Writer
	marks    [2]string // before and after a word that only one record has
	width    int
	lines    int // of a value that are shown
}

// defaultWidth is that of a terminal whose width is not known.
const defaultWidth = 100

// run asks until there is nothing to ask, or the keys end.
func (s *labelling) run(cmd *cobra.Command) error {
	keys := bufio.NewReader(cmd.InOrStdin())
	read := func() (rune, error) {
		return unless(cmd.Context(), func() (rune, error) {
			r, _, err := keys.ReadRune()
			return unicode.ToLower(r), err
		})
	}
	s.marks, s.width = [2]string{"[", "]"}, defaultWidth
	in, ok := cmd.InOrStdin().(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return s.ask(read)
	}
	s.marks = [2]string{"\x1b[1;4m", "\x1b[0m"}
	if w, _, err := term.GetSize(int(in.Fd())); err == nil && w >= 40 {
		s.width = w
	}
	return s.ask(func() (rune, error) {
		before, err := term.MakeRaw(int(in.Fd()))
		if err != nil {
			return 0, err
		}
		defer func() { _ = term.Restore(int(in.Fd()), before) }()
		r, err := read()
		if r == 3 || r == 4 { // Ctrl-C and Ctrl-D, which are ordinary keys in a raw terminal
			r = 'q'
		}
		return r, err
	})
}

// ask asks one question after the other.
func (s *labelling) ask(key func() (rune, error)) error {
	for {
		q, title, ok := s.next()
		if !ok {
			fmt.Fprintln(s.out, "there is nothing left to ask")
			s.end()
			return nil
		}
		s.show(q, title)
		fmt.Fprint(s.out, "do they belong together? y n u(nsure) b(ack) q(uit): ")
		for known := false; !known; {
			k, err := key()
			switch {
			case errors.Is(err, io.EOF):
				k = 'q'
			case err != nil:
				return err
			}
			word := map[rune]string{'y': "yes", 'n': "no", 'u': "unsure", 'b': "back"}[k]
			switch known = word != ""; {
			case k == 'q':
				s.end()
				return nil
			case k == 'b' && len(s.verdicts) == 0:
				word, known = "there is no question before this one", false
			case k == 'b':
				s.verdicts = s.verdicts[:len(s.verdicts)-1]
			case known:
				s.verdicts = append(s.verdicts, alike.Verdict{A: q.A, B: q.B, Match: k == 'y', Unsure: k == 'u'})
			}
			if word != "" {
				fmt.Fprintln(s.out, word)
			}
			if !known {
				continue
			}
			if err := s.save(); err != nil {
				return err
			}
		}
	}
}

// taught returns the labels, and a function that says which pairs have not been asked about.
func (s *labelling) taught() (labels []linkage.Label, may func(a, b string) bool) {
	asked := map[[2]string]bool{}
	for _, v := range s.verdicts {
		asked[[2]string{v.A, v.B}] = true
		if !v.Unsure {
			labels = append(labels, linkage.Label{A: v.A, B: v.B, Match: v.Match})
		}
	}
	return labels, func(a, b string) bool { return !asked[[2]string{a, b}] }
}

// end prints the number of labels.
func (s *labelling) end() {
	yes, no := 0, 0
	for _, v := range s.verdicts {
		switch {
		case v.Match:
			yes++
		case !v.Unsure:
			no++
		}
	}
	fmt.Fprintf(s.out, "\n%s: %d yes, %d no, %d unsure\n", fault.Shown(s.path), yes, no, len(s.verdicts)-yes-no)
}

// save writes all labels to a file that replaces the one before when it is complete.
func (s *labelling) save() error {
	var out bytes.Buffer
	rows := csv.NewWriter(&out)
	_ = rows.Write(s.names) // a buffer takes everything
	for _, v := range s.verdicts {
		word := "0"
		switch {
		case v.Unsure:
			word = "u"
		case v.Match:
			word = "1"
		}
		_ = rows.Write([]string{v.A, v.B, word})
	}
	rows.Flush()
	file, err := corpus.Create(s.path, "", 1)
	if err != nil {
		return err
	}
	defer file.Abort()
	if _, err := file.Write(out.Bytes()); err != nil {
		return err
	}
	return file.Commit()
}

// show shows the two records of a question side by side.
func (s *labelling) show(q linkage.Question, title string) {
	head := len("columns")
	for _, v := range q.Values {
		head = max(head, min(16, columnsOf(visible(v.Left))))
	}
	wide := max(10, (s.width-head-7)/2)
	fmt.Fprintf(s.out, "\n%s\n", title)
	s.row(head, wide, "", s.cells(q.A, "", wide), s.cells(q.B, "", wide))
	for _, v := range q.Values {
		s.row(head, wide, v.Left, s.cells(v.A, v.B, wide), s.cells(v.B, v.A, wide))
	}
}

// row prints the lines of two values next to each other.
func (s *labelling) row(head, wide int, name string, a, b []cellLine) {
	for i := range max(len(a), len(b), 1) {
		var x, y cellLine
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		fmt.Fprintf(s.out, "%s  %s%s | %s\n", padded(shorten(visible(name), head), head),
			x.text, strings.Repeat(" ", max(0, wide-x.width)), y.text)
		name = ""
	}
}

// cellLine is a piece of a value that is width columns wide on a terminal.
type cellLine struct {
	text  string
	width int
}

// mostLines is how many lines of a value of a record are shown.
const mostLines = 8

// cells cuts a value into lines; words that the other value, if there is one, does not have are
// marked.
func (s *labelling) cells(value, other string, wide int) (lines []cellLine) {
	marked := 0 // columns that marks take
	if s.marks[0] == "[" {
		marked = 2
	}
	for _, of := range report.Words(value, other) {
		word := shorten(visible(of.Text), wide-marked)
		w, shown := columnsOf(word), word
		if of.Alone {
			w, shown = w+marked, s.marks[0]+word+s.marks[1]
		}
		if n := len(lines); n > 0 && lines[n-1].width+1+w <= wide {
			lines[n-1] = cellLine{lines[n-1].text + " " + shown, lines[n-1].width + 1 + w}
			continue
		}
		if len(lines) == s.lines {
			return append(lines, cellLine{"…", 1})
		}
		lines = append(lines, cellLine{shown, w})
	}
	return lines
}

// runAudit asks about the pairs that an audit has drawn, unless their answers are known, and tells what they show. The
// probability of a pair is not shown: it would tell what the model wants to hear.
func (f *joinFlags) runAudit(cmd *cobra.Command, stderr io.Writer, r *alike.JoinResult) error {
	if r.Audit == nil {
		return nil
	}
	s, err := newLabelling(f.audited, cmd.ErrOrStderr(), labelNames(r.OneTable))
	if err != nil {
		return err
	}
	answer := func(q *linkage.Question) linkage.Answer { return s.answer(q.A, q.B, r.OneTable) }
	s.next = func() (q linkage.Question, title string, ok bool) {
		for i := range r.Audit.Questions {
			if q := r.Audit.Questions[i]; answer(&q) == linkage.Unasked {
				return q, fmt.Sprintf("%d of %d", i+1, len(r.Audit.Questions)), true
			}
		}
		return q, "", false
	}
	if _, _, ask := s.next(); ask {
		if err := s.run(cmd); err != nil {
			return err
		}
	}
	r.Measured = r.Audit.Measure(answer)
	tellMeasured(stderr, r.Measured)
	return nil
}

// answer returns what the last answer about a pair says.
func (s *labelling) answer(a, b string, oneTable bool) (last linkage.Answer) {
	for _, v := range s.verdicts {
		switch same := v.A == a && v.B == b || oneTable && v.A == b && v.B == a; {
		case !same:
		case v.Unsure:
			last = linkage.Unsure
		case v.Match:
			last = linkage.Yes
		default:
			last = linkage.No
		}
	}
	return last
}

// tellMeasured prints what an audit has shown.
func tellMeasured(w io.Writer, m *linkage.Measured) {
	fmt.Fprintf(w, "audit of %s: %d yes, %d no, %d unsure, %d not answered\n", count(int64(m.Pairs), "pair"),
		m.Yes, m.No, m.Unsure, m.Pairs-m.Yes-m.No-m.Unsure)
	if m.Precision == nil {
		fmt.Fprintln(w, "alike: the answers measure nothing")
		return
	}
	fmt.Fprintf(w, "measured precision %.3f (%.3f to %.3f) of %s, with an interval of 95 %%\n",
		m.Precision.Value, m.Precision.Low, m.Precision.High, count(int64(m.Links), "link"))
	fmt.Fprintf(w, "measured recall %.3f (%.3f to %.3f) among these and %s of a probability of at least 0.05; among all others %s more are expected\n",
		m.Recall.Value, m.Recall.Low, m.Recall.High, count(int64(m.Others), "candidate"), humanize.CommafWithDigits(m.Rest, 1))
}

// columnsOf returns how many columns of a terminal a visible text takes: characters of East Asian scripts and pictures
// take two, marks none.
func columnsOf(text string) (columns int) {
	for _, r := range text {
		columns += columnsOfRune(r)
	}
	return columns
}

func columnsOfRune(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// shorten cuts a text that takes more than so many columns, and says so by an ellipsis.
func shorten(text string, columns int) string {
	if columnsOf(text) <= columns {
		return text
	}
	taken := 1 // by the ellipsis
	for i, r := range text {
		if taken += columnsOfRune(r); taken > columns {
			return text[:i] + "…"
		}
	}
	return text
}

// padded puts spaces behind a text until it takes so many columns.
func padded(text string, columns int) string {
	return text + strings.Repeat(" ", max(0, columns-columnsOf(text)))
}
