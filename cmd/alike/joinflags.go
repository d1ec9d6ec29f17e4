package main

import (
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/linkage"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
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
	sources     []string
	same        []string
	match       choice
	top         int
	with        []string
	format      choice
	maxRecord   string
	onError     choice
	skipped     string
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
	summary     string
	clusters    string // of pairs
	audit       int
	audited     string
	verdicts    string
	probability bool
	json        bool
	quiet       bool
	output      string
	found       foundFlags
}

func (f *joinFlags) add(flags *pflag.FlagSet) {
	flags.StringVarP(&f.output, "output", "o", "", "`file` for the links (default: standard output)")
	f.addTables(flags)
	addSkipped(flags, &f.skipped)
	f.addDecision(flags)
	addSource(flags, &f.sources)
	addSame(flags, &f.same)
	f.addWith(flags)
	f.weigh.add(flags)
	flags.StringVar(&f.known, "against-links", "", "`file` of known links, such as an earlier output: only new ones are looked for")
	flags.StringVar(&f.save, "save-config", "", "write the choices made to this JSON `file`")
	flags.BoolVar(&f.explain, "explain", false, "print how much each column says, and which kinds of pairs there are, to standard error")
	flags.StringVar(&f.page, "explain-pairs", "", explainPairs)
	flags.BoolVar(&f.verbose, "verbose", false, "print how candidates were found, and at what cost, to standard error")
	f.found.add(flags)
	addSummary(flags, &f.summary, "")
	f.addAudit(flags, "")
	addVerdicts(flags, &f.verdicts, "")
	flags.StringVar(&f.truth, "truth", "", truthHelp)
	flags.StringVar(&f.plot, "plot", "", "with --truth: draw precision over recall into this `file`, SVG")
	flags.BoolVar(&f.json, "json", false, "JSON on standard output")
}

// addDecision adds the flags that say how links are decided.
func (f *joinFlags) addDecision(flags *pflag.FlagSet) {
	f.addCut(flags)
	flags.IntVar(&f.top, "top", 0, "most links of a left record, the best ones, with --match all")
	flags.BoolVar(&f.probability, "probability", false, "add a column: the probability that the link is right, as far as the data tell")
}

// addCut adds the flags that say how sure links are.
func (f *joinFlags) addCut(flags *pflag.FlagSet) {
	flags.StringVar(&f.threshold, "threshold", "auto", "least `similarity` of a link, or auto: by the data")
	flags.Float64Var(&f.precision, "precision", 0, "instead of a threshold: the `share` of the links that should be right, as far as the data tell")
	flags.StringVar(&f.model, "model", "", "`file` of a model of alike learn, which sets columns, weights and decision")
}

// addWith adds the flag of what lists have besides.
func (f *joinFlags) addWith(flags *pflag.FlagSet) {
	flags.StringSliceVar(&f.with, "with", nil, "`columns` of both tables to add, separated by commas")
}

// explainPairs is the help of --explain-pairs.
const explainPairs = "write a page to this `file`, HTML: why pairs are links or not, column by column and word by word, and keys to label them by"

// truthHelp is the help of --truth.
const truthHelp = "compare the links with this `file` of true pairs of ids, CSV"

// pairsOnPage is how many pairs the page shows.
const pairsOnPage = 300

// addTables adds the flags that say how tables are read and which pairs may be links.
func (f *joinFlags) addTables(flags *pflag.FlagSet) {
	f.addFields(flags)
	flags.StringVar(&f.leftID, "left-id", "", "`column` with the ids of LEFT; - numbers the rows (default: id, else the first column of several)")
	flags.StringVar(&f.rightID, "right-id", "", "`column` with the ids of RIGHT")
	f.match = choose(linkage.ByData, linkage.Mutual, linkage.OneToOne, linkage.Best, linkage.BestRight, linkage.All)
	flags.Var(&f.match, "match", "which pairs may be links: auto (as the tables show), mutual, one-to-one, best, best-right or all")
	sayDefault(flags, "match", f.match.value+"; with --model that of the model")
	f.addReading(flags)
	flags.StringVar(&f.work, "work", "", "`folder` for data that go to disk; after a kill the same command continues from there (default: a temporary one)")
	flags.BoolVar(&f.fresh, "fresh", false, "start over, whatever the --work folder holds")
	flags.BoolVar(&f.quiet, "quiet", false, "nothing on standard error but errors")
}

// addFields adds the flag of the columns that are compared.
func (f *joinFlags) addFields(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.fields, "field", nil, "`column` to compare, NAME or LEFT=RIGHT, with its weight and tokens if wanted: NAME:2:words; repeatable (default: all that correspond)")
}

// addReading adds the flags that say how tables are read, and with which memory.
func (f *joinFlags) addReading(flags *pflag.FlagSet) {
	flags.StringVar(&f.config, "config", "", "read choices from this JSON `file`, in place of the defaults; flags override it")
	f.format = choose(corpus.JSONL, corpus.CSV, corpus.TSV, corpus.Parquet)
	f.format.value = ""
	flags.Var(&f.format, "format", "jsonl, csv, tsv or parquet; default: by file name")
	flags.StringVar(&f.maxRecord, "max-record", "64MiB", "skip records above this `size`")
	f.onError = choose(dedup.OnErrorSkip, dedup.OnErrorFail)
	flags.Var(&f.onError, "on-error", onErrorHelp)
	flags.IntVar(&f.threads, "threads", 0, "workers (default: all processors)")
	flags.StringVar(&f.memory, "memory", "", "memory of the whole process, a `size` such as 2GiB; the tables must fit, sorting goes to temporary files (default: half of what the machine or its control group has)")
}

// parseField reads NAME[:WEIGHT[:TOKENS]] or LEFT=RIGHT[:WEIGHT[:TOKENS]]. If what follows a colon
// is not a number, it belongs to the name.
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

// addSource adds the flag of the columns that name sources.
func addSource(flags *pflag.FlagSet, to *[]string) {
	flags.StringArrayVar(to, "source", nil, "of records: `column` that names the source of each; a source has a thing once, so its records are not linked; repeatable")
}

// addSame adds the flag of the columns in which one thing agrees.
func addSame(flags *pflag.FlagSet, to *[]string) {
	flags.StringSliceVar(to, "same", nil, "of records: `columns` in which one thing agrees, such as first,last,born where members of a household have much in common")
}

// addSummary adds the flag of the summary; about says of what it is.
func addSummary(flags *pflag.FlagSet, to *string, about string) {
	flags.StringVar(to, "summary", "", about+"write what was found, and how much of it is likely right, to this `file`, JSON")
}

// addVerdicts adds the flag of what a person has said; about says of what.
func addVerdicts(flags *pflag.FlagSet, to *string, about string) {
	flags.StringVar(to, "verdicts", "", about+"`file` of pairs that a person has called the same or not, as alike label writes it: they hold")
}

// addAudit adds the flags of an audit; about says of what.
func (f *joinFlags) addAudit(flags *pflag.FlagSet, about string) {
	flags.IntVar(&f.audit, "audit", 0, about+"ask about so many `pairs`, links and others, and print measured precision and recall")
	flags.StringVar(&f.audited, "audit-labels", "", "with --audit: `file` of the answers, CSV, as of alike label; it is continued, and a pair in it is not asked about")
}

// explainedOn returns how many pairs are explained for a page.
func explainedOn(page string) int {
	if page == "" {
		return 0
	}
	return pairsOnPage
}

// reads and writes return the files besides the tables and the output.
func (f *joinFlags) reads() []string { return named(f.truth, f.known, f.verdicts, f.model, f.config) }
func (f *joinFlags) writes() []string {
	return named(f.page, f.found.page, f.plot, f.save, f.skipped, f.summary, f.clusters, f.audited)
}

// skipping makes a join report the records that it cannot read. The caller calls end.
func (f *joinFlags) skipping(cmd *cobra.Command, c *alike.JoinConfig) *skips {
	s := newSkips(cmd.ErrOrStderr(), f.quiet, newSkipList(cmd, f.skipped))
	c.OnSkip = s.add
	return s
}

// stderr returns the writer of messages that are not errors.
func (f *joinFlags) stderr(cmd *cobra.Command) io.Writer {
	if f.quiet {
		return io.Discard
	}
	return cmd.ErrOrStderr()
}

// weighFlags say by hand how records are compared and how candidates are found.
type weighFlags struct {
	idf         choice
	epsilon     float64
	delta       float64
	measure     choice
	repetitions bool
	candidates  choice
	recall      float64
}

func (f *weighFlags) add(flags *pflag.FlagSet) {
	f.addIDF(flags)
	f.measure = choose(measure.Cosine.String(), measure.WeightedJaccard.String())
	flags.Var(&f.measure, "measure", "similarity of records and columns: cosine or weighted-jaccard")
	flags.BoolVar(&f.repetitions, "repetitions", false, "count repeated tokens: a token's second occurrence in a value is another token")
	f.candidates = choose(linkage.TopK, linkage.Keys, linkage.LSH, linkage.Exact, linkage.Auto)
	flags.Var(&f.candidates, "candidates", "how to find candidates: topk (the most similar of each record), keys (those that share rare values), with a --threshold also lsh (bands of MinHash), exact (misses none) or auto (topk or lsh, whichever is estimated to cost less)")
	sayDefault(flags, "candidates", candidatesDefault)
	flags.Float64Var(&f.recall, "recall", lsh.DefaultRecall, "with --candidates lsh: share of the pairs at the threshold to be found")
}

// candidatesDefault says how candidates of records are found by default.
const candidatesDefault = "topk and keys (with a --threshold topk); above 30,000 records keys"

// addIDF adds the flags that commands about texts do not have.
func (f *weighFlags) addIDF(flags *pflag.FlagSet) {
	f.idf = choose(linkage.IDFExact, linkage.IDFSketch, linkage.IDFNone)
	flags.Var(&f.idf, "idf", "weight of a token by how many records have it: exact (counted), sketch (estimated) or none; of texts, weight of a shingle")
	flags.Float64Var(&f.epsilon, "idf-epsilon", 0, "with --idf sketch: error of a count, as a `share` of all tokens (default 1e-05)")
	flags.Float64Var(&f.delta, "idf-delta", 0, "with --idf sketch: probability that the error is larger, `p` (default 0.01)")
}
