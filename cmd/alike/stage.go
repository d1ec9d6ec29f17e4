package main

import (
	"errors"
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/alike-dev/alike/corpus/objects"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/linkage"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/stage"
	"github.com/alike-dev/alike/stage/runner"
)

const stageHelp = `Run a task of a stage of a plan, see alike help plan.

alike stage list prints the stages in order, each with its number of tasks. Tasks
0 to n-1 of a stage may run at once, anywhere, and more than once: a task leaves one
object in the plan's work folder, always the same bytes, when it is complete. When all
tasks of a stage are done the next one can begin; the last stage, publish, puts the
results into their place. A task takes one thread (match of a join all processors) and
about the memory of the plan. A task that is done is not run again, so that the same
loop continues after failures. One that writes results is done as long as these are
there, unchanged.

Tasks exit with 0, or 1 if they fail. Only publish exits with 3 if some input was skipped,
whichever task has skipped it, so its status is that of the run. A scheduler must not take
that for a failure.

The first stage, and write, skip what cannot be used. --skipped FILE lists it, a file for
each task; the last stage counts all.

alike stage each runs the tasks that standard input names, STAGE TASK a line, in one
process, which saves starts. It answers each by a line of JSON with status, output and
messages of the task. A task that fails ends nothing but itself.

With --pipe an engine runs the task: it passes the task's blocks through standard input
and takes blocks from standard output (docs/how/formats.md). alike stage pack
makes blocks for it from documents as JSON lines, or as --columns. If the plan of an engine
has a --work, documents and blocks stay there, and only the last stage is run with --print.`

const stageExamples = `  alike stage list --plan plan.json
  alike stage verify --task $SLURM_ARRAY_TASK_ID --plan s3://bucket/plan.json
  seq 0 99 | sed 's/^/sketch /' | alike stage each --plan plan.json   # 100 tasks in one process`

// packStage is the name that packs documents, in place of a stage.
const packStage = "pack"

func newStage() *cobra.Command {
	var plan, memory, skippedFile string
	var task int
	var again, pipe, columns, print, asJSON, quiet bool
	cmd := &cobra.Command{
		Use:     "stage list|each|pack|STAGE --plan FILE [--task I]",
		Short:   "Run a task of a plan",
		Long:    stageHelp,
		Example: stageExamples,
		Args:    arguments(1, 1, "name one stage, or list, or each"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if plan == "" {
				return usagef("--plan is missing: name what alike plan has written")
			}
			piped := pipe || args[0] == packStage || args[0] == eachStage
			if err := streamsOfStage(plan, piped, piped || print || asJSON || args[0] == "list"); err != nil {
				return err
			}
			buckets := new(objects.Store).Bucket
			p, err := runner.Open(cmd.Context(), plan, buckets)
			if err != nil {
				return err
			}
			if args[0] == "list" {
				return listStages(cmd, p, asJSON)
			}
			each := args[0] == eachStage
			switch {
			case each && (task >= 0 || pipe || columns || print || asJSON || skippedFile != ""):
				return usagef("stage each takes --plan, --memory, --again and --quiet: standard input names the tasks")
			case !each && task < 0:
				return usagef("--task is missing: name the task, from 0 on; alike stage list --plan %s tells how many there are", plan)
			}
			o := runner.Options{Buckets: buckets, Again: again, Columns: columns}
			if print {
				o.Blocks = cmd.OutOrStdout()
			}
			if o.Memory, err = taskMemory(p, memory); err != nil {
				return err
			}
			if each {
				return runEach(cmd, plan, p, o, quiet)
			}
			list, err := stageSkipList(cmd, p, plan, skippedFile, piped)
			if err != nil {
				return err
			}
			skipped := newSkips(cmd.ErrOrStderr(), quiet, nil)
			o.OnSkip = skipped.add
			o.Begin = func() error { // a task that was run before lists nothing, and the list of then stays
				skipped.list = list
				return nil
			}
			return skipped.end(asTask(plan, runStage(cmd, p, args[0], task, pipe, asJSON, quiet, o)))
		},
	}
	f := cmd.Flags()
	f.StringVar(&plan, "plan", "", "`file` or URL of the plan")
	f.IntVar(&task, "task", -1, "`number` of the task, from 0 on; list needs none")
	f.Lookup("task").DefValue = "0" // the help prints no default
	f.StringVar(&memory, "memory", "", "memory of the process, a `size` such as 2GiB (default: as the plan says)")
	f.BoolVar(&again, "again", false, "run the task even if it is done")
	f.BoolVar(&pipe, "pipe", false, "for engines: blocks come from standard input and go to standard output")
	f.BoolVar(&columns, "columns", false, "with pack, for engines: documents come as columns of strings, and not as lines of JSON")
	f.BoolVar(&print, "print", false, "for engines: the blocks that the task makes go to standard output, and not to the plan's --work")
	f.BoolVar(&asJSON, "json", false, "with list: JSON, an object a stage, with the streams that it reads and writes; with publish: the summary as JSON; with match: what the join says, as JSON")
	f.BoolVar(&quiet, "quiet", false, "nothing about skipped records")
	f.StringVar(&skippedFile, "skipped", "", "for the stages that read the inputs, and write: "+skippedHelp+"; a file for each task")
	return cmd
}

// taskMemory keeps the process to its memory, and returns that: as the plan says, or as the flag does.
func taskMemory(p *runner.Plan, flag string) (memory int64, err error) {
	if memory = p.Memory; flag != "" {
		memory, err = parseSize("memory", flag)
	}
	limitHeap(memory)
	return memory, err
}

// asTask says where tasks are listed if there is none of that stage and number.
func asTask(plan string, err error) error {
	if errors.Is(err, stage.ErrStage) {
		return usageError{fmt.Errorf("%w; alike stage list --plan %s lists them", err, plan)}
	}
	return err
}

// streamsOfStage checks the standard streams that a task reads or writes.
func streamsOfStage(plan string, reads, writes bool) error {
	read, written := named(plan), named()
	if reads {
		read = append(read, "-")
	}
	if writes {
		written = append(written, "-")
	}
	_, err := keepApart(written, read)
	return err
}

// stageSkipList returns the list of what a task skips, nil for none.
func stageSkipList(cmd *cobra.Command, p *runner.Plan, plan, path string, engine bool) (*skipList, error) {
	if path == "" {
		return nil, nil
	}
	if engine {
		return nil, usagef("--skipped is about inputs, and an engine reads them itself: leave it out")
	}
	reads := []string{plan}
	for _, f := range p.Files {
		reads = append(reads, f.Path)
	}
	_, err := keepApart([]string{path, "-"}, reads)
	return newSkipList(cmd, path), errors.Join(checkSkipped(path), err)
}

func runStage(cmd *cobra.Command, p *runner.Plan, name string, task int, pipe, asJSON, quiet bool, o runner.Options) error {
	switch {
	case name == packStage:
		return runner.Pack(cmd.Context(), p, task, cmd.InOrStdin(), cmd.OutOrStdout(), o)
	case pipe:
		return runner.Pipe(cmd.Context(), p, name, task, cmd.InOrStdin(), cmd.OutOrStdout(), o)
	}
	s, err := runner.Run(cmd.Context(), p, name, task, o)
	switch {
	case err != nil:
		return err
	case s == nil && asJSON && name == stage.Match:
		told, err := runner.Told(cmd.Context(), p, o)
		if err != nil {
			return err
		}
		return printJSON(cmd, toldObject{told, told.String()})
	case s == nil:
		return nil
	case asJSON:
		err = printJSON(cmd, s)
	case !quiet:
		tellRun(cmd, p, s)
	}
	if err == nil && s.Skipped+s.ReferencesSkipped > 0 {
		err = errSkipped
	}
	if s.Undecided && (err == nil || errors.Is(err, errSkipped)) {
		err = errUndecided
	}
	return err
}

// toldObject is what a join of a plan says, as JSON.
type toldObject struct {
	*linkage.Report
	Text string `json:"text"` // that says it in words
}

// stagesObject are the stages of a plan as JSON.
type stagesObject struct {
	Plan    string                  `json:"plan"`
	Stages  []stage.Stage           `json:"stages"`
	Streams map[string]stage.Stream `json:"streams"` // by name, with their numbers in blocks
}

// tellRun says what has come of a run.
func tellRun(cmd *cobra.Command, p *runner.Plan, s *runner.Summary) {
	if s.Join != nil {
		fmt.Fprint(cmd.ErrOrStderr(), s.Join)
	}
	if s.Within != nil && s.Within.Missing() {
		fmt.Fprintf(cmd.ErrOrStderr(), "alike: %s\n", visible(s.Within.MissingNotice().Explain(flagOf)))
	}
	if p.Passages != nil {
		tellPassages(cmd, s.Read, s.Skipped, s.Passages, p.Passages.FoundOnly)
		fmt.Fprintf(cmd.ErrOrStderr(), "output in %s\n", fault.Shown(p.Output))
		return
	}
	n, what := removedOr(s.Removed, s.Tagged)
	read, found := "document", fmt.Sprintf("%s kept, %s %s in %s", humanize.Comma(s.Kept), humanize.Comma(n), what, count(s.Clusters, "cluster"))
	switch p.Command {
	case stage.Pairs:
		found = count(s.Pairs, "pair")
	case stage.Join:
		read, found = "record", count(s.Pairs, "link")
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s read: %s, %s skipped\n", count(s.Read, read), found, humanize.Comma(s.Skipped))
	tellWithin(cmd.ErrOrStderr(), s.Within, nil, func(v *dedup.ValueCounts) string {
		if p.Command == stage.Pairs {
			return count(v.Pairs, "pair")
		}
		return humanize.Comma(v.Removed) + " " + what
	})
	fmt.Fprintf(cmd.ErrOrStderr(), "output in %s\n", fault.Shown(p.Output))
	if s.Missed > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "documents in buckets of more than %d: %d were compared with the first %d of their buckets only, so pairs of them may be missing; raise --bucket-cap, and plan again\n",
			p.BucketCap, s.Missed, lsh.Hubs)
	}
}

func listStages(cmd *cobra.Command, p *runner.Plan, asJSON bool) error {
	stages := p.Stages()
	if asJSON {
		for i := range stages { // an engine drops documents itself: none are copied
			stages[i].Documents = stages[i].Documents && !(p.Engine && stages[i].Name == stage.Write)
		}
		return printJSON(cmd, stagesObject{p.Digest, stages, stage.Streams()})
	}
	out := printed(cmd)
	for _, s := range stages {
		fmt.Fprintln(out, s.Name, s.Tasks)
	}
	return nil
}
