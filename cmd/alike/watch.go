package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/alike-dev/alike"
)

// logInterval is how often a run that is not on a terminal says how far it is.
const logInterval = 10 * time.Second

// watch shows a run on standard error: a line a stage on a terminal, with a bar
// where the end is known, else a line now and then. It is the run's
// dedup.Progress.
type watch struct {
	out   io.Writer
	bars  *mpb.Progress // nil: lines
	stop  chan struct{} // ends the lines
	ended chan struct{} // closed when the last one is written

	stages  []*stageState // in the order in which they began
	current atomic.Pointer[stageState]
}

// stageState is how far a stage is. A stage may give way to others and go on
// after them.
type stageState struct {
	name  string
	total int64    // bytes; 0: unknown
	bar   *mpb.Bar // nil: not on a terminal
	items atomic.Int64
	bytes atomic.Int64

	mu    sync.Mutex
	began time.Time     // of the part under way; zero between parts
	took  time.Duration // in the parts before
	final string        // what to say between parts
}

// units names what the stages count.
var units = map[string]string{
	"read":    "documents",
	"group":   "keys",
	"verify":  "compared",
	"cluster": "compared",
	"write":   "documents",
}

// follow makes a run report to standard error, and returns the function that
// ends it, to be told of the run's error.
func (f *inputFlags) follow(cmd *cobra.Command, c *alike.Config) func(error) {
	if f.quiet {
		return func(error) {}
	}
	var w *watch
	stderr, ok := cmd.ErrOrStderr().(*os.File)
	if ok && term.IsTerminal(int(stderr.Fd())) {
		w = watchTerminal(stderr)
	} else {
		w = watchLines(cmd.ErrOrStderr(), logInterval)
	}
	c.Progress = w
	skipped := &skips{say: func(message string) { w.printf("alike: skipped %s\n", visible(message)) }}
	c.OnSkip = skipped.add
	c.OnNotice = func(n alike.Notice) {
		skipped.flush()
		w.printf("alike: %s\n", visible(n.Explain(flagOf)))
	}
	return func(err error) {
		skipped.flush()
		w.close(err)
	}
}

func watchTerminal(out io.Writer) *watch {
	return &watch{out: out, bars: mpb.New(mpb.WithOutput(out), mpb.WithRefreshRate(150*time.Millisecond))}
}

func watchLines(out io.Writer, interval time.Duration) *watch {
	w := &watch{out: out, stop: make(chan struct{}), ended: make(chan struct{})}
	go w.log(interval)
	return w
}

// Stage begins a stage, or goes on with it.
func (w *watch) Stage(name string, total int64) {
	w.pause(true)
	if name == "emit" { // what follows are results, perhaps on the same terminal
		w.closeBars()
		return
	}
	i := slices.IndexFunc(w.stages, func(s *stageState) bool { return s.name == name })
	if i < 0 {
		i = len(w.stages)
		w.stages = append(w.stages, w.newStage(name, total))
	}
	s := w.stages[i]
	s.mu.Lock()
	s.began = time.Now()
	s.mu.Unlock()
	w.current.Store(s)
}

func (w *watch) newStage(name string, total int64) *stageState {
	s := &stageState{name: name, total: total}
	if w.bars == nil {
		return s
	}
	bar := mpb.NopStyle()
	if total > 0 {
		bar = mpb.BarStyle()
	}
	// A bar of a total known from the start would wait for it, but a stage may
	// end without having counted it all.
	s.bar = w.bars.New(0, bar,
		mpb.PrependDecorators(decor.Name(fmt.Sprintf("%-8s", name))),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return s.describe() })))
	s.bar.SetTotal(total, false)
	return s
}

// pause ends the stage under way, if there is one, or a part of it. The bar of
// one that has failed stays where it is.
func (w *watch) pause(whole bool) {
	s := w.current.Swap(nil)
	if s == nil {
		return
	}
	s.mu.Lock()
	s.took += time.Since(s.began)
	s.began = time.Time{}
	s.final = s.line(s.took, true)
	s.mu.Unlock()
	switch {
	case s.bar == nil:
	case whole:
		s.bar.SetTotal(-1, false)
	default:
		s.bar.Abort(false)
	}
}

// Advance counts what was done.
func (w *watch) Advance(items, bytes int64) {
	s := w.current.Load()
	if s == nil {
		return
	}
	s.items.Add(items)
	s.bytes.Add(bytes)
	if s.bar != nil {
		s.bar.IncrInt64(bytes)
	}
}

// describe says how far the stage is: what it has counted, MB/s, time left or
// taken, memory.
func (s *stageState) describe() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.began.IsZero() {
		return s.final
	}
	return s.line(s.took+time.Since(s.began), false)
}

func (s *stageState) line(took time.Duration, ended bool) string {
	var parts []string
	if items := s.items.Load(); items > 0 {
		parts = append(parts, humanize.Comma(items)+" "+units[s.name])
	}
	seconds := max(took.Seconds(), 1e-6)
	bytes := s.bytes.Load()
	if bytes > 0 {
		parts = append(parts, fmt.Sprintf("%.0f MB/s", float64(bytes)/1e6/seconds))
	}
	switch {
	case ended:
		parts = append(parts, fmt.Sprintf("%.1f s", seconds))
	case 0 < bytes && bytes < s.total:
		left := time.Duration(seconds * float64(s.total-bytes) / float64(bytes) * float64(time.Second))
		parts = append(parts, left.Round(time.Second).String()+" left")
	}
	return strings.Join(append(parts, residentMemory()), ", ")
}

// close ends the report of a run.
func (w *watch) close(err error) {
	w.pause(err == nil)
	w.closeBars()
	if w.stop != nil {
		close(w.stop)
		<-w.ended
	}
}

// closeBars leaves the terminal to others.
func (w *watch) closeBars() {
	if w.bars == nil {
		return
	}
	for _, s := range w.stages {
		s.bar.SetTotal(-1, true)
	}
	w.bars.Wait()
	w.bars = nil
}

// printf writes a message above the bars.
func (w *watch) printf(format string, args ...any) {
	if w.bars != nil {
		fmt.Fprintf(w.bars, format, args...)
		return
	}
	fmt.Fprintf(w.out, format, args...)
}

// log writes a line every interval.
func (w *watch) log(interval time.Duration) {
	defer close(w.ended)
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-tick.C:
			if s := w.current.Load(); s != nil {
				fmt.Fprintf(w.out, "alike: %s: %s\n", s.name, s.describe())
			}
		}
	}
}

// writeTimings writes the stages as CSV.
func writeTimings(cmd *cobra.Command, path string, s *alike.Summary) error {
	var file outputFile
	if err := file.open(cmd, path); err != nil {
		return err
	}
	defer file.discard()
	rows := csv.NewWriter(file)
	for _, row := range timingRows(s) {
		_ = rows.Write(row) // Flush tells of errors
	}
	rows.Flush()
	if err := rows.Error(); err != nil {
		return err
	}
	return file.commit()
}

// finish writes what the flags ask for after a run and tells whether input was
// skipped.
func (f *inputFlags) finish(cmd *cobra.Command, s *alike.Summary) error {
	if f.timings != "" {
		if err := writeTimings(cmd, f.timings, s); err != nil {
			return fmt.Errorf("--timings: %w", err)
		}
		if !f.quiet {
			if err := printTimings(cmd.ErrOrStderr(), s); err != nil {
				return err
			}
		}
	}
	if s.Skipped > 0 || s.ReferencesSkipped > 0 {
		return errSkipped
	}
	return nil
}
