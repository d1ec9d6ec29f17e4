package ordered

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/alike-dev/alike/vfs"
)

// Config configures a Replica. Name is unique among the replicas that run.
type Config struct {
	Log     Log
	Machine Machine
	Name    string
	Knows   int    // the newest version of the rules that the machine knows, from 1 on
	Dir     string // folder of this replica's snapshots
	Durable bool   // whether it outlives the process, so that entries may be trimmed that its snapshots contain
	FS      vfs.FS
	Bucket  Bucket // nil: none
	Now     func() time.Time
	Report  *slog.Logger
	// Rules returns operations to propose when all replicas know a version; nil: there are never any.
	Rules func(knows int) [][]byte
	// SnapshotBytes is how many bytes of entries there are at least between two snapshots; 0: 256 MiB, which documents of 2 KB
	// are applied of in one to two seconds.
	SnapshotBytes int64
}

// A Replica applies the entries of a log to a machine. Any number of goroutines use it.
type Replica struct {
	c         Config
	out       outbox
	snapshots snapshots
	ended     sync.WaitGroup
	stop      context.CancelFunc
	ctx       context.Context

	mu    sync.Mutex
	cause error // why nothing is applied; nil: all is well

	applied  atomic.Uint64
	loaded   atomic.Bool
	begun    time.Time    // of this process
	caughtUp atomic.Int64 // how long after it everything up to then was applied, in nanoseconds; 0: never
	knows    atomic.Int64 // of all members
	resets   atomic.Int64
	reloads  atomic.Int64
	past     atomic.Pointer[past]
	unsaid   atomic.Bool // whether the others do not know it

	// Of the goroutine that applies.
	state      state
	chains     chains
	sum        []byte
	ops        [][]byte  // of an entry
	forMachine [][]byte  // of them
	distrust   uint64    // entries up to it may tell of another past
	reset      time.Time // when that was
	wentBack   time.Time // when a snapshot was last loaded since the past was another one
	saves      sync.WaitGroup
	saving     atomic.Bool
	since      int64        // bytes of entries since the last snapshot
	size       atomic.Int64 // of the last snapshot
	saved      time.Time    // when it was begun
	complaints complaints
	clocks     complaints // about them
	damaged    complaints // about snapshots
}

// past is how far the replica was at a moment.
type past struct{ applied, chain uint64 }

// Status is what a replica tells of itself.
type Status struct {
	Applied  uint64        // number of the last entry
	Lag      time.Duration // everything that was confirmed so long ago is applied
	Snapshot uint64        // last entry of the newest snapshot here
	Resets   int64         // how often it has gone back to a snapshot since it had another past, or the log had lost entries
	Reloads  int64         // how often it has taken a newer snapshot since others had trimmed entries that it had not applied
	Err      error         // why it answers nothing; nil: it does
}

// ErrLoading says that a replica has not loaded its state yet.
var ErrLoading = errors.New("the replica is loading its state")

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

func (r *Replica) Status() Status {
	s := Status{Applied: r.applied.Load(), Snapshot: r.snapshots.newest.Load(), Resets: r.resets.Load(), Reloads: r.reloads.Load(), Err: r.problem()}
	if at := r.caughtUp.Load(); at > 0 {
		s.Lag = time.Since(r.begun) - time.Duration(at) // whatever the clock is set to meanwhile
	} else if s.Err == nil {
		s.Err = ErrLoading
	}
	return s
}

// Knows returns the newest version of the rules that all replicas know.
func (r *Replica) Knows() int { return int(r.knows.Load()) }

func (r *Replica) problem() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cause == nil && !r.loaded.Load() {
		return ErrLoading
	}
	return r.cause
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

const (
	greetEvery = time.Minute
	sayLimit   = 10 * time.Second
)

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
