// Command alike finds texts that are nearly, but not exactly, the same.
//
// Every command parses its flags into a configuration, makes one call to the library, and prints.
// Results go to standard output, everything else to standard error.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/internal/version"
	"github.com/alike-dev/alike/shingle"
)

// startPagesAfter is when pages of the start are given back: after runs over a few documents have
// ended, and before others hold much memory.
const startPagesAfter = 100 * time.Millisecond

func main() { os.Exit(exitStatus()) }

func exitStatus() int {
	// A run that has ended by then does not need it.
	defer time.AfterFunc(startPagesAfter, releaseStartPages).Stop()
	paceCollector()
	// Without this a closed pipe behind standard output (alike pairs … | head) would end the
	// program before it has cleaned up.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), endSignals()...)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	return exitCode(execute(ctx, newRoot(os.Args[1:])))
}

// endSignals returns the signals that end the program after it has cleaned up. A terminal that is closed is one, unless the
// program was told to outlive it, as nohup does.
func endSignals() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}

const rootHelp = `alike finds texts that are nearly, but not exactly, the same.

Two texts are compared by the sets of their 5-word shingles: the similarity is
the number of shingles that both have over the number that either has (Jaccard), from
0 to 1. At 0.8, the default threshold, a text of 200 words may differ in
four places from its copy. Pairs are found by MinHash signatures and then
verified exactly, so every reported pair is similar.

An INPUT is a file, a folder, a glob such as 'docs/**/*.md', or - for standard input:
  *.jsonl *.ndjson   one JSON object a line, with the fields "text" and "id"
  *.csv *.tsv        a table with a header line, with these columns
  *.parquet          a table, with these columns
  any other file     one document
each also compressed as .gz, .zst, .bz2 or .xz. See --format for other ways.
It may be a URL, s3://bucket/prefix or gs://bucket/prefix, with credentials,
region and endpoint (AWS_ENDPOINT_URL) from where the tools of AWS and Google
take them, and ?anonymous=true after it for a public bucket.

Exit status: 0 done, 1 failed, 2 wrong usage, 3 done but some input was skipped
(the first of each kind are named on standard error, all of them in --skipped FILE),
4 check found something alike, or pairs --baseline new pairs,
5 records were grouped but none removed, as the data do not tell which are the same.`

const rootExamples = `  # keep one document of every cluster of near-duplicates
  alike dedup corpus/ -o clean/

  # list every similar pair
  alike pairs news.jsonl > pairs.csv

  # how alike are these two, and what do they share?
  alike compare draft.txt published.txt`

// A maker makes a command, which has a name.
type maker struct {
	name string
	make func() *cobra.Command
}

// A commandGroup is a part of the overview.
type commandGroup struct {
	title string
	of    []maker
}

// commandGroups returns the groups of all commands.
func commandGroups() []commandGroup {
	return []commandGroup{
		{"Commands for texts", []maker{
			{"dedup", newDedup}, {"pairs", newPairs}, {"passages", newPassages}, {"decontaminate", newDecontaminate}, {"compare", newCompare}, {"sketch", newSketch}, {"tune", newTune},
		}},
		{"Commands for records of tables", []maker{
			{"join", newJoin}, {"entities", newEntities}, {"match", newMatch}, {"label", newLabel}, {"learn", newLearn},
		}},
		{"Commands for documents that come and go", []maker{
			{"stream", newStream}, {"index", newIndex}, {"search", newSearch}, {"check", newCheck}, {"serve", newServe}, {"mcp", newMCP},
		}},
		{"Commands for many machines", []maker{{"plan", newPlan}, {"stage", newStage}}},
		{"Commands about results", []maker{{"eval", newEval}, {"report", newReport}, {"schema", newSchema}}},
		{otherCommands, []maker{{"version", newVersion}}},
	}
}

const otherCommands = "Commands about this program"

// addCommands adds the command that the arguments begin with; if they begin with none, all commands, for an overview or
// a proposal, and those about commands. Making all takes a tenth of the program's start.
func addCommands(root *cobra.Command, args []string) {
	all := commandGroups()
	for _, g := range all {
		for _, c := range g.of {
			if len(args) > 0 && args[0] == c.name {
				root.AddCommand(c.make())
				root.CompletionOptions.DisableDefaultCmd = true
				addHelp(root)
				return
			}
		}
	}
	for _, g := range all {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, c := range g.of {
			cmd := c.make()
			cmd.GroupID = g.title
			root.AddCommand(cmd)
		}
	}
	addHelp(root)
	root.SetHelpCommandGroupID(otherCommands)
	root.SetCompletionCommandGroupID(otherCommands)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd("completion")
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Run, c.RunE = nil, helpOn
		case "completion":
			c.Args, c.RunE = knownCommand, showHelp
			for _, shell := range c.Commands() {
				shell.Args = none("name the shell only")
			}
		}
	}
}

// newRoot makes the program's command, to be executed with args.
func newRoot(args []string) *cobra.Command {
	root := &cobra.Command{
		Use:           "alike COMMAND",
		Short:         "Find texts that are nearly the same",
		Long:          rootHelp,
		Example:       rootExamples,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          knownCommand,
	}
	version := root.Flags().Bool("version", false, "the same as alike version")
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if *version {
			printVersion(cmd)
			return nil
		}
		return showHelp(cmd, args)
	}
	root.SetFlagErrorFunc(explainFlag)
	root.SetArgs(args)
	root.SetOut(&standardOutput{to: os.Stdout})
	root.SetErr(&printer{to: os.Stderr})
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { printHelp(cmd) })
	addCommands(root, args)
	return root
}

// execute runs the command that the arguments of root name. Cobra prints help before it looks at arguments; so this looks
// at those of commands that only group others, where an argument is the misspelt name of a command.
func execute(ctx context.Context, root *cobra.Command) (cmd *cobra.Command, err error) {
	var unknown error
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if cmd.HasSubCommands() {
			unknown = knownCommand(cmd, cmd.Flags().Args())
		}
		if unknown == nil {
			help(cmd, args)
		}
	})
	cmd, err = root.ExecuteContextC(ctx)
	if out, ok := root.OutOrStdout().(*standardOutput); ok && (err == nil || errors.Is(err, errSkipped) || errors.Is(err, errUndecided)) {
		err = cmp.Or(out.failed(), err)
	}
	return cmd, errors.Join(err, unknown)
}

const reportHelp = `Make the page of a finished run again.

DIR is the output folder of alike dedup or alike decontaminate. Its report.html is made from its
report.json alone: the documents need not be there any more. The bytes are those that the run
wrote, unless this program is a newer one, which may show more.`

func newReport() *cobra.Command {
	return &cobra.Command{
		Use:     "report DIR",
		Short:   "Make the page of a finished run again",
		Long:    reportHelp,
		Example: "  alike report clean/",
		Args:    arguments(1, 1, "name the output folder of a run"),
		RunE:    func(_ *cobra.Command, args []string) error { return alike.WriteReport(args[0]) },
	}
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version and the default schemes",
		Args:  none("there is nothing to name"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := keepApart([]string{"-"}, nil); err != nil {
				return err
			}
			printVersion(cmd)
			return nil
		},
	}
}

func printVersion(cmd *cobra.Command) {
	fmt.Fprintf(cmd.OutOrStdout(), "alike %s\n%s %s/%s\n%s\n%s\n", version.Text(),
		runtime.Version(), runtime.GOOS, runtime.GOARCH,
		shingle.Options{}.String(), alike.DefaultScheme())
}

// How far the heap may grow between collections: by a quarter of the memory that a collection has to
// scan, but at least by a sixteenth of the heap and by collectorRoom. Large arrays without pointers,
// which are most of the heap of a dedup run, are not scanned: a run over 2 million titles takes the same
// time with 50 MB less than at 25 percent. A heap of a few MiB, however, would be collected every
// millisecond: 34 times in a run of 0.14 s over 2000 files, which costs the second core a tenth of its
// work.
const (
	collectorRoom  = 16 << 20
	collectorShare = 16 // of the heap
	collectorScan  = 4  // of the memory with pointers
	// The first collection is at 4 MiB times percent over 100 (see package runtime).
	firstPercent = collectorRoom / (4 << 20) * 100
)

// paceCollector sets how far the heap may grow, now and after each collection, unless the environment
// sets it.
func paceCollector() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(firstPercent)
	heap := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/heap:bytes"}}
	percent := firstPercent
	var arm func()
	repace := func(struct{}) {
		metrics.Read(heap)
		if p := percentFor(heap[0].Value.Uint64(), heap[1].Value.Uint64()); p != percent {
			percent = p
			debug.SetGCPercent(p)
		}
		arm()
	}
	// Every collection removes an object without references, and runs its cleanup.
	arm = func() { runtime.AddCleanup(new([1 << 6]byte), repace, struct{}{}) }
	arm()
}

// percentFor returns the growth for live bytes of heap, of which scanned bytes are scanned.
func percentFor(live, scanned uint64) int {
	live = max(live, 1)
	room := max(collectorRoom, live/collectorShare, scanned/collectorScan)
	return int(min((room*100+live-1)/live, firstPercent))
}
