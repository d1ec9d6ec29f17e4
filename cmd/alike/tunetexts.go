package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"text/tabwriter"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/alike-dev/alike/advise"
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/linkage"
	"github.com/alike-dev/alike/report"
)

// textTuning is tune with inputs: which recipe finds the copies in them.
type textTuning struct {
	input     inputFlags
	wrong     float64
	precision float64
	examples  string
	ask       int
	page      string
}

func (f *textTuning) add(flags *pflag.FlagSet) {
	flags.Float64Var(&f.wrong, "wrong", advise.DefaultWrong, "with INPUT: largest share of pairs that are alike by chance, above 0 and below 1")
	flags.Float64Var(&f.precision, "precision", 0, "with INPUT: least expected share of pairs that are copies; find most then (default: the best F-measure)")
	flags.StringVar(&f.examples, "examples", "", "with INPUT: `file` of pairs that you have judged, CSV: a, b, and 1 for copies, 0 for others; they decide")
	flags.IntVar(&f.ask, "ask", 0, "with --examples: ask about so many pairs first, and add the answers to the file")
	flags.StringVar(&f.page, "html", "", "with INPUT: write a page to this `file`: how alike pairs are, and pairs of each similarity")
	f.input.addReading(flags)
	f.input.pre.add(flags)
}

// check refuses what contradicts itself.
func (f *textTuning) check(cmd *cobra.Command, inputs []string) error {
	switch {
	case f.precision < 0 || f.precision > 1 || cmd.Flags().Changed("precision") && !(f.precision > 0):
		return usagef("--precision is %v: take a number above 0 and up to 1", f.precision)
	case f.ask < 0:
		return usagef("--ask is %d: take a number of pairs", f.ask)
	case f.ask > 0 && f.examples == "":
		return usagef("--ask needs a file for the answers: name one with --examples")
	case f.ask > 0 && slices.Contains(inputs, "-"):
		return usagef("--ask reads answers from standard input, which is an input: put that into a file")
	case f.ask > 0:
		return checkLabels("--examples", f.examples)
	}
	return nil
}

// shownPairs is how many pairs are shown on each side of the threshold.
const shownPairs = 3

// tuned is the output in JSON.
type tuned struct {
	*advise.Advice
	Flags string        `json:"flags"`
	Above []advise.Pair `json:"above"`
	Below []advise.Pair `json:"below"`
}

func (f *textTuning) run(cmd *cobra.Command, inputs []string, asJSON bool) error {
	o, err := f.input.reading(inputs)
	if err != nil {
		return err
	}
	memory, err := f.input.budget()
	if err != nil {
		return err
	}
	if err := f.check(cmd, inputs); err != nil {
		return err
	}
	written, read := []string{"-", f.input.skipped, f.page}, inputs
	if f.ask > 0 {
		written = append(written, f.examples)
	} else {
		read = append(slices.Clone(inputs), f.examples)
	}
	if o.Visit, err = keepApart(written, read); err != nil {
		return err
	}
	skipped := f.input.skipping(cmd)
	lost := false
	skip := func(p *corpus.Problem) error {
		lost = true
		return skipped.take(p)
	}
	seen := o.Watch()
	a, err := f.advice(cmd, inputs, adviceOptions{corpus: o, memory: memory, skip: skip, wrong: f.wrong, threads: f.input.threads})
	if err == nil {
		f.input.tellLacking(cmd.ErrOrStderr(), seen, o, "")
		err = f.print(cmd, a, asJSON)
	}
	if err == nil && lost {
		err = errSkipped
	}
	return skipped.end(err)
}

// advice returns what the sample and the examples say.
func (f *textTuning) advice(cmd *cobra.Command, inputs []string, o adviceOptions) (*advise.Advice, error) {
	o.precision = f.precision
	if f.examples == "" {
		return adviseOn(cmd.Context(), inputs, o)
	}
	session, err := newLabelling(f.examples, cmd.ErrOrStderr(), textLabels)
	if err != nil {
		return nil, err
	}
	if f.ask == 0 && session.verdicts == nil {
		if _, err := os.Stat(f.examples); err != nil {
			return nil, err
		}
	}
	if o.examples = session.examples(); len(o.examples) > mostExamples {
		return nil, usagef("%s has %d examples: give up to %d", fault.Shown(f.examples), len(o.examples), mostExamples)
	}
	s, err := sampleOf(cmd.Context(), inputs, o)
	if err != nil {
		return nil, err
	}
	if lacks := s.Lacks(o.examples); len(lacks) > 0 {
		return nil, usagef("%s: no document of INPUT is named %s: give ids as alike pairs prints them", fault.Shown(f.examples), fault.Shown(lacks[0]))
	}
	a, err := adviseBy(cmd.Context(), s, o)
	if err != nil || f.ask == 0 {
		return a, err
	}
	if err := session.askTexts(cmd, a.Questions(f.ask, session.asked())); err != nil {
		return nil, err
	}
	o.examples = session.examples()
	return adviseBy(cmd.Context(), s, o)
}

// mostExamples is how many examples are read: their texts are held.
const mostExamples = 2000

// textLabels are the columns of examples.
var textLabels = []string{"a", "b", "same"}

// examples returns what was said of pairs, without those of which nobody was sure.
func (s *labelling) examples() (all []advise.Example) {
	for _, v := range s.verdicts {
		if !v.Unsure {
			all = append(all, advise.Example{A: v.A, B: v.B, Same: v.Match})
		}
	}
	return all
}

// asked returns a function that tells whether a pair was asked about before.
func (s *labelling) asked() func(a, b string) bool {
	_, may := s.taught()
	return func(a, b string) bool { return !may(a, b) || !may(b, a) }
}

// askTexts asks about pairs of texts.
func (s *labelling) askTexts(cmd *cobra.Command, pairs []advise.Pair) error {
	s.lines = textLines
	asked := len(s.verdicts)
	s.next = func() (q linkage.Question, title string, ok bool) {
		n := max(len(s.verdicts)-asked, 0)
		if n >= len(pairs) {
			return q, "", false
		}
		return question(&pairs[n]), fmt.Sprintf("%d of %d", n+1, len(pairs)), true
	}
	return s.run(cmd)
}

// question shows a pair of texts side by side.
func question(p *advise.Pair) linkage.Question {
	return linkage.Question{A: p.A, B: p.B, Values: []linkage.Values{{Left: "text", A: string(p.TextA), B: string(p.TextB)}}}
}

// Lines of a text that are shown: of a question, and of a pair near the threshold.
const (
	textLines = 24
	nearLines = 5
)

func (f *textTuning) print(cmd *cobra.Command, a *advise.Advice, asJSON bool) error {
	above, below := a.Near(shownPairs)
	if f.page != "" {
		err := writeOutput(cmd, f.page, func(w io.Writer) error { return report.Advice(w, a, flagsOf(a.Chosen)) })
		if err != nil {
			return err
		}
	}
	if asJSON {
		return printJSON(cmd, tuned{a, flagsOf(a.Chosen), above, below})
	}
	w := printed(cmd)
	printAdvice(w, a)
	printNear(w, "just above the threshold: copies?", above)
	printNear(w, "just below it: others?", below)
	return nil
}

// adviceOptions say what is asked of a sample.
type adviceOptions struct {
	corpus    corpus.Options
	again     bool // the inputs are read again after the sample
	wrong     float64
	precision float64
	examples  []advise.Example
	memory    int64
	banded    bool // see advise.Options,
	alone     bool // this too
	removes   bool // see advise.Options
	skip      func(*corpus.Problem) error
	threads   int // 0: all processors
}

// adviseOn returns what a sample of the inputs says.
func adviseOn(ctx context.Context, inputs []string, o adviceOptions) (*advise.Advice, error) {
	s, err := sampleOf(ctx, inputs, o)
	if err != nil {
		return nil, err
	}
	return adviseBy(ctx, s, o)
}

// sampleOf reads a sample of the inputs, with the documents of the examples.
func sampleOf(ctx context.Context, inputs []string, o adviceOptions) (*advise.Sample, error) {
	if !(o.wrong > 0 && o.wrong < 1) {
		return nil, usagef("--wrong is %v: take a number between 0 and 1, such as %v", o.wrong, advise.DefaultWrong)
	}
	var named []string
	for _, e := range o.examples {
		named = append(named, e.A, e.B)
	}
	s, err := advise.Read(ctx, inputs, advise.ReadOptions{Corpus: o.corpus, Again: o.again, Memory: o.memory, Named: named, OnSkip: o.skip})
	if errors.Is(err, advise.ErrStream) {
		return nil, usagef("--recipe auto reads INPUT twice, and %w", err)
	}
	return s, err
}

func adviseBy(ctx context.Context, s *advise.Sample, o adviceOptions) (*advise.Advice, error) {
	return advise.Of(ctx, s, advise.Options{
		Wrong: o.wrong, Precision: o.precision, Examples: o.examples, Threads: threadsOf(o.threads), Banded: o.banded, Alone: o.alone, Brief: o.again, Removes: o.removes,
	})
}

// threadsOf returns the number of threads of a flag.
func threadsOf(threads int) int { return cmp.Or(threads, runtime.GOMAXPROCS(0)) }

// printAdvice prints the table of recipes, and one line to copy.
func printAdvice(w io.Writer, a *advise.Advice) {
	fmt.Fprintf(w, "%s documents, a sample of %s texts: %s surely copies, %s doubtful\n\n",
		humanize.Comma(int64(a.Whole+0.5)), humanize.Comma(int64(a.Documents)), count(int64(a.Copies), "pair"), humanize.Comma(int64(a.Doubtful)))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "recipe\tthreshold\tpairs\twrong\tfound\tF1\tseconds")
	for i, r := range a.Rows {
		if r.Pairs < 0.5 && r.Recipe != a.Chosen && i < len(a.Rows)-1 { // finds nothing
			continue
		}
		mark, more := "", ""
		if r.StripDiacritics {
			more = ", without diacritics"
		}
		if idf := idfOf(r.Recipe); idf != "" {
			more += ", " + idf
		}
		if r.ThirdTexts {
			more += ", third texts"
		}
		if r.Recipe == a.Chosen {
			mark = "  ←"
		}
		pairs, wrong := humanize.Comma(int64(r.Pairs+0.5)), "unknown"
		if pairs != "0" {
			wrong = fmt.Sprintf("%.3f (%.3f–%.3f)", r.Wrong, r.WrongFrom, r.WrongTo)
		}
		fmt.Fprintf(t, "%s %d %s%s\t%.2f\t%s\t%s\t%.3f (%.3f–%.3f)\t%.3f\t%.3g%s\n", r.Tokens, r.N, r.Measure, more, r.Threshold,
			pairs, wrong, r.Found, r.FoundFrom, r.FoundTo, r.F1, r.Seconds, mark)
	}
	_ = t.Flush()
	fmt.Fprintf(w, "\n%s\n  %s\n", a.Reason, flagsOf(a.Chosen))
}

// idfOf returns how a recipe weighs shingles; empty: it does not.
func idfOf(r advise.Recipe) string {
	switch {
	case r.Rarest:
		return idfRarest
	case r.Rare:
		return idfRare
	}
	return ""
}

func flagsOf(r advise.Recipe) string {
	flags := fmt.Sprintf("--tokens %s --ngram %d --measure %s --threshold %g", r.Tokens, r.N, r.Measure, r.Threshold)
	if r.StripDiacritics {
		flags += " --strip-diacritics"
	}
	if idf := idfOf(r); idf != "" {
		flags += " --idf " + idf
	}
	if r.ThirdTexts {
		flags += " --third-texts"
	}
	return flags
}

// printNear shows pairs side by side.
func printNear(w io.Writer, title string, pairs []advise.Pair) {
	if len(pairs) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", title)
	side := labelling{out: w, marks: [2]string{"[", "]"}, width: defaultWidth, lines: nearLines}
	for i := range pairs {
		side.show(question(&pairs[i]), fmt.Sprintf("%.3f", pairs[i].Similarity))
	}
}
