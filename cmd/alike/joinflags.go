package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/linkage"
	"github.com/alike-dev/alike/record"
)

// joinFlags say how tables are joined.
type joinFlags struct {
	config      string
	save        string
	fields      []string
	leftID      string
	rightID     string
	threshold   string
	precision   float64
	match       choice
	top         int
	with        []string
	format      choice
	maxRecord   string
	onError     choice
	threads     int
	memory      string
	work        string
	fresh       bool
	truth       string
	known       string
	plot        string
	weigh       weighFlags
	verbose     bool
	model       string
	explain     bool
	page        string
	probability bool
	json        bool
	quiet       bool
	output      string
}

func (f *joinFlags) add(flags *pflag.FlagSet) {
	flags.StringVarP(&f.output, "output", "o", "", "`file` for the links (default: standard output)")
	f.addTables(flags)
	f.addDecision(flags)
	flags.StringSliceVar(&f.with, "with", nil, "`columns` of both tables to add, separated by commas")
	f.weigh.add(flags)
	flags.StringVar(&f.known, "against-links", "", "`file` of links that there are already, such as an earlier output: only new ones are looked for")
	flags.StringVar(&f.save, "save-config", "", "write what was chosen to this JSON `file`")
	flags.BoolVar(&f.explain, "explain", false, "print what each column tells to standard error")
	flags.StringVar(&f.page, "explain-pairs", "", explainPairs)
	flags.BoolVar(&f.verbose, "verbose", false, "print how candidates were found, and what that took, to standard error")
	flags.StringVar(&f.truth, "truth", "", truthHelp)
	flags.StringVar(&f.plot, "plot", "", "with --truth: draw precision over recall into this `file`, SVG")
	flags.BoolVar(&f.json, "json", false, "JSON on standard output")
}

// addDecision adds the flags that say how links are decided.
func (f *joinFlags) addDecision(flags *pflag.FlagSet) {
	flags.StringVar(&f.threshold, "threshold", "auto", "least similarity of a link, or auto: by the data")
	flags.Float64Var(&f.precision, "precision", 0, "in place of a threshold: the `share` of the links that shall be right, as far as the data tell")
	flags.StringVar(&f.model, "model", "", "`file` of a model that alike learn has learned: columns, weights and decision are its")
	flags.IntVar(&f.top, "top", 0, "most links of a left record, the best ones, with --match all")
	flags.BoolVar(&f.probability, "probability", false, "add a column: how likely the link is right, as far as the data tell")
}

// explainPairs is the help of --explain-pairs.
const explainPairs = "write a page to this `file`, HTML: why pairs are links or not, column by column and word by word, and keys to label them by"

// truthHelp is the help of --truth.
const truthHelp = "hold the links against this `file` of true pairs of ids, CSV"

// pairsOnPage is how many pairs the page shows.
const pairsOnPage = 300

// addTables adds the flags that say how tables are read and which pairs may be links.
func (f *joinFlags) addTables(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.fields, "field", nil, "`column` to compare, NAME or LEFT=RIGHT, with its weight and tokens if wanted: NAME:2:words; repeatable (default: all that correspond)")
	flags.StringVar(&f.leftID, "left-id", "", "`column` with the ids of LEFT; - numbers the rows (default: id, else the first column)")
	flags.StringVar(&f.rightID, "right-id", "", "`column` with the ids of RIGHT")
	f.match = choose(linkage.Mutual, linkage.OneToOne, linkage.Best, linkage.All)
	flags.Var(&f.match, "match", "which pairs may be links: mutual, one-to-one, best or all")
	flags.StringVar(&f.config, "config", "", "read choices from this JSON `file`; flags that are given count more")
	f.format = choose(corpus.JSONL, corpus.CSV, corpus.TSV, corpus.Parquet)
	f.format.value = ""
	flags.Var(&f.format, "format", "jsonl, csv, tsv or parquet; default: by file name")
	flags.StringVar(&f.maxRecord, "max-record", "64MiB", "skip records longer than this")
	f.onError = choose(dedup.OnErrorSkip, dedup.OnErrorFail)
	flags.Var(&f.onError, "on-error", "bad input: skip it, name it and go on (exit status 3), or fail")
	flags.IntVar(&f.threads, "threads", 0, "workers (default: all processors)")
	flags.StringVar(&f.memory, "memory", "", "memory of the whole process, such as 2GiB; the tables must fit, what is sorted goes to temporary files (default: half of what there is)")
	flags.StringVar(&f.work, "work", "", "`folder` for what goes to disk; killed, the same command goes on from there (default: a temporary one)")
	flags.BoolVar(&f.fresh, "fresh", false, "start over, whatever the --work folder holds")
	flags.BoolVar(&f.quiet, "quiet", false, "nothing on standard error but errors")
}

// parseField reads NAME[:WEIGHT[:TOKENS]] or LEFT=RIGHT[:WEIGHT[:TOKENS]]. What follows a
// colon and is no number belongs to the name.
func parseField(spec string) (f linkage.Field, err error) {
	name := spec
	parts := strings.Split(spec, ":")
	for i := len(parts) - 1; i > 0 && i > len(parts)-3; i-- {
		weight, err := strconv.ParseFloat(parts[i], 64)
		if err != nil {
			continue
		}
		if weight <= 0 {
			return f, usagef("--field %s: weight %s must be above 0; leave the column out by not naming it", spec, parts[i])
		}
		f.Weight, name = weight, strings.Join(parts[:i], ":")
		if i+1 < len(parts) {
			if f.Tokens, err = record.ParseKind(parts[i+1]); err != nil {
				return f, usagef("--field %s: %w", spec, err)
			}
		}
		break
	}
	f.Left, f.Right, _ = strings.Cut(name, "=")
	if f.Left == "" {
		return f, usagef("--field is %q: take NAME, NAME:WEIGHT:TOKENS or LEFT=RIGHT", spec)
	}
	return f, nil
}

// evidence returns how many pairs are to be explained.
func (f *joinFlags) evidence() int {
	if f.page == "" {
		return 0
	}
	return pairsOnPage
}

// reads and writes return the files beside the tables and the output.
func (f *joinFlags) reads() []string  { return named(f.truth, f.known, f.model, f.config) }
func (f *joinFlags) writes() []string { return named(f.page, f.plot, f.save) }

func named(files ...string) []string {
	return slices.DeleteFunc(files, func(name string) bool { return name == "" })
}

// stderr returns where messages go that are no errors.
func (f *joinFlags) stderr(cmd *cobra.Command) io.Writer {
	if f.quiet {
		return io.Discard
	}
	return cmd.ErrOrStderr()
}

// joinConfig returns the library's configuration.
func (f *joinFlags) joinConfig(cmd *cobra.Command, args []string) (c alike.JoinConfig, err error) {
	s, err := f.settings(cmd.Flags())
	if err != nil {
		return c, err
	}
	size, err := parseSize("max-record", f.maxRecord)
	if err != nil {
		return c, err
	}
	if f.plot != "" && f.truth == "" {
		return c, usagef("--plot draws what --truth tells: name a file of true pairs")
	}
	if err := checkThreads(f.threads); err != nil {
		return c, err
	}
	c = alike.JoinConfig{
		Left: args[0], LeftID: s.LeftID, RightID: s.RightID, Fields: s.Fields,
		Corpus:    corpus.Options{Format: corpus.Format(f.format.value), MaxRecord: size},
		Threshold: s.Threshold, Precision: s.Precision, Match: s.Match, Top: s.Top, With: s.With, Threads: f.threads,
		Weighing: s.Weighing, Searching: s.Searching,
		Considered: f.truth != "", Evidence: f.evidence(), Fail: dedup.OnError(f.onError.value) == dedup.OnErrorFail,
	}
	if len(args) > 1 {
		c.Right = args[1]
	} else if !cmd.Flags().Changed("match") && f.config == "" {
		c.Match = "" // what one table has
	}
	if f.model != "" {
		if c.Model, err = alike.ReadJoinModel(f.model); err != nil {
			return c, fmt.Errorf("--model %w", err)
		}
		if !cmd.Flags().Changed("match") && f.config == "" {
			c.Match = "" // the model's
		}
	}
	if c.Memory, err = budgetOf(f.memory); err != nil {
		return c, err
	}
	limitHeap(c.Memory)
	if f.fresh && f.work == "" {
		return c, usagef("--fresh is about a --work folder: name it, or leave --fresh out")
	}
	c.Work, c.Fresh = f.work, f.fresh
	useObjects(cmd, &c.Corpus)
	if err := c.Validate(); err != nil {
		return c, usageError{err}
	}
	if f.known != "" {
		o := c.Corpus
		o.Format = corpus.ByName
		if c.Known, err = alike.ReadLinks(cmd.Context(), f.known, o); err != nil {
			return c, fmt.Errorf("--against-links: %w", err)
		}
	}
	return c, nil
}
