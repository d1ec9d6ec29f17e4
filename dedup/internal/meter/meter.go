package meter

import (
	"strings"
	"sync"
	"time"
)

// step is the time that workers have spent on a part of a stage, or on all of it.
type step struct {
	Name    string
	Slowest float64   // of the worker that took longest
	Total   float64   // of all workers together
	Workers []float64 // of each
}

// Meter adds up the time that workers spend. A nil meter measures nothing.
type Meter struct {
	mu    sync.Mutex
	names []string // in the order of their first use
	spent map[string][]time.Duration
}

func New(on bool) *Meter {
	if !on {
		return nil
	}
	return &Meter{spent: map[string][]time.Duration{}}
}

// Spend adds time that a worker has spent, under the stage's name or, for a step of it,
// "stage/step".
func (m *Meter) Spend(name string, worker int, d time.Duration) {
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

// Now returns the time, if anything is measured.
func (m *Meter) Now() (t time.Time) {
	if m != nil {
		t = time.Now()
	}
	return t
}

// Since adds the time that a worker has spent since start, which Now returned.
func (m *Meter) Since(name string, worker int, start time.Time) {
	if m != nil {
		m.Spend(name, worker, time.Since(start))
	}
}

// Steps returns the times of a stage, the whole of it first.
func (m *Meter) Steps(stage string) []step {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var steps []step
	for _, name := range m.names {
		if name != stage && !strings.HasPrefix(name, stage+"/") {
			continue
		}
		s := step{Name: name}
		for _, d := range m.spent[name] {
			s.Slowest = max(s.Slowest, d.Seconds())
			s.Total += d.Seconds()
			s.Workers = append(s.Workers, d.Seconds())
		}
		steps = append(steps, s)
	}
	return steps
}

// Progress receives the work done since the last call: items, and bytes of the files in their
// stored form. Several goroutines call it.
type Progress interface{ Advance(items, bytes int64) }
