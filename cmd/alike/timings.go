package main

import (
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/alike-dev/alike"
)

// timingHeader names the columns of --timings.
var timingHeader = []string{"stage", "seconds", "items", "bytes", "mb_per_s", "slowest_thread_s", "threads_s"}

// timingRows returns the table of --timings with its header: a row for every stage, and one, named
// stage/step, for every part of it that was measured separately. seconds are by the clock; for a
// step they are those of the slowest thread.
func timingRows(s *alike.Summary) [][]string {
	rows := [][]string{timingHeader}
	seconds := func(x float64) string { return strconv.FormatFloat(x, 'f', 6, 64) }
	for _, stage := range s.Stages {
		row := func(name string, took, slowest, total float64) []string {
			return []string{
				name, seconds(took), strconv.FormatInt(stage.Items, 10), strconv.FormatInt(stage.Bytes, 10),
				strconv.FormatFloat(float64(stage.Bytes)/1e6/max(took, 1e-9), 'f', 1, 64), seconds(slowest), seconds(total),
			}
		}
		// A stage without measured workers was the work of one thread.
		slowest, total, steps := stage.Seconds, stage.Seconds, stage.Steps
		if len(steps) > 0 && steps[0].Name == stage.Name {
			slowest, total, steps = steps[0].Slowest, steps[0].Total, steps[1:]
		}
		rows = append(rows, row(stage.Name, stage.Seconds, slowest, total))
		for _, step := range steps {
			rows = append(rows, row(step.Name, step.Slowest, step.Slowest, step.Total))
		}
	}
	return rows
}

// printTimings prints the table for people.
func printTimings(w io.Writer, s *alike.Summary) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range timingRows(s) {
		for _, cell := range row {
			fmt.Fprintf(t, "%s\t", cell)
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}
