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
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/alike-dev/alike"
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

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := newRoot().ExecuteContext(ctx)
	var usage usageError
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errSkipped):
		return exitSkipped
	case errors.As(err, &usage) || errors.Is(err, alike.ErrUsage):
		fmt.Fprintf(os.Stderr, "alike: %v\nalike: see alike help for the commands and alike help COMMAND for its flags\n", err)
		return exitUsage
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "alike: interrupted; no output was left behind")
		return exitFailed
	}
	fmt.Fprintf(os.Stderr, "alike: %v\n", err)
	return exitFailed
}

const rootHelp = `alike finds texts that are nearly, but not exactly, the same.

Two texts are compared by the sets of their 5-word shingles: the similarity is
the number of shingles both have over the number either has (Jaccard), from 0
to 1. At 0.8, the default threshold, a text of 200 words may differ in about
five places from its copy. Pairs are found by MinHash signatures and then
verified exactly, so no pair is reported that is not there.

An INPUT is a file, a folder, a glob or - for standard input:
  *.jsonl *.ndjson   one JSON object a line, with the fields "text" and "id"
  *.csv *.tsv        a table with a header line, with these columns
  any other file     one document
each also compressed as .gz, .zst or .bz2. See --format for other ways.

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
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.AddCommand(newDedup(), newPairs(), newCompare(), newSketch(), newTune(), newEval(), newVersion())
	for _, c := range append(root.Commands(), root) {
		check := c.Args
		c.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return usageError{err}
			}
			return nil
		}
	}
	return root
}
