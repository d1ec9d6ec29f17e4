package serve

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// load is a server of one processor on a clock of its own: requests come at a rate whatever becomes of them. Each takes
// read when its goroutine wakes up, and then work in its turn, or refusal.
type load struct {
	rate                float64 // requests a second
	connections         int     // each waits for its answer before it sends another
	read, work, refusal time.Duration
}

// admittedAt is a request that has a place, or waits for one.
type admittedAt struct {
	since time.Time
	place *seat
	now   bool // it has its place
}

func (a *admittedAt) ready() bool {
	if a.now {
		return true
	}
	select {
	case <-a.place.turn:
		return true
	default:
		return false
	}
}

// run returns how many were answered a second, with the quantile .99 of how long these waited, in the last two thirds.
func (l load) run(g *gate, seconds int) (rate float64, late time.Duration, turned int) {
	clock := g.from.Add(time.Hour)
	begun, end := clock, clock.Add(time.Duration(seconds)*time.Second)
	g.now = func() time.Time { return clock }
	var woken []time.Time
	var admitted []admittedAt
	var back []time.Time // when connections that were turned away send again, ascending
	free := l.connections
	next := clock
	var took []time.Duration
	for clock.Before(end) {
		for !next.After(clock) { // those that came meanwhile; without a connection they are not sent
			if free > 0 {
				free--
				woken = append(woken, next)
			}
			next = next.Add(time.Duration(float64(time.Second) / l.rate))
		}
		for len(back) > 0 && !back[0].After(clock) {
			back = back[1:]
			free++
		}
		for _, since := range woken { // before those that have read go on
			ok, rest := g.pass()
			if ok {
				clock = clock.Add(l.read)
				p := new(seat)
				admitted = append(admitted, admittedAt{since, p, g.begin(p)})
				continue
			}
			turned++
			clock = clock.Add(l.refusal)
			at, _ := slices.BinarySearchFunc(back, clock.Add(rest), time.Time.Compare)
			back = slices.Insert(back, at, clock.Add(rest))
		}
		woken = woken[:0]
		if len(admitted) == 0 || !admitted[0].ready() {
			clock = next
			continue
		}
		clock = clock.Add(l.work)
		g.end(admitted[0].place)
		free++
		if clock.Sub(begun) > end.Sub(begun)/3 {
			took = append(took, clock.Sub(admitted[0].since))
		}
		admitted = admitted[1:]
	}
	for _, a := range admitted { // those that are left
		g.end(a.place)
	}
	slices.Sort(took)
	return float64(len(took)) / (end.Sub(begun).Seconds() * 2 / 3), took[len(took)*99/100], turned
}

// A quarter of a processor: 100 µs for a request that takes 25 of a whole one.
func TestTenTimesTooManyRequestsLeaveNearlyAllAnswers(t *testing.T) {
	for connections, least := range map[int]float64{200: 9000, 1000: 9000, 5000: 8500} {
		rate, late, _ := load{rate: 100_000, connections: connections, read: 10 * time.Microsecond, work: 90 * time.Microsecond, refusal: 40 * time.Microsecond}.run(newGate(4), 15)
		if rate < least || late > 40*time.Millisecond {
			t.Errorf("%d connections: %.0f of 10000 a second are answered, p99 %v", connections, rate, late)
		}
	}
}

func TestNoneIsTurnedAwayBelowCapacity(t *testing.T) {
	for _, l := range []load{
		{rate: 9000, connections: 1000, work: 100 * time.Microsecond},
		{rate: 100_000, connections: alwaysWait, work: 100 * time.Microsecond}, // as fast as answers come
		{rate: 1000, connections: 16, work: 20 * time.Millisecond},
	} {
		if rate, late, turned := l.run(newGate(4), 5); turned > 0 {
			t.Errorf("%+v: %d were turned away (%.0f a second, p99 %v)", l, turned, rate, late)
		}
	}
}

func TestAGateOpensAgain(t *testing.T) {
	g := newGate(4)
	if _, _, turned := (load{rate: 100_000, connections: 1000, work: 100 * time.Microsecond}).run(g, 5); turned == 0 || g.admitted() == 1 {
		t.Fatalf("%d were turned away, a share of %v admitted", turned, g.admitted())
	}
	if _, _, turned := (load{rate: 5000, connections: 1000, work: 100 * time.Microsecond}).run(g, 5); g.admitted() < 1 || turned > 100 {
		t.Errorf("share %v, %d turned away", g.admitted(), turned)
	}
}

// However many come at once, no more work than there are places, each has its turn, and a failure gives its place back.
func TestNoMoreWorkThanThereArePlaces(t *testing.T) {
	g := newGate(4)
	var working, most, done atomic.Int64
	var group sync.WaitGroup
	for i := range 50 * g.places {
		group.Go(func() {
			failed := errors.New("failed")
			err := g.do(func() error {
				for n := working.Add(1); ; {
					if m := most.Load(); n <= m || most.CompareAndSwap(m, n) {
						break
					}
				}
				defer working.Add(-1)
				time.Sleep(100 * time.Microsecond)
				done.Add(1)
				if i%3 == 0 {
					return failed
				}
				return nil
			})
			if (i%3 == 0) != errors.Is(err, failed) {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if done.Load() != int64(50*g.places) || most.Load() != int64(g.places) || len(g.working) != 0 || len(g.queue) != g.head {
		t.Errorf("%d of %d are done, %d at once with %d places, %d still work", done.Load(), 50*g.places, most.Load(), g.places, len(g.working))
	}
}

// Work that takes long holds up nobody, also when nobody else comes.
func TestLongWorkGivesItsPlaceAway(t *testing.T) {
	g := newGate(2)
	release := make(chan struct{})
	var long, short sync.WaitGroup
	for range 3 * g.places {
		long.Go(func() {
			_ = g.do(func() error {
				<-release
				return nil
			})
		})
	}
	for range 20 {
		short.Go(func() { _ = g.do(func() error { return nil }) })
	}
	short.Wait()
	close(release)
	long.Wait()
	if len(g.working) != 0 || len(g.queue) != g.head {
		t.Errorf("%d still work, %d wait", len(g.working), len(g.queue)-g.head)
	}
}
