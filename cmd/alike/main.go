// Command alike finds texts that are nearly, but not exactly, the same.
//
// Every command parses its flags into a configuration, makes one call to the
// library, and prints. Results go to standard output, all else to standard
// error.
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/spf13/cobra"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/internal/fault"
)

// Exit codes, a stable contract.
const (
	exitDone    = 0
	exitFailed  = 1
	exitUsage   = 2
	exitSkipped = 3 // done, but some input was skipped
)

// errSkipped says that a command did its work but left some input out.
var errSkipped = errors.New("some input was skipped")

// usageError marks an error of the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// startPagesAfter is when pages of the start are given back: after runs over a few documents
// have ended, before others hold much.
const startPagesAfter = 10 * time.Millisecond

func main() { os.Exit(run()) }

func run() int {
	// A run that is over by then has no use for it.
	defer time.AfterFunc(startPagesAfter, releaseStartPages).Stop()
	paceCollector()
	// Without this a closed pipe behind standard output (alike pairs … | head)
	// would end the program before it has cleaned up.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	cmd, err := newRoot().ExecuteContextC(ctx)
	return exitCode(cmd, err)
}

// exitCode tells what has ended a command and returns the exit code.
func exitCode(cmd *cobra.Command, err error) int {
	say := func(message string) {
		fmt.Fprintf(os.Stderr, "alike: %s\n", strings.ReplaceAll(visible(message), "\n", "\nalike: "))
	}
	var usage usageError
	var file *fs.PathError
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errSkipped):
		return exitSkipped
	case errors.As(err, &usage) || errors.Is(err, alike.ErrUsage):
		say(alike.Explain(err, flagOf))
		say("see " + cmd.CommandPath() + " --help")
		return exitUsage
	case errors.Is(err, context.Canceled):
		say("interrupted; " + leftBehind(cmd))
	case errors.Is(err, syscall.EPIPE):
		// Whoever reads the output has had enough.
	case vfs.IsNoSpaceError(err):
		remedy := "; make room, or name another disk"
		if cmd.Flags().Lookup("work") != nil {
			remedy += " (temporary files: --work)"
		}
		say(alike.Explain(err, flagOf) + remedy)
	case errors.As(err, &file) && errors.Is(file, fs.ErrNotExist):
		// The operating system names its call, and no remedy.
		say(strings.Replace(alike.Explain(err, flagOf), file.Error(), file.Path+": "+fault.File(file).Error(), 1))
	default:
		say(alike.Explain(err, flagOf))
	}
	return exitFailed
}

// visible returns a text with everything escaped that would do something to a
// terminal or not be seen there, save line ends: of what comes from the data, no
// message hands on a control character, whoever has worded it.
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

// leftBehind says what an interrupted command leaves.
func leftBehind(cmd *cobra.Command) string {
	work, resumes := cmd.Flags().Lookup("work"), cmd.Flags().Lookup("fresh") != nil && !cmd.Flags().Changed("records")
	if work != nil && work.Value.String() != "" && resumes {
		return "what was done is in " + work.Value.String() + ": the same command goes on from there"
	}
	return "no output was left behind"
}

const rootHelp = `alike finds texts that are nearly, but not exactly, the same.

Two texts are compared by the sets of their 5-word shingles: the similarity is
the number of shingles both have over the number either has (Jaccard), from 0
to 1. At 0.8, the default threshold, a text of 200 words may differ in
four places from its copy. Pairs are found by MinHash signatures and then
verified exactly, so no pair is reported that is not there.

An INPUT is a file, a folder, a glob or - for standard input:
  *.jsonl *.ndjson   one JSON object a line, with the fields "text" and "id"
  *.csv *.tsv        a table with a header line, with these columns
  any other file     one document
each also compressed as .gz, .zst, .bz2 or .xz. See --format for other ways.
It may be a URL, s3://bucket/prefix or gs://bucket/prefix, with credentials,
region and endpoint (AWS_ENDPOINT_URL) from where the tools of AWS and Google
take them, and ?anonymous=true after it for a public bucket.

Exit status: 0 done, 1 failed, 2 wrong usage, 3 done but some input was skipped
(each skipped record is named on standard error).`

const rootExamples = `  # keep one document of every cluster of near-duplicates
  alike dedup corpus/ -o clean/

  # list every similar pair
  alike pairs news.jsonl > pairs.csv

  # how alike are these two, and what do they share?
  alike compare draft.txt published.txt`

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "alike",
		Short:         "Find texts that are nearly the same",
		Long:          rootHelp,
		Example:       rootExamples,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          knownCommand,
		RunE:          showHelp,

		SuggestionsMinimumDistance: 2,
	}
	root.SetFlagErrorFunc(explainFlag)
	root.AddCommand(newDedup(), newPairs(), newJoin(), newLearn(), newLabel(), newStream(), newIndex(), newSearch(), newCompare(), newSketch(), newPlan(), newStage(), newTune(), newEval(), newVersion())
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd("completion")
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Run, c.RunE = nil, helpOn
		case "completion":
			c.Args, c.RunE = knownCommand, showHelp
			for _, shell := range c.Commands() {
				shell.Args = exactly(0, "name the shell only")
			}
		}
	}
	return root
}

func showHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// helpOn prints the help of the command that args name.
func helpOn(cmd *cobra.Command, args []string) error {
	topic, rest, err := cmd.Root().Find(args)
	if err != nil || topic == nil || len(rest) > 0 {
		return knownCommand(cmd.Root(), args)
	}
	topic.InitDefaultHelpFlag()
	return topic.Help()
}

// knownCommand refuses an argument where a command was expected.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return usagef("unknown command %q: did you mean %s?", args[0], strings.Join(near, " or "))
	}
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	return usagef("unknown command %q: choose one of %s", args[0], strings.Join(names, ", "))
}

// inputs asks for one argument or more.
func inputs(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usagef("no input: name files, folders or - for standard input")
	}
	return nil
}

// exactly asks for n arguments; what says which.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return usagef("%s: %s", count(int64(len(args)), "argument"), what)
		}
		return nil
	}
}
