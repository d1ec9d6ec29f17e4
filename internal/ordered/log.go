// Package ordered runs a state machine as replicas of one ordered log: each applies the same entries in the same order,
// so that all have the same state and give the same outcomes.
//
//	Propose → queue → entry of the operations that wait → Log.Send → the log's order
//	Log.Follow → Machine.Apply on every replica → outcomes → whoever proposed, here
//
// An outcome is known when its entry comes back from the log, and so only when the log has confirmed it, and everything
// before it. A replica has some entries on its way at once, and sends them again until they come back; so that its operations
// keep their order, an entry is applied behind the one before it only, by numbers, and once.
//
// # Chain
//
// Each entry says how far its proposer was, and by a hash what that had been: all entries up to there, with their
// outcomes. A replica that has applied something else goes back to a snapshot, and so does one that finds another
// entry at its end when it looks again.
//
// # Snapshots
//
// A replica begins with the newest snapshot of its folder, of a bucket, or of another replica, and applies what came
// behind it. Entries are trimmed that the machine no longer needs and that all of the replicas' snapshots contain.
//
// Use it for state whose changes are pure functions of their order. It knows nothing of what is replicated.
package ordered

import (
	"context"
	"errors"
)

// A Log has entries in one order, with numbers from 1 on. Entries that were confirmed stay, until they are trimmed from
// the front. Any number of goroutines use it.
type Log interface {
	// Open returns when the log can be used. It makes one if there is none, whose first entry gets that number.
	Open(ctx context.Context, first uint64) error
	// Send sends an entry behind all that were sent before, and does not wait. It may get lost, and come later or twice.
	Send(entry []byte) error
	// Append sends an entry and returns when it is confirmed. After an error it may be in the log or not.
	Append(ctx context.Context, entry []byte) error
	// Follow calls visit for each confirmed entry from a number on, until the context ends or visit returns an error,
	// which it returns. It is ErrTrimmed if that entry is gone, and ErrShort if the log has not come so far; one behind
	// the last is the next to come. An entry is valid until visit returns.
	Follow(ctx context.Context, from uint64, visit Visit) error
	// Bounds returns the numbers of the first and the last entry. Without entries last is first - 1.
	Bounds(ctx context.Context) (first, last uint64, err error)
	// Trim removes the entries before a number.
	Trim(ctx context.Context, before uint64) error
	// MostBytes is the size of the largest entry.
	MostBytes() int
	// Ask sends a question to all replicas and returns the first answer.
	Ask(ctx context.Context, question []byte) ([]byte, error)
	// Answer has questions answered until stop is called; nil is no answer.
	Answer(answer func(question []byte) []byte) (stop func(), err error)
}

// Visit is called for an entry. at is when the log took it, in nanoseconds by its own clock, and always the same.
type Visit func(number uint64, at int64, entry []byte) error

// Errors of Log.
var (
	ErrTrimmed  = errors.New("the log begins behind what is needed: a newer snapshot is needed")
	ErrShort    = errors.New("the log ends before what was applied already: it has lost entries")
	ErrTooLarge = errors.New("larger than an entry of the log may be")
)

// ErrVersion is an error of Machine.Apply and Load, too.
var ErrVersion = errors.New("it needs another version of the program")

// A Machine is what is replicated. Only one goroutine calls it.
type Machine interface {
	// Apply applies an entry. It appends to sum what all replicas must agree on about the outcomes, and returns these if
	// the entry is Own. After an error it is not applied, and the replica stands still until it is started again.
	Apply(e *Entry, sum []byte) (outcomes []any, more []byte, err error)
	// Save returns a function that writes the state as it is now, which any goroutine may call later.
	Save() (write func(to Writer) error, err error)
	// Load replaces the state by one that was written; nil: by an empty one.
	Load(from Reader) error
	// Needs returns the number of the first entry of the log that still has to do with the state after entry applied.
	Needs(applied uint64) uint64
}
