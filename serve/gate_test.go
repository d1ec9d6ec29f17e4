package serve

import (
	"slices"
	"testing"
	"time"
)

// load is a server of one processor on a clock of its own: requests come at a rate whatever becomes of them, wait in
// order, and take work if they are admitted, and refusal if not.
type load struct {
	rate          float64 // requests a second
	connections   int     // each waits for its answer before it sends another
	work, refusal time.Duration
}

// run returns how many were answered a second, with the quantile .99 of how long these waited, in the last two thirds.
func (l load) run(g *gate, seconds int) (rate float64, late time.Duration, turned int) {
	clock := time.Unix(1000, g.until.Load())
	begun, end := clock, clock.Add(time.Duration(seconds)*time.Second)
	var seen delays
	g.now, g.delays = func() time.Time { return clock }, func() delays { return seen }
	type waiting struct{ since time.Time }
	var queue []waiting
	var back []time.Time // when connections that were turned away send again, ascending
	free := l.connections
	next := clock
	var took []time.Duration
	answered := 0
	for clock.Before(end) {
		for !next.After(clock) { // those that came meanwhile; without a connection they are not sent
			if free > 0 {
				free--
				queue = append(queue, waiting{next})
			}
			next = next.Add(time.Duration(float64(time.Second) / l.rate))
		}
		for len(back) > 0 && !back[0].After(clock) {
			back = back[1:]
			free++
		}
		if len(queue) == 0 {
			clock = next
			continue
		}
		w := queue[0]
		queue = queue[1:]
		seen.times++
		seen.total += clock.Sub(w.since).Seconds()
		ok, rest := g.pass()
		if !ok {
			turned++
			clock = clock.Add(l.refusal)
			at, _ := slices.BinarySearchFunc(back, clock.Add(rest), time.Time.Compare)
			back = slices.Insert(back, at, clock.Add(rest))
			continue
		}
		clock = clock.Add(l.work)
		free++
		if clock.Sub(begun) > end.Sub(begun)/3 {
			answered++
			took = append(took, clock.Sub(w.since))
		}
	}
	slices.Sort(took)
	return float64(answered) / (end.Sub(begun).Seconds() * 2 / 3), took[len(took)*99/100], turned
}

// A quarter of a processor: 100 µs for a request that takes 25 of a whole one.
func TestTenTimesTooManyRequestsLeaveNearlyAllAnswers(t *testing.T) {
	for connections, least := range map[int]float64{200: 8200, 1000: 8000, 5000: 6500} {
		rate, late, _ := load{rate: 100_000, connections: connections, work: 100 * time.Microsecond, refusal: 40 * time.Microsecond}.run(newGate(), 15)
		if rate < least || late > 50*time.Millisecond {
			t.Errorf("%d connections: %.0f of 10000 a second are answered, p99 %v", connections, rate, late)
		}
	}
}

func TestNoneIsTurnedAwayBelowCapacity(t *testing.T) {
	for _, l := range []load{
		{rate: 9000, connections: 1000, work: 100 * time.Microsecond},
		{rate: 100_000, connections: 32, work: 100 * time.Microsecond}, // as fast as answers come
		{rate: 1000, connections: 16, work: 20 * time.Millisecond},
	} {
		if rate, late, turned := l.run(newGate(), 5); turned > 0 {
			t.Errorf("%+v: %d were turned away (%.0f a second, p99 %v)", l, turned, rate, late)
		}
	}
}

func TestAGateOpensAgain(t *testing.T) {
	g := newGate()
	if _, _, turned := (load{rate: 100_000, connections: 1000, work: 100 * time.Microsecond}).run(g, 5); turned == 0 {
		t.Fatal("all were admitted")
	}
	if _, _, turned := (load{rate: 5000, connections: 1000, work: 100 * time.Microsecond}).run(g, 5); g.admitted() < 1 || turned > 5000 {
		t.Errorf("share %v, %d turned away", g.admitted(), turned)
	}
}

func TestTheRuntimeTellsDelays(t *testing.T) {
	before := schedulerDelays()
	done := make(chan int)
	for range 1000 {
		go func() { done <- 1 }()
	}
	for range 1000 {
		<-done
	}
	if after := schedulerDelays(); after.times <= before.times || after.total < before.total {
		t.Errorf("%+v, before %+v", after, before)
	}
}
