package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/alike-dev/alike/advise"
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/fault"
)

// textTuning is tune with inputs: which recipe finds the copies in them.
type textTuning struct {
	input inputFlags
	wrong float64
}

func (f *textTuning) add(flags *pflag.FlagSet) {
	flags.Float64Var(&f.wrong, "wrong", advise.DefaultWrong, "with INPUT: largest share of pairs that are alike by chance, above 0 and below 1")
	f.input.addReading(flags)
}

// shownPairs is how many pairs are shown on each side of the threshold, with so many characters of each text.
const (
	shownPairs = 3
	shownText  = 160
)

// tuned is the output in JSON.
type tuned struct {
	*advise.Advice
	Flags string        `json:"flags"`
	Above []advise.Pair `json:"above"`
	Below []advise.Pair `json:"below"`
}

func (f *textTuning) run(cmd *cobra.Command, inputs []string, asJSON bool) error {
	o, err := f.input.reading(cmd, inputs)
	if err != nil {
		return err
	}
	memory, err := f.input.budget()
	if err != nil {
		return err
	}
	if o.Visit, err = keepApart([]string{"-", f.input.skipped}, inputs); err != nil {
		return err
	}
	skipped := f.input.skipping(cmd)
	lost := false
	skip := func(p *corpus.Problem) error {
		lost = true
		return skipped.take(p)
	}
	a, err := adviseOn(cmd.Context(), inputs, adviceOptions{corpus: o, memory: memory, skip: skip, wrong: f.wrong, threads: f.input.threads})
	if err == nil {
		err = f.print(cmd, a, asJSON)
	}
	if err == nil && lost {
		err = errSkipped
	}
	return skipped.end(err)
}

func (f *textTuning) print(cmd *cobra.Command, a *advise.Advice, asJSON bool) error {
	above, below, err := a.Near(cmd.Context(), a.Chosen, shownPairs, processors(f.input.threads))
	if err != nil {
		return err
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
	corpus  corpus.Options
	again   bool // the inputs are read again after the sample
	wrong   float64
	memory  int64
	banded  bool // see advise.Options
	skip    func(*corpus.Problem) error
	threads int // 0: all processors
}

// adviseOn returns what a sample of the inputs says.
func adviseOn(ctx context.Context, inputs []string, o adviceOptions) (*advise.Advice, error) {
	if !(o.wrong > 0 && o.wrong < 1) {
		return nil, usagef("--wrong is %v: take a number between 0 and 1, such as %v", o.wrong, advise.DefaultWrong)
	}
	s, err := advise.Read(ctx, inputs, advise.ReadOptions{Corpus: o.corpus, Again: o.again, Memory: o.memory, OnSkip: o.skip})
	if errors.Is(err, advise.ErrStream) {
		return nil, usagef("--recipe auto reads INPUT twice, and %w", err)
	}
	if err != nil {
		return nil, err
	}
	return advise.Of(ctx, s, advise.Options{Wrong: o.wrong, Threads: processors(o.threads), Banded: o.banded, Brief: o.again})
}

// processors returns the number of threads of a flag.
func processors(threads int) int { return cmp.Or(threads, runtime.GOMAXPROCS(0)) }

// printAdvice prints the table of recipes, and one line to copy.
func printAdvice(w io.Writer, a *advise.Advice) {
	fmt.Fprintf(w, "%s documents, a sample of %s texts: %s surely copies, %s doubtful\n\n",
		humanize.Comma(int64(a.Whole+0.5)), humanize.Comma(int64(a.Documents)), count(int64(a.Copies), "pair"), humanize.Comma(int64(a.Doubtful)))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "recipe\tthreshold\tpairs\twrong\tfound\tseconds")
	for _, r := range a.Rows {
		mark := ""
		if r.Recipe == a.Chosen {
			mark = "  ←"
		}
		fmt.Fprintf(t, "%s %d %s\t%.2f\t%s\t%.3f (%.3f–%.3f)\t%.3f\t%.3g%s\n", r.Tokens, r.N, r.Measure, r.Threshold,
			humanize.Comma(int64(r.Pairs+0.5)), r.Wrong, r.WrongFrom, r.WrongTo, r.Found, r.Seconds, mark)
	}
	_ = t.Flush()
	fmt.Fprintf(w, "\n%s\n  %s\n", a.Reason, flagsOf(a.Chosen))
}

// flagsOf returns a recipe as flags.
func flagsOf(r advise.Recipe) string {
	return fmt.Sprintf("--tokens %s --ngram %d --measure %s --threshold %g", r.Tokens, r.N, r.Measure, r.Threshold)
}

func printNear(w io.Writer, title string, pairs []advise.Pair) {
	if len(pairs) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", title)
	for _, p := range pairs {
		fmt.Fprintf(w, "  %.3f  %s\n         %s\n         %s\n         %s\n", p.Similarity, fault.Shown(p.A), shownStart(p.TextA), fault.Shown(p.B), shownStart(p.TextB))
	}
}

// shownStart returns the beginning of a text on one line, safe for a terminal.
func shownStart(text []byte) string {
	runes := []rune(strings.Join(strings.Fields(string(text[:min(len(text), 8*shownText)])), " "))
	if len(runes) > shownText {
		runes = append(runes[:shownText], '…')
	}
	return fault.Shown(string(runes))
}
