package ordered

import (
	"context"
	"math/rand/v2"
	"time"
)

// Start begins to follow the log.
func Start(c Config) (*Replica, error) {
	if c.SnapshotBytes == 0 {
		c.SnapshotBytes = 256 << 20
	}
	r := &Replica{c: c, state: newState(), saved: time.Now(), begun: time.Now()}
	r.knows.Store(1)
	r.ctx, r.stop = context.WithCancel(context.Background())
	r.out = outbox{c: &r.c, ctx: r.ctx, id: rand.Uint64(), queue: make(chan *proposal, 4096), changed: make(chan struct{}, 1), past: &r.past}
	r.snapshots = snapshots{c: &r.c, ctx: r.ctx, folder: &folder{c.FS, c.Dir}}
	answering, err := c.Log.Answer(r.snapshots.answer)
	if err != nil {
		return nil, err
	}
	r.ended.Go(func() {
		defer answering()
		r.follow()
	})
	r.ended.Go(r.out.send)
	r.ended.Go(r.watch)
	r.ended.Go(r.greet)
	return r, nil
}

// Close ends the replica. What was not answered is answered with an error.
func (r *Replica) Close() {
	if r.loaded.Load() {
		r.say(hello{Name: r.c.Name, Leaves: true}, time.Second)
	}
	r.stop()
	r.ended.Wait()
	for {
		select {
		case p := <-r.out.queue:
			p.done <- result{err: context.Canceled}
		default:
			return
		}
	}
}

// watch measures the lag: it asks where the log ends, and waits until that is applied.
func (r *Replica) watch() {
	var complaints complaints
	for pause(r.ctx, watchEvery) {
		asked, applied := time.Now(), r.applied.Load()
		_, last, err := r.c.Log.Bounds(r.ctx)
		if err != nil && r.loaded.Load() && r.ctx.Err() == nil {
			complaints.report(r.c.Report, "the log does not say where it ends, so that the replica counts as behind", err)
		}
		if err != nil || last < applied { // a log that is shorter tells nothing, whether that is so for a moment or for good
			continue
		}
		for !r.loaded.Load() || r.applied.Load() < last {
			if !pause(r.ctx, watchEvery/20) {
				return
			}
		}
		r.caughtUp.Store(int64(asked.Sub(r.begun)))
	}
}

const watchEvery = 200 * time.Millisecond

// greet tells the others of this replica, and proposes what is to be done when all know a newer version of the rules.
func (r *Replica) greet() {
	for told := uint64(0); pause(r.ctx, greetEvery/600); {
		if !r.loaded.Load() {
			continue
		}
		now := uint64(time.Now().Unix())
		if told == 0 || now-told >= uint64(greetEvery/time.Second) || r.unsaid.Swap(false) {
			if r.say(hello{Name: r.c.Name, Knows: r.c.Knows, Snapshot: r.snapshots.kept()}, sayLimit) == nil {
				told = now
			}
		}
		if r.c.Rules == nil {
			continue
		}
		for _, op := range r.c.Rules(r.Knows()) {
			_, _ = r.Propose(r.ctx, op) // tried again
		}
	}
}
