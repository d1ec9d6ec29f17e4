package ordered

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zeebo/xxh3"
)

// errOtherPast says that what was applied here is not what the others have applied.
var errOtherPast = errors.New("what was applied here is not what the log has")

// follow applies entries until the replica ends, which leaves a snapshot.
func (r *Replica) follow() {
	whole := true
	for r.ctx.Err() == nil {
		err := r.followOnce()
		stands := new(standsStill)
		switch {
		case r.ctx.Err() != nil:
		case errors.As(err, &stands):
			whole = false
			r.fail(err)
			r.c.Report.Error("nothing more is applied", "error", err)
			<-r.ctx.Done()
		case !r.loaded.Load():
			// No snapshot fits to the log. They stay: what the log has lost may be in them alone.
			r.complaints.report(r.c.Report, "no state was loaded, and that is tried again", err)
		case errors.Is(err, ErrTrimmed):
			r.reloads.Add(1)
			r.unload()
			r.c.Report.Warn("entries that were not applied yet are trimmed: a newer snapshot is looked for", "error", err, "applied", r.state.Applied)
		case errors.Is(err, ErrShort) || errors.Is(err, errOtherPast):
			r.resets.Add(1)
			r.unload()
			if errors.Is(err, errOtherPast) { // a log that is short may be so for a moment only
				r.distrustSnapshots()
			}
			r.c.Report.Error("goes back to a snapshot", "error", err, "applied", r.state.Applied)
		case err != nil:
			r.complaints.report(r.c.Report, "the log is not followed, and tried again", err)
		}
		pause(r.ctx, followAgain)
	}
	r.saves.Wait()
	if whole && r.c.Durable && r.loaded.Load() && r.since > 0 {
		if err := r.snapshots.last(&r.state); err != nil {
			r.c.Report.Error("a last snapshot was not made", "entry", r.state.Applied, "error", err)
		}
	}
}

const followAgain = 200 * time.Millisecond

// followOnce loads the state if that is to be done, and applies what comes.
func (r *Replica) followOnce() error {
	if !r.loaded.Load() {
		if err := r.load(); err != nil {
			r.fail(fmt.Errorf("%w: %w", ErrLoading, err))
			return err
		}
		r.loaded.Store(true)
	}
	first, err := firstEntry(r.ctx, r.c.Log, r.state.Applied)
	if err != nil {
		return err
	}
	from := r.state.Applied // again, to see that it is the same
	if from < first {
		from++
	}
	r.fail(nil)
	err = r.c.Log.Follow(r.ctx, from, r.apply)
	if errors.Is(err, ErrTrimmed) {
		// Others have trimmed what was to be seen again. What comes behind it may still be there.
		if first, _, bounds := r.c.Log.Bounds(r.ctx); bounds != nil || first <= r.state.Applied+1 {
			return bounds
		}
	}
	return err
}

// firstEntry returns the number of the first entry of a log, which must have come as far as what is applied. A server that has not
// noticed yet that it no longer leads may not know the last entries, so it is asked again before the log counts as short.
func firstEntry(ctx context.Context, log Log, applied uint64) (first uint64, err error) {
	for range shortLooks {
		var last uint64
		if first, last, err = log.Bounds(ctx); err != nil || last >= applied {
			return first, err
		}
		pause(ctx, followAgain)
	}
	return 0, errors.Join(ctx.Err(), ErrShort)
}

// shortLooks is how often a log must be short, followAgain apart: for longer than the servers take to choose another leader, 2 s
// to 4 s with the intervals of nats-server.
const shortLooks = 30

// unload has the state loaded from a snapshot.
func (r *Replica) unload() {
	r.loaded.Store(false)
	r.caughtUp.Store(0)
}

// distrustSnapshots has those of another replica, or the bucket's, loaded if going back to the own ones a short time ago did
// not help.
func (r *Replica) distrustSnapshots() {
	if now := time.Now(); now.Sub(r.wentBack) > goBackEvery {
		r.wentBack = now
		return
	}
	all, err := r.snapshots.folder.all()
	if err != nil {
		r.c.Report.Error("snapshots of another past are not removed", "error", err)
	}
	for _, number := range all {
		r.c.Report.Warn("removes a snapshot of another past", "entry", number, "error", r.snapshots.folder.remove(number))
	}
}

// goBackEvery is how often the replica trusts its own snapshots.
const goBackEvery = 10 * time.Minute

// fail sets why nothing is applied.
func (r *Replica) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cause = err
}

// apply applies an entry. Every replica does that for all entries, so what it takes bounds how much replicas add to each other.
// Of 18 µs a document of 2 KB, in entries of 30, of a replica that only follows and gets a fifth of a processor, perf sees
//
//	8.2  here, where caches are cold: one entry behind the other they are 4.6 (go test -bench Follow ./serve)
//	2.1  in Go's watchdog thread, which looks each 20 µs in the first millisecond after something began to run
//	1.7  in the client of NATS: half of it copies of the kernel and pages that are touched for the first time
//	1.5  in S2; 1.5 in a snapshot each 64 MiB; 1.3 in the collector; 1.1 in goroutines that wake others
//
// What has made it less:
//
//  1. Nothing is made for outcomes that nobody here waits for, nor for single operations: 0.3 µs.
//  2. What is needed while a document is decided stands in memory of the index's writer, which looks at documents in turn
//     and so has no use for marks of what came last: 0.5 µs.
//  3. Nobody asks the log for acknowledgements: an entry that comes back is one. That is a message less for each.
//  4. A snapshot is made each 256 MiB.
func (r *Replica) apply(number uint64, at int64, entry []byte) error {
	s := &r.state
	switch {
	case number == s.Applied:
		if xxh3.Hash(entry) != s.Last {
			return fmt.Errorf("entry %d: %w", number, errOtherPast)
		}
		return nil
	case number != s.Applied+1:
		return fmt.Errorf("entry %d follows entry %d", number, s.Applied)
	}
	h, ops, err := parseEntry(entry, r.ops[:0])
	r.ops, r.sum = ops, r.sum[:0]
	if errors.Is(err, ErrVersion) {
		return &standsStill{fmt.Errorf("entry %d: %w", number, err)}
	}
	if err != nil {
		r.c.Report.Error("left out what others have put into the log", "entry", number, "error", err)
	} else if err := r.applyOps(number, at, &h); err != nil {
		return err
	}
	s.next(number, entry, r.sum)
	r.chains.put(s)
	r.past.Store(&past{s.Applied, s.Chain})
	r.applied.Store(number)
	r.knows.Store(int64(s.knows()))
	return r.keep(int64(len(entry)))
}

// applyOps applies the operations of an entry.
func (r *Replica) applyOps(number uint64, at int64, h *head) error {
	s := &r.state
	if number > r.distrust && r.chains.differs(h.applied, h.chain, s.Applied) {
		if time.Since(r.reset) > resetEvery {
			r.distrust, r.reset = number, time.Now()
			return fmt.Errorf("entry %d tells of another past at entry %d: %w", number, h.applied, errOtherPast)
		}
		r.c.Report.Error("another replica has another past", "entry", number, "at", h.applied)
	}
	mine := r.out.mine(h)
	if s.repeats(h) {
		if mine != nil { // it is in a snapshot, without its outcomes
			r.out.finish(mine, func(int) result { return result{err: ErrUnconfirmed} })
		}
		return nil
	}
	if s.outOfTurn(h) {
		r.out.outOfTurn(h, s.Proposers[h.proposer].Count)
		return nil
	}
	s.advance(h.now, at)
	if mine != nil {
		r.clocks.compare(r.c.Report, r.c.Now(), h.now, at)
	}
	e := Entry{Number: number, Now: time.Unix(0, s.Now), Ops: r.forMachine[:0], Knows: s.knows(), Own: mine != nil}
	for _, op := range r.ops {
		if len(op) > 0 && op[0] == opMachine {
			e.Ops = append(e.Ops, op[1:])
		}
	}
	r.forMachine = e.Ops
	var outcomes []any
	if len(e.Ops) > 0 {
		var err error
		if outcomes, r.sum, err = r.c.Machine.Apply(&e, r.sum); err != nil {
			return &standsStill{fmt.Errorf("entry %d: %w", number, err)}
		}
	}
	s.note(h, number)
	for _, op := range r.ops {
		if len(op) > 0 && op[0] == opHello {
			s.hear(op[1:])
		}
	}
	if mine != nil {
		r.applied.Store(number) // for whoever asks how far this is, once it is answered
		n := 0
		r.out.finish(mine, func(i int) (done result) {
			if op := r.ops[i]; len(op) > 0 && op[0] == opMachine {
				done.outcome = outcomes[n]
				n++
			}
			return done
		})
	}
	return nil
}

// pause waits, and tells whether the context goes on.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// resetEvery is how often a replica goes back to a snapshot since others have another past. If that does not help they
// are the wrong ones.
const resetEvery = time.Minute
