package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/dedup"
)

// timingHeader names the columns of --timings.
var timingHeader = []string{"stage", "seconds", "items", "bytes", "mb_per_s", "slowest_thread_s", "threads_s", "workers_s"}

// timingRows returns the table of --timings with its header: a row for every stage, and one, named
// stage/step, for every part of it that was measured separately. seconds are by the clock; for a
// step they are those of the slowest thread. workers_s has the busy time of each, with spaces between them.
func timingRows(s *alike.Summary) [][]string {
	rows := [][]string{timingHeader}
	seconds := func(x float64) string { return strconv.FormatFloat(x, 'f', 6, 64) }
	for _, stage := range s.Stages {
		row := func(name string, took, slowest, total float64, workers []float64) []string {
			each := make([]string, len(workers))
			for i, w := range workers {
				each[i] = seconds(w)
			}
			return []string{
				name, seconds(took), strconv.FormatInt(stage.Items, 10), strconv.FormatInt(stage.Bytes, 10),
				strconv.FormatFloat(float64(stage.Bytes)/1e6/max(took, 1e-9), 'f', 1, 64), seconds(slowest), seconds(total), strings.Join(each, " "),
			}
		}
		// A stage without measured workers was the work of one thread.
		of, steps := dedup.Step{Slowest: stage.Seconds, Total: stage.Seconds, Workers: []float64{stage.Seconds}}, stage.Steps
		if len(steps) > 0 && steps[0].Name == stage.Name {
			of, steps = steps[0], steps[1:]
		}
		rows = append(rows, row(stage.Name, stage.Seconds, of.Slowest, of.Total, of.Workers))
		for _, step := range steps {
			rows = append(rows, row(step.Name, step.Slowest, step.Slowest, step.Total, step.Workers))
		}
	}
	return rows
}

// printTimings prints the table for people.
func printTimings(w io.Writer, s *alike.Summary) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range timingRows(s) {
		for _, cell := range row[:len(row)-1] { // that of every worker makes a line too long
			fmt.Fprintf(t, "%s\t", cell)
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

// The drawing of --timings, in pixels: a row for each worker, a column for each stage.
const (
	activityLeft, activityTop = 80, 70
	activityWidth, workerHigh = 900, 26
	leastWide                 = 24 // of a stage
)

// plotTimings draws how long each worker was busy within each stage, as SVG. Stages are as wide as they took long, but
// for the shortest.
func plotTimings(cmd *cobra.Command, path string, s *alike.Summary) error {
	workers, whole := 1, 0.0
	for _, stage := range s.Stages {
		whole += stage.Seconds
		if len(stage.Steps) > 0 {
			workers = max(workers, len(stage.Steps[0].Workers))
		}
	}
	bottom := activityTop + workers*workerHigh
	var d drawing
	width := activityLeft + activityWidth + leastWide*len(s.Stages) + 20
	d.add("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"13\">\n", width, bottom+60)
	d.add("<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n<text x=\"%d\" y=\"22\">Busy time of each worker within each stage; %.2f s in all</text>\n", activityLeft, s.Seconds)
	for i := range workers {
		d.add("<text x=\"%d\" y=\"%d\" text-anchor=\"end\">worker %d</text>\n", activityLeft-8, activityTop+i*workerHigh+18, i+1)
	}
	x := float64(activityLeft)
	for i, stage := range s.Stages {
		wide := leastWide + activityWidth*stage.Seconds/max(whole, 1e-9)
		busy, color, what := []float64{stage.Seconds}, "#999", "not measured apart"
		if len(stage.Steps) > 0 && stage.Steps[0].Name == stage.Name {
			busy, color, what = stage.Steps[0].Workers, curveColors[i%len(curveColors)], "busy"
		}
		d.add("<path stroke=\"#bbb\" d=\"M%.1f %dV%d\"/>", x, activityTop-6, bottom+6)
		d.add("<text x=\"%.1f\" y=\"%d\" transform=\"rotate(-30 %.1f %d)\">%s</text>\n", x+4, activityTop-10, x+4, activityTop-10, stage.Name)
		d.add("<text x=\"%.1f\" y=\"%d\" font-size=\"11\" transform=\"rotate(30 %.1f %d)\">%.2f s</text>\n", x+4, bottom+16, x+4, bottom+16, stage.Seconds)
		for w, seconds := range busy {
			share := min(1, seconds/max(stage.Seconds, 1e-9))
			d.add("<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"><title>%s, worker %d: %.3f s %s of %.3f s</title></rect>\n",
				x+1, activityTop+w*workerHigh+4, max(1, share*(wide-2)), workerHigh-8, color, stage.Name, w+1, seconds, what, stage.Seconds)
		}
		x += wide
	}
	return d.write(cmd, path)
}

// writeTimings writes the stages as CSV, or draws them.
func writeTimings(cmd *cobra.Command, path string, s *alike.Summary) error {
	if base, _ := endingOf(path); filepath.Ext(base) == ".svg" {
		return plotTimings(cmd, path, s)
	}
	return writeOutput(cmd, path, func(w io.Writer) error { return csv.NewWriter(w).WriteAll(timingRows(s)) })
}

// finish writes the outputs that the flags ask for after a run, and returns an error if input was
// skipped.
func (f *inputFlags) finish(cmd *cobra.Command, s *alike.Summary) error {
	if f.timings != "" {
		if err := writeTimings(cmd, f.timings, s); err != nil {
			return fmt.Errorf("--timings: %w", err)
		}
		if f.talks() {
			if err := printTimings(cmd.ErrOrStderr(), s); err != nil {
				return err
			}
		}
	}
	if f.progress.value == progressJSON && !f.quiet {
		writeEvent(cmd.ErrOrStderr(), event{Event: "summary", Summary: s})
	}
	if s.Skipped > 0 || s.ReferencesSkipped > 0 {
		return errSkipped
	}
	return nil
}
