package ordered

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

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

// Status is what a replica tells of itself.
type Status struct {
	Applied  uint64        // number of the last entry
	Lag      time.Duration // everything that was confirmed so long ago is applied
	Snapshot uint64        // last entry of the newest snapshot here
	Resets   int64         // how often it has gone back to a snapshot since it had another past, or the log had lost entries
	Reloads  int64         // how often it has taken a newer snapshot since others had trimmed entries that it had not applied
	Err      error         // why it answers nothing; nil: it does
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

const (
	greetEvery = time.Minute
	sayLimit   = 10 * time.Second
)
