package main

import (
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/countmin"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/linkage"
	"github.com/alike-dev/alike/shingle"
)

// recordFlags turn a command about texts into one about the records of a table.
type recordFlags struct {
	records bool
	join    joinFlags // of whose flags the command has some
}

func (f *recordFlags) add(flags *pflag.FlagSet) {
	f.addSettings(flags)
	addSource(flags, &f.join.sources)
	addSame(flags, &f.join.same)
	addVerdicts(flags, &f.join.verdicts, "with --records: ")
	flags.StringVar(&f.join.save, "save-config", "", "with --records: write the choices made to this JSON `file`")
	flags.BoolVar(&f.join.explain, "explain", false, "with --records: print how much each column says to standard error")
	flags.StringVar(&f.join.page, "explain-pairs", "", "with --records: "+explainPairs)
	flags.BoolVar(&f.join.verbose, "verbose", false, "with --records: print how candidates were found, and at what cost, to standard error")
}

// addSettings adds the flags that say how records are compared.
func (f *recordFlags) addSettings(flags *pflag.FlagSet) {
	flags.BoolVar(&f.records, "records", false, "INPUT is a table: its columns decide which records belong together")
	flags.StringArrayVar(&f.join.fields, "field", nil, "with --records, which it implies: `column` to compare, NAME or NAME:WEIGHT:TOKENS; repeatable (default: all)")
	f.join.weigh.addIDF(flags)
	f.join.weigh.idf.allowed = append(f.join.weigh.idf.allowed, idfRare, idfRarest)
	flags.Lookup("idf").Usage += ", also rare (one that more than 32 texts and one in a hundred have counts next to nothing) or rarest (one that more than 8 have)"
	flags.StringVar(&f.join.config, "config", "", "with --records: read choices from this JSON `file`, in place of the defaults; flags override it")
}

// onlyOfRecords are the flags that do not apply to texts.
var onlyOfRecords = []string{"config", "save-config", "explain", "explain-pairs", "verbose", "probability", "top", "truth", "summary", "verdicts", "source", "same", "match", "precision", "accept", "clusters", "audit", "audit-labels"}

// checkTexts refuses flags about records if --records is not given, and more of a command that has them for records only.
func (f *recordFlags) checkTexts(flags *pflag.FlagSet, more ...string) error {
	for _, name := range slices.Concat(onlyOfRecords, more) {
		if flags.Lookup(name) != nil && flags.Changed(name) {
			return usagef("--%s is about the records of a table: give --records too, or leave it out", name)
		}
	}
	return nil
}

// sayDefaults says what flags of texts default to where the input is a table. Call it when the command has all flags.
func sayDefaults(flags *pflag.FlagSet) {
	for name, ofRecords := range map[string]string{
		"measure": "cosine", "threshold": "by the data", "candidates": candidatesDefault, "id-field": "id, else the first column of several",
	} {
		sayDefault(flags, name, flags.Lookup(name).DefValue+"; of records "+ofRecords)
	}
	sayDefault(flags, "idf", "none; of records exact")
}

// Only rare shingles of texts count.
const (
	idfRare   = "rare"
	idfRarest = "rarest" // those of a few documents
)

// rarityOf returns what a value of the flag about rare shingles asks for.
func rarityOf(idf string) *dedup.Rarity {
	r := &dedup.Rarity{Rare: idf == idfRare || idf == idfRarest}
	if idf == idfRarest {
		r.Most = shingle.RarestMost
	}
	return r
}

// weigh sets the weights of shingles by their rarity, if they are asked for.
func (f *recordFlags) weigh(flags *pflag.FlagSet, c *alike.Config) error {
	w := &f.join.weigh
	sketched := flags.Changed("idf") && w.idf.value == string(linkage.IDFSketch)
	if (flags.Changed("idf-epsilon") || flags.Changed("idf-delta")) && !sketched {
		return usagef("--idf-epsilon and --idf-delta are about --idf sketch: give that too, or leave them out")
	}
	if !flags.Changed("idf") || w.idf.value == string(linkage.IDFNone) {
		return nil
	}
	shingles, ok := c.Signatures.(dedup.OfShingles)
	if !ok {
		return usagef("--idf weighs shingles, and signatures here are made of texts: leave one of them out")
	}
	shingles.Rarity = rarityOf(w.idf.value)
	if sketched {
		shingles.Rarity.Sketch = &countmin.Options{Epsilon: w.epsilon, Delta: w.delta}
	}
	c.Signatures = shingles
	return nil
}

// addPairs adds the flags of lists of pairs.
func (f *recordFlags) addPairs(flags *pflag.FlagSet) {
	f.addDecision(flags)
	f.join.match = choose(linkage.ByData, linkage.All, linkage.Mutual, linkage.OneToOne, linkage.Best)
	flags.Var(&f.join.match, "match", "with --records: which pairs may be links: auto (as the table shows), all, mutual, one-to-one or best")
	flags.Float64Var(&f.join.precision, "precision", 0, "with --records, instead of a threshold: the `share` of the pairs that should be right, as far as the data tell")
	flags.StringVar(&f.join.truth, "truth", "", "with --records: "+truthHelp)
	addSummary(flags, &f.join.summary, "with --records: ")
	f.join.addAudit(flags, "with --records: ")
	flags.StringVar(&f.join.clusters, "clusters", "", "with --records: write the clusters of records that are one thing to this `file`: id,cluster,probability")
}

// addDecision adds the flags of lists of pairs that decide which pairs are listed.
func (f *recordFlags) addDecision(flags *pflag.FlagSet) {
	flags.BoolVar(&f.join.probability, "probability", false, "with --records: add a column: the probability that the records belong together, as far as the data tell")
	flags.StringVar(&f.join.model, "model", "", "with --records, which it implies: `file` of a model of alike learn")
	flags.IntVar(&f.join.top, "top", 0, "with --records: most pairs of a record with later ones, the best")
}

func (f *recordFlags) wanted() bool { return f.records || len(f.join.fields) > 0 || f.join.model != "" }

// ofRecords are the flags of commands about texts that also apply to records, besides those that are only about them.
var ofRecords = []string{
	"records", "field", "model", "output", "threshold", "id-field", "format", "max-record", "on-error", "threads", "memory", "work", "fresh",
	"quiet", "json", "skipped", "keep", "results", "partitions", "engine", "cluster", "ids-only", "no-sync", "tag", "tag-prefix", "timings",
	"progress", "measure", "repetitions", "candidates", "recall", "idf", "idf-epsilon", "idf-delta", "report", "by",
}

// notOfRecords says why other flags do not apply, if the reason is not that they are about texts.
var notOfRecords = map[string]string{
	"against":  "what is like a record of another table is found by alike join",
	"with":     "two tables are joined by alike join",
	"dry-run":  "what it takes to join a table is known when it is joined",
	"index":    "an index holds texts",
	"within":   "what the columns say follows from the whole table: split the table by that column",
	"preset":   "presets are settings for texts",
	"distance": "fingerprints are made of texts",
	"prices":   "what it takes to join a table is known when it is joined",
}

// check refuses flags that do not apply to records.
func (f *recordFlags) check(cmd *cobra.Command, args []string) error {
	var other string
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if !slices.Contains(ofRecords, flag.Name) && !slices.Contains(onlyOfRecords, flag.Name) {
			other = flag.Name
		}
	})
	if other != "" {
		why, ok := notOfRecords[other]
		if !ok {
			why = "it is about texts, and records are compared by their columns"
		}
		return usagef("--%s says nothing about records: %s; leave it out, or --records", other, why)
	}
	if len(args) != 1 {
		return usagef("%s: with --records name one table", count(int64(len(args)), "argument"))
	}
	return nil
}

// joinFlags returns the flags of a join within a table; flags are those of the command itself.
func (f *recordFlags) joinFlags(cmd *cobra.Command, flags *corpusFlags) *joinFlags {
	in, j := &flags.input, &f.join
	j.threshold, j.format, j.maxRecord = "auto", in.format, in.maxRecord
	if cmd.Flags().Lookup("match") == nil {
		j.match = choose(linkage.ByData)
	}
	j.onError, j.threads, j.memory, j.work, j.fresh, j.quiet, j.json = in.onError, in.threads, in.memory, in.work, in.fresh, in.quiet, in.json
	j.skipped = in.skipped
	j.weigh.measure.value, j.weigh.candidates.value = flags.recipe.Decision.Measure, flags.recipe.Decision.Candidates
	j.weigh.repetitions, j.weigh.recall = flags.recipe.Text.Repetitions, flags.recipe.Decision.Recall
	if cmd.Flags().Changed("id-field") {
		j.leftID = in.idField
	}
	if cmd.Flags().Changed("threshold") {
		j.threshold = strconv.FormatFloat(flags.recipe.Decision.Threshold, 'g', -1, 64)
	}
	return j
}

// pairs joins a table within itself.
func (f *recordFlags) pairs(cmd *cobra.Command, flags *corpusFlags, args []string, output string) error {
	if err := f.check(cmd, args); err != nil {
		return err
	}
	for _, name := range []string{"timings", "progress"} {
		if cmd.Flags().Changed(name) {
			return usagef("--%s says nothing about pairs of records: they are found in one step; leave it out (--verbose says what finding candidates took)", name)
		}
	}
	j := f.joinFlags(cmd, flags)
	j.output = output
	return j.run(cmd, args)
}
