package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/corpus/objects"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/internal/noclobber"
	"github.com/alike-dev/alike/internal/pretext"
)

// inputFlags say what to read.
type inputFlags struct {
	format    choice
	pre       preFlags
	textField string
	idField   string
	maxRecord string
	onError   choice
	skipped   string
	threads   int
	memory    string
	work      string
	fresh     bool
	// freshIndex says that --fresh is about an index too; only dedup has one.
	freshIndex bool
	timings    string
	progress   choice
	quiet      bool
	json       bool
}

func (f *inputFlags) add(flags *pflag.FlagSet) {
	f.addReading(flags)
	f.pre.add(flags)
	f.addWork(flags)
	f.addReports(flags)
}

// addWork adds the flags of runs that go on where they were killed.
func (f *inputFlags) addWork(flags *pflag.FlagSet) {
	flags.StringVar(&f.work, "work", "", "`folder` for data that go to disk; after a kill the same command continues from there (default: a temporary one)")
	flags.BoolVar(&f.fresh, "fresh", false, "start over, whatever the --work folder holds")
}

// addReports adds the flags that say what is told about a run.
func (f *inputFlags) addReports(flags *pflag.FlagSet) {
	flags.StringVar(&f.timings, "timings", "", "write the time of every stage, and of each of its workers, to this CSV `file`, or draw it if named .svg, and a table to standard error")
	f.progress = choose(progressText, progressJSON)
	flags.Var(&f.progress, "progress", "standard error while it runs: text for people, or json for programs, an object a line (progress, skip, notice, summary)")
	f.addJSON(flags)
}

func (f *inputFlags) addJSON(flags *pflag.FlagSet) {
	flags.BoolVar(&f.json, "json", false, "JSON on standard output")
}

// addReading adds the flags of all commands that read records.
func (f *inputFlags) addReading(flags *pflag.FlagSet) {
	f.format = choose(corpus.JSONL, corpus.CSV, corpus.TSV, corpus.Parquet, corpus.Lines, corpus.Text)
	f.format.value = ""
	flags.Var(&f.format, "format", "jsonl, csv, tsv, parquet, lines (a document a line) or text (a document a file); default: by file name, jsonl for standard input")
	flags.StringVar(&f.textField, "text-field", "text", "`field` or column with the text (a nested one: meta.text)")
	flags.StringVar(&f.idField, "id-field", "id", "`field` or column with the id; - names documents by file and line")
	flags.StringVar(&f.maxRecord, "max-record", "64MiB", "skip records above this `size`")
	f.onError = choose(dedup.OnErrorSkip, dedup.OnErrorFail)
	flags.Var(&f.onError, "on-error", onErrorHelp)
	addSkipped(flags, &f.skipped)
	flags.IntVar(&f.threads, "threads", 0, "workers (default: all processors)")
	flags.StringVar(&f.memory, "memory", "", "memory of the whole process, a `size` such as 256MiB; more goes to disk (default: half of what the machine or its control group has)")
	flags.BoolVar(&f.quiet, "quiet", false, "no progress, and nothing about skipped records")
}

func (f *inputFlags) apply(c *alike.Config) error {
	c.Corpus.Format = corpus.Format(f.format.value)
	c.Corpus.TextField = f.textField
	c.Corpus.IDField = f.idField
	c.OnError = dedup.OnError(f.onError.value)
	c.Threads = f.threads
	if f.work != "" {
		c.Work = dedup.WorkFolder{Path: f.work, Fresh: f.fresh}
	}
	c.Outputs = append(c.Outputs, noclobber.StandardError)
	if c.Timings = f.timings != ""; c.Timings {
		c.Outputs = append(c.Outputs, f.timings)
	}
	c.Outputs = append(c.Outputs, named(f.skipped)...)
	if f.fresh && f.work == "" && !f.freshIndex {
		return usagef("--fresh is about a --work folder: name it, or leave --fresh out")
	}
	size, err := parseSize("max-record", f.maxRecord)
	if err != nil {
		return err
	}
	if size > math.MaxUint32 {
		return usagef("--max-record is %s: take less than 4GiB", f.maxRecord)
	}
	c.Corpus.MaxRecord = size
	if err := f.pre.apply(&c.Corpus, f.threads); err != nil {
		return err
	}
	if err := errors.Join(checkThreads(f.threads), checkSkipped(f.skipped)); err != nil {
		return err
	}
	if c.Memory, err = f.budget(); err != nil {
		return err
	}
	limitHeap(c.Memory)
	if err := c.Corpus.Validate(); err != nil {
		return usageError{err}
	}
	return nil
}

func (f *inputFlags) budget() (int64, error) { return budgetOf(f.memory) }

// reading returns how records are read.
func (f *inputFlags) reading(inputs []string) (corpus.Options, error) {
	c := dedup.Config{Inputs: inputs}
	if err := f.apply(&c); err != nil {
		return c.Corpus, err
	}
	useObjects(&c.Corpus)
	return c.Corpus, nil
}

// skipping returns what reports records that cannot be read. The caller calls end.
func (f *inputFlags) skipping(cmd *cobra.Command) *skips {
	s := newSkips(cmd.ErrOrStderr(), f.quiet, newSkipList(cmd, f.skipped))
	s.fail = f.onError.value == string(dedup.OnErrorFail)
	return s
}

// tellLacking names the fields that flags name and no record has: they may be misspelt. within is that of --within, columns
// are those of --columns.
func (f *inputFlags) tellLacking(w io.Writer, seen *corpus.Seen, o corpus.Options, within string, columns ...string) {
	if f.quiet {
		return
	}
	if seen.LacksIDs(o) {
		fmt.Fprintf(w, "alike: %s\n", visible(o.NoIDs().Explain(flagOf)))
	}
	if within != "" && seen.Lacks(within) {
		fmt.Fprintf(w, "alike: %s\n", visible((&dedup.Within{Field: within}).MissingNotice().Explain(flagOf)))
	}
	for _, column := range columns {
		if seen.Lacks(column) {
			fmt.Fprintf(w, "alike: no document has a field %s (--columns)\n", visible(strconv.Quote(column)))
		}
	}
}

// talks tells whether standard error is for people.
func (f *inputFlags) talks() bool { return !f.quiet && f.progress.value != progressJSON }

// The ways of reporting progress.
const (
	progressText = "text"
	progressJSON = "json"
)

// budgetOf returns a memory budget in bytes: as asked for, or half of the memory of the control
// group or the machine.
func budgetOf(asked string) (int64, error) {
	if asked != "" {
		return parseSize("memory", asked)
	}
	for _, limit := range []func() (uint64, error){memlimit.FromCgroup, memlimit.FromSystem} {
		if size, err := limit(); err == nil && size > 0 {
			return int64(size / 2), nil
		}
	}
	return 0, nil // unknown: no ceiling
}

// limitHeap makes the garbage collector work harder near a memory budget of the process; 0: there
// is none.
func limitHeap(memory int64) {
	if memory > 0 {
		debug.SetMemoryLimit(max(memory-outsideHeap, memory*3/4))
	}
}

// parseSize reads a number of bytes as people write it.
func parseSize(flag, s string) (int64, error) {
	size, err := humanize.ParseBytes(s)
	if err != nil || size == 0 || size > math.MaxInt64 {
		return 0, usagef("--%s is %q: take a size, such as 64MiB or 4GiB", flag, s)
	}
	return int64(size), nil
}

func checkThreads(threads int) error {
	if threads < 0 || threads > mostThreads {
		return usagef("--threads is %d: take 1 or more, up to %d, or leave it out for all processors", threads, mostThreads)
	}
	return nil
}

// outsideHeap is resident memory outside the heap: mostly code. RssFile of a join of ten million
// records was 40 MiB.
const outsideHeap = 40 << 20

// preFlags say which files are turned into text, and how.
type preFlags struct {
	command string
	globs   []string
	timeout time.Duration
}

func (f *preFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.command, "pre", "", "`command` that turns files which are a document each, such as PDF, into text: it gets the path as its last argument or as $1, the file on standard input, and prints the text; html: the text of HTML, without a command")
	flags.StringSliceVar(&f.globs, "pre-glob", nil, "with --pre: only files of these `names`, such as *.pdf (default: all that are a document each; of html those that end so)")
	flags.DurationVar(&f.timeout, "pre-timeout", pretext.DefaultTimeout, "with --pre: how long the command may take for a file, which is skipped then")
}

// apply has corpus.Find make texts.
func (f *preFlags) apply(o *corpus.Options, threads int) error {
	switch {
	case f.command == "" && (len(f.globs) > 0 || f.timeout != 0 && f.timeout != pretext.DefaultTimeout):
		return usagef("--pre-glob and --pre-timeout are about --pre: add it")
	case f.command == "":
		return nil
	case strings.TrimSpace(f.command) == "":
		return usagef("--pre is no command: name one that prints the text of a file, or html")
	case f.timeout <= 0:
		return usagef("--pre-timeout is %s: take a time such as 30s", f.timeout)
	}
	c := &pretext.Converter{
		Command: f.command, Globs: f.globs, Timeout: f.timeout, Most: o.MaxRecord, Threads: threads,
		Cache: cacheOfTexts(),
	}
	if err := c.Validate(); err != nil {
		return usageError{err}
	}
	o.Texts = c.Convert
	return nil
}

// cacheOfTexts returns a folder for texts: that of the user's caches or, where there can be none, one for temporary files.
func cacheOfTexts() string {
	if dir, err := os.UserCacheDir(); err == nil {
		dir = filepath.Join(dir, "alike", "pre")
		if os.MkdirAll(dir, 0o700) == nil {
			return dir
		}
	}
	return filepath.Join(os.TempDir(), "alike-pre-"+strconv.Itoa(os.Getuid()))
}

// useObjects gives a command access to object stores for as long as it runs.
func useObjects(o *corpus.Options) {
	o.Buckets = new(objects.Store).Bucket
}
