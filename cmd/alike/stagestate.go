package main

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"
)

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
