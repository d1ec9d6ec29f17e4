package serve

import (
	"math"
	"math/rand/v2"
	runtimemetrics "runtime/metrics"
	"sync"
	"sync/atomic"
	"time"
)

// A gate admits as large a share of all requests as do not wait too long for a processor.
//
// Under load requests wait where they cannot be counted: their goroutines are runnable, and have not read a byte. So
// what is controlled is not a number but a share, and what is observed the time that goroutines were runnable before
// they ran, which the runtime knows. It is held at a target by steps in proportion (as PIE does, RFC 8033):
//
//	each window: share ← share × √(target ÷ delay), within limits
//
// To turn a request away costs a third of a small one, so that ten times too many would leave nothing for answers.
// Therefore an answer that turns away comes late, the later the more there are: a connection that waits for it sends
// nothing.
type gate struct {
	now    func() time.Time
	delays func() delays

	share  atomic.Uint64 // bits of a float64: that is admitted, above 0 and at most 1
	rest   atomic.Int64  // how long one that is turned away waits for its answer
	asked  atomic.Int64  // in this window
	turned atomic.Int64
	until  atomic.Int64 // when the window ends, in nanoseconds

	mu    sync.Mutex
	from  time.Time
	last  delays
	delay float64 // seconds, smoothed: the runtime observes one delay of eight
}

// delays are how often a goroutine was runnable before it ran, and for how long in all.
type delays struct {
	times uint64
	total float64 // seconds
}

const (
	gateWindow  = 50 * time.Millisecond
	gateTarget  = 10e-3 // seconds of the mean delay
	mostWaiting = 64    // requests that may wait however long it takes: it is too few to be too many
	leastShare  = 0.005
	slower      = 0.6 // limits of a step of the share
	faster      = 1.5
	shortRest   = 5 * time.Millisecond
	longRest    = 3 * time.Second
	mostTurned  = 1.0 / 5 // of those admitted, before the rest gets longer
)

func newGate() *gate {
	g := &gate{now: time.Now, delays: schedulerDelays}
	g.share.Store(math.Float64bits(1))
	g.rest.Store(int64(shortRest))
	return g
}

// pass tells whether a request is admitted. If not, it is to be turned away after the time, which differs so that those
// that are turned away together do not come back together.
func (g *gate) pass() (ok bool, rest time.Duration) {
	if now := g.now(); now.UnixNano() >= g.until.Load() && g.mu.TryLock() {
		g.step(now)
		g.mu.Unlock()
	}
	g.asked.Add(1)
	share := math.Float64frombits(g.share.Load())
	if share >= 1 || rand.Float64() < share {
		return true, 0
	}
	g.turned.Add(1)
	return false, time.Duration(float64(g.rest.Load()) * (0.5 + rand.Float64()))
}

// step ends a window. g.mu is held.
func (g *gate) step(now time.Time) {
	g.until.Store(now.Add(gateWindow).UnixNano())
	d, took := g.delays(), now.Sub(g.from).Seconds()
	times, total := d.times-g.last.times, d.total-g.last.total
	g.last, g.from = d, now
	asked, turned := float64(g.asked.Swap(0)), float64(g.turned.Swap(0))
	if times == 0 || took > 20*gateWindow.Seconds() { // the server had nothing to do
		g.share.Store(math.Float64bits(1))
		return
	}
	g.delay += (total/float64(times) - g.delay) / 2
	step := min(faster, max(slower, math.Sqrt(gateTarget/max(g.delay, 1e-9))))
	if asked/took*g.delay < mostWaiting { // so many waited
		step = faster
	}
	share := math.Float64frombits(g.share.Load())
	g.share.Store(math.Float64bits(min(1, max(leastShare, share*step))))
	rest := time.Duration(g.rest.Load())
	if turned > mostTurned*(asked-turned) {
		rest = min(longRest, rest*5/4)
	} else {
		rest = max(shortRest, rest*9/10)
	}
	g.rest.Store(int64(rest))
}

// admitted returns the share of requests that is admitted.
func (g *gate) admitted() float64 { return math.Float64frombits(g.share.Load()) }

const delaysName = "/sched/latencies:seconds"

// schedulerDelays returns what the runtime has observed so far.
func schedulerDelays() (d delays) {
	sample := []runtimemetrics.Sample{{Name: delaysName}}
	runtimemetrics.Read(sample)
	if sample[0].Value.Kind() != runtimemetrics.KindFloat64Histogram {
		return d
	}
	h := sample[0].Value.Float64Histogram()
	for i, n := range h.Counts {
		if n == 0 {
			continue
		}
		low, high := h.Buckets[i], h.Buckets[i+1]
		switch {
		case math.IsInf(low, -1):
			low = 0
		case math.IsInf(high, 1):
			high = low
		}
		d.times += n
		d.total += float64(n) * (low + high) / 2
	}
	return d
}
