package main

import (
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/alike-dev/alike/linkage"
)

// recordFlags make a command about texts one about the records of a table.
type recordFlags struct {
	records bool
	fields  []string
}

func (f *recordFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.records, "records", false, "INPUT is a table: pairs of records that belong together, by what its columns tell")
	flags.StringArrayVar(&f.fields, "field", nil, "with --records, which it implies: `column` to compare, NAME or NAME:WEIGHT:TOKENS; repeatable (default: all)")
}

func (f *recordFlags) wanted() bool { return f.records || len(f.fields) > 0 }

// notOfRecords are flags about texts, which say nothing about records.
var notOfRecords = []string{"with", "shared", "text-field", "ngram", "tokens", "scheme", "measure", "candidates", "verify", "preset", "distance", "bands", "rows", "recall"}

// run joins a table within itself, by the flags of a command about texts.
func (f *recordFlags) run(cmd *cobra.Command, flags *corpusFlags, args []string, output string) error {
	for _, name := range notOfRecords {
		if cmd.Flags().Changed(name) {
			return usagef("--%s is about texts: leave it out, or --records", name)
		}
	}
	if len(args) != 1 {
		return usagef("%s: with --records name one table", count(int64(len(args)), "argument"))
	}
	in := &flags.input
	j := joinFlags{
		output: output, fields: f.fields, threshold: "auto", match: choose(linkage.All), format: in.format, maxRecord: in.maxRecord,
		onError: in.onError, threads: in.threads, quiet: in.quiet, json: in.json,
	}
	if cmd.Flags().Changed("id-field") {
		j.leftID = in.idField
	}
	if cmd.Flags().Changed("threshold") {
		j.threshold = strconv.FormatFloat(flags.search.threshold, 'g', -1, 64)
	}
	return j.run(cmd, args)
}
