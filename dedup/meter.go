package dedup

import (
	"strings"
	"sync"
	"time"

	"github.com/alike-dev/alike/recipe"
)

// Step is a part of a stage, or all of it, as its workers have spent their time.
type Step struct {
	Name    string  `json:"name"`
	Slowest float64 `json:"slowest_thread_seconds"` // of the worker that took longest
	Total   float64 `json:"threads_seconds"`        // of all workers together
}

// meter adds up what workers spend. A nil meter measures nothing.
type meter struct {
	mu    sync.Mutex
	names []string // in the order in which they came up
	spent map[string][]time.Duration
}

func newMeter(on bool) *meter {
	if !on {
		return nil
	}
	return &meter{spent: map[string][]time.Duration{}}
}

// spend adds what a worker has spent, with the stage's name or, for a step of it,
// "stage/step".
func (m *meter) spend(name string, worker int, d time.Duration) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	of, known := m.spent[name]
	if !known {
		m.names = append(m.names, name)
	}
	for len(of) <= worker {
		of = append(of, 0)
	}
	of[worker] += d
	m.spent[name] = of
}

// now returns the time, if anything is measured.
func (m *meter) now() (t time.Time) {
	if m != nil {
		t = time.Now()
	}
	return t
}

// since adds what a worker has spent since start, which was now.
func (m *meter) since(name string, worker int, start time.Time) {
	if m != nil {
		m.spend(name, worker, time.Since(start))
	}
}

// steps returns what was spent on a stage, the whole of it first.
func (m *meter) steps(stage string) []Step {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var steps []Step
	for _, name := range m.names {
		if name != stage && !strings.HasPrefix(name, stage+"/") {
			continue
		}
		s := Step{Name: name}
		for _, d := range m.spent[name] {
			s.Slowest = max(s.Slowest, d.Seconds())
			s.Total += d.Seconds()
		}
		steps = append(steps, s)
	}
	return steps
}

// The steps of the read stage.
const (
	stepFiles    = iota // finding and reading files, decoding
	stepParse           // records, digests, the table
	stepFeatures        // text to features
	stepSketch          // features to signature and band keys
	stepCount
)

// stepOf are the steps of a recipe.Maker.
var stepOf = [...]int{recipe.StepFeatures: stepFeatures, recipe.StepSketch: stepSketch}

var stepNames = [stepCount]string{"read/files", "read/parse", "read/features", "read/sketch"}

// stopwatch divides one worker's time among steps.
type stopwatch struct {
	on    bool
	begun time.Time
	last  time.Time
	spent [stepCount]time.Duration
}

func startWatch(m *meter) stopwatch {
	w := stopwatch{on: m != nil}
	if w.on {
		w.begun = time.Now()
		w.last = w.begun
	}
	return w
}

// lap says that the time since the last lap went into a step.
func (w *stopwatch) lap(step int) {
	if w.on {
		now := time.Now()
		w.spent[step] += now.Sub(w.last)
		w.last = now
	}
}

// stop hands over what the worker has spent.
func (w *stopwatch) stop(m *meter, worker int) {
	if !w.on {
		return
	}
	w.lap(stepParse)
	m.spend("read", worker, w.last.Sub(w.begun))
	for step, d := range w.spent {
		m.spend(stepNames[step], worker, d)
	}
}
