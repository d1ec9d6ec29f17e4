package main

import (
	"slices"
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

// ofRecords are the flags of a command about texts that say something about records too.
var ofRecords = []string{
	"records", "field", "output", "threshold", "id-field", "format", "max-record", "on-error", "threads", "quiet", "json",
}

// run joins a table within itself, by the flags of a command about texts.
func (f *recordFlags) run(cmd *cobra.Command, flags *corpusFlags, args []string, output string) error {
	var other string
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if !slices.Contains(ofRecords, flag.Name) {
			other = flag.Name
		}
	})
	if other != "" {
		return usagef("--%s says nothing about records, which are joined in memory: leave it out, or --records", other)
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
