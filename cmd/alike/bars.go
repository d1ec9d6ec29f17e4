package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

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
