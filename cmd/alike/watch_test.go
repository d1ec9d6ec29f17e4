package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// buffer may be written to while it is read.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func TestOffATerminalALineIsLoggedNowAndThen(t *testing.T) {
	var out buffer
	w := watchLines(&out, time.Millisecond, false)
	w.Stage("read", 1<<40)
	w.Advance(1234, 5e6)
	for !strings.Contains(out.String(), "1,234") {
		time.Sleep(time.Millisecond)
	}
	w.printf("alike: a message\n")
	w.close(nil)
	line := regexp.MustCompile(`(?m)^alike: read: 1,234 documents, \d+ MB/s, [0-9hms]+ left, [0-9.]+ [KMG]iB$`)
	if !line.MatchString(out.String()) {
		t.Errorf("no line like %v in\n%s", line, out.String())
	}
	if !strings.Contains(out.String(), "\nalike: a message\n") {
		t.Errorf("the message is missing in\n%s", out.String())
	}
	length := len(out.String())
	time.Sleep(10 * time.Millisecond)
	if len(out.String()) > length {
		t.Error("lines come after the end")
	}
}

func TestEventsAreObjectsOfALineEach(t *testing.T) {
	var out buffer
	w := watchLines(&out, time.Millisecond, true)
	w.Stage("read", 1000)
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for range 100 {
				w.Advance(1, 2)
				w.tell("skip", "skipped ", "a line\n\x00")
			}
		})
	}
	workers.Wait()
	w.Stage("group", 0)
	w.close(nil)
	var last event // of the stage read
	messages := 0
	for line := range strings.Lines(out.String()) {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		switch {
		case e.Event == "skip" && e.Message == "a line\n\x00":
			messages++
		case e.Event == "progress" && e.Stage == "read":
			last = e
		case e.Event != "progress" || e.Stage != "group":
			t.Errorf("unexpected %q", line)
		}
	}
	if messages != 400 || *last.Items != 400 || *last.Bytes != 800 || last.Total != 1000 || !(*last.Seconds > 0) {
		t.Errorf("%d messages, the last of the stage is %+v", messages, last)
	}
}

func TestStagesMayTakeTurns(t *testing.T) {
	w := watchLines(&buffer{}, time.Hour, false)
	for range 3 {
		w.Stage("group", 0)
		w.Advance(10, 0)
		w.Stage("verify", 0)
		w.Advance(2, 0)
	}
	w.close(nil)
	if len(w.stages) != 2 {
		t.Fatalf("%d stages, want 2", len(w.stages))
	}
	for i, want := range []string{"30 keys, ", "6 compared, "} {
		if got := w.stages[i].describe(); !strings.HasPrefix(got, want) {
			t.Errorf("stage %d says %q, want %q first", i, got, want)
		}
	}
	if a, b := w.stages[0].describe(), w.stages[0].describe(); a != b {
		t.Errorf("an ended stage says %q, then %q", a, b)
	}
}

func onTerminal(out io.Writer) *watch {
	return watchTerminal(out, func() (width, height int) { return 60, 24 })
}

// screenOf returns what a terminal shows that got a text of lines, jumps upwards and clears, and nothing else.
func screenOf(t *testing.T, text string) (lines []string) {
	for len(text) > 0 {
		if rest, ok := strings.CutPrefix(text, "\x1b["); ok {
			up, rest, ok := strings.Cut(rest, "A\x1b[J")
			n, err := strconv.Atoi(up)
			if !ok || err != nil || n > len(lines) {
				t.Fatalf("%q goes up %q of %d lines", text, up, len(lines))
			}
			lines, text = lines[:len(lines)-n], rest
			continue
		}
		line, rest, ok := strings.Cut(text, "\n")
		if !ok || len(line) >= 60 {
			t.Fatalf("line %q has no end, or would wrap", line)
		}
		lines, text = append(lines, line), rest
	}
	return lines
}

func TestBarsStandBelowMessages(t *testing.T) {
	var out buffer
	w := onTerminal(&out)
	w.Stage("read", 1000)
	w.Advance(2, 500)
	w.printf("alike: first\n")
	w.Stage("group", 0)
	w.printf("alike: second\n")
	w.Advance(7, 0)
	w.close(errors.New("broken"))
	got := screenOf(t, out.String())
	want := []string{`alike: first`, `alike: second`, `read    \[=+\] 2 documents, .* s, .*`, `group   7 keys, .* s, .*`}
	if len(got) != len(want) {
		t.Fatalf("the terminal shows %q", got)
	}
	for i, line := range got {
		if !regexp.MustCompile("^" + want[i] + "$").MatchString(line) {
			t.Errorf("line %d is %q, want %s", i, line, want[i])
		}
	}
	half := &stageState{name: "read", total: 1000}
	half.bytes.Store(500)
	if bar := half.bar(60); !regexp.MustCompile(`\[(=+)(-+)\] `).MatchString(bar) || strings.Count(bar, "=") > strings.Count(bar, "-") {
		t.Errorf("half of a stage is %q", bar)
	}
	for width := range 60 {
		if bar := half.bar(width); len(bar) >= max(width, 1) {
			t.Errorf("%q wraps in %d columns", bar, width)
		}
	}
}

// A bar that waits for a total it never reaches kept the program from ending.
func TestBarsEndWithTheRun(t *testing.T) {
	for name, err := range map[string]error{"done": nil, "failed": errors.New("broken")} {
		t.Run(name, func(t *testing.T) {
			w := onTerminal(&buffer{})
			w.Stage("read", 1000)
			w.Advance(1, 1)
			w.Stage("group", 0)
			w.Advance(5, 0)
			w.Stage("write", 1000)
			w.Advance(1, 5000)
			w.close(err)
			w.Advance(1, 1) // late ones do no harm
		})
	}
	t.Run("before a stage", func(*testing.T) { onTerminal(&buffer{}).close(nil) })
}

func TestBarsEndBeforeResults(t *testing.T) {
	var out buffer
	w := onTerminal(&out)
	w.Stage("read", 1000)
	w.Stage("emit", 0)
	before := out.String()
	w.printf("alike: a message\n")
	w.close(nil)
	if got := out.String(); got != before+"alike: a message\n" {
		t.Errorf("after the bars have ended they are drawn: %q behind %q", got, before)
	}
}

func TestStagesChangeWhileWorkersCount(t *testing.T) {
	for name, w := range map[string]*watch{
		"bars":  onTerminal(&buffer{}),
		"lines": watchLines(&buffer{}, time.Millisecond, false),
	} {
		t.Run(name, func(t *testing.T) {
			var workers sync.WaitGroup
			for range 4 {
				workers.Go(func() {
					for range 1000 {
						w.Advance(1, 10)
					}
				})
			}
			for range 5 {
				w.Stage("read", 1000)
				w.Stage("verify", 0)
				w.printf("alike: a message\n")
			}
			workers.Wait()
			w.close(nil)
		})
	}
}
