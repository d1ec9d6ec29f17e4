package read

import (
	"time"

	"github.com/alike-dev/alike/dedup/internal/meter"
	"github.com/alike-dev/alike/recipe"
)

// The steps of the read stage.
const (
	stepFiles    = iota // finding and reading files, decoding
	stepParse           // records, digests, the table
	stepFeatures        // text to features
	stepSketch          // features to signature and band keys
	stepCount
)

// stepOf maps the steps of a recipe.Maker to these.
var stepOf = [...]int{recipe.StepFeatures: stepFeatures, recipe.StepSketch: stepSketch}

var stepNames = [stepCount]string{"read/files", "read/parse", "read/features", "read/sketch"}

// stopwatch divides one worker's time among steps.
type stopwatch struct {
	on    bool
	begun time.Time
	last  time.Time
	spent [stepCount]time.Duration
}

func startWatch(m *meter.Meter) stopwatch {
	w := stopwatch{on: m != nil}
	if w.on {
		w.begun = time.Now()
		w.last = w.begun
	}
	return w
}

// lap adds the time since the last lap to a step.
func (w *stopwatch) lap(step int) {
	if w.on {
		now := time.Now()
		w.spent[step] += now.Sub(w.last)
		w.last = now
	}
}

// stop passes the worker's times to m.
func (w *stopwatch) stop(m *meter.Meter, worker int) {
	if !w.on {
		return
	}
	w.lap(stepParse)
	m.Spend("read", worker, w.last.Sub(w.begun))
	for step, d := range w.spent {
		m.Spend(stepNames[step], worker, d)
	}
}
