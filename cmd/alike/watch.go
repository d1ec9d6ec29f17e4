package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/corpus"
)

// logInterval is how often a run that is not on a terminal says how far it is.
const logInterval = 10 * time.Second

// watch shows a run on standard error: a bar a stage on a terminal, else a line
// every ten seconds. It is the run's dedup.Progress.
type watch struct {
	cmd   *cobra.Command
	bars  *mpb.Progress // nil: lines
	bar   *mpb.Bar
	stop  chan struct{}
	ended chan struct{}

	stage atomic.Pointer[stageState]
}

// stageState is how far a stage is.
type stageState struct {
	name  string
	begin time.Time
	total int64
	items atomic.Int64
	bytes atomic.Int64
}

// follow makes a run report to standard error, and returns the function that
// ends it.
func (f *inputFlags) follow(cmd *cobra.Command, c *alike.Config) func() {
	if f.quiet {
		return func() {}
	}
	w := &watch{cmd: cmd, stop: make(chan struct{}), ended: make(chan struct{})}
	c.Progress = w
	c.OnNotice = func(s string) { w.printf("alike: %s\n", s) }
	c.OnSkip = func(p *corpus.Problem) { w.printf("alike: skipped %v\n", p) }
	if stderr, ok := cmd.ErrOrStderr().(*os.File); ok && term.IsTerminal(int(stderr.Fd())) {
		w.bars = mpb.New(mpb.WithOutput(stderr), mpb.WithRefreshRate(150*time.Millisecond))
		close(w.ended)
		return w.closeBars
	}
	go w.log()
	return func() {
		close(w.stop)
		<-w.ended
	}
}

// Stage begins a stage.
func (w *watch) Stage(name string, total int64) {
	s := &stageState{name: name, begin: time.Now(), total: total}
	w.stage.Store(s)
	if w.bars == nil {
		return
	}
	w.finishBar()
	w.bar = w.bars.New(total, mpb.BarStyle(),
		mpb.PrependDecorators(decor.Name(fmt.Sprintf("%-8s", name))),
		mpb.AppendDecorators(decor.Any(func(st decor.Statistics) string { return s.describe() })))
}

// Advance counts what was done.
func (w *watch) Advance(items, bytes int64) {
	s := w.stage.Load()
	if s == nil {
		return
	}
	s.items.Add(items)
	s.bytes.Add(bytes)
	if w.bars != nil && w.bar != nil {
		w.bar.IncrInt64(bytes)
	}
}

// describe says how far the stage is: documents, MB/s, time left, memory.
func (s *stageState) describe() string {
	seconds := time.Since(s.begin).Seconds()
	line := humanize.Comma(s.items.Load()) + " items"
	if bytes := s.bytes.Load(); bytes > 0 {
		line += fmt.Sprintf(", %.0f MB/s", float64(bytes)/1e6/seconds)
		if s.total > bytes {
			left := time.Duration(seconds * float64(s.total-bytes) / float64(bytes) * float64(time.Second))
			line += ", " + left.Round(time.Second).String() + " left"
		}
	}
	return line + ", " + residentMemory()
}

func (w *watch) finishBar() {
	if w.bar != nil {
		w.bar.SetTotal(-1, true)
		w.bar = nil
	}
}

func (w *watch) closeBars() {
	w.finishBar()
	w.bars.Wait()
}

func (w *watch) printf(format string, args ...any) {
	if w.bars != nil {
		fmt.Fprintf(w.bars, format, args...)
		return
	}
	fmt.Fprintf(w.cmd.ErrOrStderr(), format, args...)
}

func (w *watch) log() {
	defer close(w.ended)
	tick := time.NewTicker(logInterval)
	defer tick.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-tick.C:
			if s := w.stage.Load(); s != nil {
				w.printf("alike: %s: %s\n", s.name, s.describe())
			}
		}
	}
}

// writeTimings writes the stages as CSV.
func writeTimings(path string, s *alike.Summary) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	rows := csv.NewWriter(file)
	_ = rows.Write([]string{"stage", "seconds", "items", "bytes", "mb_per_s"}) // Flush tells of errors
	for _, stage := range s.Stages {
		_ = rows.Write([]string{
			stage.Name, strconv.FormatFloat(stage.Seconds, 'f', 6, 64),
			strconv.FormatInt(stage.Items, 10), strconv.FormatInt(stage.Bytes, 10),
			strconv.FormatFloat(float64(stage.Bytes)/1e6/max(stage.Seconds, 1e-9), 'f', 1, 64),
		})
	}
	rows.Flush()
	if err := rows.Error(); err != nil {
		_ = file.Close() // the first error is the one to tell
		return err
	}
	return file.Close()
}

// finish writes what the flags ask for after a run and tells whether input was
// skipped.
func (f *inputFlags) finish(s *alike.Summary) error {
	if f.timings != "" {
		if err := writeTimings(f.timings, s); err != nil {
			return err
		}
	}
	if s.Skipped > 0 || s.ReferencesSkipped > 0 {
		return errSkipped
	}
	return nil
}
