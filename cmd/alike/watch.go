package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/alike-dev/alike"
)

// logInterval is how often a run reports its progress if standard error is not a terminal, and
// eventInterval how often it does so to a program.
const (
	logInterval   = 10 * time.Second
	eventInterval = 250 * time.Millisecond
)

// An event is a line of --progress json, a stable contract. Standard error also has other lines:
// errors are plain text.
type event struct {
	Event   string   `json:"event"`             // progress, skip, notice or, last and after success, summary
	Stage   string   `json:"stage,omitempty"`   // of progress
	Items   *int64   `json:"items,omitempty"`   // done in the stage
	Bytes   *int64   `json:"bytes,omitempty"`   // of the input, processed in the stage
	Total   int64    `json:"total,omitempty"`   // bytes that the stage will process; missing: unknown
	Seconds *float64 `json:"seconds,omitempty"` // that the stage has taken
	Message string   `json:"message,omitempty"` // of a skip or notice

	Summary *alike.Summary `json:"summary,omitempty"`
}

// watch shows a run on standard error: on a terminal a line a stage, with a bar if the end is
// known, otherwise a line now and then. It is the run's dedup.Progress.
type watch struct {
	out   io.Writer
	bars  *bars         // nil: lines
	json  bool          // lines are events
	lines sync.Mutex    // events are written from several goroutines
	stop  chan struct{} // ends the lines
	ended chan struct{} // closed when the last one is written

	stages  []*stageState // in the order in which they began
	current atomic.Pointer[stageState]
}

// follow makes a run report to standard error, and list what it skips. It returns the function that ends this: it is
// called with the run's error, and returns that or its own.
func (f *inputFlags) follow(cmd *cobra.Command, c *alike.Config) func(error) error {
	skipped := newSkips(cmd.ErrOrStderr(), f.quiet, newSkipList(cmd, f.skipped))
	c.OnSkip = skipped.add
	if f.quiet {
		return skipped.end
	}
	var w *watch
	screen, ok := cmd.ErrOrStderr().(*printer)
	switch {
	case f.progress.value == progressJSON:
		w = watchLines(cmd.ErrOrStderr(), eventInterval, true)
	case ok && screen.terminal() != nil && obeysEscapes(screen.terminal()):
		w = watchTerminal(screen.terminal(), func() (width, height int) { return sizeOf(screen.terminal()) })
	default:
		w = watchLines(cmd.ErrOrStderr(), logInterval, false)
	}
	c.Progress = w
	skipped.say = func(message string) { w.tell("skip", "skipped ", message) }
	c.OnNotice = func(n alike.Notice) { w.tell("notice", "", n.Explain(flagOf)) }
	return func(err error) error {
		err = skipped.end(err)
		w.close(err)
		return err
	}
}

// watchTerminal shows bars on a terminal of a size.
func watchTerminal(out io.Writer, size func() (width, height int)) *watch {
	return &watch{out: out, bars: newBars(out, size)}
}

// watchLines writes lines, for programs events.
func watchLines(out io.Writer, interval time.Duration, asJSON bool) *watch {
	w := &watch{out: out, json: asJSON, stop: make(chan struct{}), ended: make(chan struct{})}
	go w.log(interval)
	return w
}

// Stage begins or continues a stage.
func (w *watch) Stage(name string, total int64) {
	w.pause(true)
	if name == "emit" { // results follow, perhaps on the same terminal
		w.closeBars()
		return
	}
	i := slices.IndexFunc(w.stages, func(s *stageState) bool { return s.name == name })
	if i < 0 {
		i = len(w.stages)
		w.stages = append(w.stages, &stageState{name: name, total: total})
		if w.bars != nil {
			w.bars.add(w.stages[i])
		}
	}
	s := w.stages[i]
	s.mu.Lock()
	s.began = time.Now()
	s.mu.Unlock()
	s.ended.Store(false)
	w.current.Store(s)
	if w.json {
		w.sendProgress(s)
	}
}

// pause ends the current stage, if there is one, or a part of it. The bar of a stage that has
// failed stays where it is.
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
	s.ended.Store(whole)
	if w.json {
		w.sendProgress(s)
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

// closeBars leaves the bars as they are, so that others can use the terminal.
func (w *watch) closeBars() {
	if w.bars != nil {
		w.bars.close()
	}
}

// tell reports something to people or to a program. For people label is printed before it, and above
// bars, which are not written through a printer.
func (w *watch) tell(kind, label, message string) {
	if w.json {
		w.send(event{Event: kind, Message: message})
		return
	}
	w.printf("alike: %s%s\n", label, visible(message))
}

func (w *watch) send(e event) {
	w.lines.Lock()
	defer w.lines.Unlock()
	writeEvent(w.out, e)
}

// writeEvent writes an event in one piece.
func writeEvent(out io.Writer, e event) {
	line, err := json.Marshal(e)
	if err != nil {
		panic(err) // numbers and strings: a bug of this program
	}
	_, _ = out.Write(append(visibleJSON(line), '\n')) // a run does not fail because nobody listens
}

// sendProgress reports the progress of a stage. It reads the counts while no other event is
// written, so that the counts of a stage never decrease from event to event.
func (w *watch) sendProgress(s *stageState) {
	w.lines.Lock()
	defer w.lines.Unlock()
	s.mu.Lock()
	took := s.took
	if !s.began.IsZero() {
		took += time.Since(s.began)
	}
	s.mu.Unlock()
	items, bytes, seconds := s.items.Load(), s.bytes.Load(), took.Seconds()
	writeEvent(w.out, event{Event: "progress", Stage: s.name, Items: &items, Bytes: &bytes, Total: s.total, Seconds: &seconds})
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
			s := w.current.Load()
			switch {
			case s == nil:
			case w.json:
				w.sendProgress(s)
			default:
				fmt.Fprintf(w.out, "alike: %s: %s\n", s.name, s.describe())
			}
		}
	}
}

// barInterval is how often bars are drawn.
const barInterval = 150 * time.Millisecond

// bars are lines at the bottom of a terminal, one for each stage of a run.
type bars struct {
	out  io.Writer
	size func() (width, height int) // of the terminal

	mu     sync.Mutex
	stages []*stageState
	drawn  int // lines that stand above the cursor

	closed      sync.Once
	stop, ended chan struct{}
}

func newBars(out io.Writer, size func() (width, height int)) *bars {
	b := &bars{out: out, size: size, stop: make(chan struct{}), ended: make(chan struct{})}
	go b.run()
	return b
}

func (b *bars) run() {
	defer close(b.ended)
	tick := time.NewTicker(barInterval)
	defer tick.Stop()
	for {
		select {
		case <-b.stop:
			return
		case <-tick.C:
			_, _ = b.Write(nil)
		}
	}
}

func (b *bars) add(s *stageState) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stages = append(b.stages, s)
}

// Write writes whole lines above the bars, and draws these anew, in one piece. Bars must not wrap or scroll away: the
// cursor could not go back to them.
func (b *bars) Write(lines []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	width, height := b.size()
	var text strings.Builder
	if b.drawn > 0 {
		fmt.Fprintf(&text, "\x1b[%dA\x1b[J", b.drawn) // up, and clear what is below
	}
	text.Write(lines)
	shown := b.stages[max(0, len(b.stages)-height+1):]
	for _, s := range shown {
		text.WriteString(s.bar(width) + "\n")
	}
	b.drawn = len(shown)
	if text.Len() > 0 {
		_, _ = io.WriteString(b.out, text.String()) // a run does not fail because nobody looks
	}
	return len(lines), nil
}

// close draws the bars for the last time: they stay, and others can use the terminal.
func (b *bars) close() {
	b.closed.Do(func() {
		close(b.stop)
		<-b.ended
		_, _ = b.Write(nil)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.stages, b.drawn = nil, 0
	})
}

// stageState is the progress of a stage. A stage may be interrupted by others and continue after
// them.
type stageState struct {
	name  string
	total int64 // bytes; 0: unknown
	items atomic.Int64
	bytes atomic.Int64
	ended atomic.Bool // whole, as far as is known: it may go on

	mu    sync.Mutex
	began time.Time     // of the current part; zero between parts
	took  time.Duration // in the parts before
	final string        // what to say between parts
}

// stageUnits names what the stages count.
var stageUnits = map[string]string{
	"read":    "documents",
	"group":   "keys",
	"verify":  "compared",
	"cluster": "compared",
	"write":   "documents",
}

// describe describes the progress of the stage: its counts, MB/s, time left or taken, memory.
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
		parts = append(parts, humanize.Comma(items)+" "+stageUnits[s.name])
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

// leastBar is how many columns a bar has at least; with fewer it is left out.
const leastBar = 10

// bar returns the line of a stage: its name, a bar if the end is known, and what describe says.
func (s *stageState) bar(width int) string {
	name, about := fmt.Sprintf("%-8s", s.name), s.describe()
	line := name + about
	if room := width - len(line) - len("[] ") - 1; s.total > 0 && room >= leastBar {
		done := room
		if !s.ended.Load() {
			done = int(min(s.bytes.Load(), s.total) * int64(room) / s.total)
		}
		line = name + "[" + strings.Repeat("=", done) + strings.Repeat("-", room-done) + "] " + about
	}
	return line[:min(len(line), max(0, width-1))]
}
