package serve

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A gate lets a few requests work at once, in the order in which they came, and turns others away before their bodies are
// read, when those that wait would wait too long.
//
// Without it requests wait where they cannot be counted: as runnable goroutines that have not read a byte. Therefore a
// goroutine that has read one lets the others read theirs, and joins a queue, unless one of the places to work is free:
//
//	head → pass (do too many wait?) → body → do (let others read, wait in the queue, work) → disk, answer
//
// By Little's law as many may wait as are done in mostWait. To turn a request away costs a third of a small
// one, so that ten times too many would leave nothing for answers. Therefore an answer that turns away comes late, the
// later the more there are: a connection that waits for it sends nothing.
type gate struct {
	now    func() time.Time
	places int // to work

	yielding atomic.Int64 // requests that let others read

	mu      sync.Mutex
	working []*seat
	queue   []*seat // that requests wait for
	head    int     // of the queue; what is before has left it

	rest                 time.Duration // how long one that is turned away waits for its answer
	from                 time.Time     // of this window
	asked, turned, ended int           // in this window
	rate                 float64       // of requests that end, a second, smoothed
	fresh                bool          // the rate is not known: nobody asked before this window
	share                float64       // that was admitted in the last window
}

const (
	gateWindow  = 50 * time.Millisecond
	mostWait    = 5 * time.Millisecond
	mostHeld    = 50 * time.Millisecond
	alwaysWait  = 64   // requests that may wait however long it takes: it is too few to be too many
	freshWait   = 1024 // while the rate is not known
	idleWindows = 20   // without a request, before the rate is not known any more
	shortRest   = 5 * time.Millisecond
	longRest    = 3 * time.Second
	mostTurned  = 1.0 / 16 // of those that end, before the rest gets longer
)

func newGate(places int) *gate {
	return &gate{now: time.Now, places: places, rest: shortRest, share: 1}
}

// pass tells whether a request is admitted. If not, it is to be turned away after the time, which differs so that those
// that are turned away together do not come back together.
func (g *gate) pass() (ok bool, rest time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if now := g.now(); now.Sub(g.from) >= gateWindow {
		g.step(now)
	}
	g.asked++
	if int(g.yielding.Load())+len(g.queue)-g.head < g.most() {
		return true, 0
	}
	g.turned++
	return false, time.Duration(float64(g.rest) * (0.5 + rand.Float64()))
}

// most returns how many may wait. g.mu is held.
func (g *gate) most() int {
	if g.fresh {
		return freshWait
	}
	return max(alwaysWait, int(g.rate*mostWait.Seconds()))
}

// step ends a window. g.mu is held.
func (g *gate) step(now time.Time) {
	took := now.Sub(g.from)
	weight := min(1, took.Seconds()/(4*gateWindow.Seconds()))
	if g.fresh {
		weight = 1
	}
	g.rate += (float64(g.ended)/took.Seconds() - g.rate) * weight
	g.fresh = took > idleWindows*gateWindow
	if float64(g.turned) > mostTurned*float64(g.ended) {
		g.rest = min(longRest, g.rest*3/2)
	} else {
		g.rest = max(shortRest, g.rest*9/10)
	}
	g.share = 1
	if g.asked > 0 && !g.fresh {
		g.share -= float64(g.turned) / float64(g.asked)
	}
	g.from, g.asked, g.turned, g.ended = now, 0, 0, 0
}

// admitted returns the share of requests that is admitted.
func (g *gate) admitted() float64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.now().Sub(g.from) > idleWindows*gateWindow {
		return 1 // nobody asks
	}
	return g.share
}

// seat is one of the places to work.
type seat struct {
	since time.Time
	lost  bool // others have it: the work takes long
	turn  chan struct{}
}

// do works when there is a place. What waits for anything but a processor, such as a disk or a client, is no such work.
// Work that takes longer than mostHeld goes on beside the others.
func (g *gate) do(work func() error) error {
	p := new(seat)
	g.yielding.Add(1)
	runtime.Gosched()
	g.yielding.Add(-1)
	if !g.begin(p) {
		look := time.NewTicker(mostHeld)
		for waiting := true; waiting; {
			select {
			case <-p.turn:
				waiting = false
			case <-look.C:
				g.free()
			}
		}
		look.Stop()
	}
	defer g.end(p)
	return work()
}

// begin takes a place, or joins the queue: the channel turn is closed when it has one.
func (g *gate) begin(p *seat) (now bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.working) < g.places {
		g.take(p)
		return true
	}
	p.turn = make(chan struct{})
	g.queue = append(g.queue, p)
	return false
}

// take gives a place. g.mu is held, as by next.
func (g *gate) take(p *seat) {
	p.since = g.now()
	g.working = append(g.working, p)
}

// next gives free places to the first in the queue.
func (g *gate) next() {
	for len(g.working) < g.places && g.head < len(g.queue) {
		p := g.queue[g.head]
		g.queue[g.head] = nil
		g.take(p)
		close(p.turn)
		if g.head++; 2*g.head >= len(g.queue) {
			g.queue, g.head = append(g.queue[:0], g.queue[g.head:]...), 0
		}
	}
}

// end gives a place back.
func (g *gate) end(p *seat) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended++
	if !p.lost {
		at := slices.Index(g.working, p)
		g.working = slices.Delete(g.working, at, at+1)
		g.next()
	}
}

// free takes places from work that has held them for long.
func (g *gate) free() {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	g.working = slices.DeleteFunc(g.working, func(p *seat) bool {
		p.lost = now.Sub(p.since) >= mostHeld
		return p.lost
	})
	g.next()
}
