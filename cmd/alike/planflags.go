package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/alike-dev/alike/internal/bom"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/stage"
	"github.com/alike-dev/alike/stage/runner"
)

// planFlags are the flags that only plans have.
type planFlags struct {
	output, results, prices, keep string
	partitions                    int
	engine                        []int
	clusters                      clusterFlags
	accept                        bool
	tags                          tagFlags
	auto                          autoRecipe
}

func (own *planFlags) add(f *pflag.FlagSet, results string) {
	f.StringVarP(&own.output, "output", "o", "", "`file` for the plan (default: standard output)")
	f.StringVar(&own.results, "results", "", results)
	f.IntVar(&own.partitions, "partitions", 0, "tasks of the stages that divide the work by hashes (default: as many as --memory asks for, and at least one a file, up to 64 of at least 16 MiB of input; where they exchange less than four times --memory 1, with fewer stages)")
}

func (own *planFlags) addPrices(f *pflag.FlagSet) {
	f.StringVar(&own.prices, "prices", "", "`file` with the prices of machines and requests, see docs/cluster.md")
}

// check checks the flags of all plans; tables is the number of collections of documents.
func (own *planFlags) check(cmd *cobra.Command, tables int) error {
	for _, flag := range ofOneProcess {
		if cmd.Flags().Changed(flag) {
			return usagef("--%s is about one process: a task has one thread; leave it out", flag)
		}
	}
	if own.results == "" && len(own.engine) == 0 {
		return usagef("--results is missing: name a place for the results")
	}
	if err := checkEnding("-o", own.output, jsonEndings); err != nil {
		return err
	}
	parts, wrong := 0, false
	for _, n := range own.engine {
		parts, wrong = parts+n, wrong || n < 1
	}
	if wrong || parts > stage.MaxPartitions || own.partitions < 0 || own.partitions > stage.MaxPartitions {
		return usagef("--partitions and --engine are 1 to %d", stage.MaxPartitions)
	}
	if len(own.engine) > 0 && len(own.engine) != tables {
		return usagef("--engine has %s: take %d", count(int64(len(own.engine)), "number"), tables)
	}
	return nil
}

func (own *planFlags) write(cmd *cobra.Command, p *runner.Plan) error {
	return writeOutput(cmd, own.output, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		return e.Encode(p)
	})
}

// tellOfTasks makes the usage of flags say what they mean for tasks.
func tellOfTasks(f *pflag.FlagSet) {
	for flag, usage := range map[string]string{
		"work":   "`folder` or URL of the objects that tasks leave for others (default: next to --results)",
		"memory": "memory of a task's process, a `size` such as 2GiB (default: 1GiB)",
	} {
		f.Lookup(flag).Usage = usage
	}
	for _, flag := range ofOneProcess {
		_ = f.MarkHidden(flag)
	}
}

// ofOneProcess are flags of commands on one machine that plans do not take.
var ofOneProcess = []string{"threads", "fresh", "timings", "progress", "pre", "pre-glob", "pre-timeout"}

func readPrices(path string, prices *runner.Prices) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := fault.Decode(bom.NewReader(f), prices, true); err != nil {
		return fmt.Errorf("--prices: %s is not a table of prices: %w; docs/cluster.md has one", fault.Shown(path), err)
	}
	return nil
}

// describeSeconds writes an estimated duration in the largest unit of which it has one and a half, with the digits that an
// estimate has.
func describeSeconds(seconds float64) string {
	for _, unit := range []struct {
		name    string
		seconds float64
	}{{"days", 86400}, {"hours", 3600}, {"minutes", 60}} {
		if n := seconds / unit.seconds; n >= 1.5 {
			return "about " + rounded(n) + " " + unit.name
		}
	}
	if seconds < 0.1 {
		return "less than 0.1 seconds"
	}
	return "about " + rounded(seconds) + " seconds"
}

// rounded writes a number with one digit behind the point if it is below ten, and none otherwise.
func rounded(n float64) string {
	if n < 9.95 {
		return strconv.FormatFloat(n, 'f', 1, 64)
	}
	return humanize.Comma(int64(math.Round(n)))
}

// describeMoney writes an estimated sum.
func describeMoney(sum float64) string {
	switch {
	case sum < 0.005:
		return "less than 0.01"
	case sum < 100:
		return fmt.Sprintf("about %.2f", sum)
	}
	return "about " + humanize.Comma(int64(math.Round(sum)))
}

// printEstimate prints the estimated cost of a plan.
func printEstimate(cmd *cobra.Command, p *runner.Plan) {
	stages := p.Stages()
	tasks := 0
	for _, s := range stages {
		tasks += s.Tasks
	}
	e := p.Estimate
	rows := [][2]string{{"plan", fmt.Sprintf("%s, %s in %s", p.Digest, count(int64(tasks), "task"), count(int64(len(stages)), "stage"))}}
	if e.Files > 0 {
		size := func(n int64) string { return humanize.IBytes(uint64(n)) }
		input := fmt.Sprintf("%s of %s", count(int64(e.Files), "file"), size(e.InputBytes))
		if p.Command == stage.Join { // no sample is read for it
			rows = append(rows, [2]string{"input", input})
		} else {
			rows = append(rows, [][2]string{
				{"input", fmt.Sprintf("%s, about %s", input, count(e.Documents, "document"))},
				{"processor", describeSeconds(e.CPUHours*3600) + " of one core"},
				{"moved", fmt.Sprintf("about %s read and written, of it %s in --work", size(e.MovedBytes), size(e.WorkBytes))},
			}...)
		}
		rows = append(rows, [2]string{"requests", fmt.Sprintf("about %s to read, %s to write and list", humanize.Comma(e.ReadRequests), humanize.Comma(e.WriteRequests))})
	}
	if e.Currency != "" {
		rows = append(rows, [2]string{"cost", describeMoney(e.Cost) + " " + e.Currency})
	}
	printRows(cmd.ErrOrStderr(), rows)
}
